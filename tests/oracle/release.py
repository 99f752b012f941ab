"""Release models in float64: what each source neuron releases, from the times of its spikes.

With h the interval to the spike before, of the n-th spike of a neuron:

tsodyks2       u_1 = U, x_1 = 1;  r_n = u_n x_n;
               u_n+1 = U + u_n (1 - U) exp(-h / tau_fac)
               x_n+1 = 1 + (x_n - u_n x_n - 1) exp(-h / tau_rec)
jump first     before the spike u = U + (u' - U) exp(-h / tau_fac), x = 1 + (x' - 1) exp(-h /
               tau_rec), with u' and x' those after the last spike, U and 1 at first; then
               u' = u + U (1 - u), r = u' x, x' = x - r
NMDA gate      s = s' exp(-h / tau_decay), r = k_0 + k_1 s, s' = s + r; with z = alpha tau_rise and
               a = 1 - tau_rise / tau_decay:  k_1 = exp(-z) - 1,
               k_0 = z sum_k (-z)^k / (k! (a + k)), that is z^(1-a) times the lower incomplete gamma
               function of a and z
quantal        of `sites` sites e' were left empty; each of them was refilled with probability
               1 - exp(-h / tau_rec); each that is full releases with probability u_n of tsodyks2
rate           r(t) = (1000 / dt) (1 - e^(-dt/tau)) sum of e^(-(t - t_i)/tau) over spikes until t

A numbered draw: the smallest k with P(X <= k) at least the uniform number, where X is the number
of successes if their probability is at most 1/2, else that of failures. The word of purpose 0 of a
step draws the refilled sites, that of purpose 1 the released ones.
"""

import math

import numpy as np

from .threefry import step_word


def per_neuron(params, n):
    """The parameters of each neuron, as dictionaries of numbers."""
    wide = {
        k: np.broadcast_to(np.asarray(v, np.float64), n)
        for k, v in params.items()
        if k not in ("kind", "convention", "sites")
    }
    return [{k: v[i] for k, v in wide.items()} for i in range(n)]


def fading(h, tau):
    return math.exp(-h / tau) if tau > 0 else 0.0


def by_events(release):
    """An oracle of the values, from release(parameters of a neuron, its spike times)."""

    def oracle(params, inputs, n, dt):
        spikes = np.asarray(inputs[0])
        values = np.zeros(spikes.shape)
        for i, p in enumerate(per_neuron(params, n)):
            at = np.flatnonzero(spikes[:, i])
            values[at, i] = release(p, at * dt)
        return {"values": list(values)}

    return oracle


def tsodyks2(p, times):
    u, x, out = p["U"], 1.0, []
    for k, t in enumerate(times):
        if k:
            h = t - times[k - 1]
            x = 1.0 + (x - x * u - 1.0) * fading(h, p["tau_rec"])
            u = p["U"] + u * (1.0 - p["U"]) * fading(h, p["tau_fac"])
        out.append(u * x)
    return out


def jump_first(p, times):
    u, x, last, out = p["U"], 1.0, None, []
    for t in times:
        h = 0.0 if last is None else t - last
        u = p["U"] + (u - p["U"]) * fading(h, p["tau_fac"])
        x = 1.0 + (x - 1.0) * fading(h, p["tau_rec"])
        u = u + p["U"] * (1.0 - u)
        out.append(u * x)
        x, last = x - out[-1], t
    return out


def nmda_jumps(p):
    z, a = p["alpha"] * p["tau_rise"], 1.0 - p["tau_rise"] / p["tau_decay"]
    series = sum((-z) ** k / (math.factorial(k) * (a + k)) for k in range(40))
    return z * series, math.exp(-z) - 1.0


def nmda_gate(p, times):
    (k_0, k_1), s, last, out = nmda_jumps(p), 0.0, None, []
    for t in times:
        s *= 0.0 if last is None else math.exp(-(t - last) / p["tau_decay"])
        out.append(k_0 + k_1 * s)
        s, last = s + out[-1], t
    return out


def uniform(word):
    return (int(word) >> 9) * 2.0**-23 + 2.0**-24


def binomial(u, n, p):
    q, below = min(p, 1.0 - p), 0.0
    for k in range(n + 1):
        below += math.comb(n, k) * q**k * (1.0 - q) ** (n - k)
        if u <= below:
            break
    return k if p <= 0.5 else n - k


def quantal(params, inputs, n, dt, key):
    spikes, sites = np.asarray(inputs[0]), params["sites"]
    values = np.zeros(spikes.shape)
    for i, p in enumerate(per_neuron(params, n)):
        u, empty, last = p["U"], 0, 0
        for k in np.flatnonzero(spikes[:, i]):
            if k > last:
                u = p["U"] + (u - p["U"]) * fading((k - last) * dt, p["tau_fac"])
            gone = 1.0 - math.exp(-(k - last) * dt / p["tau_rec"])
            first, second = (uniform(step_word(key, np.int64(i), int(k), j)) for j in (0, 1))
            empty -= binomial(first, empty, gone)
            released = binomial(second, sites - empty, u)
            values[k, i] = released / sites
            u, empty, last = u + p["U"] * (1.0 - u), empty + released, k
    return {"values": list(values)}


def voltage(params, inputs, n, dt):
    v = np.asarray(inputs[1], np.float64)
    x = np.exp(-(v - params["v_half"]) / params["slope"])
    return {"values": list(params["t_max"] / (1.0 + x))}


def rate(params, inputs, n, dt):
    spikes, tau = np.asarray(inputs[0]), np.asarray(params["tau"])
    values = np.zeros(spikes.shape)
    jump = (1000.0 / dt) * (1.0 - np.exp(-dt / tau))
    for k, row in enumerate(spikes):
        since = dt * np.arange(len(spikes) - k)
        values[k:] += row * jump * np.exp(-since[:, None] / tau)
    return {"values": list(values)}
