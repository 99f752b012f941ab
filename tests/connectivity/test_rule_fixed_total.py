"""Fixed total number: exact totals, pairs uniform with and without replacement, refusals."""

import collections
import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro.connectivity import FixedTotal
from tests.refusing import assert_refused

from .drawing import P, draw

FLAGS = [(a, m) for a in (True, False) for m in (True, False)]


@hypothesis.given(
    n_pre=st.integers(0, 20),
    n_post=st.integers(0, 20),
    total=st.integers(0, 500),
    flags=st.sampled_from(FLAGS),
    same=st.booleans(),
)
def test_it_is_exact(n_pre, n_post, total, flags, same):
    autapses, multapses = flags
    n_pre = n_post if same else n_pre
    pairs = n_pre * n_post - n_post * (same and not autapses)
    total = 0 if pairs == 0 else total if multapses else min(total, pairs)
    rule = FixedTotal(total, autapses=autapses, multapses=multapses)
    pre, post = draw(rule, n_pre, n_post, same)
    assert pre.size == total == rule.expected(n_pre, n_post, same)
    if not multapses:
        assert np.unique(pre * 1000 + post).size == total
    if same and not autapses:
        assert (pre != post).all()


def pair_counts(rule, n_pre, n_post, same, rounds):
    """How often each allowed pair is drawn in each round: (rounds, pairs)."""
    allowed = ~np.eye(n_pre, n_post, dtype=bool) | rule.autapses | (not same)
    counts = np.zeros((rounds, n_pre, n_post), int)
    for seed in range(rounds):
        np.add.at(counts[seed], draw(rule, n_pre, n_post, same, seed=seed), 1)
    assert not counts[:, ~allowed].any()
    return counts[:, allowed]


