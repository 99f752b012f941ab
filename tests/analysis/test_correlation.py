"""Correlations and correlograms against NumPy's and loops."""

import functools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro import SpikeTrains
from jaxneuro.analysis import (
    autocorrelogram,
    count_correlation,
    count_covariance,
    cross_correlogram,
)
from tests.oracle import analysis_spikes as oracle
from tests.refusing import assert_refused

STEPS = st.lists(st.integers(1, 200), max_size=60)


def trains(steps):
    return SpikeTrains(np.sort(np.array(steps, int)) * 0.1, [0] * len(steps), 1, 0.0, 20.0)


def correlation(counts):
    return count_correlation(SpikeTrains.of_counts(counts, 5.0), bin_ms=5.0)


def test_matrices_are_numpys():
    counts = np.random.default_rng(0).poisson(2.0, (7, 50))
    got = count_covariance(SpikeTrains.of_counts(counts, 2.0), bin_ms=2.0)
    np.testing.assert_allclose(got, np.cov(counts), rtol=1e-12, atol=1e-14)
    mean, matrix = correlation(counts)
    np.testing.assert_allclose(matrix, np.corrcoef(counts), rtol=1e-12, atol=1e-14)
    pairs = [np.corrcoef(counts[i], counts[j])[0, 1] for i in range(7) for j in range(i)]
    assert mean == pytest.approx(np.mean(pairs), rel=1e-12)


def test_a_silent_neuron_is_left_out():
    counts = np.random.default_rng(1).poisson(2.0, (3, 50))
    with_silent = np.insert(counts, 1, 0, axis=0)
    with_silent = np.append(with_silent, np.full((1, 50), 3), axis=0)
    mean, matrix = correlation(with_silent)
    assert mean == pytest.approx(correlation(counts)[0], rel=1e-12)
    unknown = np.zeros((5, 5), bool)
    unknown[[1, 4]] = unknown[:, [1, 4]] = True
    np.testing.assert_array_equal(np.isnan(matrix), unknown)
    assert np.isnan(correlation(with_silent[:2])[0])


def test_shared_input_is_found():
    # Each of two counts is its own Poisson plus a shared one of the same mean: r = 1/2.
    rng = np.random.default_rng(2)
    shared, own = rng.poisson(5.0, (1, 20_000)), rng.poisson(5.0, (6, 20_000))
    mean, _ = correlation(shared + own)
    # (1 - r^2) / sqrt(bins) for one pair; the mean of 15 is not worse.
    assert mean == pytest.approx(0.5, abs=5 * 0.75 / np.sqrt(20_000))
    assert abs(correlation(own)[0]) < 5 / np.sqrt(20_000 * 15)


@hypothesis.given(counts=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=2))
def test_correlations_are_in_bounds_and_follow_the_neurons(counts):
    counts = np.array(counts)
    mean, matrix = correlation(counts)
    known = ~np.isnan(matrix)
    assert (np.abs(matrix[known]) <= 1).all()
    flipped, back = correlation(counts[::-1])
    np.testing.assert_allclose(back[::-1, ::-1], matrix, atol=1e-12)
    assert flipped == pytest.approx(mean, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("mine", [count_covariance, count_correlation])
def test_a_single_bin_is_refused(mine):
    trains = SpikeTrains.of_counts(np.ones((3, 1), int), 5.0)
    assert_refused(lambda: mine(trains, bin_ms=5.0), mine.__name__, "bin_ms", "1 of them")


@hypothesis.given(a=STEPS, b=STEPS, width=st.sampled_from([1, 5, 13]), lags=st.integers(0, 9))
def test_the_cross_correlogram_equals_the_loop(a, b, width, lags):
    bins = 200 // width
    x, y = (oracle.counts(s, [0] * len(s), 1, 0, width, bins)[0] for s in (a, b))
    window = {"bin_ms": width * 0.1, "max_lag": lags * width * 0.1}
    lag, pairs = cross_correlogram(trains(a), other=trains(b), **window)
    np.testing.assert_allclose(lag, width * 0.1 * np.arange(-lags, lags + 1), atol=1e-9)
    assert pairs.tolist() == oracle.correlogram(x, y, lags)
    # Forward in one is backward in the other.
    _, back = cross_correlogram(trains(b), other=trains(a), **window)
    assert back[::-1].tolist() == pairs.tolist()


def test_many_blocks_are_one_correlogram():
    rng = np.random.default_rng(3)
    x, y = rng.poisson(0.5, (2, 30_000))
    first, second = (SpikeTrains.of_counts(counts, 0.1) for counts in (x, y))
    _, pairs = cross_correlogram(first, other=second, bin_ms=0.1, max_lag=150.0)
    full = np.correlate(y, x, mode="full")[30_000 - 1 - 1500 : 30_000 + 1500]
    np.testing.assert_array_equal(pairs, full)


def test_a_positive_lag_is_later():
    first = np.random.default_rng(4).uniform(10, 900, 50)
    one, other = (SpikeTrains(x, [0] * 50, 1, 0.0, 1000.0) for x in (first, first + 7.0))
    lag, pairs = cross_correlogram(one, other=other, max_lag=20.0)
    assert lag[np.argmax(pairs)] == 7.0


@hypothesis.given(
    events=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 200)), max_size=60),
    width=st.sampled_from([1, 5, 13]),
    lags=st.integers(0, 30),
)
def test_the_autocorrelogram_is_the_sum_over_neurons(events, width, lags):
    events = sorted(events, key=lambda e: e[1])
    at, neurons = np.array([e[1] for e in events]), np.array([e[0] for e in events], int)
    bins = 200 // width
    counts = oracle.counts(at, neurons, 4, 0, width, bins)
    want = np.sum([oracle.correlogram(c, c, lags) for c in counts], axis=0)
    want[lags] -= counts.sum()  # a spike is no pair with itself
    trains = SpikeTrains(at * 0.1, neurons, 4, 0.0, 20.0)
    _, pairs = autocorrelogram(trains, bin_ms=width * 0.1, max_lag=lags * width * 0.1)
    assert pairs.tolist() == want.tolist()


def test_a_clock_shows_its_period():
    clock = SpikeTrains(np.arange(1, 101) * 4.0, np.zeros(100, int), 1, 0.0, 400.0)
    lag, pairs = autocorrelogram(clock, max_lag=9.0)
    assert dict(zip(lag[pairs > 0].tolist(), pairs[pairs > 0].tolist())) == {
        -8.0: 98,
        -4.0: 99,
        4.0: 99,
        8.0: 98,
    }


def test_correlograms_refuse():
    one, later = trains([1]), SpikeTrains([11.0], [0], 1, 10.0, 20.0)
    crossed = functools.partial(cross_correlogram, one, other=one)
    for mine, name in ((crossed, "cross_correlogram"), (lambda **k: autocorrelogram(one, **k), "")):
        owner = name or "autocorrelogram"
        assert_refused(lambda mine=mine: mine(max_lag=-1.0), owner, "max_lag")
        assert_refused(lambda mine=mine: mine(bin_ms=0.0), owner, "bin_ms")
        assert_refused(lambda mine=mine: mine(start=21.0), owner, "start")
    for other in (None, "I", later):
        crossed = functools.partial(cross_correlogram, one, other=other)
        assert_refused(crossed, "cross_correlogram", "other")
