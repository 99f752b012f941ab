"""Connections inside the blocks of space and between those that touch."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro.connectivity import BlockProbability, _distance
from jaxneuro.space import Grid, Place
from tests.refusing import assert_refused

from .drawing import draw


def lattice(shape, periodic=False, spacing=1.0, origin=0.0):
    grid = Grid(shape, spacing=spacing, origin=origin, periodic=periodic)
    return Place(grid.draw(None, grid.size), grid.period)


def drawn(rule, pre, post, same=False, seed=0):
    bound = rule.bind("projection 'p'", pre, post)
    return draw(bound, len(pre.points), len(post.points), same, seed)


def touching(a, b, counts, adjacent):
    """Whether blocks (n, d) and (m, d) are one, or touch: Chebyshev distance with images."""
    gap = np.abs(a[:, None, :] - b[None, :, :])
    for axis, count in enumerate(counts):
        if count:
            gap[..., axis] = np.minimum(gap[..., axis], count - gap[..., axis])
    return gap.max(axis=-1) <= (1 if adjacent else 0)


def test_every_cell_of_a_4d_lattice_is_in_exactly_one_block():
    shape, size = (4, 6, 4, 8), (2, 3, 4, 2)
    grid = Grid(shape)
    blocks = BlockProbability(size).blocks_of(grid.coordinates())
    np.testing.assert_array_equal(blocks, grid.coordinates() // size)
    different, cells = np.unique(blocks, axis=0, return_counts=True)
    assert len(different) == 2 * 2 * 1 * 4
    assert (cells == np.prod(size)).all()
    assert cells.sum() == grid.size


@pytest.mark.parametrize("spacing", [0.1, 0.3, 1 / 3, 25.0, 1e-3])
def test_rounding_moves_no_cell_into_the_next_block(spacing):
    place = lattice((30, 12), spacing=spacing, origin=(0.7, -0.1))
    blocks = BlockProbability(3 * spacing, origin=(0.7, -0.1)).blocks_of(place.points)
    np.testing.assert_array_equal(blocks, Grid((30, 12)).coordinates() // 3)


def test_blocks_below_the_origin_and_round_a_ring():
    rule = BlockProbability(2.0)
    np.testing.assert_array_equal(rule.blocks_of([[-0.5], [-2.0], [-2.1]])[:, 0], [-1, -1, -2])
    ring = rule.blocks_of([[-0.5], [7.9], [8.0], [11.0]], period=[8.0])
    np.testing.assert_array_equal(ring[:, 0], [3, 3, 0, 1])


@hypothesis.given(
    seed=st.integers(0, 10_000),
    counts=st.lists(st.sampled_from([0, 1, 2, 3, 5]), min_size=1, max_size=4),
    adjacent=st.booleans(),
    cap=st.sampled_from([{}, {"max_outdegree": 10_000}, {"max_indegree": 10_000}]),
)
def test_who_may_connect(seed, counts, adjacent, cap):
    rng = np.random.default_rng(seed)
    period = np.array([2.0 * n or np.inf for n in counts])
    pre, post = (Place(rng.uniform(-7, 7, (n, len(counts))), period) for n in (25, 30))
    i, j = drawn(BlockProbability(2.0, adjacent=adjacent, **cap), pre, post)
    blocks = [np.floor(x.points / 2.0).astype(int) for x in (pre, post)]
    for b in blocks:
        for axis, n in enumerate(counts):
            b[:, axis] = b[:, axis] % n if n else b[:, axis]
    expected = np.nonzero(touching(*blocks, counts, adjacent))
    np.testing.assert_array_equal(np.stack([i, j]), expected)


@pytest.mark.parametrize("adjacent", [False, True])
def test_blocks_of_a_4d_lattice_connect(adjacent):
    place = lattice((4, 4, 4, 6), periodic=(False, True, False, True))
    i, j = drawn(BlockProbability(2.0, adjacent=adjacent), place, place, same=True)
    blocks = Grid((4, 4, 4, 6)).coordinates() // 2
    expected = touching(blocks, blocks, (0, 2, 0, 3), adjacent)
    np.fill_diagonal(expected, False)
    np.testing.assert_array_equal(np.stack([i, j]), np.nonzero(expected))


@pytest.mark.parametrize("p", [0.1, 0.7])
@pytest.mark.parametrize("autapses", [False, True])
def test_connections_are_binomial(p, autapses):
    place = lattice((20, 20))
    rule = BlockProbability(5.0, p, adjacent=True, autapses=autapses)
    i, j = drawn(rule, place, place, same=True)
    blocks = Grid((20, 20)).coordinates() // 5
    possible = touching(blocks, blocks, (0, 0), True)
    np.fill_diagonal(possible, autapses)
    assert possible[i, j].all()
    assert np.unique(i * 400 + j).size == i.size
    law = scipy.stats.binom(possible.sum(), p)
    assert law.ppf(1e-5) <= i.size <= law.ppf(1 - 1e-5)
    degrees = scipy.stats.binom(possible.sum(axis=1), p).cdf(np.bincount(i, minlength=400))
    assert 1e-6 < degrees.min() < 0.1
    assert 0.9 < degrees.max() < 1 - 1e-7


def test_the_expected_number_of_blocks():
    place = lattice((8, 8), periodic=True)
    bound = BlockProbability(2.0, 0.25, adjacent=True).bind("p", place, place)
    assert bound.expected(64, 64, True) == 64 * 35 * 0.25
    bound = BlockProbability(2.0, 0.25, max_outdegree=0).bind("p", place, place)
    assert bound.expected(64, 64, True) == 0


@pytest.mark.parametrize("which", ["max_outdegree", "max_indegree"])
def test_caps_and_chunks(monkeypatch, which):
    place = lattice((12, 12))
    rule = BlockProbability(4.0, 0.5, adjacent=True, **{which: 6})
    whole = np.stack(drawn(rule, place, place, same=True))
    side = 0 if which == "max_outdegree" else 1
    assert (np.bincount(whole[side], minlength=144) == 6).all()
    for size in (1, 999):
        monkeypatch.setattr(_distance, "CHUNK", size)
        np.testing.assert_array_equal(whole, np.stack(drawn(rule, place, place, same=True)))


@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0)])
def test_populations_without_neurons(sizes):
    pre, post = (Place(np.zeros((n, 2))) for n in sizes)
    assert drawn(BlockProbability(1.0, adjacent=True), pre, post)[0].size == 0


LINE, RING = lattice((6,)), lattice((6,), periodic=True)
REFUSED = [
    (lambda: BlockProbability(0.0), "BlockProbability", "size", "0.0"),
    (lambda: BlockProbability((1.0, np.nan)), "BlockProbability", "size", "nan"),
    (
        lambda: BlockProbability(1.0, max_outdegree=1, max_indegree=1),
        "BlockProbability",
        "max_indegree",
        "1",
    ),
    (lambda: BlockProbability(1.0, stored=False), "BlockProbability", "stored", "False"),
    (lambda: BlockProbability(1.0).check("p", 6, 6, True), "p", "rule", "none"),
    (lambda: BlockProbability(1.0).bind("p", None, LINE), "p", "source", ""),
    (lambda: BlockProbability((1.0, 1.0)).bind("p", LINE, LINE), "p", "size", "[1. 1.]"),
    (lambda: BlockProbability(4.0).bind("p", *[RING] * 2), "p", "size", "4."),
    (lambda: BlockProbability(7.0).bind("p", *[RING] * 2), "p", "size", "7."),
    (
        lambda: BlockProbability(1e-12).bind("p", *[lattice((9, 9, 9), spacing=1e3)] * 2),
        "p",
        "size",
        "blocks",
    ),
    (lambda: BlockProbability(1e-300).bind("p", LINE, LINE), "p", "size", "1.e-300"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)


def test_a_rule_is_a_value():
    assert BlockProbability([2, 3]) == BlockProbability(np.array([2, 3]))
    assert hash(BlockProbability([2, 3])) == hash(BlockProbability((2, 3)))
