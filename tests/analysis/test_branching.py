"""Branching ratios against straight-line fits, and of processes whose ratio is known."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from jaxneuro import SpikeTrains, analysis
from tests.oracle import analysis_spikes as oracle
from tests.refusing import assert_refused


def branching_ratio(counts):
    return analysis.branching_ratio(SpikeTrains.of_counts(counts, 1.0), bin_ms=1.0)


def multistep_branching_ratio(counts, max_lag):
    trains = SpikeTrains.of_counts(counts, 1.0)
    return analysis.multistep_branching_ratio(trains, bin_ms=1.0, max_lag=max_lag)


@hypothesis.given(
    counts=st.lists(st.integers(0, 9), min_size=12, max_size=40).filter(
        lambda c: len(set(c[:7])) > 1
    )
)
def test_slopes_are_those_of_straight_lines(counts):
    a = np.array(counts)
    slopes = multistep_branching_ratio(a, 5).slopes
    want = [scipy.stats.linregress(a[:-k], a[k:]).slope for k in range(1, 6)]
    np.testing.assert_allclose(slopes, want, rtol=1e-9, atol=1e-11)
    assert branching_ratio(a) == pytest.approx(want[0], rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(("m", "share"), [(0.5, 1.0), (0.9, 0.1), (0.98, 0.02)])
def test_the_fit_is_that_of_least_squares(m, share):
    rng = np.random.default_rng(2)
    seen = rng.binomial(oracle.branching_process(rng, m, 10.0, 20_000), share)
    got = multistep_branching_ratio(seen, 80)
    k = np.arange(1, 81)
    (b, ratio), _ = scipy.optimize.curve_fit(
        lambda k, b, m: b * m**k, k, got.slopes, p0=(share, m), xtol=1e-12, ftol=1e-12
    )
    assert (got.ratio, got.offset) == pytest.approx((ratio, b), rel=1e-6)


def test_subsampling_deceives_one_step_but_not_many():
    rng = np.random.default_rng(0)
    whole = oracle.branching_process(rng, 0.95, 2.0, 100_000)
    seen = rng.binomial(whole, 0.05)
    # The sd of a slope is about sqrt((1 - m^2) / bins).
    sd = np.sqrt((1 - 0.95**2) / 100_000)
    assert branching_ratio(whole) == pytest.approx(0.95, abs=5 * sd)
    full = multistep_branching_ratio(whole, 60)
    part = multistep_branching_ratio(seen, 60)
    assert branching_ratio(seen) < 0.5
    # sd over 40 seeds, all seen: ratio 0.0024, offset 0.0133; a twentieth: 0.0026 and 0.0083.
    assert full.ratio == pytest.approx(0.95, abs=5 * 0.0024)
    assert part.ratio == pytest.approx(0.95, abs=5 * 0.0026)
    # Var(A) = mean / (1 - m^2); a share p of it leaves b = p^2 Var / (p^2 Var + p (1 - p) mean).
    spread = 1 / (1 - 0.95**2)
    assert full.offset == pytest.approx(1.0, abs=5 * 0.0133)
    assert part.offset == pytest.approx(0.05 * spread / (0.05 * spread + 0.95), abs=5 * 0.0083)


def test_a_poisson_process_does_not_branch():
    counts = np.random.default_rng(1).poisson(3.0, 40_000)
    assert abs(branching_ratio(counts)) < 5 / np.sqrt(40_000)


def test_constant_activity_has_no_ratio():
    assert np.isnan(branching_ratio(np.full(10, 3)))
    got = multistep_branching_ratio(np.full(10, 3), 3)
    assert np.isnan([got.ratio, got.offset, *got.slopes]).all()
    assert np.isnan(branching_ratio([2, 2, 2, 7]))


def test_branching_refuses():
    for call, owner, field in (
        (lambda: branching_ratio([1, 2]), "branching_ratio", "bin_ms"),
        (lambda: multistep_branching_ratio([1, 2, 1, 2], 5), "multistep_branching_ratio", "bin_ms"),
        (lambda: multistep_branching_ratio([1, 2, 1], 1), "multistep_branching_ratio", "max_lag"),
    ):
        assert_refused(call, owner, field)
