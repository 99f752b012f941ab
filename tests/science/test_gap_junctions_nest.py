"""Gap junctions against NEST 3.10: `gap_junction` between `hh_cond_beta_gap_traub` neurons.

Both get the same numbers and currents, in float64. Without waveform relaxation a neuron of NEST
sees the other's voltage of the last step and its own within the step, as here; with it NEST solves
the differential equations to 1e-10 mV. Two of NEST's habits are met:

* the gates start as at rest with `V_T = 0`, whatever V_T is: it is given those of `TraubMiles`;
* without waveform relaxation nobody sees anybody in the very first step, as nothing has been sent
  yet. The currents start later; in the first step both voltages are equal.

NEST's integrator (Runge-Kutta of fifth order, 1e-3 a step or better) and RK4 here are off by less
than the lag of a step; exponential Euler, the default of `TraubMiles`, is of first order as the lag
is.
"""

from functools import cache

import numpy as np
import pytest

import jaxneuro as jn

from .synapse_cases import EVERY, away, fall, in_nest, simulate

pytestmark = pytest.mark.science
MS, START = 40.0, 1.0  # ms; START is when currents begin
V_T = np.array([-50.0, -50.0, -63.0, -63.0])  # mV; at rest below threshold, and spiking
CURRENTS = [150.0, 0.0, 200.0, 0.0]  # pA
WEIGHTS = [10.0, 10.0]  # nS, as much as the leak
DTS = (0.02, 0.01, 0.005)
FINE = 0.002
METHODS = ("rk4", "exponential_euler")


def nest_case(dt: float, wfr: bool, **changed) -> dict:
    starts = jn.neurons.TraubMiles(v_t=V_T).init(4)
    gates = [np.broadcast_to(np.asarray(x), 4).tolist() for x in (starts.m, starts.h, starts.n)]
    neurons = [
        {"V_T": v_t, "Act_m": m, "Inact_h": h, "Act_n": n} for v_t, m, h, n in zip(V_T, *gates)
    ]
    case = {"kind": "gap", "dt": dt, "ms": MS, "wfr": wfr, "start": START, "neurons": neurons}
    return {**case, "currents": CURRENTS, "weights": WEIGHTS, **changed}


@cache
def pairs(dt: float, method: str) -> np.ndarray:
    """v of two pairs of neurons, (samples, 4)."""
    model = jn.neurons.TraubMiles(v_t=V_T, method=getattr(jn.integrators, method))
    neurons = jn.Population("pairs", 4, model)
    step = jn.stimuli.Steps([START], np.array([CURRENTS]))
    rule = jn.connectivity.Explicit([0, 2], [1, 3])
    coupling = jn.Coupling("pairs", "pairs", rule, weight=np.array(WEIGHTS))
    parts = ([neurons], [], [jn.Stimulation("pairs", jn.stimuli.Current(step))], [coupling])
    return np.asarray(simulate(parts, MS, dt, {"pairs": "v"}).traces["pairs"]["v"])


def spike_times(v: np.ndarray) -> np.ndarray:
    """When the spiking pair crosses -20 mV upwards, by straight lines between samples."""
    out = []
    for x in v[:, 2:].T:
        k = np.flatnonzero((x[:-1] < -20.0) & (x[1:] >= -20.0))
        out.append(EVERY * (k + 1 + (-20.0 - x[k]) / (x[k + 1] - x[k])))
    return np.concatenate(out)


@pytest.mark.parametrize("method", METHODS)
def test_the_lag_of_a_step(method, x64):
    """Without waveform relaxation, at the same dt.

    Below threshold, RK4: 1e-9 mV, of second order, from NEST's first step without a coupling.
    Spiking: both integrators, of fourth and fifth order, on slopes of some 100 mV/ms. Exponential
    Euler: its own error of first order; spikes are late by up to 26 dt.
    """
    errors = []
    for dt, theirs in zip(DTS, in_nest([nest_case(dt, False) for dt in DTS])):
        v = pairs(dt, method)
        errors.append(away(f"{method}, lag", dt, v, theirs["V_m"]))
        at_rest, spiking = errors[-1][:2], errors[-1][2:]
        if method == "rk4":
            assert np.all(at_rest < 2e-6 * dt**2)
            assert np.all(spiking < 1e6 * dt**4)
        else:
            assert np.all(at_rest < 0.01 * dt)
            late = spike_times(v) - spike_times(theirs["V_m"])
            print(f"{method}, lag: spikes late by {late} ms at {dt} ms")
            assert np.all(np.abs(late) < 30.0 * dt)
    at_rest = [x[:2] for x in errors]
    assert fall(at_rest, DTS, 1.9 if method == "rk4" else 0.95)
    if method == "rk4":
        assert fall([x[2:] for x in errors], DTS, 3.5)


@pytest.mark.parametrize("method", METHODS)
def test_the_limit_of_short_steps(method, x64):
    """Against the differential equations: what the lag does is of first order.

    At 0.01 ms below 1e-3 mV below threshold, and 4 mV in spikes, which are late by 0.01 ms.
    """
    errors, (limit,) = [], in_nest([nest_case(FINE, True)])
    assert limit["V_m"][:, :2].max() < -50.0
    assert spike_times(limit["V_m"]).size == 3
    assert np.ptp(limit["V_m"][:, 1]) > 3.0, "the neighbour hardly moved"
    for dt in DTS:
        v = pairs(dt, method)
        errors.append(away(f"{method}, limit", dt, v, limit["V_m"]))
        late = spike_times(v) - spike_times(limit["V_m"])
        print(f"{method}, limit: spikes late by {late} ms at {dt} ms")
        assert np.all(errors[-1][:2] < 0.1 * dt)
        assert np.all(np.abs(late) < (1.0 if method == "rk4" else 30.0) * dt)
        if method == "rk4":
            assert np.all(errors[-1][2:] < 400.0 * dt)
    spiking = errors if method == "rk4" else [x[:2] for x in errors]
    assert fall(spiking, DTS, 0.95)


def test_nest_has_no_coupling_in_the_first_step():
    """From other start voltages: the first step is that of neurons that do not see each other."""
    dt, runs = 0.1, []
    for weight in (10.0, 1e-12):
        case = nest_case(dt, False, ms=0.5, weights=[weight] * 2)
        for neuron, v in zip(case["neurons"], (-60.0, -70.0) * 2):
            neuron["V_m"] = v
        runs += in_nest([case])
    apart = np.abs(runs[0]["V_m"] - runs[1]["V_m"])
    assert np.all(apart[0] < 1e-9)
    assert np.all(apart[1] > 0.01)
