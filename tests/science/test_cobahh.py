"""COBAHH (Brette et al. 2007, benchmark 3) at 4,000 neurons against Brian2.

With the same connections and start values in float64, Brian2 differs in two places and no other:
it takes a conductance as it stands at the start of a step, here it is the mean over the step; and
it counts v above -20 mV once in 3 ms, here a spike is the crossing.
"""

import json
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from benchmarks._environments import environment
from tests.neurons.test_traub_miles import cobahh
from tests.oracle.biophysical import membrane

pytestmark = pytest.mark.science
DT, STEPS = 0.1, 1000
TAUS, REVERSALS = {"e": 5.0, "i": 10.0}, {"e": 0.0, "i": -80.0}
CELL = {
    "c_m": 200.0,
    "g_l": 10.0,
    "e_l": -60.0,
    "g_na": 2e4,
    "e_na": 50.0,
    "g_k": 6e3,
    "e_k": -90.0,
}
# A job of Brian2: the mean over the step or not, and while what is true v above -20 mV counts not.
JOBS = {
    "example": (False, "3*ms"),
    "mean": (True, "3*ms"),
    "same": (True, "v > -20*mV"),
}


def of_all(net, state, kind, variable):
    """Of E, then I: a variable of the neurons, or of the receptors of one kind of source."""
    names = "EI" if kind is None else [f"{kind.upper()}->{target}" for target in "EI"]
    return np.concatenate([net.read(state, name, variable) for name in names])


def exported(net, state):
    """Connections by kind of source, with E and I counted through, and start values."""
    first = {"E": 0, "I": net.populations["E"]}
    given = {"v": of_all(net, state, None, "v")}
    for kind in "ei":
        parts = [net.connections(f"{kind.upper()}->{target}") for target in "EI"]
        given[f"pre_{kind}"] = np.concatenate([c.pre + first[c.source] for c in parts])
        given[f"post_{kind}"] = np.concatenate([c.post + first[c.target] for c in parts])
        given[f"g{kind}"] = of_all(net, state, kind, "g")
    return given


def in_brian2(given, folder):
    """What each job ends in, run by Brian2's python."""
    np.savez(folder / "network.npz", **given)
    common = {"network": str(folder / "network.npz"), "steps": STEPS, "dt": DT}
    jobs = [
        common | {"out": str(folder / f"{name}.npz"), "means": means, "refractory": refractory}
        for name, (means, refractory) in JOBS.items()
    ]
    done = subprocess.run(
        [environment("brian2"), Path(__file__).with_name("brian2_cobahh.py")],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {name: dict(np.load(folder / f"{name}.npz")) for name in JOBS}


def spikes_of(result):
    """(step, neuron) of every spike, E and I counted through."""
    first = {"E": 0, "I": result.populations["E"]}
    steps = {k: result.events(k) for k in "EI"}
    return {
        (int(t), int(i) + first[k])
        for k, (times, neurons) in steps.items()
        for t, i in zip(np.rint(times / DT).astype(int) - 1, neurons)
    }


def first_step(given, factors):
    """v after one step of exponential Euler from v, g and closed gates."""
    g = {k: given[f"g{k}"] * factors[k] for k in "ei"}
    current = sum(g[k] * REVERSALS[k] for k in "ei")
    source, rate = membrane(CELL, 0.0, 0.0, 0.0, current, g["e"] + g["i"])
    return given["v"] - np.expm1(-rate * DT) * (source / rate - given["v"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Start values, the run here, and those of Brian2: 100 ms in float64."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        net = jn.build(cobahh(4000, 0.02), 1, DT, jnp.float64)
        given = exported(net, net.init(1))
        record = jn.Record(variables=dict.fromkeys("EI", "v"))
        result = jn.simulate(net, STEPS * DT, key=1, record=record, progress=False)
        end = {x: of_all(net, result.state, None, x) for x in "vmhn"}
        end |= {f"g{kind}": of_all(net, result.state, kind, "g") for kind in "ei"}
    finally:
        jax.config.update("jax_enable_x64", before)
    return given, result, end, in_brian2(given, tmp_path_factory.mktemp("cobahh"))


def trace(result):
    return np.concatenate([result.traces[k]["v"] for k in "EI"], axis=1)


def brian2_spikes(run):
    return set(zip(run["steps"].tolist(), run["neurons"].tolist()))


def test_with_both_differences_undone_brian2_gives_the_same(runs):
    """Every spike of 100 ms, and every variable but for rounding, which the network amplifies."""
    _, result, end, brian2 = runs
    same = brian2["same"]
    assert brian2_spikes(same) == spikes_of(result)
    assert len(spikes_of(result)) > 10_000
    np.testing.assert_allclose(trace(result)[:10], same["trace"][:10], rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace(result), same["trace"], rtol=0, atol=1e-6)
    for name in end:
        np.testing.assert_allclose(end[name], same[name], rtol=0, atol=1e-6, err_msg=name)


def test_the_first_difference_is_the_mean_of_the_conductances(runs):
    """In the first step, in every neuron, by what the mean makes of it."""
    given, result, _, brian2 = runs
    start = dict.fromkeys("ei", 1.0)
    mean = {k: -np.expm1(-DT / tau) * tau / DT for k, tau in TAUS.items()}
    ours, theirs = trace(result)[0], brian2["example"]["trace"][0]
    np.testing.assert_allclose(ours, first_step(given, mean), rtol=0, atol=1e-10)
    np.testing.assert_allclose(theirs, first_step(given, start), rtol=0, atol=1e-10)
    assert 1e-3 < np.abs(ours - theirs).max() < 0.1


def test_the_second_is_a_spike_within_3_ms_of_one(runs):
    """With the mean alone: until then all v are equal, and Brian2 does not count that spike."""
    _, result, _, brian2 = runs
    ours, theirs = spikes_of(result), brian2_spikes(brian2["mean"])
    step, neuron = min(ours ^ theirs)
    assert (step, neuron) in ours
    earlier = max(k for k, i in ours if i == neuron and k < step)
    assert step - earlier < 30
    np.testing.assert_allclose(
        trace(result)[:step], brian2["mean"]["trace"][:step], rtol=0, atol=1e-6
    )


# Brian2 2.9.0 on the connections and start values of seeds 0 to 7: its example with a delay of one
# step, 1 s, spikes per neuron.
BRIAN2 = np.array([34.937, 34.240, 35.932, 37.008, 35.451, 35.051, 37.161, 32.090])
# How much higher it is, and how this varies from seed to seed: in a C++ simulation of either scheme
# that repeats the runs above, on 128 networks, 0.43 Hz (standard error 0.12). Most of what a rate
# differs by from seed to seed (3.0 Hz) both have in common.
HIGHER, SPREAD = 0.43, 1.4


def test_rates_are_those_of_brian2():
    """On the same networks, within three standard errors of the mean difference."""
    rates = []
    for seed in range(BRIAN2.size):
        net = jn.build(cobahh(4000, 0.02), seed, DT)
        result = jn.simulate(net, 1000.0, key=seed, progress=False)
        rates.append(sum(result.events(k)[0].size for k in "EI") / 4000)
    higher = BRIAN2 - rates
    print(f"Brian2 {BRIAN2.mean():.2f} Hz, jaxneuro {np.mean(rates):.2f} Hz")
    assert abs(higher.mean() - HIGHER) < 3 * SPREAD / np.sqrt(BRIAN2.size), rates
    assert np.abs(higher).max() < 4 * SPREAD, rates
