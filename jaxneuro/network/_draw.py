"""Draws the connections of a projection, some rows at a time."""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._checks import check_bounds, check_size
from ..connectivity import Chunk, RowDraws, ranges
from ..kernels import BLOCK_TARGETS
from ..numerics import (
    QUANTILES,
    Distribution,
    bits,
    drawn,
    quantile_table,
    steps_on_grid,
    stream_key,
)
from ..space import SpatialValue
from ._places import Neurons, Wired
from ._projection import is_computed, is_individual

# Relative to a network of float32: more steps than this make a delay 16 bits wide.
_NARROW = 255
_WIDE = 65_535


class Block(NamedTuple):
    """What one projection makes with up to 65,536 targets."""

    projection: int
    first_target: int
    n_targets: int


class Piece(NamedTuple):
    """Some connections of a projection, row by row, in numbers of the whole populations.

    `used` connections of each row were drawn before these; targets ascend in a row.
    """

    rows: np.ndarray
    counts: np.ndarray
    used: np.ndarray
    targets: np.ndarray


class Drawing:
    """The connections of a projection: counted first, drawn when they are written.

    Where a rule cannot count its rows without drawing them, it draws twice: that is cheaper
    than holding what was drawn beside the finished columns. Only what fits in one chunk is
    kept, and what a rule that searches in space has drawn, which takes its time.
    """

    def __init__(self, wired: Wired, index: int, seed: Any, n_pre: int, n_post: int):
        self.wired, self.n_rows, self._n_post = wired, n_pre, n_post
        self._key = stream_key(seed, wired.projection.name, "targets")
        # More than one block only for more than 65,536 targets.
        starts = range(0, max(n_post, 1), BLOCK_TARGETS)
        self.blocks = [Block(index, first, min(n_post - first, BLOCK_TARGETS)) for first in starts]
        self._kept: list[Chunk] | None = []
        drawing = 0 not in wired.sizes
        self._rows = wired.rule.rows(self._key, *wired.sizes, wired.same) if drawing else None
        counts = self._count() if self._rows is None else self._rows.counts
        self.counts = np.zeros(n_pre, np.uint32)
        self.counts[wired.pre] = counts
        self.size = int(counts.sum(dtype=np.int64))

    def _count(self) -> np.ndarray:
        """Draws all chunks for their numbers of connections per row."""
        counts, kept = np.zeros(self.wired.sizes[0], np.int64), []
        for chunk in self._draw():
            counts[chunk.first_row : chunk.first_row + chunk.counts.size] += chunk.counts
            if kept is not None:
                narrow = np.uint16 if self._n_post <= BLOCK_TARGETS else np.uint32
                kept.append(chunk._replace(targets=chunk.targets.astype(narrow)))
                if len(kept) > 1 and not self.wired.rule.spatial:
                    kept = None
        self._kept = kept
        return counts

    def _draw(self) -> Iterator[Chunk]:
        w = self.wired
        if 0 not in w.sizes:
            yield from w.rule.draw(self._key, *w.sizes, w.same)

    def pieces(self) -> Iterator[Callable[[], Piece]]:
        """Calls that give all connections: made in order, to be called in any order."""
        rows = self._rows
        if rows is not None:
            for first, stop, begin, end in ranges(rows.counts):
                if end > begin:
                    yield partial(self._of_rows, rows, first, stop)
            return
        used = np.zeros(self.wired.sizes[0], np.uint32)
        for chunk in self._draw() if self._kept is None else self._kept:
            rows = slice(chunk.first_row, chunk.first_row + chunk.counts.size)
            before = used[rows].copy()
            used[rows] += chunk.counts.astype(np.uint32)
            if chunk.targets.size:
                yield partial(self._piece, *chunk, before)

    def give_up(self) -> None:
        """Forgets what was drawn: all of it has been written."""
        self._rows, self._kept = None, []

    def _of_rows(self, rows: RowDraws, first: int, stop: int) -> Piece:
        counts, targets = rows.counts[first:stop], rows.targets(first, stop)
        return self._piece(first, counts, targets, np.zeros(stop - first, np.uint32))

    def _piece(self, first: int, counts: np.ndarray, targets: np.ndarray, used: np.ndarray):
        """What a rule drew among the chosen neurons, in numbers of the populations."""
        pre, post = self.wired.pre, self.wired.post
        stop = first + counts.size
        rows = np.arange(first, stop) + pre.start if isinstance(pre, slice) else pre[first:stop]
        targets = targets.astype(np.int32)
        if not isinstance(post, slice):
            targets = post[targets].astype(np.int32)
        elif post.start:
            targets += np.int32(post.start)
        return Piece(rows, counts, used, targets)


