"""Symmetric pairwise Bernoulli: a symmetric matrix, binomial counts, refusals."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro.connectivity import FixedProbability, SymmetricBernoulli
from tests.refusing import assert_refused

from .drawing import P, draw, set_chunk


def matrix(rule, n, seed=0):
    a = np.zeros((n, n), int)
    np.add.at(a, draw(rule, n, n, same=True, seed=seed), 1)
    return a


@hypothesis.given(n=st.integers(0, 40), p=st.floats(0, 1), autapses=st.booleans())
def test_it_is_symmetric_without_repeats(n, p, autapses):
    a = matrix(SymmetricBernoulli(p, autapses=autapses), n)
    np.testing.assert_array_equal(a, a.T)
    assert a.max(initial=0) <= 1
    assert autapses or not a.diagonal().any()


@pytest.mark.parametrize("p", [0.003, 0.1, 0.5, 0.999])
@pytest.mark.parametrize("autapses", [False, True])
def test_counts_are_binomial(p, autapses):
    n = 600
    rule = SymmetricBernoulli(p, autapses=autapses)
    a = matrix(rule, n)
    np.testing.assert_array_equal(a, a.T)
    law = scipy.stats.binom(n * (n - 1) // 2, p)
    assert law.ppf(1e-5) <= np.triu(a, 1).sum() <= law.ppf(1 - 1e-5)
    own = scipy.stats.binom(n * autapses, p)
    assert own.ppf(1e-5) <= a.trace() <= own.ppf(1 - 1e-5)
    assert rule.expected(n, n, True) == pytest.approx(2 * law.mean() + own.mean())
    # Of every neuron: n - 1 pairs, each of them shared with one other neuron.
    degrees = a.sum(axis=0) - a.diagonal()
    law = scipy.stats.binom(n - 1, p)
    assert law.ppf(1e-6) <= degrees.min() <= degrees.max() <= law.ppf(1 - 1e-6)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
def test_every_pair_is_as_likely_and_drawn_alone(p):
    n, rounds = 30, 300
    upper = np.triu_indices(n)
    drawn = np.stack(
        [matrix(SymmetricBernoulli(p, autapses=True), n, s)[upper] for s in range(rounds)]
    )
    chi2 = ((drawn.sum(axis=0) - rounds * p) ** 2).sum() / (rounds * p * (1 - p))
    assert 1e-4 < scipy.stats.chi2(upper[0].size).cdf(chi2) < 1 - 1e-4
    law = scipy.stats.binom(rounds * upper[0].size, p)
    assert law.ppf(1e-5) <= drawn.sum() <= law.ppf(1 - 1e-5)
    # The number of pairs of a round is binomial, so pairs are not drawn together.
    law = scipy.stats.binom(upper[0].size, p)
    assert abs(drawn.sum(axis=1).var() / law.var() - 1) < 5 * np.sqrt(2 / rounds)


@pytest.mark.parametrize("autapses", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_probability_one_is_everybody_and_zero_is_nobody(n, autapses):
    want = np.ones((n, n), int) - (not autapses) * np.eye(n, dtype=int)
    rule = SymmetricBernoulli(1.0, autapses=autapses)
    np.testing.assert_array_equal(matrix(rule, n), want)
    assert rule.expected(n, n, True) == want.sum()
    assert not matrix(SymmetricBernoulli(0.0, autapses=autapses), n).any()


def test_a_pair_does_not_depend_on_how_many_neurons_there_are():
    rule = SymmetricBernoulli(0.1)
    few, many = matrix(rule, 50), matrix(rule, 400)
    np.testing.assert_array_equal(few, many[:50, :50])


def test_many_neurons_in_small_chunks(monkeypatch):
    whole = matrix(SymmetricBernoulli(0.01), 700)
    for size in (1, 100):
        set_chunk(monkeypatch, size)
        np.testing.assert_array_equal(whole, matrix(SymmetricBernoulli(0.01), 700))


def test_it_is_not_the_upper_half_of_fixed_probability_by_chance():
    # Both directions exist where one does: twice p^2 of all pairs would be both by chance.
    n, p = 300, 0.1
    by_chance = matrix(FixedProbability(p), n)
    both = (by_chance * by_chance.T).sum() / n**2
    assert both < 0.02
    a = matrix(SymmetricBernoulli(p), n)
    assert (a * a.T).sum() / n**2 > 0.08


REFUSED = [
    (lambda: SymmetricBernoulli(-0.1), "SymmetricBernoulli", "p", "-0.1"),
    (lambda: draw(SymmetricBernoulli(0.1), 5, 5), P, "rule", "other"),
    (lambda: draw(SymmetricBernoulli(0.1), 5, 6), P, "rule", "other"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)
