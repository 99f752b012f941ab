"""A LIF membrane with exponential conductances and no threshold, by an adaptive ODE solver.

    c_m dv/dt = -(c_m / tau_m) (v - e_l) - sum_j g_j (v - e_rev_j) + current
        dg_j/dt = -g_j / tau_syn_j,     g_j += weight at every arrival

Here nothing is on a grid: v and g are coupled continuously, so this is the limit to which a
stepped scheme must converge as dt goes to 0.  The solver (DOP853) is stopped at every arrival
and at every requested time, so that no interpolation enters.

Units: ms, mV, pF, nS, pA.
"""

import numpy as np
from scipy.integrate import solve_ivp


def derivative(t, y, params, synapses, current):
    """Time derivative of y = (v, g_0, g_1, ...)."""
    v = y[0]
    total = -(params["c_m"] / params["tau_m"]) * (v - params["e_l"]) + current
    rates = [0.0]
    for g, synapse in zip(y[1:], synapses):
        total -= g * (v - synapse["e_rev"])
        rates.append(-g / synapse["tau_syn"])
    rates[0] = total / params["c_m"]
    return rates


def lif_conductance_reference(times, v0, params, synapses, arrivals, current=0.0):
    """v at the given times (any order, >= 0), starting at t = 0 with v = v0 and g = 0.

    params: dict with c_m, tau_m, e_l.
    synapses: list of dicts with tau_syn, e_rev.
    arrivals: one list of (time, weight) per synapse, times >= 0; an arrival at t = 0 counts.
    """
    if len(arrivals) != len(synapses):
        raise ValueError(f"one list of arrivals per synapse: {len(arrivals)}, {len(synapses)}")
    times = np.asarray(times, dtype=np.float64)
    arrival_times = [time for events in arrivals for time, _ in events]
    stops = sorted({0.0, *times.tolist(), *map(float, arrival_times)})
    if stops[0] < 0.0:
        raise ValueError(f"times must be at least 0, got {stops[0]}")

    y = np.zeros(1 + len(synapses))
    y[0] = v0
    v_at = {}
    now = 0.0
    for stop in stops:
        if stop > now:
            solution = solve_ivp(
                derivative,
                (now, stop),
                y,
                method="DOP853",
                rtol=1e-11,
                atol=1e-12,
                args=(params, synapses, current),
            )
            if not solution.success:
                raise RuntimeError(f"solve_ivp failed at {now} ms: {solution.message}")
            y = solution.y[:, -1].copy()
            now = stop
        v_at[stop] = y[0]
        for number, events in enumerate(arrivals):
            for time, weight in events:
                if float(time) == stop:
                    y[1 + number] += weight
    return np.array([v_at[time] for time in times.tolist()])
