"""Exact laws of the rules that draw: counts, distinctness, uniformity, geometric gaps."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro.connectivity import FixedIndegree, FixedOutdegree, FixedProbability, FixedTotal
from tests.refusing import assert_refused

from .drawing import P, draw

FLAGS = [(a, m) for a in (True, False) for m in (True, False)]


@pytest.mark.slow
@hypothesis.given(
    n=st.integers(2, 40),
    n_post=st.integers(0, 40),
    k=st.integers(0, 60),
    flags=st.sampled_from(FLAGS),
    same=st.booleans(),
)
def test_fixed_indegree_is_exact(n, n_post, k, flags, same):
    autapses, multapses = flags
    n_post = n if same else n_post
    k = k if multapses else min(k, n - (same and not autapses))
    rule = FixedIndegree(k, autapses=autapses, multapses=multapses)
    pre, post = draw(rule, n, n_post, same)
    assert np.bincount(post, minlength=n_post).tolist() == [k] * n_post
    assert rule.expected(n, n_post, same) == pre.size
    if not multapses:
        assert np.unique(pre * 1000 + post).size == pre.size
    if same and not autapses:
        assert (pre != post).all()


@pytest.mark.parametrize("k", [1, 10, 14, 15, 16, 29, 30])
def test_every_distinct_indegree_up_to_all_sources(k):
    pre, post = draw(FixedIndegree(k, multapses=False), 30, 50)
    assert np.unique(pre * 50 + post).size == pre.size == 50 * k
    pre, _ = draw(FixedIndegree(min(k, 29), autapses=False, multapses=False), 30, 30, same=True)
    assert pre.size == 30 * min(k, 29)


@pytest.mark.parametrize(("autapses", "multapses"), FLAGS)
@pytest.mark.parametrize("k", [3, 35])
def test_fixed_indegree_draws_sources_uniformly(autapses, multapses, k):
    # Out-degrees: k n draws over n sources; without multapses they spread less.
    n, rounds = 40, 100
    counts = np.zeros(n)
    pairs = np.zeros((n, n))
    rule = FixedIndegree(k, autapses=autapses, multapses=multapses)
    for seed in range(rounds):
        pre, post = draw(rule, n, n, same=True, seed=seed)
        counts += np.bincount(pre, minlength=n)
        np.add.at(pairs, (pre, post), 1)
    candidates = n - (not autapses)
    mean = k * n * rounds / n
    share = k / candidates
    variance = rounds * n * (k / candidates if multapses else share * (1 - share))
    chi2 = ((counts - mean) ** 2 / variance).sum()
    assert 1e-4 < scipy.stats.chi2(n - 1).cdf(chi2) < 1 - 1e-4
    allowed = pairs[~np.eye(n, dtype=bool) | autapses]
    expected = rounds * share
    spread = share if multapses else share * (1 - share)
    z = (allowed - expected) / np.sqrt(rounds * spread)
    assert np.abs(z).max() < 5.5
    assert pairs.diagonal().any() == autapses


@pytest.mark.parametrize("p", [0.003, 0.02, 0.5, 0.999])
@pytest.mark.parametrize("same", [False, True])
def test_fixed_probability_counts_are_binomial(p, same):
    n_pre, n_post = 500, 500 if same else 700
    rule = FixedProbability(p, autapses=not same)
    pre, post = draw(rule, n_pre, n_post, same)
    assert np.unique(pre * n_post + post).size == pre.size
    candidates = n_post - same
    law = scipy.stats.binom(n_pre * candidates, p)
    assert law.ppf(1e-5) <= pre.size <= law.ppf(1 - 1e-5)
    assert rule.expected(n_pre, n_post, same) == pytest.approx(law.mean())
    for side, size, trials in ((pre, n_pre, candidates), (post, n_post, n_pre - same)):
        counts = np.bincount(side, minlength=size)
        chi2 = ((counts - trials * p) ** 2 / (trials * p * (1 - p))).sum()
        assert 1e-5 < scipy.stats.chi2(size).cdf(chi2) < 1 - 1e-5
    if same:
        assert (pre != post).all()


@pytest.mark.parametrize("p", [1e-4, 0.02, 0.5, 0.999])
def test_row_gaps_are_geometric(p):
    # The first ten gaps of rows so long that no row ends before them.
    rows, n = 2000, int(60 / p)
    pre, post = draw(FixedProbability(p), rows, n)
    first = np.searchsorted(pre, np.arange(rows))
    targets = post[first[:, None] + np.arange(10)]
    assert (pre[first[:, None] + np.arange(10)] == np.arange(rows)[:, None]).all()
    gaps = np.diff(targets, axis=1, prepend=-1) - 1
    assert gaps.min() >= 0
    law = scipy.stats.geom(p, loc=-1)
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 19)))
    observed = np.bincount(np.searchsorted(edges, gaps.ravel()), minlength=edges.size + 1)
    expected = gaps.size * np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    assert expected.min() > 5
    assert observed.size == expected.size >= 2
    assert scipy.stats.chisquare(observed, expected).pvalue > 1e-4
    if p == 1e-4:
        assert gaps.max() > 65_536, "a gap beyond the table of thresholds"


def test_the_longest_gaps_are_geometric_too():
    # Beyond the table of 65,536 thresholds a gap goes on with fresh bits.
    p, rows = 2e-5, 4000
    pre, post = draw(FixedProbability(p), rows, 1_500_000)
    first = np.searchsorted(pre, np.arange(rows))
    gaps = post[first[:rows]]
    for g in (60_000, 65_535, 65_536, 65_537, 131_072, 200_000):
        law = scipy.stats.binom(rows, (1 - p) ** g)
        assert law.ppf(1e-5) <= (gaps >= g).sum() <= law.ppf(1 - 1e-5)


@pytest.mark.parametrize("n_post", [0, 1, 7, 70_000])
def test_probability_one_is_everybody_and_zero_is_nobody(n_post):
    pre, post = draw(FixedProbability(1.0), 3, n_post)
    np.testing.assert_array_equal(pre, np.repeat(np.arange(3), n_post))
    np.testing.assert_array_equal(post, np.tile(np.arange(n_post), 3))
    assert draw(FixedProbability(0.0), 3, n_post)[0].size == 0
    assert draw(FixedProbability(1e-320), 3, n_post)[0].size == 0


def test_probability_one_without_autapses():
    pre, post = draw(FixedProbability(1.0, autapses=False), 5, 5, same=True)
    assert sorted(zip(pre, post)) == [(i, j) for i in range(5) for j in range(5) if i != j]


@hypothesis.given(n_pre=st.integers(0, 30), n_post=st.integers(0, 200), p=st.floats(0, 1))
def test_fixed_probability_of_any_shape_has_no_pair_twice(n_pre, n_post, p):
    for same in (False, n_pre == n_post):
        pre, post = draw(FixedProbability(p, autapses=False), n_pre, n_post, same)
        assert np.unique(pre * 1000 + post).size == pre.size
        assert not (same and (pre == post).any())


@pytest.mark.parametrize(
    "rule",
    [
        FixedProbability(0.1),
        FixedIndegree(5),
        FixedOutdegree(5),
        FixedTotal(300),
        FixedTotal(300, multapses=False),
    ],
    ids=repr,
)
def test_draws_differ_by_seed_and_name_and_repeat(rule):
    one = draw(rule, 60, 60)
    np.testing.assert_array_equal(np.stack(one), np.stack(draw(rule, 60, 60)))
    for other in (draw(rule, 60, 60, seed=1), draw(rule, 60, 60, name="q")):
        pairs = [set(zip(*(x.tolist() for x in d))) for d in (one, other)]
        assert len(pairs[0] & pairs[1]) < 0.5 * len(pairs[0])


def test_a_narrow_number_is_a_whole_number():
    # As a NumPy integer of 8 bits, k times the number of neurons would not fit.
    rule = FixedIndegree(np.uint8(200))
    assert rule.expected(300, 300, False) == draw(rule, 300, 300)[0].size == 60_000


REFUSED = [
    (lambda: FixedProbability(1.1), "FixedProbability", "p", "1.1"),
    (lambda: FixedIndegree(-1), "FixedIndegree", "k", "-1"),
    (lambda: FixedIndegree(1, stored=False), "FixedIndegree", "stored", "False"),
    (lambda: draw(FixedIndegree(6, multapses=False), 5, 3), P, "k", "6"),
    (
        lambda: draw(FixedIndegree(5, autapses=False, multapses=False), 5, 5, same=True),
        P,
        "k",
        "5",
    ),
    (lambda: draw(FixedIndegree(1, autapses=False), 1, 1, same=True), P, "k", "1"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)
