"""Leaky integrate-and-fire membrane, one step from t_k to t_k+1.

    c_m dv/dt = -(c_m / tau_m) (v - e_l) + current - conductance v

With current and conductance constant over the step the solution is exact:

    g_l   = c_m / tau_m,        g_total = g_l + conductance
    v_inf = (g_l e_l + current) / g_total
    v(t_k + dt) = v_inf + (v(t_k) - v_inf) exp(-dt g_total / c_m)

Where they change on the line current + current_slope (u - dt/2), and the conductance alike, the
Magnus expansion of fourth order of

    dx/du = A(u) x,   x = (v, 1),   A = ((-g_total, g_l e_l + current), (0, 0)) / c_m

adds dt^3/12 times the commutator [slope of A, A] to dt A: v_inf moves by

    (dt^2 / 12) (current_slope - conductance_slope v_inf) / c_m.

To that order it is v_inf of the drive at u = dt/2 + late, late = dt^2 g_total / (12 c_m). With late
at most dt/6 no conductance, means of what is not negative, is negative there.

Order: reset of the neurons that spiked in the step before, membrane, jump, threshold v >= v_th.
The returned v of a neuron that spikes is its value BEFORE reset.

Refractoriness is absolute, n_ref = round(t_ref / dt) steps: after a spike in step k, v is held at
v_reset in the steps k+1 .. k+n_ref and first moves in step k+n_ref+1.  `refractory` is the number
of steps for which a neuron is still to be held.  A held neuron drops its jump and cannot spike.

Units: ms, mV, pF, pA, nS.  `params` is a dict: c_m, tau_m, e_l, v_th, v_reset, t_ref, each one
number or one per neuron.  current, conductance and jump may be None (= 0).
"""

import numpy as np


def refractory_steps(t_ref, dt):
    """n_ref = round(t_ref / dt)."""
    return np.rint(np.asarray(t_ref, dtype=np.float64) / dt).astype(np.int64)


def lif_step(v, refractory, spiked, current, conductance, jump, params, dt, slopes=(0.0, 0.0)):
    """One step; returns (v, refractory, spikes), all of the shape of v.

    slopes: those of the current [pA/ms] and of the conductance [nS/ms].
    """
    current = 0.0 if current is None else current
    conductance = 0.0 if conductance is None else conductance
    jump = 0.0 if jump is None else jump

    v = np.where(spiked, params["v_reset"], v)
    held = refractory > 0

    g_l = params["c_m"] / params["tau_m"]
    g_total = g_l + conductance
    late = np.minimum(dt**2 * g_total / (12.0 * params["c_m"]), dt / 6.0)
    inward = g_l * params["e_l"] + current + late * slopes[0]
    v_inf = inward / (g_total + late * slopes[1])
    moved = v_inf + (v - v_inf) * np.exp(-dt * g_total / params["c_m"])
    moved = moved + jump

    v = np.where(held, params["v_reset"], moved)
    spikes = (v >= params["v_th"]) & ~held

    left = np.where(held, refractory - 1, refractory)
    refractory = np.where(spikes, refractory_steps(params["t_ref"], dt), left)
    return v, refractory, spikes
