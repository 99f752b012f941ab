"""Models of users whose methods take or return something else: the error says what they should."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn


class Neuron(jn.Neuron):
    def init(self, n):
        return jnp.zeros(n)

    def step(self, state, drive, dt):
        return state + drive.current_at(state), state > 1


class Synapse(jn.Synapse):
    def init(self, n):
        return jnp.zeros(n)

    def step(self, state, arrivals, v, dt):
        return state + arrivals, jn.Drive(current=state)


class Release(jn.Release):
    def init(self, n):
        return jnp.ones(n)

    def step(self, state, spikes, v, dt):
        return state, state * spikes


class Stimulus(jn.Stimulus):
    def init(self, n, stream):
        return ()

    def step(self, state, step, dt):
        return state, jn.Drive(current=1.0)


class Rule(jn.Plasticity):
    def on_pre(self, synapse, pre, post):
        return {"weight": synapse.weight + 1}


def build(neuron=Neuron, synapse=Synapse, release=Release, stimulus=Stimulus, rule=Rule):
    wires = {"weight": 1.0, "delay": 1.0, "synapse": synapse(), "release": release()}
    p = jn.Projection("E", "E", jn.connectivity.AllToAll(), plasticity=rule(), **wires)
    stimuli = [jn.Stimulation("E", stimulus())]
    return jn.build(jn.Description([jn.Population("E", 3, neuron())], [p], stimuli), 1, 0.1)


def changed(cls, **methods):
    return type(f"Own{cls.__name__}", (cls,), methods)


def if_it_spikes(self, state, drive, dt):
    return (state if state > 1 else -state), state > 1


def numpy_instead(self, state, arrivals, v, dt):
    return np.exp(np.asarray(state)), jn.Drive(current=state)


REFUSED = {
    "takes": ({"neuron": changed(Neuron, step=lambda self, s, d: (s, s > 1))}, "as a Neuron does"),
    "init": ({"release": changed(Release, init=lambda self: 1)}, "OwnRelease: init must take"),
    "stream": ({"stimulus": changed(Stimulus, init=lambda self, n: ())}, "take .self, n, stream"),
    "hook": (
        {"rule": changed(Rule, on_pre=lambda self, s, pre: {})},
        "take .self, synapse, pre, p",
    ),
    "one": ({"neuron": changed(Neuron, step=lambda *a: a[1])}, r"\(state, spikes\); it returns fl"),
    "none": (
        {"synapse": changed(Synapse, step=lambda *a: None)},
        "drive a jn.Drive.* returns None",
    ),
    "no drive": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1], a[1]))},
        "the drive a jn.Driv",
    ),
    "empty": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1], jn.Drive()))},
        "Drive.current=..",
    ),
    "long": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1], jn.Drive(current=jnp.zeros(3))))},
        r"a drive whose parts are of shape .* it returns Drive\(current=float32\[3\]\) for 2",
    ),
    "state": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1][:1], jn.Drive(current=a[1])))},
        r"it turns float32\[2\] into float32\[1\]",
    ),
    "values": (
        {"release": changed(Release, step=lambda *a: (a[1], 1.0))},
        r"shape \(n,\), one per",
    ),
    "only values": ({"release": changed(Release, step=lambda *a: a[1])}, "return .state, values."),
    "five": ({"release": changed(Release, init=lambda self, n: jnp.ones(5))}, "arrays of shape .n"),
    "spikes": ({"neuron": changed(Neuron, step=lambda *a: (a[1], None))}, "spikes of shape .*None"),
    "nothing": (
        {"stimulus": changed(Stimulus, step=lambda *a: None)},
        "return .state, drive.*None",
    ),
    "if": (
        {"neuron": changed(Neuron, step=if_it_spikes)},
        r"Write\s+jnp.where.condition, a, b. ins",
    ),
    "numpy": ({"synapse": changed(Synapse, step=numpy_instead)}, "functions of jnp instead of"),
    "weight": (
        {"rule": changed(Rule, on_pre=lambda self, s, *a: s.weight)},
        "'weight': ...}; got an",
    ),
}


@pytest.mark.parametrize(("own", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(own, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        build(**own)
