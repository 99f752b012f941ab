"""Neurons with gates, oscillators and a neuron of two compartments, from their papers.

Each model is a function `(y, p, current, conductance) -> [(source, rate), ...]` that says
y' = source - rate y for every variable, and one `(p, n) -> y` that says where it starts.
The synaptic current is current - conductance v.  The drive is constant over a step.

Order of a step: the variables move, all at once, by the integrator p["method"]; the jump is added
to v; a spike where v was below v_th at the start of the step and is not any more.

    Traub and Miles in the form of Brette et al. (2007), appendix B; Wang and Buzsaki (1996);
    Morris and Lecar (1981); FitzHugh (1961); Hindmarsh and Rose (1984).
"""

import numpy as np

from tests.oracle import integrate
from tests.oracle.lif import refractory_steps

exp = np.exp


def linoid(x):
    """x / (1 - exp(-x)), 1 at 0."""
    safe = np.where(x == 0.0, 1.0, x)
    return np.where(x == 0.0, 1.0, safe / -np.expm1(-safe))


def traub_miles_rates(v, v_t):
    """Six rates [1/ms]; v is taken to lie from 100 mV below v_t to 150 mV above."""
    u = np.clip(v - v_t, -100.0, 150.0)
    return {
        "m": (0.32 * 4.0 * linoid((u - 13.0) / 4.0), 0.28 * 5.0 * linoid((40.0 - u) / 5.0)),
        "h": (0.128 * exp((17.0 - u) / 18.0), 4.0 / (1.0 + exp((40.0 - u) / 5.0))),
        "n": (0.032 * 5.0 * linoid((u - 15.0) / 5.0), 0.5 * exp((10.0 - u) / 40.0)),
    }


def membrane(p, m, h, n, current, conductance):
    """Sodium, potassium and leak: (source, rate) of v."""
    g_na, g_k = p["g_na"] * m**3 * h, p["g_k"] * n**4
    source = p["g_l"] * p["e_l"] + g_na * p["e_na"] + g_k * p["e_k"] + current
    return source / p["c_m"], (p["g_l"] + g_na + g_k + conductance) / p["c_m"]


def traub_miles(y, p, current, conductance):
    v, m, h, n = y
    rates = traub_miles_rates(v, p["v_t"])
    gates = [(a, a + b) for a, b in (rates[k] for k in "mhn")]
    return [membrane(p, m, h, n, current, conductance), *gates]


def traub_miles_start(p, n):
    v = np.full(n, p["e_l"])
    rates = traub_miles_rates(v, p["v_t"])
    return [v, *(a / (a + b) for a, b in (rates[k] for k in "mhn"))]


def wang_buzsaki_rates(v):
    """Six rates [1/ms]; v is taken to lie from -150 to 150 mV."""
    v = np.clip(v, -150.0, 150.0)
    return {
        "m": (linoid((v + 35.0) / 10.0), 4.0 * exp(-(v + 60.0) / 18.0)),
        "h": (0.07 * exp(-(v + 58.0) / 20.0), 1.0 / (exp(-0.1 * (v + 28.0)) + 1.0)),
        "n": (0.1 * linoid((v + 34.0) / 10.0), 0.125 * exp(-(v + 44.0) / 80.0)),
    }


def wang_buzsaki(y, p, current, conductance):
    v, h, n = y
    rates = wang_buzsaki_rates(v)
    m = rates["m"][0] / (rates["m"][0] + rates["m"][1])
    gates = [(p["phi"] * a, p["phi"] * (a + b)) for a, b in (rates["h"], rates["n"])]
    return [membrane(p, m, h, n, current, conductance), *gates]


def wang_buzsaki_start(p, n):
    v = np.full(n, p["e_l"])
    rates = wang_buzsaki_rates(v)
    return [v, *(a / (a + b) for a, b in (rates[k] for k in "hn"))]


def morris_lecar_gate(v, p):
    """Steady state and rate of w; v is taken to lie within 8 v4 of v3."""
    x = np.clip((v - p["v3"]) / p["v4"], -8.0, 8.0)
    return 0.5 * (1.0 + np.tanh(x)), p["phi"] * np.cosh(x / 2.0)


def morris_lecar(y, p, current, conductance):
    v, w = y
    m = 0.5 * (1.0 + np.tanh((v - p["v1"]) / p["v2"]))
    g_ca, g_k = p["g_ca"] * m, p["g_k"] * w
    source = p["g_l"] * p["e_l"] + g_ca * p["e_ca"] + g_k * p["e_k"] + current
    w_inf, speed = morris_lecar_gate(v, p)
    rate = p["g_l"] + g_ca + g_k + conductance
    return [(source / p["c_m"], rate / p["c_m"]), (speed * w_inf, speed)]


