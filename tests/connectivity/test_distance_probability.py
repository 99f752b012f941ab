"""Exact laws of connections that depend on distance."""

import dataclasses

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro.connectivity import DistanceProbability, _distance
from jaxneuro.connectivity._distance import AllPairs, Near
from jaxneuro.space import Disc, Exponential, Gaussian, Grid, Linear, Place, UniformBox
from tests.refusing import assert_refused

from .drawing import P, draw, key_of


def scatter(n, high, periodic=False, seed=0):
    """Random positions, from NumPy."""
    high = np.asarray(high, np.float64)
    x = np.random.default_rng(seed).uniform(0, high, (n, high.size))
    return Place(x, high if periodic else None)


def lattice(*shape, periodic=False, spacing=1.0):
    grid = Grid(shape, spacing=spacing, periodic=periodic)
    return Place(grid.draw(None, grid.size), grid.period)


def gaps(pre, post):
    """All distances (n_pre, n_post), by trying the images of every axis."""
    total = 0.0
    for axis in range(pre.points.shape[1]):
        gap = pre.points[:, axis][:, None] - post.points[:, axis][None, :]
        if pre.period is not None and np.isfinite(pre.period[axis]):
            gap = np.min([np.abs(gap + k * pre.period[axis]) for k in (-1, 0, 1)], axis=0)
        total = total + gap**2
    return np.sqrt(total)


def drawn(rule, pre, post, same=False, seed=0):
    bound = rule.bind("projection 'p'", pre, post)
    return draw(bound, len(pre.points), len(post.points), same, seed)


def test_distances_of_connections_follow_the_profile():
    # Few sources and many targets in a space that repeats: distances are Rayleigh.
    pre, post = scatter(300, (400, 400), True, 1), scatter(40_000, (400, 400), True, 2)
    i, j = drawn(DistanceProbability(Gaussian(8.0, peak=0.3)), pre, post)
    d = gaps_of(pre, post, i, j)
    assert d.size > 5000
    assert scipy.stats.kstest(d, scipy.stats.rayleigh(scale=8.0).cdf).pvalue > 1e-4


def gaps_of(pre, post, i, j):
    gap = np.abs(pre.points[i] - post.points[j])
    if pre.period is not None:
        gap = np.minimum(gap, pre.period - gap)
    return np.sqrt((gap**2).sum(axis=1))


PROFILES = [Gaussian(4.0, 0.8), Exponential(3.0, 0.6), Linear(12.0, 0.9), Disc(8.0, 0.35)]


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("cap", [{}, {"max_indegree": 10_000}])
def test_the_probability_in_each_bin_of_distance(profile, periodic, cap):
    pre, post = scatter(600, (40, 60), periodic, 3), scatter(700, (40, 60), periodic, 4)
    i, j = drawn(DistanceProbability(profile, **cap), pre, post)
    d = gaps(pre, post)
    connected = np.zeros(d.shape, bool)
    connected[i, j] = True
    assert connected.sum() == i.size, "no pair twice"
    p = profile(d)
    bins = np.digitize(d, np.linspace(0, 20, 21))
    tested = 0
    for b in np.unique(bins):
        inside = bins == b
        mean, spread = p[inside].sum(), np.sqrt((p * (1 - p))[inside].sum())
        assert abs(connected[inside].sum() - mean) <= 5 * spread + 1e-3
        tested += mean > 20
    assert tested >= 6


def test_probability_one_is_everybody_in_the_disc():
    pre, post = lattice(7, 9, periodic=True), scatter(50, (7, 9), True)
    i, j = drawn(DistanceProbability(Disc(2.5)), pre, post)
    np.testing.assert_array_equal(np.stack([i, j]), np.nonzero(gaps(pre, post) <= 2.5))
    assert drawn(DistanceProbability(Disc(2.5, 0.0)), pre, post)[0].size == 0


@pytest.mark.parametrize("periodic", [False, True, (True, False, False, True)])
def test_neighbours_in_four_dimensions(periodic):
    place = lattice(5, 6, 4, 5, periodic=periodic)
    i, j = drawn(DistanceProbability(Disc(2.0)), place, place, same=True)
    expected = (gaps(place, place) <= 2.0) & ~np.eye(len(place.points), dtype=bool)
    np.testing.assert_array_equal(np.stack([i, j]), np.nonzero(expected))


def test_the_radius_cuts():
    pre, post = scatter(300, (30, 30)), scatter(300, (30, 30), seed=9)
    everywhere = drawn(DistanceProbability(Exponential(5.0)), pre, post)
    near = drawn(DistanceProbability(Exponential(5.0), radius=4.0), pre, post)
    inside = gaps_of(pre, post, *everywhere) <= 4.0
    assert 0 < inside.sum() < inside.size
    np.testing.assert_array_equal(np.stack(near), np.stack(everywhere)[:, inside])


