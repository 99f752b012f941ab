"""Profiles against their equations, weights and delays by distance."""

import math

import numpy as np
import pytest

from jaxneuro.space import (
    ByDistance,
    ByPositions,
    ConductionDelay,
    Disc,
    Exponential,
    Gaussian,
    Linear,
    Place,
    Profile,
)
from tests.refusing import assert_refused

D = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 10.0, 40.0])
PROFILES = [
    (Gaussian(2.0, peak=0.7), lambda d: 0.7 * math.exp(-d * d / 8.0)),
    (Gaussian(2.0), lambda d: math.exp(-d * d / 8.0)),
    (Exponential(3.0, 0.5), lambda d: 0.5 * math.exp(-d / 3.0)),
    (Linear(4.0, 0.8), lambda d: 0.8 * (1 - d / 4.0) if d < 4 else 0.0),
    (Disc(2.0, 0.3), lambda d: 0.3 if d <= 2.0 else 0.0),
    (Exponential(3.0, -0.5), lambda d: -0.5 * math.exp(-d / 3.0)),
    (Linear(4.0, 0.0), lambda d: 0.0),
]
every_profile = pytest.mark.parametrize(
    ("profile", "law"), PROFILES, ids=[repr(profile) for profile, _ in PROFILES]
)


@every_profile
def test_profiles_are_their_equations(profile, law):
    np.testing.assert_allclose(profile(D), [law(d) for d in D], rtol=1e-14, atol=0)
    assert profile(D.reshape(7, 1)).shape == (7, 1)


@every_profile
@pytest.mark.parametrize("level", [2.0**-33, 1e-3, 0.4, 2.0])
def test_beyond_its_reach_a_profile_is_below_the_level(profile, law, level):
    reach = profile.reach(level)
    assert 0 <= reach < np.inf
    assert np.abs(profile(reach * (1 + 1e-9) + np.geomspace(1e-9, 100, 200))).max() < level
    if abs(law(0.0)) > level:
        assert abs(law(reach * (1 - 1e-9))) >= level
    else:
        assert reach == 0.0
    assert profile.reach(0.0) == np.inf or profile.reach(0.0) == 0.0 == law(0.0)


def place(x, period=None):
    return Place(np.asarray(x, np.float64), period)


def test_values_follow_the_distance():
    pre, post = place([[0, 0], [1, 1]]), place([[3, 4], [0, 0], [1, 1]])
    i, j = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    apart = np.array([5.0, 0.0, math.sqrt(2.0), 0.0])
    weight = ByDistance(Gaussian(2.0, peak=-3.0)).bind("p", pre, post)(i, j)
    np.testing.assert_allclose(weight, -3.0 * np.exp(-(apart**2) / 8.0), rtol=1e-14)
    own = ByDistance(lambda d: (2.0 + d).astype(np.float32)).bind("p", pre, post)(i, j)
    np.testing.assert_allclose(own, 2.0 + apart, rtol=1e-6)
    delay = ConductionDelay(300.0, offset=0.5).bind("p", pre, post)(i, j)
    np.testing.assert_allclose(delay, 0.5 + apart / 300.0, rtol=1e-14)
    assert own.dtype == delay.dtype == weight.dtype == np.float64


def test_values_by_both_positions():
    pre, post = place([[0, 0], [1, 1]]), place([[3, 4], [0, 0], [1, 1]])
    i, j = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    value = ByPositions(lambda x, y: 10 * x[:, 0] + y[:, 1])
    np.testing.assert_array_equal(value.bind("p", pre, post)(i, j), [4, 0, 10, 11])
    assert value.longest(pre, post) == np.inf
    for function, got in ((lambda x, y: x, "(4, 2)"), (lambda x, y: x[:, 0] * np.nan, "nan for 0")):
        bound = ByPositions(function).bind("p", pre, post)
        assert_refused(lambda bound=bound: bound(i, j), "p", "function", got)
    assert_refused(lambda: ByPositions(Gaussian(1.0)), "ByPositions", "function", "Gaussian")
    assert_refused(lambda: value.bind("p", None, post), "p", "source")


def test_delays_go_the_shorter_way_round():
    ring = place(np.arange(10.0)[:, None], np.array([10.0]))
    values = ConductionDelay(2.0).bind("p", ring, ring)
    np.testing.assert_array_equal(
        values(np.zeros(10, int), np.arange(10)) * 2, [0, 1, 2, 3, 4, 5, 4, 3, 2, 1]
    )


VALUES = [ConductionDelay(3.0, 1.0), *(ByDistance(p) for p, _ in PROFILES)]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("period", [None, np.array([6.0, np.inf])])
def test_no_value_is_above_the_longest(value, period):
    rng = np.random.default_rng(3)
    pre, post = place(rng.uniform(0, 5, (30, 2)), period), place(rng.uniform(4, 9, (20, 2)), period)
    i, j = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    assert value.bind("p", pre, post)(i, j).max() <= value.longest(pre, post) < np.inf


class Ring(Profile):
    """1 between two radii."""

    def __call__(self, d):
        return ((d > 3) & (d < 4)).astype(float)

    def reach(self, level):
        return 4.0


def test_the_longest_of_a_function_that_may_turn_is_unknown():
    line = place(np.arange(8.0)[:, None])
    assert ByDistance(lambda d: d).longest(line, line) == np.inf
    assert ByDistance(Ring()).longest(line, line) == np.inf


LINE = place(np.arange(4.0)[:, None])
PRE, POST = np.arange(4), np.arange(4)[::-1]
REFUSED = [
    (lambda: Gaussian(0.0), "Gaussian", "sigma", "0.0"),
    (lambda: Exponential(-1.0), "Exponential", "length", "-1.0"),
    (lambda: Linear(0.0), "Linear", "radius", "0.0"),
    (lambda: Disc(np.inf), "Disc", "radius", "inf"),
    (lambda: ConductionDelay(0.0), "ConductionDelay", "speed", "0.0"),
    (lambda: ConductionDelay(1.0, -0.1), "ConductionDelay", "offset", "-0.1"),
    (lambda: ByDistance(Disc(1.0)).bind("q", None, LINE), "q", "source", ""),
    (lambda: ConductionDelay(1.0).bind("q", LINE, None), "q", "target", ""),
    (
        lambda: ConductionDelay(1.0).bind("q", LINE, place(np.zeros((2, 3)))),
        "q",
        "target",
        "1 and 3 dimensions",
    ),
    (
        lambda: ByDistance(lambda d: d[:2]).bind("q", LINE, LINE)(PRE, POST),
        "q",
        "function",
        "shape (2,)",
    ),
    (lambda: ByDistance(lambda d: 1.0).bind("q", LINE, LINE)(PRE, POST), "q", "function", "()"),
    (lambda: ByDistance(lambda d: d + 1j).bind("q", LINE, LINE)(PRE, POST), "q", "function", "com"),
    (
        lambda: ByDistance(lambda d: np.where(d == 1, np.nan, d)).bind("q", LINE, LINE)(PRE, POST),
        "q",
        "function",
        "nan for 1 -> 2 at distance 1 um",
    ),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)
