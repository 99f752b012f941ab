"""Hodgkin-Huxley membrane with channels, written from the papers.

    c_m dv/dt = current - conductance v - sum of g_k open_k (v - e_rev_k)
    dx/dt = q10^((celsius - reference)/10) (a (1 - x) - b x)

Rates in 1/ms, v in mV.  Channels by name; the squid rates are those of Hodgkin and Huxley (1952)
with v counted from rest, x/(1 - exp(-x)) taken by its limit where x is 0.
"""

import numpy as np


def vtrap(x):
    """x / (1 - exp(-x))."""
    x = np.asarray(x, np.float64)
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, safe / -np.expm1(-safe))


def sodium_rates(v, c):
    u = v - c["v_rest"]
    a_m, b_m = vtrap((u - 25) / 10), 4 * np.exp(-u / 18)
    return [(a_m, b_m), (0.07 * np.exp(-u / 20), 1 / (1 + np.exp((30 - u) / 10)))]


def potassium_rates(v, c):
    u = v - c["v_rest"]
    return [(0.1 * vtrap((u - 10) / 10), 0.125 * np.exp(-u / 80))]


def calcium_rates(v, c):
    a_q, b_q = 0.055 * 3.8 * vtrap((v + 27) / 3.8), 0.94 * np.exp((-75 - v) / 17)
    a_r, b_r = 0.000457 * np.exp((-13 - v) / 50), 0.0065 / (np.exp((-15 - v) / 28) + 1)
    return [(a_q, b_q), (a_r, b_r)]


def a_rates(v, c):
    a = (0.0761 * np.exp((v + 94.22) / 31.84) / (1 + np.exp((v + 1.17) / 28.93))) ** (1 / 3)
    tau_a = 0.3632 + 1.158 / (1 + np.exp((v + 55.96) / 20.12))
    b = (1 / (1 + np.exp((v + 53.3) / 14.54))) ** 4
    tau_b = 1.24 + 2.678 / (1 + np.exp((v + 50) / 16.027))
    return [(a / tau_a, (1 - a) / tau_a), (b / tau_b, (1 - b) / tau_b)]


def m_rates(v, c):
    p = 1 / (1 + np.exp(-(v + 35) / 10))
    tau = c["tau_max"] / (3.3 * np.exp((v + 35) / 20) + np.exp(-(v + 35) / 20))
    return [(p / tau, (1 - p) / tau)]


# kind: gates, rates, open fraction, temperature at which they hold
CHANNELS = {
    "SquidSodium": (("m", "h"), sodium_rates, lambda m, h: m**3 * h, 6.3),
    "SquidPotassium": (("n",), potassium_rates, lambda n: n**4, 6.3),
    "CalciumL": (("q", "r"), calcium_rates, lambda q, r: q**2 * r, 36.0),
    "PotassiumA": (("a", "b"), a_rates, lambda a, b: a**3 * b, 6.3),
    "PotassiumM": (("p",), m_rates, lambda p: p, 36.0),
    "Leak": ((), lambda v, c: [], lambda: 1.0, 6.3),
}


def gate_names(params):
    return [name for c in params["channels"] for name in CHANNELS[c["kind"]][0]]


def start(params, n):
    """v, then the gates at their steady states."""
    v = np.broadcast_to(np.asarray(params["v_start"], np.float64), n).copy()
    rates = [r for c in params["channels"] for r in CHANNELS[c["kind"]][1](v, c)]
    return [v, *(np.broadcast_to(a / (a + b), n).copy() for a, b in rates)]


def pieces(y, params, current, conductance):
    """(source, rate) of every variable: dy/dt = source - rate y."""
    v, gates = y[0], list(y[1:])
    source, total, moving = current, conductance, []
    for c in params["channels"]:
        names, rates, opened, celsius = CHANNELS[c["kind"]]
        mine, gates = gates[: len(names)], gates[len(names) :]
        g = c["g"] * opened(*mine)
        source, total = source + g * c["e_rev"], total + g
        q = params["q10"] ** ((params["celsius"] - celsius) / 10)
        moving += [(q * a, q * (a + b)) for a, b in rates(v, c)]
    return [(source / params["c_m"], total / params["c_m"]), *moving]


def derivatives(y, params, current, conductance=0.0):
    parts = pieces(y, params, current, conductance)
    return [source - rate * x for (source, rate), x in zip(parts, y)]