def morris_lecar_start(p, n):
    v = np.full(n, p["e_l"])
    return [v, morris_lecar_gate(v, p)[0]]


def fitzhugh_nagumo(y, p, current, conductance):
    """v - v^3/3 inside |v| < 3, its tangent outside: (source, rate) is the tangent at v."""
    v, w = y
    u = np.clip(v, -3.0, 3.0)
    slope, value = 1.0 - u**2, u - u**3 / 3.0
    return [
        (value - slope * u - w + current, conductance - slope),
        ((v + p["a"]) / p["tau"], p["b"] / p["tau"]),
    ]


def fitzhugh_nagumo_start(p, n):
    return [np.full(n, -1.2), np.full(n, (p["a"] - 1.2) / p["b"])]


def hindmarsh_rose(x, p, current, conductance):
    """b v^2 - a v^3 inside |v| < 3, its tangent outside; d v^2 stays there."""
    v, y, z = x
    u = np.clip(v, -3.0, 3.0)
    slope, value = 2.0 * p["b"] * u - 3.0 * p["a"] * u**2, p["b"] * u**2 - p["a"] * u**3
    one = np.ones_like(v)
    return [
        (value - slope * u + y - z + current, conductance - slope),
        (p["c"] - p["d"] * u**2, one),
        (p["r"] * p["s"] * (v - p["x_r"]), p["r"] * one),
    ]


def hindmarsh_rose_start(p, n):
    v = np.full(n, p["x_r"])
    return [v, p["c"] - p["d"] * v**2, np.zeros(n)]


def simulate(names, equations, start):
    """The oracle of a model without reset: `(params, drives, n, dt) -> outputs`."""

    def oracle(params, drives, n, dt):
        move = integrate.BY_KIND[params["method"]["kind"]]
        y, out = start(params, n), {"spikes": [], **{name: [] for name in names}}
        for current, conductance, jump in zip(*(np.asarray(x, np.float64) for x in drives[:3])):
            before = y[0]
            y = move(lambda y, i=current, g=conductance: equations(y, params, i, g), y, dt)
            y[0] = y[0] + jump
            out["spikes"].append((before < params["v_th"]) & (y[0] >= params["v_th"]))
            for name, values in zip(names, y):
                out[name].append(values)
        return out

    return oracle


def two_compartment(y, p, current, conductance, held):
    """Soma, dendrite and the dendritic current; a held soma does not move."""
    v, v_d, i_d = y
    source = (p["g_ls"] * p["e_l"] + p["g_c"] * v_d + current) / p["c_s"]
    rate = (p["g_ls"] + p["g_c"] + conductance) / p["c_s"]
    dendrite = (p["g_ld"] * p["e_l"] + p["g_c"] * v + i_d) / p["c_d"]
    return [
        (np.where(held, 0.0, source), np.where(held, 0.0, rate)),
        (dendrite, (p["g_ld"] + p["g_c"]) / p["c_d"] + 0.0 * v),
        (0.0 * v, 1.0 / p["tau_d"] + 0.0 * v),
    ]


def two_compartment_oracle(params, drives, n, dt):
    """Reset, hold, move, jump, threshold; then the dendritic current takes the arrivals."""
    move = integrate.BY_KIND[params["method"]["kind"]]
    v = np.full(n, params["e_l"])
    v_d, i_d = v.copy(), np.zeros(n)
    spikes, left = np.zeros(n, bool), np.zeros(n, np.int64)
    out = {"spikes": [], "v": [], "v_d": [], "i_d": []}
    inputs = (*drives[:3], drives[3]["dendrite"])
    for current, conductance, jump, arriving in zip(*(np.asarray(x, np.float64) for x in inputs)):
        v = np.where(spikes, params["v_reset"], v)
        held = left > 0

        def flow(y, i=current, g=conductance, held=held):
            return two_compartment(y, params, i, g, held)

        moved, v_d, i_d = move(flow, [v, v_d, i_d], dt)
        v = np.where(held, v, moved + jump)
        i_d = i_d + arriving
        spikes = ~held & (v >= params["v_th"])
        left = np.where(held, left - 1, left)
        left = np.where(spikes, refractory_steps(params["t_ref"], dt), left)
        for name, values in (("spikes", spikes), ("v", v), ("v_d", v_d), ("i_d", i_d)):
            out[name].append(values)
    return out
