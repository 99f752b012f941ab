"""Crossings of a level by linear interpolation."""

import numpy as np
import pytest

from jaxneuro.analysis import crossing_times


def test_a_sine_crosses_upwards_where_it_does():
    times = 0.01 * np.arange(1, 4001)
    phase = np.array([0.3, 2.0, 5.1])
    v = 30.0 * np.sin(0.5 * times[:, None] + phase) - 4.0
    found, who = crossing_times(times, v, -10.0)
    assert (np.diff(found) >= 0).all()
    for neuron, p in enumerate(phase):
        first = (np.arcsin(-0.2) - p) / 0.5
        exact = first + 4 * np.pi * np.arange(-2, 8)
        exact = exact[(exact > times[0]) & (exact < times[-1])]
        mine = found[who == neuron]
        assert mine.size == exact.size > 2
        np.testing.assert_allclose(mine, exact, atol=1e-4)


def test_equality_counts_once():
    times, _ = crossing_times(np.arange(5.0), [-1.0, 0.0, 0.0, -2.0, 1.0])
    np.testing.assert_allclose(times, [1.0, 3 + 2 / 3])


def test_a_level_in_volts_is_told():
    times = np.arange(1, 1001) * 0.1
    v = -50.0 + 10.0 * np.sin(times)
    for trace, level, meant in ((v, -0.05, "-50"), (1e-3 * v, -50.0, "-0.05")):
        with pytest.warns(
            UserWarning, match=rf"nothing crosses .*Did you mean level={meant}\?"
        ) as w:
            crossing_times(times, trace, level)
        assert w[0].filename == __file__
    for level in (0.0, -55.0, -0.001, 20.0, 0.1):  # no warning: these are errors in the tests
        crossing_times(times, v, level)
    crossing_times(times, 0.1 * np.sin(times), 0.12)  # a model in units of its own


def test_nothing():
    times, who = crossing_times([], np.zeros((0, 3)))
    assert times.shape == who.shape == (0,)


@pytest.mark.parametrize(
    ("times", "v", "message"),
    [
        ([1.0, 2.0], [0.0], "one row per time"),
        ([1.0, 2.0], np.zeros((2, 2, 2)), "one row per time"),
        ([2.0, 1.0], [0.0, 1.0], "ascend"),
        ([1.0, 2.0], [0.0, np.nan], "v must be finite"),
    ],
)
def test_bad_input(times, v, message):
    with pytest.raises(ValueError, match=message):
        crossing_times(times, v)
