"""Distances against every image of a point, and their bounds."""

import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro.space import Place, distance
from jaxneuro.space._distances import common_period, distance_range
from tests.refusing import assert_refused


def nearest_image(a, b, period, images=3):
    """The smallest distance between a and the copies of b, one by one."""
    shifts = [range(-images, images + 1) if 0 < p < np.inf else (0,) for p in period]
    best = np.inf
    for shift in itertools.product(*shifts):
        moved = b + np.array([s * p if s else 0.0 for s, p in zip(shift, period)])
        best = min(best, np.sqrt(((a - moved) ** 2).sum()))
    return best


@pytest.mark.slow
@hypothesis.given(seed=st.integers(0, 10_000), dims=st.integers(1, 4))
def test_the_minimal_image(seed, dims):
    rng = np.random.default_rng(seed)
    period = rng.choice([0.0, 3.0, 7.5, np.inf], dims)
    a, b = rng.uniform(-8, 8, (2, 6, dims))
    expected = [nearest_image(x, y, period, images=7) for x, y in zip(a, b)]
    np.testing.assert_allclose(distance(a, b, period), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(distance(a, b, period), distance(b, a, period))


def test_it_broadcasts():
    a, b = np.random.default_rng(0).normal(size=(2, 5, 3))
    apart = distance(a[:, None, :], b[None, :, :])
    np.testing.assert_allclose(apart, np.linalg.norm(a[:, None] - b[None], axis=-1), rtol=1e-13)
    assert distance([0, 0], [3, 4]) == 5.0
    assert_refused(lambda: distance(np.zeros((4, 2)), np.zeros((4, 3))), "distance", "b", "(4, 3)")


@hypothesis.given(seed=st.integers(0, 10_000), dims=st.integers(1, 3), shift=st.floats(0, 30))
def test_the_range_holds_every_pair(seed, dims, shift):
    rng = np.random.default_rng(seed)
    period = rng.choice([5.0, np.inf], dims)
    a, b = rng.uniform(0, 4, (8, dims)), rng.uniform(shift, shift + 4, (9, dims))
    low, high = distance_range(Place(a, period), Place(b, period))
    apart = distance(a[:, None], b[None], period)
    assert low <= apart.min()
    assert apart.max() <= high
    if np.isinf(period).all():
        assert high <= apart.max() + 8 * np.sqrt(dims)


def test_the_range_is_reached_by_corners():
    assert distance_range(Place(np.zeros((1, 2))), Place(np.array([[3.0, 4.0]]))) == (5.0, 5.0)
    ring = Place(np.arange(10.0)[:, None], np.array([10.0]))
    assert distance_range(ring, ring) == (0.0, 5.0)
    assert distance_range(Place(np.zeros((0, 2))), Place(np.zeros((3, 2)))) == (0.0, 0.0)


def flat(n=3, dims=2, period=None):
    return Place(np.zeros((n, dims)), None if period is None else np.asarray(period))


def test_one_period_for_both_sides():
    period = np.array([0.3, np.inf])
    other = np.array([3 * 0.1, 0.0])  # not the same bits as 0.3, and another way to say open
    np.testing.assert_array_equal(
        common_period("p", flat(period=period), flat(4, 2, other)), period
    )
    assert common_period("p", flat(), flat(period=[np.inf, 0.0])) is None


P = "projection 'p'"
REFUSED = [
    (None, flat(), "source", "without"),
    (flat(), None, "target", "without"),
    (flat(dims=2), flat(dims=3), "target", "2 and 3 dimensions"),
    (flat(period=[1.0, 2.0]), flat(period=[1.0, 2.1]), "target", "periods"),
    (flat(period=[1.0, 2.0]), flat(), "target", "periods"),
    (flat(period=[1.0]), flat(), "source", "[1.]"),
    (flat(), flat(period=[-1.0, 1.0]), "target", "-1."),
    (flat(), flat(period=[np.nan, 1.0]), "target", "nan"),
    (flat(), Place(np.array([[0.0, 0.0], [0.0, np.nan]])), "target", "neuron 1"),
    (Place(np.zeros(4)), flat(), "source", "(4,)"),
]


@pytest.mark.parametrize(("pre", "post", "field", "got"), REFUSED)
def test_places_that_do_not_fit_are_refused(pre, post, field, got):
    assert_refused(lambda: common_period(P, pre, post), P, field, got)
