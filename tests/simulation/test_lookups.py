"""Look-ups of a result by step, by neuron and by name."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import balanced, description
from tests.refusing import assert_refused

NET = jn.build(balanced(delay=jn.Uniform(0.5, 8.0)), 1, 0.1)


@pytest.fixture(scope="module")
def result():
    record = jn.Record(
        variables={"E": ("v", "refractory"), "E->I": "g"},
        neurons={"E": [3, 100]},
        interval=0.5,
        means={"E": "v", "I": "v"},
        lfp="I",
    )
    first = jn.simulate(NET, 10.0)
    return jn.simulate(NET, 30.0, record=record, state=first.state)


@pytest.fixture(scope="module")
def dense():
    """Spikes of the same steps as booleans."""
    bits = jax.jit(lambda net: jn.scan(net, net.init(0), 400)[1].spikes)(NET)
    return {name: np.asarray(bits.dense(name))[100:] for name in "EI"}


@pytest.mark.slow
def test_neurons_at_a_step(result, dense):
    for name in "EI":
        for k in range(300):
            found = result.neurons_at(name, 100 + k)
            np.testing.assert_array_equal(found, np.flatnonzero(dense[name][k]))
    assert dense["E"].sum() > 100


@pytest.mark.slow
def test_times_of_a_neuron(result, dense):
    for name in "EI":
        for i in range(NET.populations[name]):
            steps = np.flatnonzero(dense[name][:, i])
            np.testing.assert_allclose(result.spikes[name].of(i), (steps + 101) * 0.1)


def test_no_spike_at_all():
    quiet = jn.simulate(jn.build(description(["A"], currents={"B": 0.0}), 0, 0.1), 5.0)
    assert quiet.neurons_at("A", 49).size == 0
    assert quiet.spikes["A"].of(12).size == 0


def test_the_history_of_a_name(result):
    history = result.history("E")
    assert list(history) == ["time", "refractory", "v", "mean v"]
    np.testing.assert_allclose(history["time"], 10.0 + 0.5 * np.arange(1, 61))
    assert history["v"].shape == (60, 2)
    assert history["mean v"].shape == (60,)
    assert list(result.history("E->I")) == ["time", "g"]
    assert list(result.history("I")) == ["time", "mean v", "lfp"]
    assert all(isinstance(x, np.ndarray) for x in history.values())
    np.testing.assert_array_equal(result.neurons["E"], [3, 100])


def test_a_part_of_the_run(result, dense):
    """Spikes of steps 150 to 250: those in (15, 25] ms; the run is from 10 to 40 ms."""
    times, neurons = result.events("E", 15.0, 25.0)
    steps, want = np.nonzero(dense["E"][50:150])
    np.testing.assert_allclose(times, (steps + 151) * 0.1)
    np.testing.assert_array_equal(neurons, want)
    rate = result.rate("E", start=15.0, stop=25.0)
    assert rate == pytest.approx(times.size / (NET.populations["E"] * 0.01))
    assert f"E: 160 neurons, {rate:.2f} Hz" in jn.analysis.summary(result, start=15.0, stop=25.0)
    for call in (result.rate, result.events):
        with pytest.raises(
            ValueError, match=r"the run, from 10 to 40 ms; got 0\.02 ms.*start=20, stop=30"
        ):
            call("E", 0.02, 0.03)


def test_sizes_by_name(result):
    assert result.populations == NET.populations
    assert result.dt == 0.1


BAD = {
    "before": (lambda r: r.neurons_at("E", 99), "neurons_at", "step", "99"),
    "after": (lambda r: r.neurons_at("E", 400), "neurons_at", "step", "400"),
    "name": (lambda r: r.neurons_at("X", 100), "neurons_at", "population", "'X'"),
    "neuron": (lambda r: r.spikes["I"].of(40), "SpikeTrains.of", "neuron", "40"),
    "history": (lambda r: r.history("X"), "", "sampled population or projection", "'X'"),
}


@pytest.mark.parametrize(("call", "owner", "field", "got"), BAD.values(), ids=BAD.keys())
def test_bad_input(call, result, owner, field, got):
    assert_refused(lambda: call(result), owner, field, got)


def test_without_spikes():
    result = jn.simulate(NET, 0.0, record=jn.Record(spikes=False))
    for call in (lambda: result.neurons_at("E", 0), lambda: result.spikes["E"].of(0)):
        with pytest.raises(ValueError, match="were not recorded"):
            call()
