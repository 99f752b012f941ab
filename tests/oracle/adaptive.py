"""Izhikevich, leaky Izhikevich, QIF, EIF, AdEx and adaptive-threshold neurons, step by step.

Every oracle takes parameters by name (numbers or one per neuron; `method` a dictionary with the
`kind` of the integrator), the drives (current, conductance, jump: arrays (steps, n)), n and dt,
and returns for each step the spikes and the state as it is kept.

Exponential neurons (EIF, AdEx) move in one of two coordinates, chosen at the start of each step:

    v                           c_m v' = g_l (e_l - v) + g_l delta_t exp((v - v_th)/delta_t) - w + I
    z = exp((v_th - v)/delta_t) z' = -g_l/c_m - z rest/(delta_t c_m)

with I = current - conductance v and rest = g_l (e_l - v) - w + I.  z is taken where v > v_th,
|rest| dt < delta_t c_m and the exponential current is above |rest|/4.  v_peak is met at
z_peak = exp((v_th - v_peak)/delta_t); below it z goes on as a straight continuation,
v = v_peak + delta_t (z_peak - z).

Where z passed z_peak, the time `late` from then to the end of the step is that of the cubic that
has the times and the slopes dt/dz of both ends.  Until the peak w follows the mean of v for a z
that falls on a straight line,

    mean = (z_0 v_0 - z_peak v_peak)/(z_0 - z_peak) + delta_t,

then w += b, v = v_reset, and both go on for `late`: w with slope dw/dt, v by its Taylor series of
two terms.  Other neurons at v >= v_peak are reset at the end of the step (late = 0).  With
t_ref >= 1 step, v is held at v_reset from the spike, and through the t_ref/dt steps after it.

Brette and Gerstner (2005); Fourcaud-Trocme et al. (2003); Izhikevich (2003); Bellec et al. (2018).
"""

import numpy as np
from scipy.interpolate import BPoly

from tests.oracle.integrate import BY_KIND
from tests.oracle.lif import refractory_steps


def _steps(drives):
    return zip(*(np.asarray(x, np.float64) for x in drives[:3]))


def _izhikevich(params, drives, n, dt, u0, pull):
    """`pull(v, u)`: the source and the rate by which u acts on v."""
    p, move = params, BY_KIND[params["method"]["kind"]]
    v, u, spiked = np.full(n, -65.0), np.broadcast_to(u0, n) + 0.0, np.zeros(n, bool)
    out = {"spikes": [], "v": [], "u": []}
    for current, conductance, jump in _steps(drives):
        v, u = np.where(spiked, p["c"], v), np.where(spiked, u + p["d"], u)

        def linear(y, current=current, conductance=conductance):
            v, u = y
            source, rate = pull(v, u)
            square = 0.04 * v**2 + 5.0 * v + 140.0
            return [
                ((square + source + current) / p["c_m"], (rate + conductance) / p["c_m"]),
                (p["a"] * p["b"] * v / p["tau_m"], p["a"] / p["tau_m"]),
            ]

        v, u = move(linear, [v, u], dt)
        v = v + jump
        spiked = v >= p["v_th"]
        for name, x in zip(out, (spiked, v, u)):
            out[name].append(x)
    return out


def izhikevich(params, drives, n, dt):
    """Izhikevich (2003) with capacitance and time scale; starts at v = -65, u = b v."""
    u0 = -65.0 * params["b"]
    return _izhikevich(params, drives, n, dt, u0, lambda v, u: (-u, 0.0))


def leaky_izhikevich(params, drives, n, dt):
    """The same with -u (v - e_l) in place of -u; starts at v = -65, u = 30."""
    pull = lambda v, u: (u * params["e_l"], u)  # noqa: E731
    return _izhikevich(params, drives, n, dt, 30.0, pull)


def qif(params, drives, n, dt):
    """Quadratic neuron; the square is taken at most at v_peak."""
    p, move = params, BY_KIND[params["method"]["kind"]]
    v, spiked = np.broadcast_to(p["v_r"], n) + 0.0, np.zeros(n, bool)
    out = {"spikes": [], "v": []}
    for current, conductance, jump in _steps(drives):
        v = np.where(spiked, p["v_reset"], v)

        def linear(y, current=current, conductance=conductance):
            x = np.minimum(y[0], p["v_peak"])
            square = p["k"] * (x - p["v_r"]) * (x - p["v_t"])
            return [((square + current) / p["c_m"], conductance / p["c_m"])]

        (v,) = move(linear, [v], dt)
        v = v + jump
        spiked = v >= p["v_peak"]
        out["spikes"].append(spiked)
        out["v"].append(v)
    return out


