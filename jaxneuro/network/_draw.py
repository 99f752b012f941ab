"""Draws the connections of a projection, block by block, in narrow types."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._checks import check_bounds, check_size
from ..kernels import BLOCK_TARGETS
from ..numerics import Distribution, bits, steps_on_grid, stream_key, unit_interval
from ..space import SpatialValue
from ._places import Neurons, Wired
from ._projection import is_computed, is_individual

# Relative to a network of float32: more steps than this make a delay 16 bits wide.
_NARROW = 255
_WIDE = 65_535


class Block:
    """What one projection makes with up to 65,536 targets: so far, how many per row."""

    def __init__(self, projection: int, first_target: int, n_rows: int):
        self.projection, self.first_target = projection, first_target
        self.counts = np.zeros(n_rows, np.uint32)
        self.size = 0


class Part(NamedTuple):
    """Some drawn connections of a block: targets row by row, offsets in the block."""

    block: Block
    first_row: int
    counts: np.ndarray
    targets: np.ndarray


class Drawing:
    """The connections of a projection: drawn once to be counted, again to be written.

    Drawing twice is cheaper than holding what was drawn beside the finished columns; only
    what fits in one chunk is kept, and what a rule that searches in space has drawn, which
    takes its time. Rows and targets are those of the whole populations.
    """

    def __init__(self, wired: Wired, index: int, seed: Any, n_pre: int, n_post: int):
        self.wired = wired
        self._key = stream_key(seed, wired.projection.name, "targets")
        # More than one block only for more than 65,536 targets.
        starts = range(0, max(n_post, 1), BLOCK_TARGETS)
        self.blocks = [Block(index, first, n_pre) for first in starts]
        self._kept: list[list[Part]] | None = []
        for parts in self._draw():
            for part in parts:
                rows = slice(part.first_row, part.first_row + part.counts.size)
                part.block.counts[rows] += part.counts
                part.block.size += part.targets.size
            if self._kept is not None:
                if self._kept and not wired.projection.rule.spatial:
                    self._kept = None
                else:
                    self._kept.append(parts)

    def parts(self) -> Iterator[Part]:
        """All parts, targets ascending in a row; what was kept is given up."""
        kept, self._kept = self._kept, None
        for parts in self._draw() if kept is None else kept:
            yield from parts

    def _draw(self) -> Iterator[list[Part]]:
        w = self.wired
        if 0 in w.sizes:
            return
        for chunk in w.rule.draw(self._key, *w.sizes, w.same):
            placed = self._in_populations(*chunk)
            yield (
                [self._part(*placed, self.blocks[0])]
                if len(self.blocks) == 1
                else (self._split(*placed))
            )

    def _in_populations(self, first_row: int, counts: np.ndarray, targets: np.ndarray):
        """A chunk that a rule drew among the chosen neurons, in numbers of the populations."""
        pre, post = self.wired.pre, self.wired.post
        targets = targets + post.start if isinstance(post, slice) else post[targets]
        if isinstance(pre, slice):
            return first_row + pre.start, counts, targets
        rows = pre[first_row : first_row + counts.size]
        spread = np.zeros(rows[-1] + 1 - rows[0] if rows.size else 0, counts.dtype)
        spread[rows - rows[:1]] = counts
        return int(rows[0]) if rows.size else 0, spread, targets

    def _part(self, first_row: int, counts: np.ndarray, targets: np.ndarray, block: Block) -> Part:
        narrow = (targets - block.first_target).astype(np.uint16)
        return Part(block, first_row, counts.astype(np.uint32), narrow)

    def _split(self, first_row: int, counts: np.ndarray, targets: np.ndarray) -> list[Part]:
        number, row = targets // BLOCK_TARGETS, np.repeat(np.arange(counts.size), counts)
        parts = []
        for block in np.unique(number):
            mine = number == block
            part_counts = np.bincount(row[mine], minlength=counts.size)
            parts.append(self._part(first_row, part_counts, targets[mine], self.blocks[block]))
        return parts


@dataclasses.dataclass(frozen=True)
class Values:
    """How a projection's weights or delays come about: one number, an array, or draws.

    `given` is in the order of drawing (one entry per connection), or `(n_pre, n_post)`, where
    `at` holds the place of each neuron of the two populations in it. `function` maps indices.
    """

    label: str
    name: str
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
            return cls(label, p.name, word, law=value)
        if isinstance(value, SpatialValue):
            return cls(label, p.name, word, function=value.bind(label, *wired.places))
        if is_computed(value):
            return cls(label, p.name, word, function=value)
        if isinstance(value, np.ndarray) and value.ndim == 1:
            return cls(label, p.name, word, given=wired.rule.arrange(value))
        given = value if isinstance(value, np.ndarray) else None
        return cls(label, p.name, word, given=given, at=(_inverse(wired.pre), _inverse(wired.post)))

    def of_synapses(self, seed, block: Block, rows, position, targets, order) -> np.ndarray:
        """Float64 values of some synapses of a block, given their row and position in it."""
        if self.law is not None:
            number = block.first_target // BLOCK_TARGETS
            key = stream_key(seed, self.name, f"values {number}")
            word = bits(key, rows, position)[self.word]
            return np.asarray(self.law.quantile(unit_interval(word)))
        post = targets.astype(np.int64) + block.first_target
        if self.function is not None:
            at_least = None if self.word == 0 else 0.0  # a delay
            return _checked(self.label, self._call(rows, post), rows.size, at_least)
        assert self.given is not None
        if self.at is not None:
            return self.given[self.at[0][rows], self.at[1][post]]
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
    ends = unit_interval(np.array([0, 2**32 - 1], np.uint32))
    extremes = np.asarray(p.delay.quantile(ends))
    if extremes.max() <= 0:
        raise ValueError(
            f"projection {p.name!r}: a delay must be above 0 ms, at least one time step; the "
            f"distribution gives at most {extremes.max():g} ms"
        )
    return int(round_delays(p.name, extremes, dt).max())


def delay_dtype(drawings: list[Drawing], dt: float) -> type:
    """uint8 where every individual delay fits, uint16 otherwise."""
    own = [d.wired for d in drawings if is_individual(d.wired.projection.delay)]
    longest = [longest_delay(w, dt) for w in own]
    return np.uint8 if all(x is not None and x <= _NARROW for x in longest) else np.uint16
