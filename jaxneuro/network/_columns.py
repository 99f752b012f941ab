"""Lays the drawn blocks of a pathway out as one table: sections, rows, columns."""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels import (
    BLOCK_TARGETS,
    DRAW_WORDS,
    DRAWN,
    HAS_DELAYS,
    HAS_TAGS,
    HAS_WEIGHTS,
    ONE_PLACE,
    Section,
    Table,
    ahead,
)
from ..numerics import QUANTILES
from ._again import NO_WORDS, Again, Words
from ._draw import Block, Drawing, Piece, delay_dtype, delay_steps
from ._projection import Projection, is_individual
from ._write import Columns, Writer

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
    drawing: Drawing | Again

    @property
    def projection(self) -> Projection:
        return self.drawing.wired.projection

    @property
    def kind(self) -> int:
        p = self.projection
        own = HAS_WEIGHTS * is_individual(p.weight) | HAS_DELAYS * is_individual(p.delay)
        return own | DRAWN * isinstance(self.drawing, Again)


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
    def members(self) -> list[Placed]:
        """The projections, in the order of their blocks."""
        return list({id(p): p for p, _ in self.placed}.values())

    @property
    def per_row(self) -> np.ndarray:
        """Connections of each row: int64 (rows,)."""
        total = np.zeros(self.n_rows, np.int64)
        for p in self.members:
            if isinstance(p.drawing, Drawing):
                total += p.drawing.counts
        return total

    @property
    def n_synapses(self) -> int:
        return sum(p.drawing.size for p in self.members)

    @property
    def n_pointers(self) -> int:
        """Pointers per row: one, or one per block."""
        return 1 if self.flags & HAS_TAGS else len(self.placed)

    def length(self, column: str) -> int:
        """How many entries the section has in a column."""
        drawn = bool(self.flags & DRAWN)
        if column == "pointers":
            return 0 if drawn else self.n_rows * self.n_pointers + 1
        flag = {"weights": HAS_WEIGHTS, "delays": HAS_DELAYS, "tags": HAS_TAGS}.get(column)
        if flag is not None and not self.flags & flag:
            return 0
        if drawn:  # tables of quantiles
            return 0 if flag is None else len(self.members) * QUANTILES
        return self.n_synapses

    def shift(self, placed: Placed) -> int:
        """What is added to targets: they count from the group's start or their block's own."""
        return placed.first_target if self.flags & ONE_PLACE else 0

    def offset(self, placed: Placed, block: Block, n_targets: int) -> int:
        """Where a block's target 0 lies in `(receptor, target)`."""
        start = 0 if self.flags & ONE_PLACE else placed.first_target + block.first_target
        return placed.receptor * n_targets + start


def build_table(
    placed: list[Placed],
    n_targets: int,
    seed: Any,
    dt: float,
    dtype: Any,
    written: Callable[[int], None] = lambda synapses: None,
) -> tuple[Table, jax.Array, int]:
    """The table of a pathway, its individual weights, and its longest delay in steps.

    `placed` in canonical order (source population, then name); `n_targets` is the size of the
    target group; `dtype` that of the weights; `written` is called with numbers of synapses as
    they are written. What was drawn is given up as it is laid out.
    """
    plans = _sections(placed, n_targets)
    columns = _allocate(plans, delay_dtype([p.drawing for p in placed], dt), dtype)
    longest_row, longest_delay = _fill(plans, columns, seed, dt, written)
    offset, delay, span, projection = _block_vectors(plans, n_targets, dt)
    draws, draw_tables = _draw_words(plans)
    table = Table(
        sections=jnp.asarray(_section_words(plans)),
        pointers=_hand_over(columns, "pointers"),
        targets=_hand_over(columns, "targets"),
        tags=_hand_over(columns, "tags"),
        delays=_hand_over(columns, "delays"),
        block_offset=jnp.asarray(offset),
        block_delay=jnp.asarray(delay),
        block_span=jnp.asarray(span.reshape(-1, 2)),
        block_projection=jnp.asarray(projection),
        draws=jnp.asarray(draws),
        draw_tables=jnp.asarray(draw_tables),
        n_rows=sum(plan.n_rows for plan in plans),
        longest_row=longest_row,
        n_drawn=sum(plan.n_synapses for plan in plans if plan.flags & DRAWN),
    )
    return table, _hand_over(columns, "weights"), max(longest_delay, int(delay.max(initial=1)))


