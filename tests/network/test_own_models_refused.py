"""Models of users whose methods take or return something else: the error says what they should."""

from typing import Any, NamedTuple

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
    "whole": (
        {"neuron": changed(Neuron, **counting(lambda n: jnp.zeros(n, int)))},
        "OwnNeuron .*dtype; count is int32 in init and float32 after step. .*astype.jnp.int32.",
    ),
    "whole current": (
        {"synapse": changed(Synapse, init=lambda self, n: jnp.zeros(n, int), step=taken)},
        "OwnSynapse: .*dtype; the state is int32 in init",
    ),
    "whole release": (
        {"release": changed(Release, init=lambda *a: jnp.ones(a[1], int), step=falling)},
        "OwnRelease: .*dtype; the state is int32 in init",
    ),
    "whole stimulus": (
        {"stimulus": changed(Stimulus, init=lambda *a: jnp.ones(a[1], int), step=driven)},
        "OwnStimulus .*dtype; the state is int32 in init",
    ),
    "no array": (
        {"neuron": changed(Neuron, **counting(lambda n: [0.0] * n))},
        r"init.n. must return arrays, such as jnp.zeros.n.; it returns .*count=\[0.0, 0.0",
    ),
    "no state": (
        {"neuron": changed(Neuron, init=lambda self, n: None)},
        "step raised .*Error: .*NoneType.* It gets the state None; a jn.Drive has the parts curr",
    ),
    "drive.I": (
        {"neuron": changed(Neuron, step=lambda self, s, drive, dt: (s + drive.I, s > 1))},
        r"OwnNeuron .*step raised .*no attribute 'I'.* It gets .*the parts current, conductance",
    ),
    "Drive(I)": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1], jn.Drive(I=a[1])))},
        "OwnSynapse: step raised TypeError: .*'I'.*the parts current, conductance",
    ),
    "field": (
        {"neuron": changed(Neuron, **counting(jnp.zeros) | {"step": lambda *a: a[1].counts})},
        "no attribute 'counts'. It gets the state Counting.v=float32.2., count=float32",
    ),
    "of two": (
        {"release": changed(Release, init=lambda self, n: jnp.ones(2))},
        r"shape .n,., one number per neuron; it returns float32.2. for 101 neurons",
    ),
    "two in step": (
        {"synapse": changed(Synapse, step=lambda *a: (a[1] * jnp.ones(2), jn.Drive(current=a[1])))},
        "OwnSynapse: step raised .*incompatible shapes",
    ),
    "three": (
        {"neuron": changed(Neuron, step=lambda self, s, d, dt: (s[:3] + d.current, s > 1))},
        "OwnNeuron .*it turns float32.101. into|OwnNeuron .*step raised TypeError: .*shapes",
    ),
    "sign": ({"synapse": changed(Synapse, weight_sign="+")}, "weight_sign must be 1 .*got '.'"),
    "text": ({"neuron": lambda: Plain("a")}, "Plain: tau must be a number.*got 'a'. .*jn.static"),
    "weight": (
        {"rule": changed(Rule, on_pre=lambda self, s, *a: s.weight)},
        "'weight': ...}; got an",
    ),
}


@pytest.mark.parametrize(("own", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(own, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        build(**own)


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

    with pytest.raises(ValueError, match=r"Named: init\(n\) must return a NamedTuple of arrays"):
        build(neuron=Named)
