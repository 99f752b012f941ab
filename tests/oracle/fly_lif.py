"""The neuron of the fly's brain (Shiu et al. 2024), by its closed solution.

Between arrivals and spikes, with u = v - e_l and a current that is constant over a step,

    g' = -g / tau_syn        g(t) = g0 exp(-t / tau_syn)
    u' = (g - u) / tau_m + current / c_m
    u(t) = u0 E + g0 tau_syn / (tau_syn - tau_m) (exp(-t / tau_syn) - E)
           + current tau_m / c_m (1 - E),   E = exp(-t / tau_m)

Order inside a step: reset of those that spiked in the step before, v = v_reset and g = 0; the
solution; arrivals are added to g, the jump to v; threshold v >= v_th. After a spike in step k both
are held in the steps k+1 .. k+n_ref, n_ref = round(t_ref / dt), and what arrives is lost.

Units: ms, mV, pF, pA.
"""

import numpy as np


def neuron(params, drives, n, dt):
    """(params, drives, n, dt) -> outputs by name, a list of arrays (n,) each."""
    p = {k: x for k, x in params.items() if isinstance(x, np.ndarray)}
    slow, fast = np.exp(-dt / p["tau_m"]), np.exp(-dt / p["tau_syn"])
    by_g = p["tau_syn"] / (p["tau_syn"] - p["tau_m"]) * (fast - slow)
    held_steps = np.rint(p["t_ref"] / dt).astype(int)
    v, g, left = np.broadcast_to(p["e_l"], n), np.zeros(n), np.zeros(n, int)
    out = {name: [] for name in ("spikes", "v", "g")}
    current, _, jump = (np.asarray(x, np.float64) for x in drives[:3])
    arriving = np.asarray(drives[3]["g"], np.float64)
    for k in range(len(current)):
        u = (v - p["e_l"]) * slow + g * by_g + current[k] * p["tau_m"] / p["c_m"] * (1.0 - slow)
        held = left > 0
        v = np.where(held, v, p["e_l"] + u + jump[k])
        g = np.where(held, g, g * fast + arriving[k])
        spikes = (v >= p["v_th"]) & ~held
        for name, value in (("spikes", spikes), ("v", v), ("g", g)):
            out[name].append(value)
        left = np.where(spikes, held_steps, np.maximum(left - 1, 0))
        v, g = np.where(spikes, p["v_reset"], v), np.where(spikes, 0.0, g)
    return out