def alif(params, drives, n, dt):
    """Exact leaky membrane under a threshold v_th + theta."""
    p, g_l = params, params["c_m"] / params["tau_m"]
    v, theta = np.broadcast_to(p["e_l"], n) + 0.0, np.zeros(n)
    left, spiked = np.zeros(n, np.int64), np.zeros(n, bool)
    out = {"spikes": [], "v": [], "theta": []}
    for current, conductance, jump in _steps(drives):
        v, theta = np.where(spiked, p["v_reset"], v), theta + p["beta"] * spiked
        theta = theta * np.exp(-dt / p["tau_theta"])
        held, g = left > 0, g_l + conductance
        v_inf = (g_l * p["e_l"] + current) / g
        moved = v_inf + (v - v_inf) * np.exp(-dt * g / p["c_m"]) + jump
        v = np.where(held, v, moved)
        spiked = (v >= p["v_th"] + theta) & ~held
        left = np.where(spiked, refractory_steps(p["t_ref"], dt), np.maximum(left - 1, 0))
        for name, x in zip(out, (spiked, v, theta)):
            out[name].append(x)
    return out


def homeostatic_lif(params, drives, n, dt):
    """Exact leaky membrane under a threshold that each spike raises and time lowers."""
    p, g_l = params, params["c_m"] / params["tau_m"]
    v, theta = np.broadcast_to(p["e_l"], n) + 0.0, np.zeros(n)
    left, spiked = np.zeros(n, np.int64), np.zeros(n, bool)
    out = {"spikes": [], "v": [], "theta": []}
    for current, conductance, jump in _steps(drives):
        v, theta = np.where(spiked, p["v_reset"], v), theta + p["eta"] * spiked
        theta = np.maximum(theta - p["eta"] * p["target"] * dt / 1000.0, p["theta_min"])
        held, g = left > 0, g_l + conductance
        v_inf = (g_l * p["e_l"] + current) / g
        moved = v_inf + (v - v_inf) * np.exp(-dt * g / p["c_m"]) + jump
        v = np.where(held, v, moved)
        spiked = (v >= p["v_th"] + theta) & ~held
        left = np.where(spiked, refractory_steps(p["t_ref"], dt), np.maximum(left - 1, 0))
        for name, x in zip(out, (spiked, v, theta)):
            out[name].append(x)
    return out


