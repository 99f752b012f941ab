"""Tables of several devices side by side: all have the shape of the largest."""

import dataclasses
from typing import Any

import numpy as np

from .._kernels import GatherTable, Section, Table

GATHERED = ("starts", "sources", "runs", "counts")


def with_nothing(table: Table, weights: np.ndarray) -> Table:
    """The table with a section without rows and a block without targets at the end.

    To them belongs what columns are padded with, for which the section has a pointer; sections are
    padded with this one, for their starts must ascend (`expand`). `weights` are those of its
    connections.
    """
    columns = (table.pointers, table.targets, weights, table.delays, table.tags)
    starts = [np.shape(x)[0] for x in columns]
    blocks = table.block_offset.shape[0]
    nothing = Section(0, 0, blocks, 1, 0, *starts).words()
    more = {
        "sections": np.concatenate([np.asarray(table.sections), nothing[None]]),
        "pointers": np.append(np.asarray(table.pointers), np.uint32(0)),
        "block_offset": np.append(np.asarray(table.block_offset), np.int32(0)),
        "block_delay": np.append(np.asarray(table.block_delay), np.int32(1)),
        "block_projection": np.append(np.asarray(table.block_projection), np.int32(0)),
        "block_span": np.concatenate([np.asarray(table.block_span), np.zeros((1, 2), np.int32)]),
    }
    return dataclasses.replace(table, **more)


def table_arrays(table: Table) -> dict[str, np.ndarray]:
    """The arrays of a table by name."""
    names = [f.name for f in dataclasses.fields(Table) if not f.metadata.get("static")]
    return {name: np.asarray(getattr(table, name)) for name in names}


def gather_arrays(table: GatherTable) -> dict[str, np.ndarray]:
    """The arrays of a table of `gather` by name."""
    return {name: np.asarray(getattr(table, name)) for name in GATHERED}


def padded(x: Any, length: int, value: Any = 0) -> np.ndarray:
    """An array, filled up with a value to a length."""
    x = np.asarray(x)
    out = np.full((length, *x.shape[1:]), value, x.dtype)
    out[: x.shape[0]] = x
    return out
