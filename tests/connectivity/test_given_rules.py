"""Rules without chance, and what holds for all: chunks, other rows, many targets."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro.connectivity import (
    AllToAll,
    Explicit,
    FixedIndegree,
    FixedOutdegree,
    FixedProbability,
    FixedTotal,
    OneToOne,
    SymmetricBernoulli,
)
from tests.refusing import assert_refused

from .drawing import P, draw, set_chunk


@pytest.mark.slow
@hypothesis.given(n_pre=st.integers(0, 20), n_post=st.integers(0, 20), autapses=st.booleans())
def test_all_to_all(n_pre, n_post, autapses):
    for same in (False, n_pre == n_post):
        rule = AllToAll(autapses=autapses)
        pre, post = draw(rule, n_pre, n_post, same)
        skip = same and not autapses
        want = [(i, j) for i in range(n_pre) for j in range(n_post) if not (skip and i == j)]
        assert list(zip(pre, post)) == want
        assert rule.expected(n_pre, n_post, same) == len(want)
        values = np.arange(len(want))
        np.testing.assert_array_equal(rule.arrange(values), values)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_one_to_one(n):
    pre, post = draw(OneToOne(), n, n)
    assert pre.tolist() == post.tolist() == list(range(n))
    assert OneToOne().expected(n, n, False) == n
    values = np.arange(n) * 2.0
    np.testing.assert_array_equal(OneToOne().arrange(values), values)


EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 14)), max_size=50)


@hypothesis.given(edges=EDGES)
def test_explicit_keeps_every_edge_and_its_value(edges):
    pre, post = (np.array([e[i] for e in edges], np.int64) for i in (0, 1))
    rule = Explicit(pre, post)
    got = draw(rule, 10, 15)
    want = sorted(edges)
    assert list(zip(*got)) == want
    assert rule.expected(10, 15, False) == len(edges)
    # A value stays with its edge; among equal edges they keep the order given.
    order = rule.arrange(np.arange(len(edges)))
    assert order.tolist() == sorted(range(len(edges)), key=lambda c: (edges[c], c))


def test_explicit_sorts_large_indices():
    # More than 16 bits: the radix sort needs both of its passes.
    rng = np.random.default_rng(0)
    pre, post = rng.integers(0, 200_000, 5000), rng.integers(0, 200_000, 5000)
    got = draw(Explicit(pre, post), 200_000, 200_000)
    order = np.lexsort((post, pre))
    np.testing.assert_array_equal(np.stack(got), np.stack([pre[order], post[order]]))


def test_explicit_takes_lists_and_narrow_or_empty_arrays():
    for pre, post in (([2, 0], [1, 1]), (np.array([2, 0], np.uint8), np.array([1, 1], np.int16))):
        assert list(zip(*draw(Explicit(pre, post), 3, 2))) == [(0, 1), (2, 1)]
    assert draw(Explicit([], []), 3, 2)[0].size == 0
    assert draw(Explicit([], []), 0, 0)[0].size == 0


EDGE = (
    np.random.default_rng(1).integers(0, 40, 300),
    np.random.default_rng(2).integers(0, 40, 300),
)
RULES = [
    AllToAll(),
    AllToAll(autapses=False),
    OneToOne(),
    Explicit(*EDGE),
    FixedProbability(0.2),
    FixedProbability(0.9, autapses=False),
    FixedIndegree(7),
    FixedIndegree(13, autapses=False, multapses=False),
    FixedIndegree(30, multapses=False),
    FixedOutdegree(7),
    FixedOutdegree(13, autapses=False, multapses=False),
    FixedOutdegree(30, multapses=False),
    FixedTotal(333),
    FixedTotal(400, autapses=False, multapses=False),
    FixedTotal(1500, multapses=False),
    SymmetricBernoulli(0.2),
    SymmetricBernoulli(0.9, autapses=True),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("size", [1, 17, 30])
def test_draws_do_not_depend_on_the_chunk(monkeypatch, rule, size):
    whole = draw(rule, 40, 40, same=True)
    set_chunk(monkeypatch, size)
    chunked = draw(rule, 40, 40, same=True)
    np.testing.assert_array_equal(np.stack(whole), np.stack(chunked))
    assert len(list(rule.draw((np.uint32(0), np.uint32(0)), 40, 40, True))) > 1


@pytest.mark.parametrize("p", [0.01, 0.3, 0.97])
def test_a_row_does_not_depend_on_other_rows(p):
    few, many = (draw(FixedProbability(p), n, 300) for n in (20, 90))
    inside = many[0] < 20
    np.testing.assert_array_equal(np.stack(few), np.stack([x[inside] for x in many]))
    # Nor do its first targets on how many targets there are.
    wide = draw(FixedProbability(p), 20, 900)
    inside = wide[1] < 300
    np.testing.assert_array_equal(np.stack(few), np.stack([x[inside] for x in wide]))


@pytest.mark.parametrize("multapses", [True, False])
@pytest.mark.parametrize("k", [4, 45])
def test_the_sources_of_a_target_do_not_depend_on_other_targets(k, multapses):
    rule = FixedIndegree(k, multapses=multapses)
    few, many = (draw(rule, 50, n) for n in (20, 90))
    inside = many[1] < 20
    np.testing.assert_array_equal(np.stack(few), np.stack([x[inside] for x in many]))


@pytest.mark.parametrize(
    "rule",
    [
        AllToAll(),
        FixedProbability(0.5),
        FixedProbability(1.0),
        FixedOutdegree(50),
        FixedTotal(90),
        FixedTotal(2900, multapses=False),
        Explicit(np.arange(90) % 2, np.arange(90)),
    ],
    ids=repr,
)
def test_a_row_longer_than_a_chunk(monkeypatch, rule):
    whole = draw(rule, 3, 1000)
    set_chunk(monkeypatch, 10)
    np.testing.assert_array_equal(np.stack(whole), np.stack(draw(rule, 3, 1000)))


REFUSED = [
    (lambda: Explicit([0, 1], [0]), "Explicit", "post", "1"),
    (lambda: Explicit([0.5], [0]), "Explicit", "pre", "float64"),
    (lambda: Explicit([[0]], [[0]]), "Explicit", "pre", "(1, 1)"),
    (lambda: Explicit([True], [0]), "Explicit", "pre", "bool"),
    (lambda: Explicit([0], [-1]), "Explicit", "post", "-1"),
    (lambda: draw(Explicit([3], [0]), 3, 2), P, "pre", "3 at index 0"),
    (lambda: draw(Explicit([0], [2]), 3, 2), P, "post", "2 at index 0"),
    (lambda: draw(Explicit([0, 5, 7], [0, 1, 1]), 4, 2), P, "pre", "5 at index 1 (2 of 3 are not)"),
    (lambda: draw(OneToOne(), 3, 2), P, "rule", "3 and 2"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)
