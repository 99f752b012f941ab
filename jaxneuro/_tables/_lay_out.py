"""`lay_out`: makes the table that the kernels read from bundles of connections."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from jaxneuro._tables._bundle import Piece, Placement, RedrawnBundle, StoredBundle
from jaxneuro._tables._columns import Columns, Writer
from jaxneuro._tables._draw_tables import DrawTables
from jaxneuro._tables._sections import COLUMNS, SectionLayout, block_vectors, cut_into_sections

from .._arrays import as_array
from .._kernels import (
    DRAW_WORDS,
    HAS_DELAYS,
    HAS_TAGS,
    HAS_WEIGHTS,
    SECTION_WORDS,
    Table,
    run_ahead,
)
from .._numerics import QUANTILES

# More steps than this make individual delays 16 bits wide.
_NARROW = 255


def lay_out(
    placements: Sequence[Placement],
    n_targets: int,
    dtype: Any = np.float32,
    written: Callable[[int], None] = lambda synapses: None,
) -> tuple[Table, jax.Array, int]:
    """The table of some bundles, its individual weights, and its longest delay [steps].

    `placements` are ordered by their first source; their numbers differ. `n_targets` is the
    number of neurons that the table may reach, `dtype` that of the weights; `written` is called
    with numbers of synapses as they are written. Bundles are written on all threads that kernels
    may use, and their connections are freed as soon as they are written.

    **Raises** `ValueError` for 2^32 synapses or more in one section.
    """
    sections = cut_into_sections(placements, n_targets)
    columns = _allocate(sections, delay_dtype(placements), dtype)
    longest_row, longest_delay = _fill(sections, columns, written)
    vectors = block_vectors(sections, n_targets)
    draws, draw_tables = _draw_words(sections)
    table = Table(
        sections=as_array(_words([s.words() for s in sections], SECTION_WORDS)),
        pointers=_hand_over(columns, "pointers"),
        targets=_hand_over(columns, "targets"),
        tags=_hand_over(columns, "tags"),
        delays=_hand_over(columns, "delays"),
        **{name: as_array(x) for name, x in vectors.items()},
        draws=as_array(draws),
        draw_tables=as_array(draw_tables),
        n_rows=sum(section.n_rows for section in sections),
        longest_row=longest_row,
        n_redrawn=sum(section.n_synapses for section in sections if section.drawn),
        n_targets=n_targets,
    )
    one = int(vectors["block_delay"].max(initial=1))
    return table, _hand_over(columns, "weights"), max(longest_delay, one)


def _words(rows: list[np.ndarray], width: int) -> np.ndarray:
    return np.stack(rows) if rows else np.zeros((0, width), np.uint32)


def delay_dtype(placements: Sequence[Placement]) -> type:
    """uint8 if every individual delay fits, uint16 otherwise."""
    longest = [p.bundle.longest_delay for p in placements if p.bundle.own_delays]
    return np.uint8 if all(x is not None and x <= _NARROW for x in longest) else np.uint16


def _allocate(sections: list[SectionLayout], delays: Any, dtype: Any) -> dict[str, np.ndarray]:
    dtypes = {
        "pointers": np.uint32,
        "targets": np.uint16,
        "weights": dtype,
        "delays": delays,
        "tags": np.uint16,
    }
    return {c: aligned(sum(s.length(c) for s in sections), dtypes[c]) for c in COLUMNS}


def aligned(n: int, dtype: Any) -> np.ndarray:
    """An empty array on a 64-byte boundary, which JAX uses without a copy."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(n * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * size].view(dtype)


def _hand_over(columns: dict[str, np.ndarray], name: str) -> jax.Array:
    return jax.device_put(columns.pop(name), may_alias=True)


def _fill(
    sections: list[SectionLayout], columns: dict[str, np.ndarray], written: Callable
) -> tuple[int, int]:
    """Writes all columns, on all threads; returns the longest row and individual delay."""
    longest_row, longest_delay, pointers = 0, _write_quantiles(sections, columns), []
    stored = [section for section in sections if not section.drawn]
    for section in stored:
        start = section.starts["pointers"]
        end = start + section.n_rows * section.n_pointers + 1
        pointers.append(columns["pointers"][start:end])
        per_row = section.per_row
        longest_row = max(longest_row, int(per_row.max(initial=0)))
        pointers[-1][1:] = per_row if section.flags & HAS_TAGS else 0
    for _, (size, longest) in run_ahead(lambda task: task(), _tasks(stored, columns)):
        longest_delay = max(longest_delay, longest)
        written(size)
    for mine in pointers:  # from counts of connections to offsets
        mine[0] = 0
        np.cumsum(mine, out=mine, dtype=np.uint32)
    return longest_row, longest_delay


