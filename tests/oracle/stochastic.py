"""Neurons that draw, generalised integrate-and-fire neurons and sources, in float64.

With k the number of the step, h its length, w the one word of a neuron in it and U = 2^32:

escape rate  LIF membrane; rho = rho_0 exp((v - v_th) / delta_u), a spike where
             w < U (1 - e^(-rho h))
GIF          c dv/dt = -g_l (v - e_l) - m_1 - m_2 + I - G v, m_j the mean over the step of
             stc_j exp(-t / tau_j); parts decay over the step, then
             rho = lambda_0 / 1000 exp((v - v_t_star - sfa_1 - sfa_2) / delta_v); +q at a spike
GLIF         u = v - e_l, g = g_l + G, l = g / c, u_inf = (I - G e_l + mean asc) / g,
             u(t) = u_inf + (u - u_inf) e^(-l t), dtheta_v/dt = a_v u - b_v theta_v so
             theta_v(h) = theta_v e^(-b h) + a_v [u_inf (1 - e^(-b h)) / b
                          + (u - u_inf) (e^(-l h) - e^(-b h)) / (b - l)]
Poisson      a spike where w < U (1 - e^(-rate h / 1000))
relay        a spike where the jump is at least 1/2

The order of a step: what a spike of the step before changes, membrane, jump, spike. A neuron is
held for round(t_ref / h) steps after a spike: at its value after the reset, unable to spike.
"""

import numpy as np

from .lif import refractory_steps
from .threefry import step_word

U = 2.0**32


def membrane(v, e_l, g_l, c, current, conductance, dt):
    """The exact solution after dt, with a constant input."""
    g = g_l + conductance
    v_inf = (g_l * e_l + current) / g
    return v_inf + (v - v_inf) * np.exp(-dt * g / c)


def mean_decay(tau, dt):
    """The mean of exp(-t / tau) over a step."""
    return tau / dt * (1 - np.exp(-dt / tau))


def escape_rate_lif(p, drives, n, dt, key):
    v, left, spikes = np.full(n, 1.0) * p["e_l"], np.zeros(n, int), np.zeros(n, bool)
    out = {"spikes": [], "v": []}
    for k, (current, conductance, jump) in enumerate(zip(*map(np.asarray, drives[:3]))):
        v = np.where(spikes, p["v_reset"], v)
        left = np.where(spikes, refractory_steps(p["t_ref"], dt), left)
        g_l = p["c_m"] / p["tau_m"]
        moved = membrane(v, p["e_l"], g_l, p["c_m"], current, conductance, dt) + jump
        v = np.where(left > 0, v, moved)
        rho = p["rho_0"] * np.exp((v - p["v_th"]) / p["delta_u"])
        drawn = step_word(key, np.arange(n), k) < U * (1 - np.exp(-rho * dt))
        spikes = drawn & (left == 0)
        left = np.maximum(left - 1, 0)
        out["spikes"].append(spikes)
        out["v"].append(v)
    return out


def gif(p, drives, n, dt, key):
    names = ("stc_1", "stc_2", "sfa_1", "sfa_2")
    x = {name: np.zeros(n) for name in names}
    v, left, spikes = np.full(n, 1.0) * p["e_l"], np.zeros(n, int), np.zeros(n, bool)
    out = {"spikes": [], "v": [], **{name: [] for name in names}}
    for k, (current, conductance, jump) in enumerate(zip(*map(np.asarray, drives[:3]))):
        x = {name: x[name] + spikes * p[f"q_{name}"] for name in names}
        v = np.where(spikes, p["v_reset"], v)
        left = np.where(spikes, refractory_steps(p["t_ref"], dt), left)
        stc = sum(x[name] * mean_decay(p[f"tau_{name}"], dt) for name in names[:2])
        moved = membrane(v, p["e_l"], p["g_l"], p["c_m"], current - stc, conductance, dt)
        v = np.where(left > 0, v, moved + jump)
        x = {name: x[name] * np.exp(-dt / p[f"tau_{name}"]) for name in names}
        th = p["v_t_star"] + x["sfa_1"] + x["sfa_2"]
        rho = p["lambda_0"] / 1000 * np.exp((v - th) / p["delta_v"])
        drawn = step_word(key, np.arange(n), k) < U * (1 - np.exp(-rho * dt))
        spikes = drawn & (left == 0)
        left = np.maximum(left - 1, 0)
        for name, value in {"spikes": spikes, "v": v, **x}.items():
            out[name].append(value)
    return out


def glif(p, drives, n, dt):
    v, left, spikes = np.full(n, 1.0) * p["e_l"], np.zeros(n, int), np.zeros(n, bool)
    asc, rates, theta_s, theta_v = np.zeros((2, n)), (p["k_1"], p["k_2"]), np.zeros(n), np.zeros(n)
    out = {k: [] for k in ("spikes", "v", "asc_1", "asc_2", "theta_s", "theta_v")}
    for current, conductance, jump in zip(*map(np.asarray, drives[:3])):
        left = np.where(spikes, refractory_steps(p["t_ref"], dt), left)
        v = np.where(spikes, p["e_l"] + p["f_v"] * (v - p["e_l"]) + p["delta_v"], v)
        kept = [p[f"f_{j}"] * np.exp(-p[f"k_{j}"] * p["t_ref"]) * a for j, a in zip((1, 2), asc)]
        asc = [np.where(spikes, x + p[f"delta_i_{j}"], a) for j, x, a in zip((1, 2), kept, asc)]
        lifted = theta_s * np.exp(-p["b_s"] * p["t_ref"]) + p["delta_theta_s"]
        theta_s = np.where(spikes, lifted, theta_s)

        g, b, u = p["g_l"] + conductance, p["b_v"], v - p["e_l"]
        ell = g / p["c_m"]
        total = current + sum(a * mean_decay(1 / k, dt) for a, k in zip(asc, rates))
        u_inf = (total - conductance * p["e_l"]) / g
        drift = u_inf * (1 - np.exp(-b * dt)) / b
        drift = drift + (u - u_inf) * (np.exp(-ell * dt) - np.exp(-b * dt)) / (b - ell)
        free = left == 0
        end = p["e_l"] + u_inf + (u - u_inf) * np.exp(-ell * dt) + jump
        v = np.where(free, end, v)
        theta_v = np.where(free, theta_v * np.exp(-b * dt) + p["a_v"] * drift, theta_v)
        theta_s = np.where(free, theta_s * np.exp(-p["b_s"] * dt), theta_s)
        asc = [np.where(free, a * np.exp(-k * dt), a) for a, k in zip(asc, rates)]

        spikes = (v >= p["v_th"] + theta_s + theta_v) & free
        left = np.maximum(left - 1, 0)
        for name, value in zip(out, (spikes, v, *asc, theta_s, theta_v)):
            out[name].append(value)
    return out


def poisson_source(p, drives, n, dt, key):
    chance = p["rate"] * dt / 1000
    steps = range(len(np.asarray(drives[0])))
    return {"spikes": [step_word(key, np.arange(n), k) < U * chance for k in steps]}


def relay(p, drives, n, dt):
    return {"spikes": list(np.asarray(drives[2]) >= 0.5)}
