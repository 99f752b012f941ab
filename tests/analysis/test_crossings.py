"""Crossings of a level by linear interpolation."""

import numpy as np
import pytest

from jaxneuro.analysis import Traces, crossing_times, interval_cv
from tests.refusing import assert_refused


def test_a_sine_crosses_upwards_where_it_does():
    times = 0.01 * np.arange(1, 4001)
    phase = np.array([0.3, 2.0, 5.1])
    v = 30.0 * np.sin(0.5 * times[:, None] + phase) - 4.0
    trains = crossing_times(Traces(times, v), level=-10.0)
    found, who = trains.times, trains.neurons
    assert (trains.n, trains.start, trains.stop) == (3, times[0], times[-1])
    assert interval_cv(trains) < 1e-4
    assert (np.diff(found) >= 0).all()
    for neuron, p in enumerate(phase):
        first = (np.arcsin(-0.2) - p) / 0.5
        exact = first + 4 * np.pi * np.arange(-2, 8)
        exact = exact[(exact > times[0]) & (exact < times[-1])]
        mine = found[who == neuron]
        assert mine.size == exact.size > 2
        np.testing.assert_allclose(mine, exact, atol=1e-4)


def test_equality_counts_once():
    trains = crossing_times(Traces(np.arange(5.0), [-1.0, 0.0, 0.0, -2.0, 1.0]))
    np.testing.assert_allclose(trains.times, [1.0, 3 + 2 / 3])


def test_a_level_in_volts_is_told():
    times = np.arange(1, 1001) * 0.1
    v = -50.0 + 10.0 * np.sin(times)
    for trace, level, meant in ((v, -0.05, "-50"), (1e-3 * v, -50.0, "-0.05")):
        with pytest.warns(
            UserWarning, match=rf"nothing crosses .*Did you mean level={meant}\?"
        ) as w:
            crossing_times(Traces(times, trace), level=level)
        assert w[0].filename == __file__
    for level in (0.0, -55.0, -0.001, 20.0, 0.1):  # no warning: these are errors in the tests
        crossing_times(Traces(times, v), level=level)
    crossing_times(Traces(times, 0.1 * np.sin(times)), level=0.12)  # a model in units of its own


def test_nothing():
    trains = crossing_times(Traces([], np.zeros((0, 3))))
    assert (len(trains), trains.n) == (0, 3)


@pytest.mark.parametrize(
    ("times", "v", "field"),
    [
        ([1.0, 2.0], [0.0], "values"),
        ([1.0, 2.0], np.zeros((2, 2, 2)), "values"),
        ([2.0, 1.0], [0.0, 1.0], "times"),
        ([1.0, 2.0], [0.0, np.nan], "values"),
        ("a", [0.0, np.nan], "times"),
    ],
)
def test_bad_traces(times, v, field):
    assert_refused(lambda: Traces(times, v), "Traces", field)
