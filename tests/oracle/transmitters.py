"""Transmitters and receptors as in lixirnet, in float64, step by step.

Transmitter, at the end of a step with spike S (0 or 1), kept in [0, t_max]:
cleared     T - dt clearance T + t_max S
decaying    T - T exp(-dt / tau) + t_max S
pulsed      t_max S

Receptor, at the end of a step in which the concentration t arrives:
Destexhe    r_inf + (r - r_inf) exp(-k dt), k = alpha t + beta, r_inf = alpha t / k; r if k = 0
Approximate t, kept in [0, r_max]
Exponential r - r exp(-dt / tau) + t, kept in [0, r_max]

The conductance of a step has r of its start: g r, with the factor B(v) = 1 / (1 + mg exp(-0.062 v)
/ 3.57) for NMDA; its current is the conductance times the reversal potential. Under dopamine NMDA
has r^(1 - s_d1 r_d1), and AMPA and NMDA the factor 1 - s_d2 r_d2.
"""

import numpy as np


def transmitter(after):
    def oracle(params, inputs, n, dt):
        t, out = np.zeros(n), []
        for spikes in np.asarray(inputs[0]):
            t = np.clip(after(params, t, dt) + params["t_max"] * spikes, 0.0, params["t_max"])
            out.append(t)
        return {"values": out}

    return oracle


cleared = transmitter(lambda p, t, dt: t - dt * p["clearance"] * t)
decaying = transmitter(lambda p, t, dt: t - t * np.exp(-dt / p["tau"]))
pulsed = transmitter(lambda p, t, dt: 0.0)


def moved(kinetics, r, t, dt):
    if kinetics["kind"] == "DestexheKinetics":
        opening = kinetics["alpha"] * t
        k = opening + kinetics["beta"]
        target = np.where(k > 0, opening / np.where(k > 0, k, 1.0), r)
        return target + (r - target) * np.exp(-k * dt)
    kept = 0.0
    if kinetics["kind"] == "ExponentialDecayKinetics":
        kept = r - r * np.exp(-dt / kinetics["tau"])
    return np.minimum(np.maximum(kept + t, 0.0), kinetics["r_max"])


def block(v, mg):
    return 1.0 / (1.0 + mg * np.exp(-0.062 * v) / 3.57)


def one_gate(params, inputs, n, dt):
    r, out = np.zeros(n), {"current": [], "conductance": []}
    for t, v in zip(*map(np.asarray, inputs)):
        g = params["g"] * r * (block(v, params["mg"]) if "mg" in params else 1.0)
        out["conductance"].append(g)
        out["current"].append(g * params["e_rev"])
        r = moved(params["kinetics"], r, t, dt)
    return out


def several(names, port_of, fractions):
    """An oracle of receptors with ports; `fractions` gives what counts of AMPA, NMDA and GABA."""

    def oracle(params, inputs, n, dt):
        r, out = {x: np.zeros(n) for x in names}, {"current": [], "conductance": []}
        for *ports, v in zip(*map(np.asarray, (*inputs[0], inputs[1]))):
            counts = fractions(params, r)
            parts = {x: params[f"g_{x}"] * counts[x] for x in ("ampa", "nmda", "gaba")}
            parts["nmda"] = parts["nmda"] * block(v, params["mg"])
            out["conductance"].append(sum(parts.values()))
            out["current"].append(sum(g * params[f"e_{x}"] for x, g in parts.items()))
            r = {x: moved(params[x], r[x], ports[port_of[x]], dt) for x in names}
        return out

    return oracle


def under_dopamine(params, r):
    exponent = 1.0 - params["s_d1"] * np.clip(r["d1"], 0.0, 1.0)
    weaker = 1.0 - params["s_d2"] * np.clip(r["d2"], 0.0, 1.0)
    some = r["nmda"] > 0
    nmda = np.where(some, np.where(some, r["nmda"], 1.0) ** exponent, 0.0)
    return {"ampa": weaker * r["ampa"], "nmda": weaker * nmda, "gaba": r["gaba"]}


ionotropic = several(
    ("ampa", "nmda", "gaba"), {"ampa": 0, "nmda": 1, "gaba": 2}, lambda params, r: r
)
dopa_glu_gaba = several(
    ("ampa", "nmda", "gaba", "d1", "d2"),
    {"ampa": 0, "nmda": 0, "gaba": 1, "d1": 2, "d2": 2},
    under_dopamine,
)
