"""Correlations and correlograms against NumPy's and loops."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro.analysis import (
    autocorrelogram,
    count_correlation,
    count_covariance,
    cross_correlogram,
)
from tests.oracle import analysis_spikes as oracle

STEPS = st.lists(st.integers(1, 200), max_size=60)


def times(steps):
    return np.sort(np.array(steps, int)) * 0.1


def test_matrices_are_numpys():
    counts = np.random.default_rng(0).poisson(2.0, (7, 50))
    np.testing.assert_allclose(count_covariance(counts), np.cov(counts), rtol=1e-12, atol=1e-14)
    mean, matrix = count_correlation(counts)
    np.testing.assert_allclose(matrix, np.corrcoef(counts), rtol=1e-12, atol=1e-14)
    pairs = [np.corrcoef(counts[i], counts[j])[0, 1] for i in range(7) for j in range(i)]
    assert mean == pytest.approx(np.mean(pairs), rel=1e-12)


def test_a_silent_neuron_is_left_out():
    counts = np.random.default_rng(1).poisson(2.0, (3, 50))
    with_silent = np.insert(counts, 1, 0, axis=0)
    with_silent = np.append(with_silent, np.full((1, 50), 3), axis=0)
    mean, matrix = count_correlation(with_silent)
    assert mean == pytest.approx(count_correlation(counts)[0], rel=1e-12)
    unknown = np.zeros((5, 5), bool)
    unknown[[1, 4]] = unknown[:, [1, 4]] = True
    np.testing.assert_array_equal(np.isnan(matrix), unknown)
    assert np.isnan(count_correlation(with_silent[:2])[0])


def test_shared_input_is_found():
    # Each of two counts is its own Poisson plus a shared one of the same mean: r = 1/2.
    rng = np.random.default_rng(2)
    shared, own = rng.poisson(5.0, (1, 20_000)), rng.poisson(5.0, (6, 20_000))
    mean, _ = count_correlation(shared + own)
    # (1 - r^2) / sqrt(bins) for one pair; the mean of 15 is not worse.
    assert mean == pytest.approx(0.5, abs=5 * 0.75 / np.sqrt(20_000))
    assert abs(count_correlation(own)[0]) < 5 / np.sqrt(20_000 * 15)


@hypothesis.given(counts=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=2))
def test_correlations_are_in_bounds_and_follow_the_neurons(counts):
    counts = np.array(counts)
    mean, matrix = count_correlation(counts)
    known = ~np.isnan(matrix)
    assert (np.abs(matrix[known]) <= 1).all()
    flipped, back = count_correlation(counts[::-1])
    np.testing.assert_allclose(back[::-1, ::-1], matrix, atol=1e-12)
    assert flipped == pytest.approx(mean, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("mine", [count_covariance, count_correlation])
def test_bad_counts_are_refused(mine):
    with pytest.raises(ValueError, match=r"at least 2 bins.* got shape \(3, 1\)"):
        mine(np.zeros((3, 1)))
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        mine(np.zeros(3))
    with pytest.raises(ValueError, match="counts must be finite; got nan at index 1"):
        mine([[0.0, np.nan]])


@hypothesis.given(a=STEPS, b=STEPS, width=st.sampled_from([1, 5, 13]), lags=st.integers(0, 9))
def test_the_cross_correlogram_equals_the_loop(a, b, width, lags):
    bins = 200 // width
    x, y = (oracle.counts(s, [0] * len(s), 1, 0, width, bins)[0] for s in (a, b))
    window = {"bin_ms": width * 0.1, "max_lag": lags * width * 0.1}
    lag, pairs = cross_correlogram(times(a), times(b), 20.0, **window)
    np.testing.assert_allclose(lag, width * 0.1 * np.arange(-lags, lags + 1), atol=1e-9)
    assert pairs.tolist() == oracle.correlogram(x, y, lags)
    # Forward in one is backward in the other.
    assert cross_correlogram(times(b), times(a), 20.0, **window)[1][::-1].tolist() == pairs.tolist()


def test_many_blocks_are_one_correlogram():
    rng = np.random.default_rng(3)
    x, y = rng.poisson(0.5, (2, 30_000))
    steps = np.arange(1, 30_001)
    _, pairs = cross_correlogram(
        np.repeat(steps, x) * 0.1, np.repeat(steps, y) * 0.1, 3000.0, bin_ms=0.1, max_lag=150.0
    )
    full = np.correlate(y, x, mode="full")[30_000 - 1 - 1500 : 30_000 + 1500]
    np.testing.assert_array_equal(pairs, full)


def test_a_positive_lag_is_later():
    first = np.random.default_rng(4).uniform(10, 900, 50)
    lag, pairs = cross_correlogram(first, first + 7.0, 1000.0, max_lag=20.0)
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
    _, pairs = autocorrelogram(
        at * 0.1, neurons, 4, 20.0, bin_ms=width * 0.1, max_lag=lags * width * 0.1
    )
    assert pairs.tolist() == want.tolist()


def test_a_clock_shows_its_period():
    lag, pairs = autocorrelogram(np.arange(1, 101) * 4.0, np.zeros(100, int), 1, 400.0, max_lag=9.0)
    assert dict(zip(lag[pairs > 0].tolist(), pairs[pairs > 0].tolist())) == {
        -8.0: 98,
        -4.0: 99,
        4.0: 99,
        8.0: 98,
    }


@pytest.mark.parametrize(
    "mine",
    [
        lambda *a, **k: cross_correlogram([1.0], *a, **k),
        lambda t, *a, **k: autocorrelogram(t, [0] * len(t), 1, *a, **k),
    ],
)
def test_correlograms_refuse(mine):
    with pytest.raises(ValueError, match=r"max_lag must be finite and at least 0.0 ms; got -1"):
        mine([1.0], 10.0, max_lag=-1.0)
    with pytest.raises(ValueError, match=r"bin_ms must be finite and above 0.0 ms; got 0"):
        mine([1.0], 10.0, bin_ms=0.0)
    with pytest.raises(ValueError, match="stop must"):
        mine([1.0], 10.0, start=11.0)
    with pytest.raises(ValueError, match="must be finite"):
        mine([np.nan], 10.0)
