"""Lays the drawn blocks of a pathway out as one table: sections, rows, columns."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels import (
    BLOCK_TARGETS,
    HAS_DELAYS,
    HAS_TAGS,
    HAS_WEIGHTS,
    ONE_PLACE,
    Section,
    Table,
)
from ._draw import Block, Drawing, Values, delay_dtype, delay_steps, round_delays
from ._projection import Projection, is_individual

# Below this many synapses per row and block a tag per synapse beats a pointer per block.
_FEW = 8
_COLUMNS = ("pointers", "targets", "weights", "delays", "tags")


@dataclasses.dataclass
class Placed:
    """A projection with its blocks, and where its populations lie in their groups."""

    index: int
    first_row: int
    first_target: int
    receptor: int
    drawing: Drawing

    @property
    def projection(self) -> Projection:
        return self.drawing.wired.projection

    @property
    def kind(self) -> int:
        p = self.projection
        return HAS_WEIGHTS * is_individual(p.weight) | HAS_DELAYS * is_individual(p.delay)


@dataclasses.dataclass
class _Plan:
    """The blocks of one section, and where its columns start."""

    placed: list[tuple[Placed, Block]]
    first_row: int
    n_rows: int
    flags: int
    first_block: int = 0
    starts: dict[str, int] = dataclasses.field(default_factory=dict)

    @property
    def n_synapses(self) -> int:
        return sum(block.size for _, block in self.placed)

    def shift(self, placed: Placed, block: Block) -> int:
        """What is added to a block's targets: they count from the group's start or its own."""
        return placed.first_target + block.first_target if self.flags & ONE_PLACE else 0

    def offset(self, placed: Placed, block: Block, n_targets: int) -> int:
        """Where a block's target 0 lies in `(receptor, target)`."""
        start = 0 if self.flags & ONE_PLACE else placed.first_target + block.first_target
        return placed.receptor * n_targets + start


def build_table(
    placed: list[Placed], n_targets: int, seed: Any, dt: float, dtype: Any
) -> tuple[Table, jax.Array, int]:
    """The table of a pathway, its individual weights, and its longest delay in steps.

    `placed` in canonical order (source population, then name); `n_targets` is the size of
    the target group. The drawn blocks are given up as they are laid out.
    """
    plans = _sections(placed, n_targets)
    columns = _allocate(plans, delay_dtype([p.drawing for p in placed], dt), dtype)
    pointers, longest_row, longest_delay = [], 0, 1
    for plan in plans:
        starts = _row_starts(plan)
        pointers.append(_pointers(plan, starts))
        per_row = np.diff(starts[:, 0], append=plan.n_synapses)
        longest_row = max(longest_row, int(per_row.max(initial=0)))
        longest_delay = max(longest_delay, _fill(plan, starts, columns, seed, dt))
    offset, delay, projection = _block_vectors(plans, n_targets, dt)
    table = Table(
        sections=jnp.asarray(_section_words(plans)),
        pointers=jnp.asarray(np.concatenate([np.zeros(0, np.uint32), *pointers])),
        targets=_hand_over(columns, "targets"),
        tags=_hand_over(columns, "tags"),
        delays=_hand_over(columns, "delays"),
        block_offset=jnp.asarray(offset),
        block_delay=jnp.asarray(delay),
        block_projection=jnp.asarray(projection),
        n_rows=sum(plan.n_rows for plan in plans),
        longest_row=longest_row,
    )
    return table, _hand_over(columns, "weights"), max(longest_delay, int(delay.max(initial=1)))


def _one_place(members: list[tuple[Placed, Block]], n_targets: int) -> int:
    """`ONE_PLACE` where the blocks share receptor and delay and the group is small."""
    same = {(p.receptor, p.projection.delay) for p, _ in members if not p.kind & HAS_DELAYS}
    return ONE_PLACE if len(same) == 1 and n_targets <= BLOCK_TARGETS else 0


