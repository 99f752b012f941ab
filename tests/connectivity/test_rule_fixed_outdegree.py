"""Fixed out-degree: exact degrees, partners uniform, refusals."""

import math

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro.connectivity import FixedOutdegree
from tests.refusing import assert_refused

from .drawing import P, draw

FLAGS = [(a, m) for a in (True, False) for m in (True, False)]


@pytest.mark.slow
@hypothesis.given(
    n=st.integers(2, 40),
    n_pre=st.integers(0, 40),
    k=st.integers(0, 60),
    flags=st.sampled_from(FLAGS),
    same=st.booleans(),
)
def test_it_is_exact(n, n_pre, k, flags, same):
    autapses, multapses = flags
    n_pre = n if same else n_pre
    k = k if multapses else min(k, n - (same and not autapses))
    rule = FixedOutdegree(k, autapses=autapses, multapses=multapses)
    pre, post = draw(rule, n_pre, n, same)
    assert np.bincount(pre, minlength=n_pre).tolist() == [k] * n_pre
    assert rule.expected(n_pre, n, same) == pre.size
    if not multapses:
        assert np.unique(pre * 1000 + post).size == pre.size
    if same and not autapses:
        assert (pre != post).all()


@pytest.mark.parametrize("k", [1, 14, 15, 16, 29, 30])
def test_every_distinct_outdegree_up_to_all_targets(k):
    pre, post = draw(FixedOutdegree(k, multapses=False), 50, 30)
    assert np.unique(pre * 30 + post).size == pre.size == 50 * k
    _, post = draw(FixedOutdegree(min(k, 29), autapses=False, multapses=False), 30, 30, same=True)
    assert post.size == 30 * min(k, 29)


@pytest.mark.parametrize(("autapses", "multapses"), FLAGS)
@pytest.mark.parametrize("k", [3, 35])
def test_targets_are_uniform(autapses, multapses, k):
    n, rounds = 40, 100
    pairs = np.zeros((n, n))
    rule = FixedOutdegree(k, autapses=autapses, multapses=multapses)
    for seed in range(rounds):
        np.add.at(pairs, draw(rule, n, n, same=True, seed=seed), 1)
    assert pairs.diagonal().any() == autapses
    candidates = n - (not autapses)
    share = k / candidates
    # A row of pairs: k draws with replacement, or without (which spread less), many times.
    variance = rounds * (
        share if multapses else share * (1 - share) * candidates / (candidates - 1)
    )
    allowed = ~np.eye(n, dtype=bool) | autapses
    chi2 = ((pairs[allowed] - rounds * share) ** 2 / variance).sum()
    assert 1e-4 < scipy.stats.chi2(n * (candidates - 1)).cdf(chi2) < 1 - 1e-4
    # In-degrees: sums over the sources of a target.
    assert (np.abs(pairs.sum(axis=0) - rounds * k) < 5 * np.sqrt(candidates * variance)).all()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_every_subset_is_as_likely(k):
    # Rows draw alone, so one drawing of many rows is a sample; 3 and 4 of 5 by the complement.
    pre, post = draw(FixedOutdegree(k, multapses=False), 6000, 5)
    subset = np.bincount(pre, weights=2.0**post).astype(int)
    counts = np.unique_counts(subset).counts
    assert counts.size == math.comb(5, k)
    assert scipy.stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("multapses", [True, False])
@pytest.mark.parametrize("k", [4, 45])
def test_a_row_does_not_depend_on_other_rows(k, multapses):
    rule = FixedOutdegree(k, multapses=multapses)
    few, many = (draw(rule, n, 50) for n in (20, 90))
    inside = many[0] < 20
    np.testing.assert_array_equal(np.stack(few), np.stack([x[inside] for x in many]))


@pytest.mark.parametrize(("n_pre", "n_post", "k"), [(0, 5, 3), (5, 0, 3), (0, 0, 3), (5, 4, 0)])
@pytest.mark.parametrize("multapses", [True, False])
def test_nobody(n_pre, n_post, k, multapses):
    rule = FixedOutdegree(k, multapses=multapses)
    assert draw(rule, n_pre, n_post)[0].size == rule.expected(n_pre, n_post, False) == 0


def test_one_neuron():
    assert [x.tolist() for x in draw(FixedOutdegree(3), 1, 1, same=True)] == [[0] * 3, [0] * 3]
    assert draw(FixedOutdegree(0, autapses=False), 1, 1, same=True)[0].size == 0


REFUSED = [
    (lambda: FixedOutdegree(-1), "FixedOutdegree", "k", "-1"),
    (
        lambda: FixedOutdegree(1, multapses=False, stored=False),
        "FixedOutdegree",
        "stored",
        "False",
    ),
    (lambda: draw(FixedOutdegree(6, multapses=False), 3, 5), P, "k", "6"),
    (
        lambda: draw(FixedOutdegree(5, autapses=False, multapses=False), 5, 5, same=True),
        P,
        "k",
        "5",
    ),
    (lambda: draw(FixedOutdegree(1, autapses=False), 1, 1, same=True), P, "k", "1"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)
