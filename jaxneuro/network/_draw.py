"""Draws the connections of a projection, block by block, in narrow types."""

import dataclasses
from typing import Any

import numpy as np

from ..kernels import BLOCK_TARGETS
from ..numerics import Distribution, bits, steps_on_grid, stream_key, unit_interval
from ._description import Projection

# Relative to a network of float32: more steps than this make a delay 16 bits wide.
_NARROW = 255
_WIDE = 65_535


class Block:
    """What one projection makes with up to 65,536 targets: rows of 16-bit offsets."""

    def __init__(self, projection: int, first_target: int, n_rows: int):
        self.projection, self.first_target = projection, first_target
        self.counts = np.zeros(n_rows, np.uint32)
        self.chunks: list[tuple[int, np.ndarray, np.ndarray]] = []

    def add(self, first_row: int, counts: np.ndarray, targets: np.ndarray) -> None:
        counts = counts.astype(np.uint32)
        self.counts[first_row : first_row + counts.size] += counts
        self.chunks.append((first_row, counts, (targets - self.first_target).astype(np.uint16)))

    @property
    def size(self) -> int:
        return sum(c[2].size for c in self.chunks)


def draw_blocks(p: Projection, index: int, seed: Any, n_pre: int, n_post: int) -> list[Block]:
    """The blocks of a projection; those beyond the first only for more than 65,536 targets."""
    starts = range(0, max(n_post, 1), BLOCK_TARGETS)
    blocks = [Block(index, first, n_pre) for first in starts]
    if n_pre == 0 or n_post == 0:
        return blocks
    key = stream_key(seed, p.name, "targets")
    for chunk in p.rule.draw(key, n_pre, n_post, p.source == p.target):
        if len(blocks) == 1:
            blocks[0].add(*chunk)
            continue
        part = chunk.targets // BLOCK_TARGETS
        row = np.repeat(np.arange(chunk.counts.size), chunk.counts)
        for number in np.unique(part):
            mine = part == number
            counts = np.bincount(row[mine], minlength=chunk.counts.size)
            blocks[number].add(chunk.first_row, counts, chunk.targets[mine])
    return blocks


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
    return int(round_delays(p.name, extremes, dt).max())


def delay_dtype(projections: list[Projection], dt: float) -> type:
    """uint8 where every individual delay fits, uint16 otherwise."""
    longest = [
        longest_delay(p, dt) for p in projections if isinstance(p.delay, Distribution | np.ndarray)
    ]
    return np.uint16 if max(longest, default=0) > _NARROW else np.uint8
