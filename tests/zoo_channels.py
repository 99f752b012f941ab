"""Hodgkin-Huxley neurons of several channels and methods: their cases and settings."""

import numpy as np

import jaxneuro as jn
from tests.oracle import hodgkin_huxley as oracle
from tests.oracle.integrate import BY_KIND
from tests.zoo_case import Case, Setting

ch = jn.channels
SETTINGS: dict[str, Setting] = {"HodgkinHuxley": Setting(dt=0.02, size=0.03)}
# Without a spike nothing depends on what a spike crosses.
CROSSING = ("v_th", "surrogate")
SQUID = (ch.SquidSodium(115.0, 52.0, -64.5), ch.SquidPotassium(38.0, -76.0, -65.5), ch.Leak(0.27))
MANY = (*SQUID, ch.CalciumL(0.15, 110.0), ch.PotassiumA(9.0), ch.PotassiumM(0.1, -88.0, 500.0))
MEMBRANE = {"c_m": 1.05, "v_th": -3.0, "v_start": -66.0, "celsius": 7.1, "q10": 2.9}


def hodgkin_huxley(params, drives, n, dt):
    y, names = oracle.start(params, n), ("v", *oracle.gate_names(params))
    move = BY_KIND[params["method"]["kind"]]
    out = {"spikes": [], **{name: [] for name in names}}
    for current, conductance, jump in zip(*map(np.asarray, drives[:3])):
        before = y[0]
        y = move(lambda y, i=current, g=conductance: oracle.pieces(y, params, i, g), y, dt)
        y = [y[0] + jump, *y[1:]]
        out["spikes"].append((before < params["v_th"]) & (y[0] >= params["v_th"]))
        for name, x in zip(names, y):
            out[name].append(x)
    return out


def hh(channels, method):
    return jn.neurons.HodgkinHuxley(channels, **MEMBRANE, method=method)


# The upstroke amplifies rounding. RK4 does not bear the closing rate of m far below rest. Its sums
# of products become fused multiply-adds in another order where XLA compiles for several devices.
CASES: dict[str, Case] = {
    "HodgkinHuxley": Case(
        hh(SQUID, jn.integrators.rk4),
        hodgkin_huxley,
        near=5e-5,
        silent=CROSSING,
        bears=3.0,
        same_bits=False,
        amplifies=20.0,
    ),
    "HodgkinHuxley, six channels": Case(
        hh(MANY, jn.integrators.exponential_euler),
        hodgkin_huxley,
        near=2e-4,
        silent=CROSSING,
        amplifies=50.0,
    ),
}
