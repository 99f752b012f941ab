"""A description is an immutable value: arrays and mappings that it is given can change no more."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import jaxneuro as jn

CELL, FAST = jn.neurons.LIF(), jn.synapses.Exponential(5.0)


def projection(**values):
    values = {"weight": 1.0, "delay": 1.0, "synapse": FAST, **values}
    return jn.Projection("E", "I", jn.connectivity.AllToAll(), **values)


def coupling(weight):
    return jn.Coupling("E", "I", jn.connectivity.AllToAll(), weight=weight)


def driven(weight):
    return jn.Stimulation("E", jn.stimuli.Poisson(5.0), weight=weight, synapse=FAST)


ARRAYS = {
    "initial": (4, lambda x: jn.Population("E", 4, CELL, {"v": x}), lambda p: p.initial["v"]),
    "weight": ((4, 2), lambda x: projection(weight=x), lambda p: p.weight),
    "delay": ((4, 2), lambda x: projection(delay=x), lambda p: p.delay),
    "start": (2, lambda x: projection(initial={"i": x}), lambda p: p.initial["i"]),
    "stimulation": (4, driven, lambda s: s.weight),
    "coupling": ((4, 2), coupling, lambda c: c.weight),
    "part": (3, lambda x: jn.Part("E", np.cumsum(x).astype(int)), lambda p: p.where),
}


def copies(value):
    return value, copy.deepcopy(value), pickle.loads(pickle.dumps(value)), copy.copy(value)


@pytest.mark.parametrize(("shape", "make", "read"), ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays(shape, make, read):
    given = np.ones(shape)
    value = make(given)
    before = read(value).copy()
    given[:] = 50.0
    for one in (*copies(value), dataclasses.replace(value)):
        np.testing.assert_array_equal(read(one), before)
        with pytest.raises(ValueError, match="read-only"):
            read(one)[0] = 7.0
    assert given.flags.writeable


def test_a_view_of_what_can_change():
    given = np.ones(4)
    view = given.view()
    view.flags.writeable = False
    p = jn.Population("E", 4, CELL, {"v": view})
    given[:] = 50.0
    np.testing.assert_array_equal(p.initial["v"], 1.0)


def test_what_cannot_change_is_not_copied():
    p = projection(weight=np.ones((4, 2)))
    assert dataclasses.replace(p, delay=2.0).weight is p.weight


AREA = jn.space.Area([0.0], [1.0])
MAPPINGS = {
    "initial": (jn.Population("E", 4, CELL, {"v": -60.0}), "initial", "v"),
    "projection": (projection(initial={"i": 1.0}), "initial", "i"),
    "scales": (jn.Modulator("d", 5.0, {"E": {"tau_m": 0.1}}, start=1.0), "scales", "E"),
    "areas": (jn.Description([], areas={"V1": AREA}), "areas", "V1"),
}


@pytest.mark.parametrize(("value", "field", "key"), MAPPINGS.values(), ids=MAPPINGS.keys())
def test_mappings(value, field, key):
    for one in copies(value):
        mapping = getattr(one, field)
        assert list(mapping) == [key]
        changes = {"__setitem__": (key, 0.0), "pop": (key,), "update": ({"u": 1.0},), "clear": ()}
        for method, arguments in changes.items():
            with pytest.raises(ValueError, match=r"make another one with dataclasses.replace"):
                getattr(mapping, method)(*arguments)
        assert list(mapping) == [key]
    assert dataclasses.replace(value) is not value


def test_amounts_of_a_modulator():
    m = jn.Modulator("d", 5.0, {"E": {"tau_m": 0.1}}, start=1.0)
    with pytest.raises(ValueError, match="immutable"):
        m.scales["E"]["tau_m"] = 3.0
    assert m.scales == {"E": {"tau_m": 0.1}}
