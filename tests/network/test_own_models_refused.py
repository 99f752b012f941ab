"""Models of users whose methods take or return something else: the error says what they should."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused


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


class Counting(NamedTuple):
    """A state that a user writes; `count` may begin as whole numbers."""

    v: Any
    count: Any


def counting(start, kind=jnp.float32):
    """Methods of a neuron that counts its spikes from `start(n)`, in numbers of a kind."""

    def step(self, s, drive, dt):
        v = s.v + drive.current_at(s.v)
        return Counting(v, s.count.astype(kind) + (v > 1).astype(kind)), v > 1

    return {"init": lambda self, n: Counting(jnp.zeros(n), start(n)), "step": step}


def changed(cls, **methods):
    return type(f"Own{cls.__name__}", (cls,), methods)


def if_it_spikes(self, state, drive, dt):
    return (state if state > 1 else -state), state > 1


def numpy_instead(self, state, arrivals, v, dt):
    return np.exp(np.asarray(state)), jn.Drive(current=state)


def taken(self, state, arrivals, v, dt):
    return state.astype(jnp.float32) + arrivals, jn.Drive(current=arrivals)


def falling(self, state, spikes, v, dt):
    return state.astype(jnp.float32), v


def driven(self, state, step, dt):
    return state.astype(jnp.float32), jn.Drive(current=1.0)


class Plain(Neuron):
    """A number that is annotated, and nothing more."""

    tau: Any = 20.0


NEURON, RELEASE = "OwnNeuron (population 'E')", "OwnRelease (projection 'E->E')"
STIMULUS, RULE = "OwnStimulus (stimulation 'OwnStimulus->E')", "OwnRule (projection 'E->E')"
REFUSED = {
    "takes": (
        {"neuron": changed(Neuron, step=lambda self, s, d: (s, s > 1))},
        *(NEURON, "step", "(self, s, d)"),
    ),
    "voltage": (
        {"neuron": changed(Neuron, voltage=lambda self, s: jnp.zeros(7))},
        *(NEURON, "voltage", "float32[7]"),
    ),
    "one voltage": (
        {"neuron": changed(Neuron, voltage=lambda self, s: s[0])},
        *(NEURON, "voltage", "float32[]"),
    ),
    "largest step": (
        {"neuron": changed(Neuron, largest_step=lambda self: "a")},
        *("population 'E'", "largest_step", "'a'"),
    ),
    "largest step below 0": (
        {"neuron": changed(Neuron, largest_step=lambda self: -1.0)},
        *("population 'E'", "largest_step", "-1.0"),
    ),
    "init": ({"release": changed(Release, init=lambda self: 1)}, RELEASE, "init", "(self)"),
    "stream": (
        {"stimulus": changed(Stimulus, init=lambda self, n: ())},
        *(STIMULUS, "init", "(self, n)"),
    ),
    "hook": (
        {"rule": changed(Rule, on_pre=lambda self, s, pre: {})},
        *(RULE, "on_pre", "(self, s, pre)"),
    ),
    "one": ({"neuron": changed(Neuron, step=lambda *a: a[1])}, NEURON, "step", "float32[1009]"),
    "none": ({"synapse": changed(Synapse, step=lambda *a: None)}, "OwnSynapse", "step", "None"),
    "no drive": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1], a[1]))},
        *("OwnSynapse", "step", "float32[1009]"),
    ),
    "long": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1], jn.Drive(current=jnp.zeros(3))))},
        *("OwnSynapse", "step", "float32[3]"),
    ),
    "state": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1][:1], jn.Drive(current=a[1])))},
        *("OwnSynapse", "step", "float32[1]"),
    ),
    "values": (
        {"release": changed(Release, step=lambda *a: (a[1], 1.0))},
        *(RELEASE, "step", "float32[]"),
    ),
    "only values": (
        {"release": changed(Release, step=lambda *a: a[1])},
        *(RELEASE, "step", "float32[1009]"),
    ),
    "spikes": ({"neuron": changed(Neuron, step=lambda *a: (a[1], None))}, NEURON, "step", "None"),
    "nothing": ({"stimulus": changed(Stimulus, step=lambda *a: None)}, STIMULUS, "step", "None"),
    "if": (
        {"neuron": changed(Neuron, step=if_it_spikes)},
        *(NEURON, "step", "truth value of an array"),
    ),
    "numpy": (
        {"synapse": changed(Synapse, step=numpy_instead)},
        *("OwnSynapse", "step", "TracerArrayConversionError"),
    ),
    "whole": (
        {"neuron": changed(Neuron, **counting(lambda n: jnp.zeros(n, int)))},
        *(NEURON, "step", "float32 after it"),
    ),
    "whole current": (
        {"synapse": changed(Synapse, init=lambda self, n: jnp.zeros(n, int), step=taken)},
        *("OwnSynapse", "step", "float32 after it"),
    ),
    "whole release": (
        {"release": changed(Release, init=lambda *a: jnp.ones(a[1], int), step=falling)},
        *(RELEASE, "step", "float32 after it"),
    ),
    "whole stimulus": (
        {"stimulus": changed(Stimulus, init=lambda *a: jnp.ones(a[1], int), step=driven)},
        *(STIMULUS, "step", "float32 after it"),
    ),
    "no array": (
        {"neuron": changed(Neuron, **counting(lambda n: [0.0] * n))},
        *(NEURON, "init", "[0.0, 0.0"),
    ),
    "no state": (
        {"neuron": changed(Neuron, init=lambda self, n: None)},
        *(NEURON, "step", "TypeError"),
    ),
    "drive.I": (
        {"neuron": changed(Neuron, step=lambda self, s, drive, dt: (s + drive.I, s > 1))},
        *(NEURON, "step", "no attribute 'I'"),
    ),
    "Drive(I)": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1], jn.Drive(I=a[1])))},
        *("OwnSynapse", "step", "unexpected keyword argument 'I'"),
    ),
    "of two": (
        {"release": changed(Release, init=lambda self, n: jnp.ones(2))},
        *(RELEASE, "init", "float32[2]"),
    ),
    "two in step": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1] * jnp.ones(2), jn.Drive(current=a[1])))},
        *("OwnSynapse", "step", "(1009,), (2,)"),
    ),
    "sign": (
        {"synapse": changed(Synapse, weight_sign="+")},
        *("OwnSynapse (projection 'E->E')", "weight_sign", "'+'"),
    ),
    "text": ({"neuron": lambda: Plain("a")}, "Plain (population 'E')", "tau", "'a'"),
    "weight": (
        {"rule": changed(Rule, on_pre=lambda self, s, *a: s.weight)},
        *(RULE, "on_pre", "an array"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    own, *error = REFUSED[case]
    assert_refused(lambda: build(**own), *error)


def test_numbers_of_the_models_that_do_fit():
    """Whole numbers that stay whole, and a number that is annotated and nothing more."""
    whole = changed(Neuron, **counting(lambda n: jnp.zeros(n, int), int))
    for neuron in (whole, Plain):
        stimuli = [jn.Stimulation("E", jn.stimuli.Current(1.0))]
        jn.build(jn.Description([jn.Population("E", 3, neuron())], [], stimuli), 1, 0.1)


def test_a_class_that_lacks_what_its_role_needs():
    lacks = type("Lacks", (jn.Neuron,), {"init": Neuron.init})
    with pytest.raises(TypeError, match="step"):
        lacks()


def test_a_parameter_without_an_annotation():
    with pytest.raises(ValueError, match="Own: tau needs an annotation"):
        type("Own", (Neuron,), {"tau": jn.param(20.0)})
    with pytest.raises(ValueError, match="Own: kind needs an annotation"):
        type("Own", (Neuron,), {"kind": jn.static("a")})


def test_a_state_without_names_of_variables():
    class Named(Neuron):
        def init(self, n):
            return {"v": jnp.zeros(n)}

    assert_refused(lambda: build(neuron=Named), "Named (population 'E')", "init")
