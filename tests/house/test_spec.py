"""Kinds, rules, fields and arguments: each tested once; no other test tests a kind again."""

import copy
import dataclasses
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import _fields, spec
from jaxneuro._numerics.grid import TIME_STEP
from jaxneuro.spec import InvalidValueError


class Thing(spec.Value):
    """A thing."""

    name: str = spec.field(spec.Name(), doc="its name")
    low: float = spec.field(spec.Number(unit="ms", at_least=0.0), default=1.0, doc="start")
    high: float = spec.field(spec.Number(unit="ms", above=0.0), default=2.0, doc="stop")
    weights: Any = spec.field(spec.Numbers(), default=(1.0, 2.0))
    more: Any = spec.field(spec.Entries(spec.Whole()), default_factory=dict, kw_only=True)
    rules = (spec.Less("low", "high"),)

    @property
    def label(self) -> str:
        return f"thing {self.name!r}"


class Model(_fields.Model):
    """A model."""

    tau: jn.Parameter = jn.param(10.0, unit="ms", above=0.0, doc="time constant")
    low: jn.Parameter = jn.param(-70.0, unit="mV", doc="reset")
    high: jn.Parameter = jn.param(-55.0, unit="mV", doc="threshold")
    method: jn.integrators.Integrator | None = None
    rules = (spec.AtMost("low", "high"),)


WRONG = {
    "number": (spec.Number(), "1"),
    "a truth value": (spec.Number(), True),
    "an array for a number": (spec.Number(), np.ones(3)),
    "nan": (spec.Number(), np.nan),
    "infinity": (spec.Number(), np.inf),
    "above": (spec.Number(above=0.0), 0.0),
    "at least": (spec.Number(at_least=0.0), -1e-9),
    "below": (spec.Number(below=1.0), 1.0),
    "at most": (spec.Number(at_most=1.0), 1.1),
    "float32": (spec.Number(), 1e39),
    "numbers": (spec.Numbers(), ["a"]),
    "rows of other lengths": (spec.Numbers(), [[1.0], [1.0, 2.0]]),
    "one of an array": (spec.Numbers(at_least=0.0), [1.0, -1.0]),
    "axes": (spec.Numbers(ndim=(1,)), np.ones((2, 2))),
    "whole": (spec.Whole(), 1.0),
    "a truth value for a whole number": (spec.Whole(), True),
    "whole at least": (spec.Whole(1), 0),
    "whole at most": (spec.Whole(0, 3), 4),
    "flag": (spec.Flag(), 1),
    "name": (spec.Name(), ""),
    "a name on two lines": (spec.Name(), "a\nb"),
    "a name that moves the cursor": (spec.Name(), "a\x1b[2J"),
    "a name from right to left": (spec.Name(), "a\u202eb"),
    "half a letter": (spec.Name(), "a\ud800"),
    "a key that cannot be printed": (spec.Entries(spec.Whole()), {"a\x07": 1}),
    "a name that is none": (spec.Name(), ["a", "b"]),
    "one of": (spec.OneOf("a", "b"), "c"),
    "of": (spec.Of(jn.Neuron), 1.0),
    "a class": (spec.Of(jn.Neuron), jn.neurons.LIF),
    "maybe": (spec.Maybe(spec.Whole()), 1.5),
    "items": (spec.Items(spec.Whole()), [1, 2.5]),
    "too few items": (spec.Items(spec.Whole(), at_least=1), []),
    "entries": (spec.Entries(spec.Whole()), {"a": 1.5}),
    "no mapping": (spec.Entries(spec.Whole()), [1]),
    "path": (spec.FilePath(), ""),
    "a path with a zero": (spec.FilePath(), "a\0b"),
    "function": (spec.Function(), 1),
}
RIGHT = {
    "number": (spec.Number(), np.float32(2.0), 2.0),
    "zero of a unit": (spec.Number(unit="ms"), 0.0, 0.0),
    "a short time": (spec.Number(unit="ms", above=0.0), 1e-9, 1e-9),
    "infinite": (spec.Number(finite=False), np.inf, np.inf),
    "fraction": (spec.FRACTION, 1, 1.0),
    "whole": (spec.Whole(1), np.int64(3), 3),
    "flag": (spec.Flag(), np.True_, True),
    "name": (spec.Name(), "Schicht 2/3 \N{GREEK SMALL LETTER BETA}", "Schicht 2/3 β"),
    "one of": (spec.OneOf("a", 1), 1, 1),
    "maybe": (spec.Maybe(spec.Whole()), None, None),
    "items": (spec.Items(spec.Whole()), [1, 2], (1, 2)),
    "entries": (spec.Entries(spec.Whole()), {"a": 1}, {"a": 1}),
}