def _sections(placed: list[Placed], n_targets: int) -> list[_Plan]:
    grouped: dict[tuple[int, int], list[tuple[Placed, Block]]] = {}
    for p in placed:
        for block in p.drawing.blocks:
            if block.size:
                grouped.setdefault((p.first_row, p.kind), []).append((p, block))
    plans, first_block, starts = [], 0, dict.fromkeys(_COLUMNS, 0)
    for (first_row, kind), members in sorted(grouped.items(), key=lambda item: item[0]):
        plan = _Plan(members, first_row, members[0][1].counts.size, kind)
        size, blocks = plan.n_synapses, len(members)
        if blocks > 1 and size < _FEW * plan.n_rows * blocks and blocks <= 65_536:
            plan.flags |= HAS_TAGS | _one_place(members, n_targets)
        plan.first_block, plan.starts = first_block, {**starts}
        first_block += blocks
        tagged = bool(plan.flags & HAS_TAGS)
        starts["pointers"] += plan.n_rows * (1 if tagged else blocks) + 1
        starts["targets"] += size
        starts["weights"] += size * bool(kind & HAS_WEIGHTS)
        starts["delays"] += size * bool(kind & HAS_DELAYS)
        starts["tags"] += size * tagged
        if size >= 2**32:
            raise ValueError(
                "one source population must have fewer than 2^32 synapses onto one group of "
                f"neurons; got {size:,}. Split it into several populations"
            )
        plans.append(plan)
    return plans


def _allocate(plans: list[_Plan], delays: Any, dtype: Any) -> dict[str, np.ndarray]:
    def length(flag: int) -> int:
        return sum(plan.n_synapses for plan in plans if plan.flags & flag)

    return {
        "targets": aligned(sum(plan.n_synapses for plan in plans), np.uint16),
        "weights": aligned(length(HAS_WEIGHTS), dtype),
        "delays": aligned(length(HAS_DELAYS), delays),
        "tags": aligned(length(HAS_TAGS), np.uint16),
    }


