"""Irregularity of single neurons against loops over their definitions, and known processes."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro import SpikeTrains
from jaxneuro.analysis import (
    cv2,
    fano_factor,
    interval_cv,
    interval_cvs,
    intervals,
    local_variation,
    spike_counts,
)
from tests.oracle import analysis_spikes as oracle
from tests.refusing import assert_refused

N = 5
EVENTS = st.lists(st.tuples(st.integers(0, N - 1), st.integers(1, 300)), unique=True, max_size=60)
STATISTICS = {
    "cv": (interval_cvs, oracle.cv),
    "cv2": (cv2, oracle.cv2),
    "lv": (local_variation, oracle.local_variation),
    "lvr": (lambda x: local_variation(x, t_ref=0.5), lambda x: oracle.local_variation(x, 5.0)),
}
every_statistic = pytest.mark.parametrize("name", STATISTICS)


def arrays(events):
    """Steps and neurons in order of time."""
    events = sorted(events, key=lambda e: e[1])
    return np.array([e[1] for e in events], int), np.array([e[0] for e in events], int)


def given(times, neurons, n=N):
    return SpikeTrains(times, neurons, n, 0.0, max(100.0, np.max(times, initial=0.0)))


def alone(times):
    """One neuron."""
    return given(times, np.zeros(len(times), int), 1)


def poisson(seed, spikes):
    return np.cumsum(np.random.default_rng(seed).exponential(5.0, spikes))


@hypothesis.given(events=EVENTS)
def test_intervals_equal_the_loop(events):
    steps, neurons = arrays(events)
    gaps, owner = intervals(given(steps * 0.1, neurons))
    trains = oracle.trains(steps, neurons, N)
    want = [(i, g) for i, train in enumerate(trains) for g in oracle.gaps(train)]
    assert owner.tolist() == [i for i, _ in want]
    np.testing.assert_allclose(gaps, [0.1 * g for _, g in want], atol=1e-9)


@every_statistic
@hypothesis.given(events=EVENTS)
def test_a_statistic_equals_the_loop(name, events):
    mine, theirs = STATISTICS[name]
    steps, neurons = arrays(events)
    trains = oracle.trains(steps, neurons, N)
    want = [theirs(train) if len(train) > 2 else np.nan for train in trains]
    np.testing.assert_allclose(mine(given(steps * 0.1, neurons)), want, rtol=1e-8, atol=1e-8)


@every_statistic
@hypothesis.given(events=EVENTS, seed=st.integers(0, 99), later=st.integers(0, 500))
def test_names_and_time_are_free(name, events, seed, later):
    mine = STATISTICS[name][0]
    steps, neurons = arrays(events)
    order = np.random.default_rng(seed).permutation(N)
    got = mine(given((steps + later) * 0.1, order[neurons]))[order]
    np.testing.assert_allclose(got, mine(given(steps * 0.1, neurons)), rtol=1e-8, atol=1e-8)


@every_statistic
def test_the_order_of_the_spikes_is_free(name):
    mine = STATISTICS[name][0]
    times, neurons = poisson(1, 500), np.random.default_rng(2).integers(0, N, 500)
    order = np.random.default_rng(3).permutation(500)
    shuffled = mine(given(times[order], neurons[order]))
    np.testing.assert_array_equal(shuffled, mine(given(times, neurons)))


def test_the_cv_is_scipys():
    times = poisson(4, 200)
    got = interval_cvs(alone(times))[0]
    assert got == pytest.approx(scipy.stats.variation(np.diff(times)), rel=1e-12)
    assert interval_cv(alone(times)) == got


@every_statistic
def test_a_clock_is_0(name):
    mine = STATISTICS[name][0]
    assert mine(alone(np.arange(1, 50) * 2.0))[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("name", "variance"), [("cv", 1.0), ("cv2", 1 / 3), ("lv", 0.8)])
def test_a_poisson_process_is_1(name, variance):
    # Terms overlap with their neighbours only: at most 3 times the variance of as many free ones.
    got = STATISTICS[name][0](alone(poisson(5, 20_000)))[0]
    assert got == pytest.approx(1.0, abs=5 * np.sqrt(3 * variance / 20_000))


def test_lvr_does_not_see_a_refractory_time():
    # Shinomoto et al. (2009): a dead time lowers LV, and LvR much less.
    gaps = np.random.default_rng(6).exponential(5.0, 20_000) + 0.25
    train = alone(np.cumsum(gaps))
    lv, lvr = local_variation(train)[0], local_variation(train, t_ref=0.25)[0]
    assert lv < 0.9
    assert abs(lvr - 1) < 0.3 * abs(lv - 1)


def test_cv2_does_not_see_a_slow_rate():
    gaps = np.random.default_rng(7).exponential(5.0, 20_000) * np.repeat([1.0, 10.0], 10_000)
    train = alone(np.cumsum(gaps))
    assert interval_cvs(train)[0] > 1.3
    assert cv2(train)[0] == pytest.approx(1.0, abs=5 * np.sqrt(1 / 20_000))


@hypothesis.given(events=EVENTS, width=st.sampled_from([1, 7, 25, 100]), first=st.integers(0, 50))
def test_fano_and_counts_equal_the_loop(events, width, first):
    steps, neurons = arrays(events)
    bins = (300 - first) // width
    window = {"stop": 30.0, "bin_ms": width * 0.1, "start": first * 0.1}
    trains = SpikeTrains(steps * 0.1, neurons, N, 0.0, 30.0)
    want = oracle.counts(steps, neurons, N, first, width, bins)
    counts = spike_counts(trains, **window)
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, want)
    factors, mean = fano_factor(trains, **window)
    active = want.sum(axis=1) > 0
    np.testing.assert_array_equal(np.isnan(factors), ~active)
    own = want[active].var(axis=1) / want[active].mean(axis=1)
    np.testing.assert_allclose(factors[active], own, rtol=1e-12, atol=1e-12)
    assert mean == pytest.approx(own.mean() if active.any() else np.nan, nan_ok=True)


def test_fano_of_a_clock_is_0_and_of_poisson_about_1():
    clock = np.arange(1, 1001) * 2.0
    factors, mean = fano_factor(alone(clock))
    assert factors[0] == mean == 0.0
    rng = np.random.default_rng(8)
    times, neurons = np.sort(rng.uniform(0, 1e5, 40_000)), rng.integers(0, 40, 40_000)
    factors, mean = fano_factor(SpikeTrains(times, neurons, 40, 0.0, 1e5))
    # The sd of a variance over B bins is sqrt(2 / B) of it, and 1 / (mean count) of B more.
    sd = np.sqrt((2 + 1 / (1000 / 1000)) / 1000)
    np.testing.assert_allclose(factors, 1.0, atol=5 * sd)
    assert mean == pytest.approx(1.0, abs=5 * sd / np.sqrt(40))


def test_many_neurons_and_many_bins_need_no_table():
    trains = SpikeTrains([0.05, 5.0], [0, 3_999_999], 4_000_000, 0.0, 1e6)
    factors, _ = fano_factor(trains, bin_ms=0.1)
    assert np.flatnonzero(~np.isnan(factors)).tolist() == [0, 3_999_999]
    assert factors[0] == pytest.approx(1 - 1e-7, rel=1e-12)


@pytest.mark.parametrize("mine", [cv2, local_variation])
def test_three_spikes_at_one_time_are_refused(mine):
    with pytest.raises(ValueError, match="three spikes at one time of neuron 2"):
        mine(given([1.0, 1.0, 1.0], [2, 2, 2], 3))


def test_counts_that_are_too_many_are_refused():
    many = SpikeTrains([1.0], [0], 10**6, 0.0, 1e9)
    assert_refused(
        lambda: spike_counts(many, bin_ms=1e-3), "spike_counts", "bin_ms", "8,000,000,000 GB"
    )
    many = SpikeTrains([1.0], [0], 2**31 + 1, 0.0, 1.0)
    assert_refused(lambda: spike_counts(many), "spike_counts", "bin_ms", "2,147,483,649 neurons")


def test_a_part_of_a_bin_is_left_out():
    counts = spike_counts(SpikeTrains([1.0, 4.0, 7.0], [0, 0, 0], 1, 0.0, 8.0), bin_ms=3.0)
    np.testing.assert_array_equal(counts, [[1, 1]])


def test_bad_arguments_are_refused():
    empty = SpikeTrains([], [], 1, 0.0, 10.0)
    assert_refused(lambda: spike_counts(empty, bin_ms=0), "spike_counts", "bin_ms")
    assert_refused(lambda: fano_factor(empty, bin_ms=6.0), "fano_factor", "bin_ms", "1 of them")
    assert_refused(lambda: local_variation(empty, t_ref=-1.0), "local_variation", "t_ref")