@dataclasses.dataclass(frozen=True)
class Values:
    """How a projection's weights or delays come about: one number, an array, or draws.

    Draws are words of (row, position in the row), the first for a weight, the second for a delay.
    `given` is in the order of drawing (one entry per connection), or `(n_pre, n_post)`, where
    `at` holds the place of each neuron of the two populations in it. `function` maps indices.
    """

    label: str
    word: int
    law: Distribution | None = None
    given: np.ndarray | None = None
    at: tuple[np.ndarray, np.ndarray] | None = None
    function: Callable | None = None

    @classmethod
    def of(cls, wired: Wired, what: str) -> "Values":
        p = wired.projection
        value, word = getattr(p, what), 0 if what == "weight" else 1
        label = f"projection {p.name!r}: {what}"
        if isinstance(value, Distribution):
            return cls(label, word, law=value)
        if isinstance(value, SpatialValue):
            return cls(label, word, function=value.bind(label, *wired.places))
        if is_computed(value):
            return cls(label, word, function=value)
        if isinstance(value, np.ndarray) and value.ndim == 1:
            return cls(label, word, given=wired.rule.arrange(value))
        given = value if isinstance(value, np.ndarray) else None
        return cls(label, word, given=given, at=(_inverse(wired.pre), _inverse(wired.post)))

    def table(self, size: int) -> np.ndarray | None:
        """The law's table of quantiles; None without a law, or where it has few to give."""
        if self.law is None or 2 * size < QUANTILES:
            return None
        return quantile_table(self.law)

    def of_synapses(self, key, row, position, post, order) -> np.ndarray:
        """Float64 values of some synapses, given their row and position in it.

        `order` is the number, in drawing order, of the first connection of the row.
        """
        if self.law is not None:
            return drawn(self.law, bits(key, row, position)[self.word])
        post = post.astype(np.int64)
        if self.function is not None:
            at_least = None if self.word == 0 else 0.0  # a delay
            return _checked(self.label, self._call(row, post), row.size, at_least)
        assert self.given is not None
        if self.at is not None:
            return self.given[self.at[0][row], self.at[1][post]]
        return self.given[order + position]

    def _call(self, pre: np.ndarray, post: np.ndarray) -> Any:
        """The function's values; whatever it raises becomes a `ValueError` that names it."""
        assert self.function is not None
        try:
            return self.function(pre, post)
        except Exception as error:
            if isinstance(error, ValueError) and str(error).startswith(self.label):
                raise
            raise ValueError(
                f"{self.label}: the function raised {type(error).__name__}: {error}. It gets two "
                "arrays, the indices of sources and targets (or their positions), and must return "
                "an array of one number per connection: use NumPy functions, np.where for cases"
            ) from error


def _inverse(neurons: Neurons) -> np.ndarray:
    """The number of each neuron of a population among the chosen ones."""
    if isinstance(neurons, slice):
        return np.arange(neurons.stop) - neurons.start
    out = np.zeros(int(neurons.max(initial=-1)) + 1, np.int64)
    out[neurons] = np.arange(neurons.size)
    return out


def _checked(label: str, values: Any, n: int, at_least: float | None) -> np.ndarray:
    x = np.asarray(values)
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{label}: the function must give real numbers; got {x.dtype}")
    x = x.astype(np.float64)
    if x.shape not in ((), (n,)):
        raise ValueError(
            f"{label}: the function must give one number per connection, shape ({n},) for index "
            f"arrays of that length; got shape {x.shape}"
        )
    check_bounds(label, x, at_least=at_least)
    check_size(label, x)
    return np.broadcast_to(x, (n,))


def delay_steps(name: str, delay: Any, dt: float) -> np.ndarray:
    """Delays [ms] that a person gave, in whole steps of at least one."""
    steps = steps_on_grid(f"projection {name!r}: delay", delay, dt, at_least=1)
    _check_longest(name, steps.max(initial=0), dt)
    return steps


def round_delays(name: str, drawn: np.ndarray, dt: float) -> np.ndarray:
    """Drawn or computed delays [ms], rounded to the grid and at least one step."""
    steps = np.maximum(np.rint(drawn / dt), 1)
    _check_longest(name, steps.max(initial=0), dt)
    return steps


def _check_longest(name: str, steps: float, dt: float) -> None:
    if not steps <= _WIDE:
        raise ValueError(
            f"projection {name!r}: a delay must be at most {_WIDE} steps, {_WIDE * dt:g} ms; got "
            f"{steps * dt:g} ms. Bound the distribution (high=...)"
        )


def longest_delay(wired: Wired, dt: float) -> int | None:
    """The longest delay in steps that a projection can have; None where nobody knows."""
    p = wired.projection
    if isinstance(p.delay, SpatialValue):
        pre, post = wired.places
        p.delay.bind(f"projection {p.name!r}: delay", pre, post)  # raises without positions
        longest = p.delay.longest(pre, post) if pre and post else 0.0
        return int(round_delays(p.name, np.array(longest), dt)) if np.isfinite(longest) else None
    if is_computed(p.delay) and not isinstance(p.delay, Distribution):
        return None
    if not isinstance(p.delay, Distribution):
        return int(delay_steps(p.name, p.delay, dt).max(initial=1))
    extremes = drawn(p.delay, np.array([0, 2**32 - 1], np.uint32))
    if extremes.max() <= 0:
        raise ValueError(
            f"projection {p.name!r}: a delay must be above 0 ms, at least one time step; the "
            f"distribution gives at most {extremes.max():g} ms"
        )
    return int(round_delays(p.name, extremes, dt).max())


def delay_dtype(drawings: list[Any], dt: float) -> type:
    """uint8 where every individual delay fits, uint16 otherwise."""
    own = [d.wired for d in drawings if is_individual(d.wired.projection.delay)]
    longest = [longest_delay(w, dt) for w in own]
    return np.uint8 if all(x is not None and x <= _NARROW for x in longest) else np.uint16