def _one_place(members: list[tuple[Placed, Block]], n_targets: int) -> int:
    """`ONE_PLACE` where the blocks share receptor and delay and the group is small."""
    same = {(p.receptor, p.projection.delay) for p, _ in members if not p.kind & HAS_DELAYS}
    return ONE_PLACE if len(same) == 1 and n_targets <= BLOCK_TARGETS else 0


def _sections(placed: list[Placed], n_targets: int) -> list[_Plan]:
    grouped: dict[tuple[int, int], list[tuple[Placed, Block]]] = {}
    for p in placed:
        if p.drawing.size:
            mine = grouped.setdefault((p.first_row, p.kind), [])
            mine += [(p, block) for block in p.drawing.blocks]
    plans, first_block, starts = [], 0, dict.fromkeys(_COLUMNS, 0)
    for (first_row, kind), members in sorted(grouped.items(), key=lambda item: item[0]):
        plan = _Plan(members, first_row, members[0][0].drawing.n_rows, kind)
        size, blocks = plan.n_synapses, len(members)
        few = 1 < blocks <= 65_536 and size < _FEW * plan.n_rows * blocks
        if few and not kind & DRAWN:
            plan.flags |= HAS_TAGS | _one_place(members, n_targets)
        plan.first_block, plan.starts = first_block, {**starts}
        first_block += blocks
        for column in _COLUMNS:
            starts[column] += plan.length(column)
        if size >= 2**32 and not kind & DRAWN:
            raise ValueError(
                "one source population must have fewer than 2^32 synapses onto one group of "
                f"neurons; got {size:,}. Split it into several populations"
            )
        plans.append(plan)
    return plans


def _allocate(plans: list[_Plan], delays: Any, dtype: Any) -> dict[str, np.ndarray]:
    dtypes = {
        "pointers": np.uint32,
        "targets": np.uint16,
        "weights": dtype,
        "delays": delays,
        "tags": np.uint16,
    }
    return {c: aligned(sum(p.length(c) for p in plans), dtypes[c]) for c in _COLUMNS}