@hypothesis.given(
    seed=st.integers(0, 10_000),
    dims=st.integers(1, 4),
    periodic=st.booleans(),
    reach=st.sampled_from([0.5, 1.0, 3.0, 50.0]),
    on_lattice=st.booleans(),
    cap=st.sampled_from([{}, {"max_outdegree": 3}, {"max_indegree": 3}]),
)
def test_the_tree_finds_what_trying_all_pairs_finds(seed, dims, periodic, reach, on_lattice, cap):
    rng = np.random.default_rng(seed)
    box = np.full(dims, 6.0)
    sides = []
    for n in (40, 50):
        # Also outside the box: positions need not be wrapped. A lattice puts pairs on the edge.
        x = rng.integers(-9, 15, (n, dims)) * 0.5 if on_lattice else rng.uniform(-9, 15, (n, dims))
        sides.append(Place(np.asarray(x, np.float64), box if periodic else None))
    bound = DistanceProbability(Disc(reach, 0.7), **cap).bind("p", *sides)
    rows, others = sides[::-1] if "max_indegree" in cap else sides
    searches = (
        Near(rows, others, box if periodic else None, reach),
        AllPairs(len(rows.points), len(others.points)),
    )
    results = [
        np.stack(draw(dataclasses.replace(bound, search=search), 40, 50)) for search in searches
    ]
    np.testing.assert_array_equal(*results)
    np.testing.assert_array_equal(results[0], np.stack(draw(bound, 40, 50)))


@pytest.mark.slow(but=["cap0"])
@pytest.mark.parametrize("cap", [{}, {"max_outdegree": 5}, {"max_indegree": 5}])
def test_chunks_do_not_matter_and_draws_repeat(monkeypatch, cap):
    place = scatter(400, (40, 40), True)
    rule = DistanceProbability(Gaussian(2.0, 0.6), **cap)
    whole = np.stack(drawn(rule, place, place, same=True))
    assert whole.shape[1] > 1000
    np.testing.assert_array_equal(whole, np.stack(drawn(rule, place, place, same=True)))
    other = np.stack(drawn(rule, place, place, same=True, seed=1))
    assert len(set(zip(*whole)) & set(zip(*other))) < 0.5 * whole.shape[1]
    for size in (1, 700):
        monkeypatch.setattr(_distance, "CHUNK", size)
        np.testing.assert_array_equal(whole, np.stack(drawn(rule, place, place, same=True)))


def test_chunks_are_bounded(monkeypatch):
    monkeypatch.setattr(_distance, "CHUNK", 500)
    place = lattice(30, 30)
    bound = DistanceProbability(Disc(3.0)).bind("p", place, place)
    sizes = [c.targets.size for c in bound.draw(key_of(), 900, 900, True)]
    assert max(sizes) <= 500
    assert len(sizes) > 40


@pytest.mark.parametrize("which", ["max_outdegree", "max_indegree"])
@pytest.mark.parametrize("most", [0, 1, 7, 10_000])
def test_caps_are_exact_and_keep_a_part_of_what_was_drawn(which, most):
    place = scatter(300, (20, 20))
    free = np.stack(drawn(DistanceProbability(Gaussian(2.0)), place, place, same=True))
    capped = np.stack(
        drawn(DistanceProbability(Gaussian(2.0), **{which: most}), place, place, same=True)
    )
    side = 0 if which == "max_outdegree" else 1
    before, after = (np.bincount(x[side], minlength=300) for x in (free, capped))
    np.testing.assert_array_equal(after, np.minimum(before, most))
    assert set(zip(*capped)) <= set(zip(*free))
    if most == 7:
        assert (before > 7).sum() > 100


