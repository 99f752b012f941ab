"""Pairs of neurons connect with a probability that depends on their positions."""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_fraction
from ..space import Place, Profile, common_period, distance, placed
from ._distance_draw import BoundRule, Cap, Chance, Spatial, sides
from ._distance_search import near_or_all
from ._flags import check_flags, check_stored
from ._rule import Rule

_LEVEL = 2.0**-33  # a smaller probability is rounded to 0


class DistanceProbability(Spatial):
    """Each pair (i, j) is connected with a probability that depends on where i and j are.

    `P(i -> j) = profile(|x_i - x_j|)` with the shortest distance where space repeats, exact to
    2^-32, and 0 beyond `radius`. `profile` may also be a function of both positions: `f(x, y)` of
    sources x (m, dims) and targets y (m, dims) returns m probabilities. Without a `radius` the two
    may be in spaces of different dimensions or periods, such as a ring and a sheet: the function
    says how a place in one is related to a place in the other.

    The time to draw grows with the number of pairs for which the profile is above 2^-33; for a
    Gaussian of peak 1 these are within 6.8 sigma. `radius` excludes farther pairs.

    A limit of the degree is exact: a neuron with more connections keeps a uniformly random subset.

    **Fields** `profile` a `space.Profile` or a function of both positions; `radius` [um] above
    0; `autapses`: whether a neuron may connect to itself; `max_outdegree` the most targets of a
    source or `max_indegree` the most sources of a target, None for no limit; `stored` must be
    True, because drawing a row needs a search in space.

    **Raises** `ValueError` for a profile with a peak outside [0, 1], a radius that is not above
    0, a flag that is not True or False, or both limits; from `build`, if positions are missing or
    a distance is needed and they are not in one space, for a probability outside [0, 1] and a
    function that returns another shape.

    **Source** Senk et al. (2022), "distance-dependent connectivity",
    doi:10.1371/journal.pcbi.1010086.

    **Differs** to keep a limit, connections are removed at random, not all drawn again.
    """

    profile: Callable = eqx.field(static=True)
    radius: float = eqx.field(static=True, default=math.inf)
    autapses: bool = eqx.field(static=True, default=False)
    max_outdegree: int | None = eqx.field(static=True, default=None)
    max_indegree: int | None = eqx.field(static=True, default=None)
    stored: bool = eqx.field(static=True, default=True)

    @property
    def pairs(self) -> str | None:  # type: ignore[override]
        """A limit on the connections of a neuron is one in one direction."""
        limited = self.max_outdegree is not None or self.max_indegree is not None
        return None if limited else "drawn"

    def __check_init__(self) -> None:
        check_stored(self)
        if not callable(self.profile):
            raise ValueError(
                "DistanceProbability: profile must be a Profile or a function of both positions; "
                f"got {self.profile!r}"
            )
        if isinstance(self.profile, Profile):
            peak = getattr(self.profile, "peak", 1.0)
            check_fraction("DistanceProbability: the peak of the profile", peak)
        number = isinstance(self.radius, int | float | np.number)
        if not number or isinstance(self.radius, bool) or not self.radius > 0:
            raise ValueError(f"DistanceProbability: radius must be above 0 um; got {self.radius!r}")
        check_flags(self, "autapses")
        self._cap.check("DistanceProbability")

    @property
    def _cap(self) -> Cap:
        return Cap(self.max_outdegree, self.max_indegree)

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Rule:
        """The rule with the positions of its neurons; raises where they do not fit."""
        period = None
        if isinstance(self.profile, Profile) or self.radius < math.inf:
            period = common_period(label, pre, post)
        else:
            placed(label, pre, post)
        assert pre is not None
        assert post is not None
        reach = float(self.radius)
        if isinstance(self.profile, Profile):
            reach = min(reach, self.profile.reach(_LEVEL))
        rows, others = sides(pre, post, self._cap.by_target)
        search = near_or_all(rows, others, period, reach)
        chance = _chance(label, self.profile, reach, pre, post, period)
        sizes = len(pre.points), len(post.points)
        return BoundRule(label, sizes, search, chance, self.autapses, self._cap)


def _chance(label: str, profile: Any, reach: float, pre: Place, post: Place, period: Any) -> Chance:
    """The probability of pairs that are not farther apart than `reach`."""
    # One row per axis, so that one coordinate of all pairs is contiguous in memory.
    a, b = (np.ascontiguousarray(np.asarray(x.points, np.float64).T) for x in (pre, post))
    of_distance = isinstance(profile, Profile)
    cut = of_distance or reach < math.inf

    def chance(i: np.ndarray, j: np.ndarray):
        d = distance(a[:, i].T, b[:, j].T, period) if cut else np.zeros(i.size)
        near = d <= reach
        if not near.all():
            i, j, d = i[near], j[near], d[near]
        p = np.asarray(profile(d) if of_distance else _call(label, profile, a[:, i].T, b[:, j].T))
        _check_shape(label, p, i.size)
        bad = np.flatnonzero(~((p >= 0.0) & (p <= 1.0)))
        if bad.size:
            k = bad[0]
            raise ValueError(
                f"{label}: a probability must be from 0 to 1; got {p[k]} for {i[k]} -> {j[k]}, "
                f"from {a[:, i[k]]} to {b[:, j[k]]} um"
            )
        return i, j, p.astype(np.float64)

    return chance


def _call(label: str, function: Any, x: np.ndarray, y: np.ndarray) -> Any:
    try:
        return function(x, y)
    except Exception as error:
        raise ValueError(
            f"{label}: the function for a probability raised {type(error).__name__}: {error}. It "
            "takes the positions of sources and targets, two arrays (m, dims), and must return m "
            "probabilities; for a function of the distance subclass jn.space.Profile"
        ) from error


def _check_shape(label: str, p: np.ndarray, n: int) -> None:
    real = p.dtype.kind in "bfiu"
    if p.shape != (n,) or not real:
        raise ValueError(
            f"{label}: a function for a probability must return one number per pair, shape "
            f"({n},); got shape {p.shape}, {p.dtype}"
        )
