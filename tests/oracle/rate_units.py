"""Rate units and the leaky integrator, one step from t_k to t_k+1, in float64.

    tau dr/dt = -r + phi(x),          x = current + what arrives, constant over the step:
    r(t_k+1) = phi + (r - phi) exp(-dt / tau)

    phi = g x;   tanh(g (x - theta));   max(g (x - theta), 0)

    tau_m dv/dt = -(v - e_l) + (tau_m / c_m) (current - conductance v), then v = v + jump

None of them spikes.
"""

import numpy as np

from .stochastic import membrane


def rate_unit(phi):
    """The oracle of a unit of response phi(parameters, input)."""

    def oracle(p, drives, n, dt):
        r, out = np.zeros(n), {"spikes": [], "r": []}
        for current, arriving in zip(np.asarray(drives[0]), np.asarray(drives[3]["input"])):
            target = phi(p, current + arriving)
            r = target + (r - target) * np.exp(-dt / p["tau"])
            out["spikes"].append(np.zeros(n, bool))
            out["r"].append(r)
        return out

    return oracle


linear = rate_unit(lambda p, x: p["g"] * x)
tanh = rate_unit(lambda p, x: np.tanh(p["g"] * (x - p["theta"])))
threshold_linear = rate_unit(lambda p, x: np.maximum(p["g"] * (x - p["theta"]), 0.0))


def leaky_integrator(p, drives, n, dt):
    v, out = np.full(n, 1.0) * p["e_l"], {"spikes": [], "v": []}
    for current, conductance, jump in zip(*map(np.asarray, drives[:3])):
        g_l = p["c_m"] / p["tau_m"]
        v = membrane(v, p["e_l"], g_l, p["c_m"], current, conductance, dt) + jump
        out["spikes"].append(np.zeros(n, bool))
        out["v"].append(v)
    return out
