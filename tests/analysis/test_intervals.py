"""Interval statistics and rates against plain loops."""

import math

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro import SpikeTrains
from jaxneuro.analysis import interval_cv, population_rate
from tests.refusing import assert_refused

N = 6
# Distinct times per neuron, in any order.
EVENTS = st.lists(st.tuples(st.integers(0, N - 1), st.integers(1, 500)), unique=True, max_size=60)


def arrays(events):
    neurons = np.array([e[0] for e in events], np.int64)
    return np.array([0.1 * e[1] for e in events]), neurons


def cv_by_loop(times, neurons, at_least):
    cvs = []
    for neuron in range(N):
        own = sorted(t for t, i in zip(times, neurons) if i == neuron)
        if len(own) >= at_least:
            cvs.append(np.std(np.diff(own)) / np.mean(np.diff(own)))
    return float(np.mean(cvs)) if cvs else math.nan


@hypothesis.given(events=EVENTS, at_least=st.integers(2, 6))
def test_cv_equals_the_loop(events, at_least):
    times, neurons = arrays(events)
    got = interval_cv(SpikeTrains(times, neurons, N, 0.0, 50.0), at_least=at_least)
    assert got == pytest.approx(cv_by_loop(times, neurons, at_least), rel=1e-10, nan_ok=True)


def alone(times):
    return SpikeTrains(times, np.zeros(len(times), int), 1, -1.0, 1e6)


def test_cv_of_a_clock_is_0_and_of_poisson_about_1():
    assert interval_cv(alone(np.arange(50) * 2.0)) == pytest.approx(0.0, abs=1e-12)
    times = np.cumsum(np.random.default_rng(0).exponential(5.0, 20_000))
    assert interval_cv(alone(times)) == pytest.approx(1.0, abs=0.03)


def test_cv_without_spikes_is_nan():
    assert math.isnan(interval_cv(SpikeTrains([], [], 5, 0.0, 1.0)))
    assert math.isnan(interval_cv(SpikeTrains([], [], 0, 0.0, 1.0)))
    assert math.isnan(interval_cv(alone([1.0, 2.0])))


def test_cv_refuses():
    assert_refused(lambda: interval_cv(alone([1.0]), at_least=1), "interval_cv", "at_least")
    repeated = SpikeTrains([1.0, 1.0, 1.0], [2, 2, 2], 5, 0.0, 1.0)
    assert_refused(lambda: interval_cv(repeated), "interval_cv", "a neuron", "neuron 2")


@hypothesis.given(
    steps=st.lists(st.integers(1, 400), max_size=60),
    n=st.integers(1, 9),
    width=st.sampled_from([1, 3, 10, 25]),
    first=st.integers(0, 50),
)
def test_rate_equals_the_loop(steps, n, width, first):
    # Everything in steps of 0.1 ms; a spike at the end of a step belongs to that step's bin.
    bins = (400 - first) // width
    want = [
        sum(first + b * width < s <= first + (b + 1) * width for s in steps) for b in range(bins)
    ]
    trains = SpikeTrains(np.array(steps) * 0.1, [0] * len(steps), n, 0.0, 40.0)
    at, rate = population_rate(trains, bin_ms=width * 0.1, start=first * 0.1)
    np.testing.assert_allclose(at, first * 0.1 + width * 0.1 * np.arange(bins), atol=1e-9)
    np.testing.assert_allclose(rate, np.array(want) / n / (width * 1e-4), rtol=1e-12)


def test_rate_keeps_the_number_of_spikes():
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 10_001, 5000)
    _, rate = population_rate(SpikeTrains(steps * 0.1, steps % 10, 10, 0.0, 1000.0))
    assert rate.sum() * 10 * 1e-3 == pytest.approx(5000)


@pytest.mark.parametrize(("stop", "bins"), [(3.5, 3), (2.5, 2), (2.999_999_9, 3)])
def test_only_whole_bins_are_given(stop, bins):
    # A bin that is seen in part would show too low a rate.
    at, rate = population_rate(SpikeTrains([0.1, 2.2], [0, 0], 1, 0.0, stop))
    assert at.size == rate.size == bins


def test_a_bin_that_does_not_fit_is_refused():
    trains = SpikeTrains([0.1], [0], 1, 0.0, 0.4)
    assert_refused(lambda: population_rate(trains), "population_rate", "bin_ms")


def test_rate_of_nobody_and_of_nothing():
    at, rate = population_rate(SpikeTrains([], [], 5, 0.0, 4.0))
    assert at.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert not rate.any()
    assert population_rate(SpikeTrains([], [], 0, 0.0, 3.0))[1].tolist() == [0.0] * 3
    assert population_rate(SpikeTrains([], [], 5, 0.0, 0.0))[1].size == 0


@pytest.mark.parametrize("bin_ms", [0.0, -1.0, math.nan])
def test_a_bad_bin_is_refused(bin_ms):
    trains = SpikeTrains([], [], 1, 0.0, 1.0)
    assert_refused(lambda: population_rate(trains, bin_ms=bin_ms), "population_rate", "bin_ms")