@pytest.mark.parametrize(("kind", "value"), WRONG.values(), ids=WRONG)
def test_what_a_kind_refuses(kind, value):
    with pytest.raises(InvalidValueError) as caught:
        spec.check("owner", "field", kind, value)
    assert (caught.value.owner, caught.value.field) == ("owner", "field")
    assert caught.value.must
    assert caught.value.got


@pytest.mark.parametrize(("kind", "value", "kept"), RIGHT.values(), ids=RIGHT)
def test_what_a_kind_keeps(kind, value, kept):
    found = spec.check("owner", "field", kind, value)
    assert found == kept
    assert type(found) in (type(kept), spec.KeptMapping)


def test_a_traced_number_is_refused_where_it_must_be_known():
    with pytest.raises(InvalidValueError, match=r"net\.set"):
        jax.jit(lambda x: spec.check("a", "b", spec.Number(), x))(1.0)


def test_hints():
    """Of a time step in seconds, of a class, and of a rule that a field in another unit breaks."""
    for make, hint in (
        (lambda: spec.check("a", "b", TIME_STEP, 1e-4), "0.1 (s -> ms)"),
        (lambda: spec.check("a", "b", spec.Of(jn.Neuron), jn.neurons.LIF), "call it"),
        (lambda: Model(low=-0.07), "; low is -0.07, far too small: did you mean -70 (V -> mV)?"),
        (lambda: Model(high=-80.0), ""),
    ):
        with pytest.raises(InvalidValueError) as caught:
            make()
        assert hint in caught.value.hint
        assert hint or not caught.value.hint


def test_an_error_says_where_in_a_mapping_it_is():
    for value, got in (({1: 2}, "1 as a key"), ({"a": 0.5}, "0.5 at ['a']")):
        with pytest.raises(InvalidValueError) as caught:
            spec.check("a", "b", spec.Entries(spec.Whole()), value)
        assert caught.value.got == got


def test_an_error_survives_pickle():
    error = pickle.loads(pickle.dumps(InvalidValueError("a", "b", "c", "d", "e")))
    assert (error.owner, error.field, str(error)) == ("a", "b", "a: b must be c; got de")


def test_a_value():
    thing = Thing("x", 0, more={"a": 1})
    assert thing.low == 0.0
    assert thing.weights.tolist() == [1.0, 2.0]
    for change in (lambda: thing.weights.__setitem__(0, 1.0), lambda: thing.more.clear()):
        with pytest.raises(ValueError, match=r"immutable|read-only"):
            change()
    for again in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
        assert again.high == thing.high
        assert not again.weights.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        thing.low = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        Thing("x", lowest=1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Thing()  # type: ignore[call-arg]


def test_fields_are_checked_where_they_are_replaced():
    with pytest.raises(InvalidValueError) as caught:
        dataclasses.replace(Thing("x"), high=-1.0)
    assert (caught.value.owner, caught.value.field) == ("thing 'x'", "high")


def test_a_rule_of_a_value():
    with pytest.raises(InvalidValueError) as caught:
        Thing("x", 3.0)
    assert (caught.value.field, caught.value.got) == ("high", "2.0 ms")
    assert "3.0 ms" in caught.value.must


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tau", -1.0),
        ("tau", "a"),
        ("tau", []),
        ("tau", None),
        ("tau", np.ones((2, 2))),
        ("tau", [10.0, -1.0]),
        ("tau", np.array(["1", 2.0], object)),
        ("tau", np.array(["2020-01-01"], "M8")),
        ("high", -80.0),
        ("high", [-50.0, -80.0]),
        ("method", jn.integrators.Heun),
        ("method", "heun"),
    ],
)
def test_what_a_model_refuses(field, value):
    with pytest.raises(InvalidValueError) as caught:
        Model(**{field: value})
    assert (caught.value.owner, caught.value.field) == ("Model", field)


