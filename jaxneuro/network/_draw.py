"""Draws the connections of a projection, block by block, in narrow types."""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..kernels import BLOCK_TARGETS
from ..numerics import Distribution, bits, steps_on_grid, stream_key, unit_interval
from ._description import Projection

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
    what fits in one chunk is kept.
    """

    def __init__(self, p: Projection, index: int, seed: Any, n_pre: int, n_post: int):
        self._p, self._sizes = p, (n_pre, n_post)
        self._key = stream_key(seed, p.name, "targets")
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
                self._kept = [*self._kept, parts] if not self._kept else None

    def parts(self) -> Iterator[Part]:
        """All parts, targets ascending in a row; what was kept is given up."""
        kept, self._kept = self._kept, None
        for parts in self._draw() if kept is None else kept:
            yield from parts

    def _draw(self) -> Iterator[list[Part]]:
        n_pre, n_post = self._sizes
        if n_pre == 0 or n_post == 0:
            return
        for chunk in self._p.rule.draw(self._key, n_pre, n_post, self._p.source == self._p.target):
            yield (
                [self._part(*chunk, self.blocks[0])]
                if len(self.blocks) == 1
                else (self._split(*chunk))
            )

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

    `given` is in the order of drawing (one entry per connection), or `(n_pre, n_post)`.
    """

    name: str
    purpose: str
    word: int
    source: Any
    given: np.ndarray | None

    @classmethod
    def of(cls, p: Projection, what: str) -> "Values":
        source = getattr(p, what)
        given = source if isinstance(source, np.ndarray) else None
        if given is not None and given.ndim == 1:
            given = p.rule.arrange(given)
        return cls(p.name, "values", 0 if what == "weight" else 1, source, given)

    def of_synapses(self, seed, block: Block, rows, position, targets, order) -> np.ndarray:
        """Float64 values of some synapses of a block, given their row and position in it."""
        if isinstance(self.source, Distribution):
            number = block.first_target // BLOCK_TARGETS
            key = stream_key(seed, self.name, f"{self.purpose} {number}")
            word = bits(key, rows, position)[self.word]
            return np.asarray(self.source.quantile(unit_interval(word)))
        assert self.given is not None
        if self.given.ndim == 2:
            return self.given[rows, targets.astype(np.int64) + block.first_target]
        return self.given[order + position]


def delay_steps(name: str, delay: Any, dt: float) -> np.ndarray:
    """Delays [ms] that a person gave, in whole steps of at least one."""
    steps = steps_on_grid(f"projection {name!r}: delay", delay, dt, at_least=1)
    _check_longest(name, steps.max(initial=0), dt)
    return steps


def round_delays(name: str, drawn: np.ndarray, dt: float) -> np.ndarray:
    """Drawn delays [ms], rounded to the grid and at least one step."""
    steps = np.maximum(np.rint(drawn / dt), 1)
    _check_longest(name, steps.max(initial=0), dt)
    return steps


def _check_longest(name: str, steps: float, dt: float) -> None:
    if not steps <= _WIDE:
        raise ValueError(
            f"projection {name!r}: a delay must be at most {_WIDE} steps, {_WIDE * dt:g} ms; got "
            f"{steps * dt:g} ms. Bound the distribution (high=...)"
        )


def longest_delay(p: Projection, dt: float) -> int:
    """The longest delay in steps that a projection can have."""
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


def delay_dtype(projections: list[Projection], dt: float) -> type:
    """uint8 where every individual delay fits, uint16 otherwise."""
    longest = [
        longest_delay(p, dt) for p in projections if isinstance(p.delay, Distribution | np.ndarray)
    ]
    return np.uint16 if max(longest, default=0) > _NARROW else np.uint8