def _tasks(
    sections: list[SectionLayout], columns: dict[str, np.ndarray]
) -> Iterator[Callable[[], tuple[int, int]]]:
    """Functions that make and write all connections; each returns the number and longest delay."""
    for section in sections:
        mine = _section_columns(section, columns)
        dtypes = (None if x is None else x.dtype for x in (mine.weights, mine.delays))
        weights, delays = dtypes
        per_row, number = section.per_row, 0
        starts = np.cumsum(per_row) - per_row
        for placement in section.placements:
            bundle = placement.bundle
            assert isinstance(bundle, StoredBundle)
            if mine.pointers is not None and len(bundle.blocks) == 1:
                mine.pointers[:, number] = bundle.counts
            writer = Writer(bundle, mine, number, starts.copy(), section.shift(placement))
            for make in bundle.pieces(weights, delays):
                if bundle.serial:
                    yield partial(_done, _write(writer, make))
                else:
                    yield partial(_write, writer, make)
            bundle.forget()
            starts += bundle.counts
            number += len(bundle.blocks)


def _write(writer: Writer, make: Callable[[], Piece]) -> tuple[int, int]:
    piece = make()
    return piece.targets.size, writer.write(piece)


def _done(result: tuple[int, int]) -> tuple[int, int]:
    return result


def _section_columns(section: SectionLayout, columns: dict[str, np.ndarray]) -> Columns:
    def column(name: str, flag: int) -> np.ndarray | None:
        start = section.starts[name]
        kept = section.flags & flag
        return columns[name][start : start + section.n_synapses] if kept else None

    start, pointers = section.starts["pointers"] + 1, None
    if not section.flags & HAS_TAGS:
        counts = columns["pointers"][start : start + section.n_rows * section.n_pointers]
        pointers = counts.reshape(section.n_rows, section.n_pointers)
    targets = section.starts["targets"]
    return Columns(
        columns["targets"][targets : targets + section.n_synapses],
        column("weights", HAS_WEIGHTS),
        column("delays", HAS_DELAYS),
        column("tags", HAS_TAGS),
        pointers,
    )


def _write_quantiles(sections: list[SectionLayout], columns: dict[str, np.ndarray]) -> int:
    """Writes the tables of what is drawn again; returns the longest delay in them."""
    longest = 1
    for section in sections:
        for number, p in enumerate(section.placements if section.drawn else []):
            assert isinstance(p.bundle, RedrawnBundle)
            for column, flag in (("weights", HAS_WEIGHTS), ("delays", HAS_DELAYS)):
                if section.flags & flag:
                    table = p.bundle.weights() if flag == HAS_WEIGHTS else p.bundle.delays()
                    start = section.starts[column] + number * QUANTILES
                    columns[column][start : start + QUANTILES] = table
                    longest = max(longest, int(table.max()) if flag == HAS_DELAYS else 1)
    return longest


def _draw_words(sections: list[SectionLayout]) -> tuple[np.ndarray, np.ndarray]:
    """The words of the blocks that are drawn again, and their tables; empty if there are none."""
    if not any(section.drawn for section in sections):
        return np.zeros((0, DRAW_WORDS), np.uint32), np.zeros(0, np.uint32)
    tables, rows = DrawTables(), []
    for section in sections:
        for number, (p, _, _) in enumerate(section.blocks):
            words = np.zeros(DRAW_WORDS, np.uint32)
            if isinstance(p.bundle, RedrawnBundle):
                own = (
                    number * QUANTILES if section.flags & flag else 0
                    for flag in (HAS_WEIGHTS, HAS_DELAYS)
                )
                words = p.bundle.draw(tables, *own).words()
            rows.append(words)
    return np.array(rows, np.uint32), tables.words()
