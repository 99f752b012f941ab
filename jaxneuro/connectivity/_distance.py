"""Neurons connect with a probability that depends on their distance."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Float, Int64, Integer, Shaped

from .. import spec
from .._frozen import no_global_draws
from .._kernels.draw import stable_order
from .._kernels.threads import run_ahead
from .._numerics.streams import bits
from ..space import Place, Profile, distance
from ..space._distances import ProfileKind, common_period, distance_range, placed
from ._rule import CHUNK, Chunk, Rule


class Search(ABC):
    """The candidates of each neuron of one side (a row) among the neurons of the other side.

    `counts()` returns the approximate number of candidates of each row, `pairs(first, stop)` the
    candidates of some rows as `(row, other)`, in any order.
    """

    n_rows: int

    @abstractmethod
    def counts(self) -> Integer[np.ndarray, " rows"]: ...

    @abstractmethod
    def pairs(
        self, first: int, stop: int
    ) -> tuple[Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"]]: ...

    @cached_property
    def _ends(self) -> Integer[np.ndarray, " rows"]:
        return np.cumsum(np.maximum(self.counts(), 1))

    def chunks(self, at_least: int = 0) -> Iterator[tuple[int, int]]:
        """Ranges of rows with about `CHUNK` candidates, or `at_least` if more, or of one row."""
        size, first = max(CHUNK, at_least), 0
        while first < self.n_rows:
            begin = self._ends[first - 1] if first else 0
            stop = max(int(np.searchsorted(self._ends, begin + size, side="right")), first + 1)
            yield first, min(stop, self.n_rows)
            first = stop


class AllPairs(Search):
    """Every neuron of the other side is a candidate of every row."""

    def __init__(self, n_rows: int, n_others: int):
        self.n_rows, self.n_others = n_rows, n_others

    def counts(self) -> Integer[np.ndarray, " rows"]:
        return np.full(self.n_rows, self.n_others)

    def pairs(
        self, first: int, stop: int
    ) -> tuple[Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"]]:
        rows, others = np.arange(first, stop), np.arange(self.n_others)
        return np.repeat(rows, others.size), np.tile(others, rows.size)


class Near(Search):
    """Candidates are the neurons within a distance `reach`, and a few beyond it by rounding."""

    def __init__(
        self, rows: Place, others: Place, period: Float[np.ndarray, " dims"] | None, reach: float
    ):
        self.n_rows = len(rows.points)
        self._rows, self._others = (_inside(p.points, period) for p in (rows, others))
        # The tree takes 0 for an open axis.
        self._box = None if period is None else np.where(np.isinf(period), 0.0, period)
        largest = max(np.abs(x).max(initial=0.0) for x in (self._rows, self._others))
        self._reach = reach + 1e-12 * (reach + largest)

    def _tree_of(self, points: Float[np.ndarray, "n dims"]) -> Any:
        from scipy.spatial import KDTree

        return KDTree(points, leafsize=16, boxsize=self._box, balanced_tree=False)

    @cached_property
    def _tree(self) -> Any:
        return self._tree_of(self._others)

    def count(self, rows: slice | Integer[np.ndarray, " rows"]) -> Integer[np.ndarray, " rows"]:
        """How many candidates some rows have."""
        return self._tree.query_ball_point(self._rows[rows], self._reach, return_length=True)

    def counts(self) -> Integer[np.ndarray, " rows"]:
        # Some rows represent their neighbours: counting all takes half as long as drawing.
        step = max(1, self.n_rows // 4096)
        some = self.count(slice(None, None, step))
        return np.repeat(some, step)[: self.n_rows]

    def pairs(
        self, first: int, stop: int
    ) -> tuple[Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"]]:
        near = self._tree_of(self._rows[first:stop]).sparse_distance_matrix(
            self._tree, self._reach, output_type="ndarray"
        )
        return near["i"] + first, near["j"].copy()


def near_or_all(
    rows: Place, others: Place, period: Float[np.ndarray, " dims"] | None, reach: float
) -> Search:
    """The faster of the two searches; the result does not depend on the choice."""
    n_rows, n_others = len(rows.points), len(others.points)
    everybody = AllPairs(n_rows, n_others)
    if not n_rows or not n_others or reach == np.inf or reach >= distance_range(rows, others)[1]:
        return everybody
    near = Near(rows, others, period, reach)
    # Measured: a pair from the tree costs about as much as eight pairs without a search.
    return everybody if near.count(some_rows(n_rows)).mean() > n_others / 8 else near


def some_rows(n: int, at_most: int = 64) -> Integer[np.ndarray, " rows"]:
    """Up to 64 rows spread over all: multiples of the golden ratio, which favour no lattice."""
    if n <= at_most:
        return np.arange(n)
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return np.unique((np.arange(at_most) * golden % 1.0 * n).astype(np.int64))


def ascending(
    row: Integer[np.ndarray, " pairs"], other: Integer[np.ndarray, " pairs"]
) -> tuple[Int64[np.ndarray, " pairs"], Int64[np.ndarray, " pairs"]]:
    """Pairs sorted by row, then by other."""
    together = (row.astype(np.int64) << 32) | other
    together.sort()
    return together >> 32, together & 0xFFFFFFFF


def _inside(
    points: Float[np.ndarray, "n dims"], period: Float[np.ndarray, " dims"] | None
) -> Float[np.ndarray, "n dims"]:
    """Positions moved by whole periods into [0, period), where the tree wants them."""
    x = np.array(points, np.float64)
    for axis, length in enumerate([] if period is None else period.tolist()):
        if length < np.inf:
            x[:, axis] %= length
            x[x[:, axis] >= length, axis] = 0.0  # a small negative number was rounded
    return x


# From candidate pairs (source, target): the pairs that may be connected, and their probabilities.
Chance: TypeAlias = Callable[
    [Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"]],
    tuple[
        Integer[np.ndarray, " kept"],
        Integer[np.ndarray, " kept"],
        Float[np.ndarray, " kept"] | float,
    ],
]


class Cap(NamedTuple):
    """The most connections of a source, or of a target; None for no limit."""

    max_outdegree: int | None
    max_indegree: int | None

    @property
    def by_target(self) -> bool:
        """Whether the limit is on the connections of a target."""
        return self.max_indegree is not None

    @property
    def most(self) -> int | None:
        """The limit."""
        return self.max_indegree if self.by_target else self.max_outdegree


class BoundRule(Rule):
    """A rule bound to the positions of its neurons.

    The pair (i, j) is connected if its first random word is below `p 2^32`, rounded to a whole
    number. Index of a draw: the source; counter: the target. With a limit, a neuron with more
    connections keeps those with the smallest second words.

    With a limit on the sources of a target, the rows of the search and of a chunk are targets.
    """

    sizes: tuple[int, int] = eqx.field(static=True)
    search: Search
    chance: Chance
    autapses: bool = eqx.field(static=True)
    cap: Cap

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if (n_pre, n_post) != self.sizes:
            must = f"between as many neurons as positions, {self.sizes[0]} and {self.sizes[1]}"
            raise spec.InvalidValueError(name, "rule", must, f"{n_pre} and {n_post}")

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        if 0 in self.sizes:
            return 0.0
        # Fewer rows if each has millions of candidates: an estimate must be quick.
        first = self.search.pairs(0, 1)[0].size
        rows = some_rows(self.search.n_rows, min(64, max(4, (1 << 21) // max(first, 1))))
        means = []
        for row in rows:
            p = self._candidates(row, row + 1, same)[2]
            means.append(p.sum() if self.cap.most is None else min(p.sum(), self.cap.most))
        return float(np.mean(means) * self.search.n_rows)

    def held_bytes(self, expected: float, n_pre: int, n_post: int, same: bool) -> float:
        # Connections drawn by a search in space are kept until they are written.
        return expected * (2 if n_post <= 1 << 16 else 4)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        if 0 in self.sizes:
            return
        by_target = self.cap.by_target
        chunks = self.search.chunks(at_least=4 * n_pre if by_target else 0)
        work = lambda rows: self._connected(key, rows[0], rows[1], same)  # noqa: E731
        for (first, stop), (i, j) in run_ahead(work, chunks):
            if by_target:
                yield Chunk(0, np.bincount(i, minlength=n_pre), j[stable_order(i, n_pre)])
            else:
                yield Chunk(first, np.bincount(i - first, minlength=stop - first), j)

    def _candidates(
        self, first: int, stop: int, same: bool
    ) -> tuple[
        Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]
    ]:
        """Pairs of some rows that may be connected, as (sources, targets, probabilities)."""
        row, other = self.search.pairs(first, stop)
        i, j = (other, row) if self.cap.by_target else (row, other)
        if same and not self.autapses:
            apart = i != j
            i, j = i[apart], j[apart]
        i, j, p = self.chance(i, j)
        return i, j, np.broadcast_to(p, i.shape)

    def _connected(
        self, key: Any, first: int, stop: int, same: bool
    ) -> tuple[Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"]]:
        """Connections of some rows, as (sources, targets), ascending by row."""
        i, j, p = self._candidates(first, stop, same)
        threshold = np.rint(p * 2.0**32)
        if (threshold < 2.0**32).any():
            drawn = bits(key, i, j)[0] < threshold
            i, j = i[drawn], j[drawn]
        row, other = ascending(*((j, i) if self.cap.by_target else (i, j)))
        i, j = (other, row) if self.cap.by_target else (row, other)
        if self.cap.most is not None:
            kept = _smallest(row - first, bits(key, i, j)[1], self.cap.most)
            i, j = i[kept], j[kept]
        return i, j


def _smallest(
    row: Integer[np.ndarray, " pairs"], rank: Integer[np.ndarray, " pairs"], most: int
) -> Bool[np.ndarray, " pairs"]:
    """Which pairs are among the `most` with the smallest rank in their row; rows ascend."""
    counts = np.bincount(row)
    if counts.max(initial=0) <= most:
        return np.ones(row.size, bool)
    order = np.argsort((row << 32) | rank, kind="stable")
    place = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = np.empty(row.size, bool)
    kept[order] = place < most
    return kept


class Spatial(Rule):
    """A rule that needs positions: it draws after it is bound to them.

    Drawing a row needs a search in space, so that its connections are stored.
    """

    spatial = True

    @property
    @abstractmethod
    def cap(self) -> Cap:
        """The limit of the connections of a neuron."""

    @property
    def pairs(self) -> str | None:  # type: ignore[override]
        """A limit on the connections of a neuron is one in one direction."""
        return "drawn" if self.cap.most is None else None

    @abstractmethod
    def bind(self, label: str, pre: Place | None, post: Place | None) -> Rule: ...

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        raise self._unbound(name)

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        raise self._unbound()

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        raise self._unbound()

    def _unbound(self, name: str = "") -> spec.InvalidValueError:
        must = f"bound to positions: {type(self).__name__} needs those of source and target"
        return spec.InvalidValueError(name, "rule", must, "none")


def one_limit() -> spec.Rule:
    """The rule that at most one of both limits is given."""
    return spec.Rule(
        "max_indegree",
        "None where max_outdegree is given ({max_outdegree})",
        lambda max_outdegree, max_indegree: max_outdegree is None or max_indegree is None,
    )


def limit(of: str) -> Any:
    """The field of a limit."""
    return spec.field(
        spec.Maybe(spec.Whole()), default=None, static=True, doc=f"most {of}, None for any"
    )


def sides(pre: Place, post: Place, by_target: bool) -> tuple[Place, Place]:
    """The places of the rows and of the candidates of a search."""
    return (post, pre) if by_target else (pre, post)


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

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "distance-dependent
        connectivity", doi:10.1371/journal.pcbi.1010086.

    Note:
        To keep a limit, connections are removed at random, not all drawn again.
    """

    profile: Callable = spec.field(
        ProfileKind(),
        static=True,
        doc="a `space.Profile`, of which the peak is from 0 to 1, or a function of both positions",
    )
    radius: float = spec.field(
        spec.Number(unit="um", above=0.0, finite=False),
        default=math.inf,
        static=True,
        doc="distance beyond which there are no connections",
    )
    autapses: bool = spec.field(
        spec.Flag(), default=False, static=True, doc="whether a neuron may connect to itself"
    )
    max_outdegree: int | None = limit("targets of a source")
    max_indegree: int | None = limit("sources of a target")
    stored: bool = spec.field(
        spec.OneOf(True), default=True, static=True, doc="that connections are stored"
    )
    rules = (
        one_limit(),
        spec.Rule(
            "profile",
            "of a peak from 0 to 1",
            lambda profile: (
                not isinstance(profile, Profile) or 0.0 <= getattr(profile, "peak", 1.0) <= 1.0
            ),
        ),
    )

    @property
    def cap(self) -> Cap:
        """The limit of the connections of a neuron."""
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
        rows, others = sides(pre, post, self.cap.by_target)
        search = near_or_all(rows, others, period, reach)
        chance = _chance(label, self.profile, reach, pre, post, period)
        sizes = len(pre.points), len(post.points)
        return BoundRule(sizes, search, chance, self.autapses, self.cap)