@pytest.mark.slow(but=["max_outdegree"])
@pytest.mark.parametrize("which", ["max_outdegree", "max_indegree"])
def test_a_cap_keeps_a_uniform_subset(which):
    # 12 candidates at different distances, all drawn, 4 kept: each as often as the others.
    n, rounds, most = 12, 600, 4
    side = Place(np.arange(n, dtype=np.float64)[:, None])
    one = Place(np.zeros((1, 1)))
    pre, post = (one, side) if which == "max_outdegree" else (side, one)
    bound = DistanceProbability(Disc(100.0), **{which: most}).bind("p", pre, post)
    kept = np.zeros((rounds, n), bool)
    for seed in range(rounds):
        i, j = draw(bound, len(pre.points), len(post.points), seed=seed)
        kept[seed, j if which == "max_outdegree" else i] = True
    assert (kept.sum(axis=1) == most).all()
    share = most / n
    z2 = (kept.sum(axis=0) - rounds * share) ** 2 / (rounds * share * (1 - share))
    # Without replacement: n - 1 degrees of freedom after the factor (n - 1) / n.
    assert 1e-4 < scipy.stats.chi2(n - 1).cdf(z2.sum() * (n - 1) / n) < 1 - 1e-4
    together = (kept.T.astype(float) @ kept)[np.triu_indices(n, 1)]
    expected = rounds * share * (most - 1) / (n - 1)
    assert np.abs(together - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize("which", ["max_outdegree", "max_indegree"])
def test_a_cap_does_not_prefer_the_near(which):
    # Of what was drawn with unequal probabilities, all are kept equally often.
    n, most = 12, 3
    side = Place(np.repeat(np.arange(n, dtype=np.float64), 10)[:, None])
    one = Place(np.zeros((400, 1)))
    pre, post = (one, side) if which == "max_outdegree" else (side, one)
    results = []
    for cap in ({}, {which: most}):
        i, j = drawn(DistanceProbability(Linear(14.0), **cap), pre, post)
        connected = np.zeros((len(pre.points), len(post.points)), bool)
        connected[i, j] = True
        connected = connected if which == "max_outdegree" else connected.T
        results.append(connected.reshape(400, n, 10))
    free, kept = results
    share = most / free.sum(axis=(1, 2), keepdims=True)
    assert share.max() < 1
    z = (kept - share * free).sum(axis=(0, 2)) / np.sqrt(
        (share * (1 - share) * free).sum(axis=(0, 2))
    )
    assert np.abs(z).max() < 4.5


def test_autapses_are_a_choice():
    place = lattice(10)
    for autapses in (False, True):
        rule = DistanceProbability(Disc(1.0), autapses=autapses)
        i, j = drawn(rule, place, place, same=True)
        assert (i == j).sum() == 10 * autapses
        assert i.size == 18 + 10 * autapses
    i, j = drawn(DistanceProbability(Disc(1.0)), place, place, same=False)
    assert (i == j).sum() == 10, "two populations of one shape: i -> i is no autapse"


def test_a_function_of_both_positions():
    seen = []

    def downhill(x, y):
        seen.append((x.shape, y.shape))
        return np.where(y[..., 0] < x[..., 0], 0.5, 0.0)

    pre, post = scatter(80, (10, 10, 10)), scatter(90, (10, 10, 10), seed=5)
    i, j = drawn(DistanceProbability(downhill), pre, post)
    assert all(a == b and a[1] == 3 for a, b in seen)
    possible = post.points[None, :, 0] < pre.points[:, None, 0]
    assert possible[i, j].all()
    law = scipy.stats.binom(possible.sum(), 0.5)
    assert law.ppf(1e-5) <= i.size <= law.ppf(1 - 1e-5)
    near = drawn(DistanceProbability(downhill, radius=3.0), pre, post)
    inside = gaps_of(pre, post, i, j) <= 3.0
    np.testing.assert_array_equal(np.stack(near), np.stack([i, j])[:, inside])


@pytest.mark.slow(but=["50-cap0"])
@pytest.mark.parametrize("cap", [{}, {"max_outdegree": 6}, {"max_indegree": 6}])
@pytest.mark.parametrize("n", [50, 1600])
def test_the_expected_number(cap, n):
    place = lattice(5, n // 5) if n == 50 else lattice(40, 40, periodic=True)
    bound = DistanceProbability(Gaussian(1.5, 0.9), **cap).bind("p", place, place)
    p = 0.9 * np.exp(-(gaps(place, place) ** 2) / (2 * 1.5**2)) * (1 - np.eye(n))
    expected = bound.expected(n, n, True)
    if not cap:
        np.testing.assert_allclose(expected, p.sum(), rtol=1e-7)
        size = draw(bound, n, n, same=True)[0].size
        assert abs(size - expected) < 5 * np.sqrt((p * (1 - p)).sum())
    else:
        np.testing.assert_allclose(expected, np.minimum(p.sum(axis=1), 6).sum(), rtol=1e-7)


@pytest.mark.parametrize("cap", [{}, {"max_indegree": 2}])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0)])
def test_populations_without_neurons(cap, sizes):
    pre, post = (Place(np.zeros((n, 2)), np.ones(2)) for n in sizes)
    bound = DistanceProbability(Disc(1.0), **cap).bind("p", pre, post)
    assert draw(bound, *sizes)[0].size == 0
    assert bound.expected(*sizes, False) == 0.0