class _Exponential:
    """One step of an exponential neuron: what is constant during it, and its two coordinates."""

    def __init__(self, p, v, w, current, conductance, dt):
        self.p, self.current, self.conductance = p, current, conductance
        self.z_peak = np.exp((p["v_th"] - p["v_peak"]) / p["delta_t"])
        rest = np.abs(self.rest(v, w))
        small = rest * dt < p["delta_t"] * p["c_m"]
        x = np.clip((v - p["v_th"]) / p["delta_t"], -500.0, 500.0)
        leads = p["g_l"] * p["delta_t"] * np.exp(x) > 0.25 * rest
        self.up = (v > p["v_th"]) & small & leads

    def rest(self, v, w):
        p = self.p
        return p["g_l"] * (p["e_l"] - v) - w + self.current - self.conductance * v

    def coordinate(self, v):
        with np.errstate(over="ignore"):
            return np.where(self.up, np.exp((self.p["v_th"] - v) / self.p["delta_t"]), v)

    def v(self, y):
        p, z = self.p, np.where(self.up, y, 1.0)
        above = p["v_peak"] + p["delta_t"] * (self.z_peak - z)
        below = p["v_th"] - p["delta_t"] * np.log(np.maximum(z, self.z_peak))
        return np.where(self.up, np.where(z > self.z_peak, below, above), y)

    def linear(self, y, w):
        p, v = self.p, self.v(y)
        steepness = np.minimum((v - p["v_th"]) / p["delta_t"], 20.0)
        rise = p["g_l"] * p["delta_t"] * np.exp(steepness)
        source = (p["g_l"] * p["e_l"] + rise - w + self.current) / p["c_m"]
        rate = (p["g_l"] + self.conductance) / p["c_m"]
        in_z = self.rest(v, w) / (p["delta_t"] * p["c_m"])
        return (
            np.where(self.up, -p["g_l"] / p["c_m"], source),
            np.where(self.up, in_z, rate),
        )

    def spike(self, start, end, v, w, dt):
        """(late, mean of v until the peak), for each neuron on its own."""
        late, mean = np.zeros(v.size), v.copy()
        (s0, r0), s1 = self.linear(start, w), np.where(self.up, -self.p["g_l"] / self.p["c_m"], 0.0)
        r1 = self.rest(self.p["v_peak"], w) / (self.p["delta_t"] * self.p["c_m"])
        v_peak, d = (np.broadcast_to(self.p[k], v.shape) for k in ("v_peak", "delta_t"))
        peak = np.broadcast_to(self.z_peak, v.shape)
        for i in np.flatnonzero(self.up & (end <= peak)):
            slopes = 1.0 / (s1[i] - r1[i] * end[i]), 1.0 / (s0[i] - r0[i] * start[i])
            time = BPoly.from_derivatives([end[i], start[i]], [[dt, slopes[0]], [0.0, slopes[1]]])
            late[i] = np.clip(dt - time(peak[i]), 0.0, dt)
            area = start[i] * v[i] - peak[i] * v_peak[i]
            mean[i] = area / (start[i] - peak[i]) + d[i]
        return late, mean


def adex(params, drives, n, dt):
    """Adaptive exponential neuron; the state after the reset."""
    p, move = params, BY_KIND[params["method"]["kind"]]
    v, w, left = np.broadcast_to(p["e_l"], n) + 0.0, np.zeros(n), np.zeros(n, np.int64)
    out = {"spikes": [], "v": [], "w": []}
    for current, conductance, jump in _steps(drives):
        held, one = left > 0, _Exponential(p, v, w, current, conductance, dt)
        start = one.coordinate(v)

        def linear(y, one=one):
            pull = p["a"] * (np.minimum(one.v(y[0]), p["v_peak"]) - p["e_l"])
            return [one.linear(*y), (pull / p["tau_w"], 1.0 / p["tau_w"])]

        end, moved_w = move(linear, [start, w], dt)
        at_reset = p["a"] * (p["v_reset"] - p["e_l"])
        moved = np.where(held, v, one.v(end) + jump)
        moved_w = np.where(held, at_reset + (w - at_reset) * np.exp(-dt / p["tau_w"]), moved_w)
        spikes = moved >= p["v_peak"]
        late, mean = one.spike(start, end, v, w, dt)
        until = w + (dt - late) * (p["a"] * (mean - p["e_l"]) - w) / p["tau_w"]
        new = np.where(late > 0, until, moved_w) + p["b"]
        dw = (at_reset - new) / p["tau_w"]
        v = np.where(spikes, _after(one, new, dw, late, dt), moved)
        w = np.where(spikes, new + late * dw, moved_w)
        left = np.where(spikes, refractory_steps(p["t_ref"], dt), np.maximum(left - 1, 0))
        for name, x in zip(out, (spikes, v, w)):
            out[name].append(x)
    return out


def _after(one, w, dw, late, dt):
    """v at `late` after the reset: v_reset + late v' + late^2 v''/2; held if refractory."""
    p = one.p
    late = np.where(refractory_steps(p["t_ref"], dt) > 0, 0.0, late)
    rise = p["g_l"] * np.exp((p["v_reset"] - p["v_th"]) / p["delta_t"])
    first = (one.rest(p["v_reset"], w) + p["delta_t"] * rise) / p["c_m"]
    second = ((rise - p["g_l"] - one.conductance) * first - dw) / p["c_m"]
    return p["v_reset"] + late * first + 0.5 * late**2 * second


def eif(params, drives, n, dt):
    """Exponential neuron: the adaptive one without adaptation."""
    still = {**params, "a": 0.0, "b": 0.0, "tau_w": 1.0}
    return {k: x for k, x in adex(still, drives, n, dt).items() if k != "w"}