@pytest.mark.parametrize(("same", "autapses"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("total", [150, 3000])
def test_with_multapses_pairs_are_multinomial(total, same, autapses):
    n_pre, n_post, rounds = 30, 30 if same else 37, 40
    counts = pair_counts(FixedTotal(total, autapses=autapses), n_pre, n_post, same, rounds)
    pairs = counts.shape[1]
    chi2 = ((counts.sum(axis=0) - rounds * total / pairs) ** 2).sum() * pairs / (rounds * total)
    assert 1e-4 < scipy.stats.chi2(pairs - 1).cdf(chi2) < 1 - 1e-4
    # Within a round, not only in the sum of all: the spread of each round is multinomial.
    chi2 = ((counts - total / pairs) ** 2).sum() * pairs / total
    free = rounds * (pairs - 1)
    variance = free * (2 - 2 / total)  # exact for pairs that are equally likely
    assert abs(chi2 - free) < 5 * np.sqrt(variance)
    # How many pairs have 0, 1, 2, ... connections.
    law = scipy.stats.binom(total, 1 / pairs)
    top = int(law.ppf(1 - 20 / counts.size))
    low = int(law.ppf(20 / counts.size))
    seen = np.bincount(np.clip(counts.ravel(), low, top) - low, minlength=top - low + 1)
    edges = [-np.inf, *(np.arange(low, top) + 0.5), np.inf]
    expected = np.diff(law.cdf(edges)) * counts.size
    assert expected.min() > 5
    assert scipy.stats.chisquare(seen, expected).pvalue > 1e-4


@pytest.mark.parametrize("total", [100, 999, 20_000])
def test_row_counts_are_multinomial(total):
    n_pre, rounds = 25, 200
    counts = np.zeros((rounds, n_pre))
    for seed in range(rounds):
        counts[seed] = np.bincount(draw(FixedTotal(total), n_pre, 40, seed=seed)[0], minlength=25)
    chi2 = ((counts - total / n_pre) ** 2 / (total / n_pre)).sum(axis=1)
    if total >= 999:
        assert scipy.stats.kstest(chi2, scipy.stats.chi2(n_pre - 1).cdf).pvalue > 1e-4
    # Each row alone: binomial.
    law = scipy.stats.binom(total, 1 / n_pre)
    assert (np.abs(counts.mean(axis=0) - law.mean()) < 5 * law.std() / np.sqrt(rounds)).all()
    variance = counts.var(axis=0).mean() / law.var()
    assert abs(variance - 1) < 5 * np.sqrt(2 / (rounds * n_pre))


@pytest.mark.slow
@pytest.mark.parametrize("total", [1, 2])
def test_with_multapses_every_sequence_of_pairs_is_as_likely(total):
    # Also joint: the targets of a source do not follow from how many it has.
    pairs, rounds = 6, 2500
    counts = pair_counts(FixedTotal(total), 2, 3, False, rounds)
    seen = collections.Counter(tuple(np.repeat(np.arange(pairs), c)) for c in counts)
    sequences = itertools.product(range(pairs), repeat=total)
    share = collections.Counter(tuple(sorted(s)) for s in sequences)
    assert set(seen) == set(share)
    expected = [share[s] * rounds / pairs**total for s in share]
    assert scipy.stats.chisquare([seen[s] for s in share], expected).pvalue > 1e-4


SUBSETS = [
    # n_pre, n_post, total, same, number of subsets; above half of the pairs by the complement
    (3, 3, 2, False, 36),
    (3, 3, 7, False, 36),
    (2, 4, 4, False, 70),
    (3, 3, 2, True, 15),
    (2, 4, 5, False, 56),
]


@pytest.mark.slow(but=["3-3-2-True-15"])
@pytest.mark.parametrize(("n_pre", "n_post", "total", "same", "subsets"), SUBSETS)
def test_without_multapses_every_subset_is_as_likely(n_pre, n_post, total, same, subsets):
    rule = FixedTotal(total, autapses=not same, multapses=False)
    rounds = 40 * subsets
    counts = pair_counts(rule, n_pre, n_post, same, rounds)
    assert counts.max() == 1
    subset = counts @ (1 << np.arange(counts.shape[1]))
    seen = np.unique_counts(subset).counts
    assert seen.size == subsets
    assert scipy.stats.chisquare(seen).pvalue > 1e-4


@pytest.mark.parametrize("total", [40, 440, 460, 800])
def test_without_multapses_pairs_are_uniform(total):
    n, rounds = 31, 60
    rule = FixedTotal(total, autapses=False, multapses=False)
    counts = pair_counts(rule, n, n, True, rounds)
    pairs, share = counts.shape[1], total / counts.shape[1]
    variance = rounds * share * (1 - share) * pairs / (pairs - 1)
    chi2 = ((counts.sum(axis=0) - rounds * share) ** 2 / variance).sum()
    assert 1e-4 < scipy.stats.chi2(pairs - 1).cdf(chi2) < 1 - 1e-4


@pytest.mark.parametrize("total", [1, 2, 29, 449, 450, 451, 899, 900])
def test_every_total_up_to_all_pairs(total):
    pre, post = draw(FixedTotal(total, multapses=False), 30, 30)
    assert np.unique(pre * 30 + post).size == pre.size == total


@pytest.mark.parametrize("multapses", [True, False])
def test_more_connections_hold_the_fewer(multapses):
    # A row's targets are the first of one sequence, whatever the total.
    few, many = (
        np.bincount(pre * 50 + post, minlength=2500)
        for pre, post in (draw(FixedTotal(t, multapses=multapses), 50, 50) for t in (400, 700))
    )
    assert (few <= many).all()


@pytest.mark.parametrize(("n_pre", "n_post", "total"), [(0, 5, 3), (5, 0, 3), (0, 0, 3), (5, 4, 0)])
@pytest.mark.parametrize("multapses", [True, False])
def test_nobody(n_pre, n_post, total, multapses):
    rule = FixedTotal(total, multapses=multapses)
    assert draw(rule, n_pre, n_post)[0].size == rule.expected(n_pre, n_post, False) == 0


def test_one_neuron():
    assert [x.tolist() for x in draw(FixedTotal(3), 1, 1, same=True)] == [[0] * 3, [0] * 3]
    assert draw(FixedTotal(1, multapses=False), 1, 1, same=True)[0].tolist() == [0]
    assert draw(FixedTotal(0, autapses=False), 1, 1, same=True)[0].size == 0


REFUSED = [
    (lambda: FixedTotal(-1), "FixedTotal", "total", "-1"),
    (lambda: FixedTotal(1, multapses=False, stored=False), "FixedTotal", "stored", "False"),
    (lambda: draw(FixedTotal(16, multapses=False), 3, 5), P, "total", "16"),
    (
        lambda: draw(FixedTotal(21, autapses=False, multapses=False), 5, 5, same=True),
        P,
        "total",
        "21",
    ),
    (lambda: draw(FixedTotal(1, autapses=False), 1, 1, same=True), P, "total", "1"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)