LINE, PLANE = lattice(5), lattice(5, 5)
OWNER = "DistanceProbability"
RULE = DistanceProbability(Disc(1.0))


def draw_with(function, **keywords):
    return drawn(DistanceProbability(function, **keywords), LINE, LINE)


REFUSED = [
    (lambda: DistanceProbability(Gaussian(1.0, 1.5)), OWNER, "profile", "1.5"),
    (lambda: DistanceProbability(Gaussian(1.0, -0.5)), OWNER, "profile", "-0.5"),
    (lambda: DistanceProbability(Gaussian), OWNER, "profile", "Gaussian"),
    (lambda: DistanceProbability(Disc(1.0), radius=0.0), OWNER, "radius", "0.0"),
    (
        lambda: DistanceProbability(Disc(1.0), max_outdegree=-1),
        OWNER,
        "max_outdegree",
        "-1",
    ),
    (
        lambda: DistanceProbability(Disc(1.0), max_indegree=2, max_outdegree=3),
        OWNER,
        "max_indegree",
        "2",
    ),
    (
        lambda: DistanceProbability(Disc(1.0), stored=False),
        OWNER,
        "stored",
        "False",
    ),
    (lambda: RULE.bind("p", None, LINE), "p", "source", ""),
    (lambda: RULE.bind("p", LINE, None), "p", "target", ""),
    (lambda: RULE.bind("p", LINE, PLANE), "p", "target", "1 and 2 dimensions"),
    (lambda: RULE.bind("p", LINE, lattice(5, periodic=True)), "p", "target", "periods"),
    (lambda: RULE.bind("p", Place(np.array([[np.nan]])), LINE), "p", "source", "neuron 0"),
    (lambda: RULE.check("p", 5, 5, True), "p", "rule", "none"),
    (lambda: RULE.expected(5, 5, True), "", "rule", "none"),
    (lambda: RULE.draw(key_of(), 5, 5, True), "", "rule", "none"),
    (
        lambda: RULE.bind("q", LINE, PLANE._replace(points=PLANE.points[:, :1])).check(
            "p", 5, 24, False
        ),
        "p",
        "rule",
        "5 and 24",
    ),
    (
        lambda: draw_with(lambda x, y: np.where(y[:, 0] == x[:, 0] + 2, 1.5, 0.0)),
        P,
        "profile",
        "1.5 for 0 -> 2, from [0.] to [2.] um",
    ),
    (
        lambda: draw_with(lambda x, y: np.where(x[:, 0] == 3, np.nan, 0.0), radius=1.5),
        P,
        "profile",
        "nan for 3 -> ",
    ),
    (lambda: draw_with(lambda x, y: np.full(len(x), -1e-9)), P, "profile", "-1e-09"),
    (lambda: draw_with(lambda x, y: 0.5), P, "profile", "shape ()"),
    (lambda: draw_with(lambda x, y: x), P, "profile", "shape (25, 1)"),
    (lambda: draw_with(lambda x, y: np.full(len(x), "yes")), P, "profile", "<U3"),
    (lambda: draw_with(lambda d: d), P, "profile", "TypeError"),
    (lambda: draw_with(lambda x, y: np.random.random(len(x))), P, "profile", "draws from"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)


def test_the_expected_number_finds_a_bad_function_before_anything_is_drawn():
    rule = DistanceProbability(lambda x, y: np.full(len(x), 2.0))
    bound = rule.bind("projection 'p'", LINE, LINE)
    assert_refused(lambda: bound.expected(5, 5, False), P, "profile", "2.0 for 0 -> 0")


def test_a_function_joins_two_spaces():
    """A line and a sheet: x of the line goes to the column of the sheet with this number."""
    columns = lambda x, y: np.where(x[:, 0] == y[:, 1], 1.0, 0.0)  # noqa: E731
    i, j = drawn(DistanceProbability(columns), LINE, PLANE)
    assert i.size == 25
    np.testing.assert_array_equal(LINE.points[i, 0], PLANE.points[j, 1])
    near = DistanceProbability(columns, radius=3.0)
    assert_refused(lambda: near.bind("p", LINE, PLANE), "p", "target", "1 and 2 dimensions")


def test_a_uniform_box_fits():
    box = UniformBox((0, 0), (50, 50), periodic=True)
    place = Place(box.draw(key_of(), 500), box.period)
    i, _ = drawn(DistanceProbability(Disc(5.0)), place, place, same=True)
    law = scipy.stats.poisson(500 * 499 * np.pi * 25 / 2500)
    assert law.ppf(1e-6) < i.size < law.ppf(1 - 1e-6)
