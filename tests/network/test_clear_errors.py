"""Errors of a first day: what was asked for in a way that is close, and what to write instead."""

import json
import pickle
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

PARTS = [jn.Population("E", 5, jn.neurons.LIF()), jn.Population("I", 3, jn.neurons.LIF())]
LINK = jn.Projection(
    "I",
    "E",
    jn.connectivity.AllToAll(),
    weight=1.0,
    delay=1.0,
    synapse=jn.synapses.Exponential(5.0),
)


@pytest.fixture(scope="module")
def net():
    return jn.build(jn.Description(PARTS, [LINK]), key=0, dt=0.1)


@pytest.fixture(scope="module")
def result(net):
    return jn.simulate(net, 50.0, progress=False)


class WideState(NamedTuple):
    v: Any
    x: Any
    spikes: Any


class Wide(jn.Neuron):
    """It has an array (n, 3), and no reset."""

    def init(self, n):
        return WideState(jnp.zeros(n), jnp.zeros((n, 3)), jnp.zeros(n, bool))

    def step(self, state, drive, dt):
        v = state.v + 1.0 + drive.current_at(state.v)
        return WideState(v, state.x, v > 1.5), v > 1.5


def built(model, **named):
    return jn.build(jn.Description([jn.Population("E", 4, model, **named)]), key=0, dt=0.1)


def test_traced_spikes_as_text(net):
    def run(key):
        return jn.scan(net, net.init(key), 5)[1]

    recording = jax.eval_shape(run, 1)
    assert repr(recording.spikes) == "SpikeBits: 5 steps of 0.1 ms, of E, I; see events(name)"


def test_a_drive_as_text():
    drive = jn.Drive(np.ones(3), jump=2.0)
    assert repr(drive) == "Drive(current=[1, 1, 1], jump=2.0)"
    assert type(pickle.loads(pickle.dumps(drive))) is type(jax.tree.map(jnp.sum, drive)) is jn.Drive


def test_an_array_of_another_shape_is_said_to_be_there():
    cells, record = "population 'E'", jn.Record(variables={"E": "x"})
    assert_refused(lambda: built(Wide(), initial={"x": 0.5}), cells, "initial x", "(4, 3)")
    net = built(Wide())
    assert_refused(lambda: jn.simulate(net, 1.0, record=record), cells, "x", "(4, 3)")
    read = lambda: net.read(net.init(0), "E", "y")  # noqa: E731
    assert_refused(read, "", f"state variable of {cells}", "'y'")


@pytest.mark.slow
def test_who_spikes_in_every_step_is_noted(result):
    run = jn.simulate(built(Wide()), 5.0, progress=False)
    assert "spikes in most time steps: does step reset v?" in jn.analysis.summary(run)
    assert "most time steps" not in jn.analysis.summary(result)
    source = jn.simulate(built(jn.neurons.PoissonSource(9000.0)), 5.0, progress=False)
    assert "most time steps" not in jn.analysis.summary(source)


@pytest.mark.parametrize("asked", ["raster", "rates", "activity", "events", "rate", "summary"])
def test_a_window_after_the_run_says_where_it_ends(result, asked):
    functions = {
        "events": lambda start: result.events("E", start),
        "rate": lambda start: result.rate("E", start),
        "summary": lambda start: jn.analysis.summary(result, start=start),
    }
    ask = functions.get(asked) or (lambda start: getattr(jn.plot, asked)(result, start=start))
    with pytest.raises(ValueError, match="from 0 to 50 ms; got 60"):
        ask(60.0)


def test_sizes_by_name_are_a_dict(net, result):
    for sizes in (net.populations, result.populations):
        with pytest.raises(KeyError, match=r"no population named 'X'.* The known ones: 'E', 'I'"):
            sizes["X"]
        assert sizes == {"E": 5, "I": 3}
        assert json.loads(json.dumps(sizes)) == sizes
        assert pickle.loads(pickle.dumps(sizes)) == sizes == jax.tree.map(lambda n: n, sizes)


def test_texts_have_no_noise(net):
    run = jn.simulate(net, 8569.8, progress=False, record=jn.Record(spikes=False))
    assert run.stop == 8569.8
    assert repr(jn.Part("E", slice(0, 3))) == "Part('E', 0:3)"
    given = jn.parallel.Given({"E": np.zeros(99, int)})
    assert repr(given) == "Given(devices={'E': 99 values from 0 to 0})"
    with pytest.raises(ValueError, match=r"got -0\.01$"):
        jn.stimuli.Poisson(np.float32(-0.01))
