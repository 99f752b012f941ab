"""Spike times of an exponential neuron at a constant current, by an adaptive ODE solver.

    c_m dv/dt = -g_l (v - e_l) + g_l delta_t exp((v - v_th)/delta_t) - w + current
    tau_w dw/dt = a (v - e_l) - w;     at v = v_peak: v = v_reset, w += b

Up to v_th + 4 delta_t the time is the independent variable, from there on v is: dt/dv and dw/dv
have no pole.  Brette and Gerstner (2005).  Nothing is on a grid.
"""

import numpy as np
from scipy.integrate import solve_ivp

TIGHT = {"rtol": 1e-10, "atol": 1e-10, "method": "DOP853"}


def adex_spike_times(p, current, duration):
    """The spike times [ms] up to `duration`, from v = e_l and w = 0; p by name."""
    middle = p["v_th"] + 4.0 * p["delta_t"]

    def flow(t, y):
        rise = p["g_l"] * p["delta_t"] * np.exp((y[0] - p["v_th"]) / p["delta_t"])
        inward = -p["g_l"] * (y[0] - p["e_l"]) + rise - y[1] + current
        return [inward / p["c_m"], (p["a"] * (y[0] - p["e_l"]) - y[1]) / p["tau_w"]]

    def by_v(v, y):
        dv, dw = flow(y[0], [v, y[1]])
        return [1.0 / dv, dw / dv]

    def crossing(t, y):
        return y[0] - middle

    crossing.terminal, crossing.direction = True, 1
    now, y, times = 0.0, [p["e_l"], 0.0], []
    while True:
        rise = solve_ivp(flow, (now, duration), y, events=crossing, **TIGHT)
        if rise.status == 0:
            return np.array(times)
        at = [rise.t[-1], rise.y[1, -1]]
        peak = solve_ivp(by_v, (middle, p["v_peak"]), at, **TIGHT)
        now, w = peak.y[:, -1]
        times.append(now)
        y = [p["v_reset"], w + p["b"]]


def driven_adex_spike_times(p, synapses, arrivals, duration):
    """The same under conductances: `synapses` of (tau_syn, e_rev), of each (time, weight) pairs.

    Nothing may stop the upswing beyond `v_th + 4 delta_t`.
    """
    now, y, times, g = 0.0, [p["e_l"], 0.0], [], np.zeros(len(synapses))
    tau, e_rev = np.transpose(synapses)
    middle = p["v_th"] + 4.0 * p["delta_t"]

    def flow(t, y):
        rise = p["g_l"] * p["delta_t"] * np.exp((y[0] - p["v_th"]) / p["delta_t"])
        inward = -p["g_l"] * (y[0] - p["e_l"]) + rise - y[1]
        inward += np.sum(g * np.exp((since - t) / tau) * (e_rev - y[0]))
        return [inward / p["c_m"], (p["a"] * (y[0] - p["e_l"]) - y[1]) / p["tau_w"]]

    def by_v(v, y):
        dv, dw = flow(y[0], [v, y[1]])
        return [1.0 / dv, dw / dv]

    def crossing(t, y):
        return y[0] - middle

    def in_time(v, y):
        return y[0] - stop

    crossing.terminal = in_time.terminal = True
    crossing.direction = in_time.direction = 1
    since = 0.0
    for stop in sorted({time for one in arrivals for time, _ in one} | {duration}):
        while now < stop:
            if y[0] < middle:
                moved = solve_ivp(flow, (now, stop), y, events=crossing, **TIGHT)
                now, y = moved.t[-1], moved.y[:, -1]
                y[0] = middle if moved.status == 1 else y[0]
                continue
            moved = solve_ivp(by_v, (y[0], p["v_peak"]), [now, y[1]], events=in_time, **TIGHT)
            now, y = moved.y[0, -1], [moved.t[-1], moved.y[1, -1]]
            if moved.status == 1:
                now = stop
            else:
                times.append(now)
                y = [p["v_reset"], y[1] + p["b"]]
        g = g * np.exp((since - stop) / tau)
        g = g + [sum(weight for time, weight in one if time == stop) for one in arrivals]
        since = stop
    return np.array(times)
