"""The number by which networks are told apart."""

import dataclasses
import functools

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._fingerprint import fingerprint

LARGE = np.linspace(0.0, 1.0, 300_001)


def changed(x, at):
    y = x.copy()
    y[at] += 1.0
    return y


def named(x):
    return x


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 2.0),
        (1, "1"),
        (None, ()),
        ([1, [2]], [[1], 2]),
        ({"a": 1}, {"b": 1}),
        (np.zeros(3), np.zeros(4)),
        (np.zeros(2), [0.0, 0.5]),
        (LARGE, changed(LARGE, 0)),
        (LARGE, changed(LARGE, 123_457)),
        (LARGE, changed(LARGE, -1)),
        (LARGE, LARGE.reshape(1, -1)),
        (np.array(["E"], object), np.array(["I"], object)),
        (named, changed),
        (functools.partial(named, 1), functools.partial(named, 2)),
        (slice(0, 5), slice(0, 6)),
        (jn.Part("E", slice(0, 5)), jn.Part("E", slice(0, 6))),
        (jn.Part("E", slice(0, 5)), "E"),
        (jn.neurons.LIF(), jn.neurons.LIF(tau_m=11.0)),
        (jn.neurons.LIF(), jn.neurons.AdEx()),
        (jn.Uniform(0.0, 1.0), jn.Uniform(0.0, 2.0)),
    ],
)
def test_what_differs_has_another_number(a, b):
    assert not np.array_equal(fingerprint(a), fingerprint(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (jn.Part("E"), "E"),
        (np.float32(0.5), 0.5),
        ([1, 2], np.array([1.0, 2.0])),
        ([[1], [2]], ((1,), (2,))),
    ],
)
def test_equal_numbers_are_equal_however_they_are_held(a, b):
    assert np.array_equal(fingerprint(a), fingerprint(b))


def test_it_is_that_of_the_values():
    values = {"b": LARGE, "a": [jn.neurons.LIF(), named, object]}
    again = {"a": [jn.neurons.LIF(), named, object], "b": LARGE.copy()}
    assert np.array_equal(fingerprint(values, 1), fingerprint(again, 1))
    assert fingerprint(1).tolist() == [346093977, 3698334634]  # in every process and version


def test_where_a_class_lives_does_not_count():
    """That of the package; a class of a user has the name of its module."""
    moved = dataclasses.make_dataclass("LIF", ["tau_m"], frozen=True)
    before = fingerprint(moved(1.0))
    moved.__module__ = "elsewhere"
    assert not np.array_equal(fingerprint(moved(1.0)), before)
    ours = []
    for module in ("jaxneuro.neurons._lif", "jaxneuro.neurons._exact"):
        moved.__module__ = module
        ours.append(fingerprint(moved(1.0)).tolist())
    assert ours[0] == ours[1]


def test_start_values_do_not_count():
    cells = jn.Population("E", 3, jn.neurons.LIF())
    other = dataclasses.replace(cells, initial={"v": -60.0})
    assert np.array_equal(fingerprint(cells), fingerprint(other))
    assert not np.array_equal(fingerprint(cells), fingerprint(dataclasses.replace(cells, n=4)))
