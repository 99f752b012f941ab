"""Tables of several devices side by side: padded to one shape, with an axis of devices."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels import GatherTable, Section, Table


def stack_tables(tables: Sequence[Table], weights: Sequence[Any]) -> tuple[Table, np.ndarray]:
    """Tables of stored connections, and their weights, as one with an axis of devices.

    What a shorter one lacks is a section without rows and blocks without targets.
    """
    padded = [_with_nothing(table, np.asarray(w)) for table, w in zip(tables, weights)]
    names = [f.name for f in dataclasses.fields(Table) if not f.metadata.get("static")]
    arrays = {
        name: _stacked([np.asarray(getattr(table, name)) for table in padded]) for name in names
    }
    most = {
        name: max(getattr(table, name) for table in tables) for name in ("n_rows", "longest_row")
    }
    one = tables[0]
    table = Table(**arrays, **most, n_redrawn=0, n_targets=one.n_targets)
    return table, _stacked([np.asarray(w) for w in weights])


def _with_nothing(table: Table, weights: np.ndarray) -> Table:
    """The table with a section and a block of no connections at the end."""
    columns = (table.pointers, table.targets, weights, table.delays, table.tags)
    starts = [np.shape(x)[0] for x in columns]
    blocks = table.block_offset.shape[0]
    nothing = Section(0, 0, blocks, 1, 0, *starts).words()
    more = {
        "sections": np.concatenate([np.asarray(table.sections), nothing[None]]),
        "block_offset": np.append(np.asarray(table.block_offset), np.int32(0)),
        "block_delay": np.append(np.asarray(table.block_delay), np.int32(1)),
        "block_projection": np.append(np.asarray(table.block_projection), np.int32(0)),
        "block_span": np.concatenate([np.asarray(table.block_span), np.zeros((1, 2), np.int32)]),
    }
    return dataclasses.replace(table, **more)


def stack_gather_tables(tables: Sequence[GatherTable]) -> GatherTable:
    """Tables of `gather` with as many rows and sources as one with an axis of devices."""
    arrays = {
        name: _stacked([np.asarray(getattr(t, name)) for t in tables])
        for name in ("starts", "sources", "runs", "counts")
    }
    most = {name: max(getattr(t, name) for t in tables) for name in ("longest", "n_entries")}
    one = tables[0]
    return GatherTable(**arrays, n_rows=one.n_rows, n_sources=one.n_sources, **most)


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays side by side, filled with zeros to the longest."""
    longest = max(x.shape[0] for x in arrays)
    dtype = max((x.dtype for x in arrays), key=lambda d: d.itemsize)
    out = np.zeros((len(arrays), longest, *arrays[0].shape[1:]), dtype)
    for row, x in zip(out, arrays):
        row[: x.shape[0]] = x
    return out
