"""A LIF membrane without a threshold and one receptor, by an adaptive ODE solver.

    c_m dv/dt = -(c_m / tau_m) (v - e_l) - g(t, v) (v - e_rev) + current

Here nothing is on a grid, so this is the limit to which a stepped scheme must converge.  The solver
(DOP853) is stopped at every arrival and every requested time.  A receptor is three functions of its
variables y: their flow, what an arrival makes of them, and the conductance.

Units: ms, mV, pF, nS, pA, mM ms, uM.
"""

import numpy as np
from scipy.integrate import solve_ivp

TIGHT = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}


def _block(v, p):
    return 1.0 / (1.0 + p["mg"] / 3.57 * np.exp(-0.062 * v))


def _alpha(y, p):
    return [(y[1] - y[0]) / p["tau_syn"], -y[1] / p["tau_syn"]]


def _decay(y, p):
    return [-y[0] / p["tau_syn"]]


def _double(y, p):
    return [y[1] / p["tau_rise"] - y[0] / p["tau_decay"], -y[1] / p["tau_rise"]]


def _into_rise(y, w, p):
    """Such that the peak is w: there g / tau_decay = x / tau_rise."""
    if "tau_syn" in p:
        return [y[0], y[1] + np.e * w]
    rise, decay = p["tau_rise"], p["tau_decay"]
    top = np.log(decay / rise) * rise * decay / (decay - rise)
    return [y[0], y[1] + w / (decay / rise * np.exp(-top / rise))]


def _added(y, w, p):
    return [y[0] + w]


def _g(y, v, p):
    return y[0]


def _blocked(y, v, p):
    return y[0] * _block(v, p)


def two_state(r, transmitter, p):
    """dr/dt of receptors that are open or closed."""
    return p["alpha"] * transmitter * (1.0 - r) - p["beta"] * r


def gaba_b(y, transmitter, p):
    """dr/dt and ds/dt."""
    r, s = y
    return [p["k1"] * transmitter * (1.0 - r) - p["k2"] * r, p["k3"] * r - p["k4"] * s]


def _channels(y, v, p):
    return p["g_max"] * y[1] ** 4 / (y[1] ** 4 + p["k_d"])


# By class: number of variables, flow, arrival, conductance.
RECEPTORS = {
    "AMPA": (1, _decay, _added, _g),
    "AlphaConductance": (2, _alpha, _into_rise, _g),
    "DoubleExponentialConductance": (2, _double, _into_rise, _g),
    "NMDA": (1, _decay, _added, _blocked),
    "DoubleExponentialNMDA": (2, _double, _into_rise, _blocked),
    "TwoStateConductance": (
        1,
        lambda y, p: [two_state(y[0], 0.0, p)],
        lambda y, w, p: [1.0 - (1.0 - y[0]) * np.exp(-p["alpha"] * w)],
        lambda y, v, p: p["g_max"] * y[0],
    ),
    "GABA_B": (
        2,
        lambda y, p: gaba_b(y, 0.0, p),
        lambda y, w, p: [1.0 - (1.0 - y[0]) * np.exp(-p["k1"] * w), y[1]],
        _channels,
    ),
}


def membrane(times, kind, p, lif, arrivals, current):
    """v at the times, from e_l at 0; `arrivals` are (time, weight), each at one of the times."""
    n, flow, arrive, conductance = RECEPTORS[kind]

    def slopes(t, y):
        v, own = y[0], y[1:]
        inward = lif["c_m"] / lif["tau_m"] * (lif["e_l"] - v) + current
        inward += conductance(own, v, p) * (p["e_rev"] - v)
        return [inward / lif["c_m"], *flow(own, p)]

    y, now, out = np.array([lif["e_l"], *np.zeros(n)]), 0.0, []
    for stop in times:
        y = solve_ivp(slopes, (now, stop), y, **TIGHT).y[:, -1]
        out.append(y[0])
        for time, weight in arrivals:
            if abs(time - stop) < 1e-9:
                y = np.array([y[0], *arrive(y[1:], weight, p)])
        now = stop
    return np.array(out)


def after_pulse(kind, p, dose, length, until):
    """The variables at `until` ms after a pulse of transmitter of `dose` mM ms began."""
    if kind == "GABA_B":
        y = np.zeros(2)
        scheme = gaba_b
    else:
        y = np.zeros(1)

        def scheme(y, transmitter, p):
            return [two_state(y[0], transmitter, p)]

    for start, stop, level in ((0.0, length, dose / length), (length, until, 0.0)):
        y = solve_ivp(lambda t, y, level=level: scheme(y, level, p), (start, stop), y, **TIGHT)
        y = y.y[:, -1]
    return y