def _chance(
    label: str,
    profile: Any,
    reach: float,
    pre: Place,
    post: Place,
    period: Float[np.ndarray, " dims"] | None,
) -> Chance:
    """The probability of pairs that are not farther apart than `reach`."""
    # One row per axis, so that one coordinate of all pairs is contiguous in memory.
    a, b = (np.ascontiguousarray(np.asarray(x.points, np.float64).T) for x in (pre, post))
    of_distance = isinstance(profile, Profile)
    cut = of_distance or reach < math.inf

    def chance(
        i: Integer[np.ndarray, " pairs"], j: Integer[np.ndarray, " pairs"]
    ) -> tuple[
        Integer[np.ndarray, " kept"], Integer[np.ndarray, " kept"], Float[np.ndarray, " kept"]
    ]:
        d = distance(a[:, i].T, b[:, j].T, period) if cut else np.zeros(i.size)
        near = d <= reach
        if not near.all():
            i, j, d = i[near], j[near], d[near]
        p = np.asarray(profile(d) if of_distance else _call(label, profile, a[:, i].T, b[:, j].T))
        _check_shape(label, p, i.size)
        bad = np.flatnonzero(~((p >= 0.0) & (p <= 1.0)))
        if bad.size:
            k = bad[0]
            got = f"{p[k]} for {i[k]} -> {j[k]}, from {a[:, i[k]]} to {b[:, j[k]]} um"
            raise spec.InvalidValueError(label, "profile", "probabilities from 0 to 1", got)
        return i, j, p.astype(np.float64)

    return chance


def _call(
    label: str,
    function: Any,
    x: Float[np.ndarray, "pairs dims"],
    y: Float[np.ndarray, "pairs other_dims"],
) -> Any:
    try:
        with no_global_draws(label, "profile", "; build draws, by these probabilities"):
            return function(x, y)
    except Exception as error:
        if isinstance(error, spec.InvalidValueError) and error.owner == label:
            raise
        raise spec.InvalidValueError(
            label,
            "profile",
            "a space.Profile, or a function of the positions of sources and targets, two arrays "
            "(m, dims), that returns m probabilities",
            f"{type(error).__name__}: {error}",
        ) from error


def _check_shape(label: str, p: Shaped[np.ndarray, "..."], n: int) -> None:
    real = p.dtype.kind in "bfiu"
    if p.shape != (n,) or not real:
        must = f"a function that returns one number per pair, shape ({n},)"
        raise spec.InvalidValueError(label, "profile", must, f"shape {p.shape}, {p.dtype}")