def aligned(n: int, dtype: Any) -> np.ndarray:
    """An empty array on a 64-byte boundary, which JAX takes over without a copy."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(n * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * size].view(dtype)


def _hand_over(columns: dict[str, np.ndarray], name: str) -> jax.Array:
    return jax.device_put(columns.pop(name), may_alias=True)


def _fill(
    plans: list[_Plan], columns: dict[str, np.ndarray], seed: Any, dt: float, written: Callable
) -> tuple[int, int]:
    """Writes all columns, on all threads; returns the longest row and individual delay."""
    longest_row, longest_delay, pointers = 0, _write_tables(plans, columns, dt), []
    plans = [plan for plan in plans if not plan.flags & DRAWN]
    for plan in plans:
        start = plan.starts["pointers"]
        pointers.append(columns["pointers"][start : start + plan.n_rows * plan.n_pointers + 1])
        per_row = plan.per_row
        longest_row = max(longest_row, int(per_row.max(initial=0)))
        if plan.flags & HAS_TAGS:
            pointers[-1][1:] = per_row
        else:
            pointers[-1][1:] = 0
    for _, (size, longest) in ahead(lambda task: task(), _tasks(plans, columns, seed, dt)):
        longest_delay = max(longest_delay, longest)
        written(size)
    for mine in pointers:  # from numbers of connections to where they start
        mine[0] = 0
        np.cumsum(mine, out=mine, dtype=np.uint32)
    return longest_row, longest_delay


def _write_tables(plans: list[_Plan], columns: dict[str, np.ndarray], dt: float) -> int:
    """Writes the tables of what is drawn again; returns the longest delay in them."""
    longest = 1
    for plan in plans:
        for number, p in enumerate(plan.members if plan.flags & DRAWN else []):
            assert isinstance(p.drawing, Again)
            for column, flag in (("weights", HAS_WEIGHTS), ("delays", HAS_DELAYS)):
                if plan.flags & flag:
                    table = p.drawing.weights() if flag == HAS_WEIGHTS else p.drawing.delays(dt)
                    start = plan.starts[column] + number * QUANTILES
                    columns[column][start : start + QUANTILES] = table
                    longest = max(longest, int(table.max()) if flag == HAS_DELAYS else 1)
    return longest


def _draw_words(plans: list[_Plan]) -> tuple[np.ndarray, np.ndarray]:
    """The words of the blocks that are drawn again, and their tables; empty without any."""
    words = Words()
    rows = [
        words.block(p.drawing, plan.flags, number) if isinstance(p.drawing, Again) else NO_WORDS
        for plan in plans
        for number, (p, _) in enumerate(plan.placed)
    ]
    if not any(plan.flags & DRAWN for plan in plans):
        return np.zeros((0, DRAW_WORDS), np.uint32), np.zeros(0, np.uint32)
    return np.array(rows, np.uint32), words.tables()


def _tasks(
    plans: list[_Plan], columns: dict[str, np.ndarray], seed: Any, dt: float
) -> Iterator[Callable[[], tuple[int, int]]]:
    """Calls that draw and write all connections; each gives their number and longest delay."""
    for plan in plans:
        section = _section_columns(plan, columns)
        per_row, number = plan.per_row, 0
        starts = np.cumsum(per_row) - per_row
        for placed in plan.members:
            drawing = placed.drawing
            assert isinstance(drawing, Drawing)
            if section.pointers is not None and len(drawing.blocks) == 1:
                section.pointers[:, number] = drawing.counts
            shift = plan.shift(placed)
            writer = Writer(drawing, section, number, starts.copy(), shift, seed, dt)
            for draw in drawing.pieces():
                if writer.calls_user:
                    yield partial(_done, _write(writer, draw))
                else:
                    yield partial(_write, writer, draw)
            drawing.give_up()
            starts += drawing.counts
            number += len(drawing.blocks)


def _write(writer: Writer, draw: Callable[[], Piece]) -> tuple[int, int]:
    piece = draw()
    return piece.targets.size, writer.write(piece)


def _done(result: tuple[int, int]) -> tuple[int, int]:
    return result


def _section_columns(plan: _Plan, columns: dict[str, np.ndarray]) -> Columns:
    def column(name: str, flag: int) -> np.ndarray | None:
        start = plan.starts[name]
        return columns[name][start : start + plan.n_synapses] if plan.flags & flag else None

    start, pointers = plan.starts["pointers"] + 1, None
    if not plan.flags & HAS_TAGS:
        counts = columns["pointers"][start : start + plan.n_rows * plan.n_pointers]
        pointers = counts.reshape(plan.n_rows, plan.n_pointers)
    targets = plan.starts["targets"]
    return Columns(
        columns["targets"][targets : targets + plan.n_synapses],
        column("weights", HAS_WEIGHTS),
        column("delays", HAS_DELAYS),
        column("tags", HAS_TAGS),
        pointers,
    )


def _block_vectors(plans: list[_Plan], n_targets: int, dt: float) -> tuple[np.ndarray, ...]:
    offset, delay, span, projection = [], [], [], []
    for plan in plans:
        for placed, block in plan.placed:
            p = placed.projection
            offset.append(plan.offset(placed, block, n_targets))
            one = 0 if is_individual(p.delay) else int(delay_steps(p.name, p.delay, dt))
            delay.append(one)
            first = placed.first_target + block.first_target
            span.append((first, first + block.n_targets))
            projection.append(placed.index)
    return tuple(np.array(x, np.int32) for x in (offset, delay, span, projection))


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
