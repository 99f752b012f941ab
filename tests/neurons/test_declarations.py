"""What the neurons, channels and surrogates declare: ranges of parameters, rules between them.

That a range or a rule is kept is tested in tests/house/test_spec.py.
"""

import dataclasses
import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import channels as ch
from jaxneuro._fields import Model, parameters
from jaxneuro.neurons import (
    ALIF,
    EIF,
    GLIF,
    LIF,
    QIF,
    AdEx,
    FlyLIF,
    HodgkinHuxley,
    HomeostaticLIF,
    IafPscAlpha,
    IafPscDelta,
    IafPscExp,
    TwoCompartment,
)
from tests.refusing import assert_refused

CLASSES = {
    name: cls
    for module in (jn.neurons, ch, jn.surrogates)
    for name, cls in vars(module).items()
    if inspect.isclass(cls) and issubclass(cls, Model) and not inspect.isabstract(cls)
}
# What a model divides by, or what makes it grow, is above 0; sizes are at least 0.
ABOVE = r"tau(_.*)?|c_.|g_l.?|k(_\d)?|b_[sv]|rho_0|lambda_0|delta_[tu]|q10|phi|v[24]"
AT_LEAST = r"g_.*|t_ref|rate|target|eta"
FRACTION = r"f_.*"
OTHERS = {  # above, at_least, at_most
    "ALIF.beta": (None, 0.0, None),
    "FastSigmoid.beta": (0.0, None, None),
    "FitzHughNagumo.b": (0.0, None, None),
    "GIF.delta_v": (0.0, None, None),
    "HindmarshRose.a": (0.0, None, None),
    "HindmarshRose.r": (0.0, None, None),
    "HodgkinHuxley.celsius": (None, None, 100.0),  # in K it would be above
    "HomeostaticLIF.theta_min": (None, None, 0.0),
}


def expected(name, field):
    if f"{name}.{field}" in OTHERS:
        return OTHERS[f"{name}.{field}"]
    if re.fullmatch(ABOVE, field):
        return (0.0, None, None)
    conductance = field == "g" and name in vars(ch)
    if conductance or re.fullmatch(AT_LEAST, field):
        return (None, 0.0, None)
    return (None, 0.0, 1.0) if re.fullmatch(FRACTION, field) else (None, None, None)


@pytest.mark.parametrize("name", CLASSES)
def test_ranges(name):
    for field in parameters(CLASSES[name]):
        kind = field.metadata["kind"]
        found = (kind.above, kind.at_least, kind.at_most)
        assert found == expected(name, field.name), field.name
        assert kind.on_grid == (field.name == "t_ref"), field.name
        assert field.metadata["doc"]


class NoReversal(ch.Channel):
    """A channel that lacks its reversal potential."""

    g: jn.Parameter = jn.param(1.0)

    def rates(self, v):
        return ()

    def open(self, v, *gates):
        return 1.0


class Odd(ch.Channel):
    """A channel whose methods do not fit its gates."""

    g: jn.Parameter = jn.param(1.0)
    e_rev: jn.Parameter = jn.param(-77.0)
    rated: object = jn.static(())
    gates = ("z",)

    def rates(self, v):
        return self.rated(v) if callable(self.rated) else self.rated

    def open(self, v, *gates):
        (z,) = gates
        return z


class Unnamed(Odd):
    """A channel with a gate that no state can have."""

    gates = ("_z",)


def one_gate(v):
    return jn.integrators.Gate(v, v)


def no_gates(v):
    raise RuntimeError("no rates")


BROKEN = [
    *((cls, {"v_reset": -40.0}, "v_th") for cls in (LIF, ALIF, FlyLIF, TwoCompartment)),
    *((cls, {"v_reset": -55.0}, "v_th") for cls in (IafPscAlpha, IafPscDelta, IafPscExp)),
    *((cls, {"v_reset": [-60.0, -50.0]}, "v_th") for cls in (IafPscExp, ALIF)),
    (AdEx, {"v_reset": 0.0}, "v_peak"),
    (AdEx, {"v_peak": -51.0}, "v_peak"),
    (EIF, {"v_reset": 1.0}, "v_peak"),
    (EIF, {"v_peak": -60.0}, "v_peak"),
    (QIF, {"v_t": -60.0}, "v_t"),
    (QIF, {"v_reset": 35.0}, "v_peak"),
    (HomeostaticLIF, {"theta_min": -15.0}, "v_reset"),
    (GLIF, {"f_v": 0.8, "delta_v": 13.7, "delta_theta_s": 0.366}, "delta_v"),
    (GLIF, {"delta_v": np.array([1.0, 30.0], np.float32)}, "delta_v"),
    *(
        (HodgkinHuxley, {"channels": channels}, "channels")
        for channels in (
            (),
            ch.Leak(),
            (ch.SquidSodium,),
            (ch.SquidSodium(), NoReversal()),
            (ch.SquidSodium(), ch.SquidSodium()),
            (Odd(),),
            (Odd(rated=one_gate),),
            (Odd(rated=no_gates),),
            (Unnamed(),),
        )
    ),
]


@pytest.mark.parametrize(("cls", "given", "field"), BROKEN)
def test_rules(cls, given, field):
    with pytest.raises(jn.InvalidValueError) as caught:
        cls(**given)
    assert (caught.value.owner, caught.value.field) == (cls.__name__, field)


def test_the_first_entry_that_breaks_a_rule_is_named():
    with pytest.raises(jn.InvalidValueError) as caught:
        LIF(v_reset=[-60.0, -50.0])
    assert caught.value.got == "-55.0 mV at index 1"
    assert "-50.0 mV" in caught.value.must


@pytest.mark.parametrize("beyond", [1e300, 10**400])
def test_numbers_that_float32_does_not_hold(beyond):
    assert_refused(lambda: LIF(c_m=beyond), "LIF", "c_m")


def test_a_gate_without_time():
    assert_refused(lambda: ch.relaxing(0.5, 0.0), "relaxing", "tau", "0.0")


def test_rules_do_not_meet_tracers():
    made = jax.jit(lambda x: dataclasses.replace(GLIF(), delta_v=x).delta_v)(jnp.float32(99.0))
    assert made == 99.0
    assert jax.vmap(lambda x: LIF(v_reset=x).v_reset)(jnp.zeros(3)).shape == (3,)


def test_lengths_are_no_matter_of_rules():
    """The population, which knows how many neurons there are, refuses them."""
    assert LIF(v_reset=[-70.0, -60.0], v_th=[-50.0, -50.0, -50.0])
