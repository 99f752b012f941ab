"""Synapses: one state value per target neuron, one receptor per call.

Every function is step(state, arrivals, params, dt) -> (new_state, current, conductance, jump,
current_slope, conductance_slope) and leads from t_k to t_k+1.  A part that the synapse does not
give is None.  The drive is the exact mean over the step of the state that stood at t_k, and the
slope of the straight line nearest to it by least squares; then the state decays over the step
and takes the arrivals at the END of the step:

    s(t_k + u) = s_k exp(-u / tau_syn),  0 <= u < dt
    mean       = s_k (tau_syn / dt) (1 - exp(-dt / tau_syn))
    slope      = (12 / dt^3) * integral of (u - dt/2) s_k exp(-u / tau_syn) over the step
    s_k+1      = s_k exp(-dt / tau_syn) + arrivals

exponential              s in pA:  current = mean
exponential_conductance  g in nS:  conductance = mean,  current = mean e_rev
                         (the synaptic current is current - conductance v), slopes alike
delta                    no state: jump = arrivals, in mV

A current has no slope here: the membrane moves by its mean.

Units: ms, mV, pA, nS.  `params` is a dict: tau_syn [ms], e_rev [mV].
"""

import numpy as np


def mean_over_step(state, tau_syn, dt):
    """Mean of state exp(-u / tau_syn) over 0 <= u < dt."""
    return state * (tau_syn / dt) * -np.expm1(-dt / tau_syn)


def slope_over_step(state, tau_syn, dt):
    """Slope of the line nearest to state exp(-u / tau_syn), by Gauss-Legendre quadrature."""
    x, weight = np.polynomial.legendre.leggauss(12)
    decay = [np.exp(-0.5 * dt * (1.0 + node) / tau_syn) for node in x]
    return state * (3.0 / dt) * sum(w * node * d for w, node, d in zip(weight, x, decay))


def decay_then_add(state, arrivals, tau_syn, dt):
    """The state at the end of the step, arrivals included."""
    return state * np.exp(-dt / tau_syn) + arrivals


def exponential(state, arrivals, params, dt):
    """Current that jumps by the weight [pA] and decays with tau_syn."""
    current = mean_over_step(state, params["tau_syn"], dt)
    new_state = decay_then_add(state, arrivals, params["tau_syn"], dt)
    return new_state, current, None, None, None, None


def exponential_conductance(state, arrivals, params, dt):
    """Conductance that jumps by the weight [nS] and decays with tau_syn."""
    conductance = mean_over_step(state, params["tau_syn"], dt)
    current = conductance * params["e_rev"]
    slope = slope_over_step(state, params["tau_syn"], dt)
    new_state = decay_then_add(state, arrivals, params["tau_syn"], dt)
    return new_state, current, conductance, None, slope * params["e_rev"], slope


def delta(state, arrivals, params, dt):
    """Voltage jump by the weight [mV] at the end of the step; there is no state."""
    return None, None, None, np.array(arrivals, dtype=np.float64), None, None