def test_what_a_model_takes():
    assert Model(tau=np.float64(3)).tau.dtype == jnp.result_type(float)
    assert Model(tau=[1, 2]).tau.shape == (2,)
    assert Model(tau=np.zeros(0)).tau.shape == (0,)
    assert Model(tau=1e-9, low=-1.0, high=-0.5).high == -0.5  # whatever unit they may be in
    assert Model(low=-70.0, high=-70.0)


def test_a_check_never_meets_a_tracer():
    made = jax.jit(lambda x: Model(tau=x, low=x).tau)(-1.0)
    assert made == -1.0
    assert jax.vmap(lambda x: Model(high=x).high)(jnp.array([-1e9, 0.0])).shape == (2,)
    assert jax.grad(lambda x: Model(low=x).low * 2.0)(1e9) == 2.0


def test_what_help_says():
    text = (Model.__doc__, Thing.__doc__)
    assert "tau: time constant (ms, above 0.0; default 10.0)." in text[0]
    assert "start (ms, at least 0.0; default 1.0)." in text[1]

    class Special(Model):
        """A special model."""

        more: jn.Parameter = jn.param(1.0, doc="another")

    assert "tau: time constant" in Special.__doc__
    assert "more: another" in Special.__doc__


def test_a_parameter_needs_an_annotation():
    with pytest.raises(ValueError, match="annotation"):

        class Bare(_fields.Model):
            tau = jn.param(1.0)


def test_arguments():
    @spec.arguments(n=spec.Whole(1), dt=spec.Number(unit="ms", above=0.0))
    def function(n, other=None, *, dt=0.1):
        return n, other, dt

    assert function(np.int32(3), dt=1) == (3, None, 1.0)
    assert function(n=2) == (2, None, 0.1)
    for wrong, field in ((lambda: function(0), "n"), (lambda: function(1, dt=-1.0), "dt")):
        with pytest.raises(InvalidValueError) as caught:
            wrong()
        assert (caught.value.owner, caught.value.field) == ("function", field)
    for wrong in (lambda: function(), lambda: function(1, m=2), lambda: function(1, 2, 3)):
        with pytest.raises(TypeError):
            wrong()


def test_unknown_names():
    error = spec.unknown("population", "Exc", ["exc", "inh"])
    assert "'exc'" in str(error)
    assert "'inh'" in str(error)
    with pytest.raises(InvalidValueError):
        spec.check_known("population", 3, ["a"])


def test_checks_wait_for_the_values_of_a_trace():
    """Those of the trace in which they are asked for, not those of a loop inside it."""
    waiting, seen = [], []

    def function(x):
        with spec.deferred() as checks:
            spec.defer(seen.append, x)
            spec.defer(seen.append, 3.0)  # known: nothing waits
            jax.lax.scan(lambda c, y: (spec.defer(seen.append, c), (c, y))[1], x, None, length=2)
        waiting.extend(checks)
        return x

    jax.make_jaxpr(function)(1.0)
    assert len(waiting) == 1
    spec.defer(seen.append, 2.0)
    assert seen == []


def test_units_are_numbers():
    assert 20 * jn.units.ms == 20.0
    assert 0.3 * jn.units.nA == 300.0
    assert 0.02 * jn.units.s == 20.0
    assert -0.07 * jn.units.V == -70.0