def aligned(n: int, dtype: Any) -> np.ndarray:
    """An empty array on a 64-byte boundary, which JAX takes over without a copy."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(n * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * size].view(dtype)


def _hand_over(columns: dict[str, np.ndarray], name: str) -> jax.Array:
    return jax.device_put(columns.pop(name), may_alias=True)


def _row_starts(plan: _Plan) -> np.ndarray:
    """Where each block of each row starts in the section: (rows, blocks)."""
    counts = np.stack([block.counts for _, block in plan.placed], axis=1)
    flat = counts.ravel().astype(np.int64)
    ends = np.cumsum(flat)
    return (ends - flat).reshape(counts.shape)


def _pointers(plan: _Plan, starts: np.ndarray) -> np.ndarray:
    kept = starts[:, 0] if plan.flags & HAS_TAGS else starts.ravel()
    return np.append(kept, plan.n_synapses).astype(np.uint32)


def _fill(plan: _Plan, starts: np.ndarray, columns: dict[str, np.ndarray], seed, dt) -> int:
    """Writes the columns of a section; returns its longest individual delay."""
    writers = {
        id(block): _Writer(plan, number, starts[:, number], columns, seed, dt)
        for number, (_, block) in enumerate(plan.placed)
    }
    for placed in {id(p): p for p, _ in plan.placed}.values():
        for part in placed.drawing.parts():
            if part.targets.size:
                writers[id(part.block)].write(*part[1:])
    return max(writer.longest_delay for writer in writers.values())


def _drawing_order(placed: Placed, block: Block) -> np.ndarray:
    """The number, in drawing order, of the first connection of each row of a block."""
    blocks = placed.drawing.blocks
    per_row = np.sum([b.counts for b in blocks], axis=0, dtype=np.int64)
    earlier = [b.counts for b in blocks if b.first_target < block.first_target]
    return np.cumsum(per_row) - per_row + np.sum(earlier, axis=0, dtype=np.int64)


class _Writer:
    """Writes the parts of one block into the columns of its section."""

    def __init__(self, plan: _Plan, number: int, starts: np.ndarray, columns, seed, dt):
        placed, block = plan.placed[number]
        self.plan, self.number, self.columns, self.seed, self.dt = plan, number, columns, seed, dt
        self.projection, self.block, self.starts = placed.projection, block, starts
        self.used = np.zeros(block.counts.size, np.int64)
        self.longest_delay = 1
        self.shift = np.uint16(plan.shift(placed, block))
        if plan.flags & (HAS_WEIGHTS | HAS_DELAYS):
            self.order = _drawing_order(placed, block)
            self.weights = Values.of(placed.drawing.wired, "weight")
            self.delays = Values.of(placed.drawing.wired, "delay")

    def write(self, first_row: int, counts: np.ndarray, targets: np.ndarray) -> None:
        flags, starts = self.plan.flags, self.plan.starts
        rows = slice(first_row, first_row + counts.size)
        used, ends = self.used[rows].copy(), np.cumsum(counts, dtype=np.int64)
        where = self._places(self.starts[rows] + used, counts, ends)
        self.used[rows] += counts
        self._put("targets", starts["targets"], where, targets + self.shift)
        if flags & HAS_TAGS:
            self._put("tags", starts["tags"], where, np.uint16(self.number))
        if not flags & (HAS_WEIGHTS | HAS_DELAYS):
            return
        row = np.repeat(np.arange(rows.start, rows.stop), counts)
        position = np.arange(targets.size) + np.repeat(used - (ends - counts), counts)
        order = np.repeat(self.order[rows], counts)
        synapses = (self.seed, self.block, row, position, targets, order)
        if flags & HAS_WEIGHTS:
            values = self.weights.of_synapses(*synapses)
            self._put("weights", starts["weights"], where, values)
        if flags & HAS_DELAYS:
            values = self._delay_steps(self.delays.of_synapses(*synapses))
            self.longest_delay = max(self.longest_delay, int(values.max()))
            self._put("delays", starts["delays"], where, values)

    def _places(self, begin, counts, ends) -> slice | np.ndarray:
        """Places in the section: one stretch where the rows lie end to end."""
        if begin[-1] + counts[-1] - begin[0] == ends[-1]:
            return slice(int(begin[0]), int(begin[0] + ends[-1]))
        return np.arange(ends[-1]) + np.repeat(begin - (ends - counts), counts)

    def _put(self, name: str, start: int, where: slice | np.ndarray, values) -> None:
        if isinstance(where, slice):
            self.columns[name][start + where.start : start + where.stop] = values
        else:
            self.columns[name][where + start] = values

    def _delay_steps(self, values: np.ndarray) -> np.ndarray:
        name = self.projection.name
        given = isinstance(self.projection.delay, np.ndarray)
        return delay_steps(name, values, self.dt) if given else round_delays(name, values, self.dt)


def _block_vectors(plans: list[_Plan], n_targets: int, dt: float) -> tuple[np.ndarray, ...]:
    offset, delay, projection = [], [], []
    for plan in plans:
        for placed, block in plan.placed:
            p = placed.projection
            offset.append(plan.offset(placed, block, n_targets))
            one = 0 if is_individual(p.delay) else int(delay_steps(p.name, p.delay, dt))
            delay.append(one)
            projection.append(placed.index)
    return tuple(np.array(x, np.int32) for x in (offset, delay, projection))


def _section_words(plans: list[_Plan]) -> np.ndarray:
    rows = [
        Section(
            plan.first_row,
            plan.n_rows,
            plan.first_block,
            len(plan.placed),
            plan.flags,
            *(plan.starts[c] for c in _COLUMNS),
        ).words()
        for plan in plans
    ]
    return np.stack(rows) if rows else np.zeros((0, 16), np.uint32)
