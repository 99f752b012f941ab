"""Bundles: the connections from consecutive sources onto consecutive targets.

A bundle is made from lists of sources and targets, or drawn again from tables: of gaps between
targets, and of synapses per row.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int64, Integer, Num, UInt32

from .._arrays import ArrayLike
from .._kernels.redraw import Draw, gap_words
from .._kernels.table import BLOCK_TARGETS, HAS_DELAYS, HAS_WEIGHTS, REDRAWN
from .._numerics.draws import gap_table
from ..spec import InvalidValueError


class DrawTables:
    """Collects the `draw_tables` of a `Table`: arrays of words, each at an even offset."""

    def __init__(self) -> None:
        self._arrays: list[UInt32[np.ndarray, " _"]] = []
        self._size = 0
        self._gaps: dict[float, int] = {}

    def keep(self, words: UInt32[np.ndarray, " words"]) -> int:
        """Appends some words; returns their offset."""
        start = self._size
        self._arrays.append(np.concatenate([words, np.zeros(words.size % 2, np.uint32)]))
        self._size += self._arrays[-1].size
        return start

    def gaps(self, p: float, n: int) -> dict[str, int]:
        """The fields of a `Draw` for gaps between n targets that are chosen with probability p."""
        table = gap_table(p)
        if p not in self._gaps:
            self._gaps[p] = self.keep(gap_words(table))
        words = n * p + n / table.size
        return {
            "gaps": self._gaps[p],
            "gap_size": table.size,
            "gap_shift": table.shift,
            "hint": int(words + np.sqrt(words)),
        }

    def words(self) -> UInt32[np.ndarray, " words"]:
        """All arrays, one after the other; never empty, so that `jnp` can index them."""
        return np.concatenate([*self._arrays, np.zeros(2, np.uint32)])


class Piece(NamedTuple):
    """Some connections of a bundle, row by row.

    Attributes:
        rows: numbers of the sources.
        counts: connections of each of them in this piece.
        used: how many connections of each row come before these.
        targets: numbers, ascending in a row.
        weights, delays: [steps] one per connection, or None if the bundle has one for all.
    """

    rows: Integer[np.ndarray, " rows"]
    counts: Integer[np.ndarray, " rows"]
    used: UInt32[np.ndarray, " rows"]
    targets: Integer[np.ndarray, " synapses"]
    weights: Any = None
    delays: Any = None


class Bundle(ABC):
    """The connections from consecutive sources onto consecutive targets.

    Sources and targets are numbered from 0. Subclass `StoredBundle` or `RedrawnBundle`.

    Attributes:
        n_sources, n_targets: how many of each there are.
        size: the number of connections.
        own_weights, own_delays: whether each connection has its own.
        delay: [steps] the one of all connections, 0 if each has its own.
        longest_delay: [steps], None if it is not known.
    """

    n_sources: int
    n_targets: int
    size: int
    own_weights: bool
    own_delays: bool
    delay: int
    longest_delay: int | None

    @property
    def columns(self) -> int:
        """The flags of what is kept for each connection."""
        return HAS_WEIGHTS * self.own_weights | HAS_DELAYS * self.own_delays

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """First target and number of targets of each block: a target is a 16-bit offset in one."""
        starts = range(0, max(self.n_targets, 1), BLOCK_TARGETS)
        return [(first, min(self.n_targets - first, BLOCK_TARGETS)) for first in starts]


class StoredBundle(Bundle):
    """A bundle whose connections are written into the columns of a table.

    Attributes:
        counts: connections of each source.
        serial: whether the functions of `pieces` must be called one after the other, in one thread.
    """

    counts: UInt32[np.ndarray, " sources"]
    serial: bool = False

    @abstractmethod
    def pieces(self, weights: Any, delays: Any) -> Iterator[Callable[[], Piece]]:
        """Functions that return all connections once; they may be called in any order.

        `weights`, `delays` are the dtypes of the columns, None for a column that is not kept.
        """

    def forget(self) -> None:
        """Frees what `pieces` needed: every connection has been written."""
        return


class RedrawnBundle(Bundle):
    """A bundle whose rows are drawn again whenever their source spikes; nothing is stored."""

    @property
    def columns(self) -> int:
        return super().columns | REDRAWN

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """One block: its targets are drawn with 32 bits."""
        return [(0, self.n_targets)]

    @abstractmethod
    def weights(self) -> Float[np.ndarray, " quantiles"]:
        """The table of quantiles from which weights are drawn."""

    @abstractmethod
    def delays(self) -> Num[np.ndarray, " quantiles"]:
        """The table of quantiles from which delays [steps] are drawn."""

    @abstractmethod
    def draw(self, tables: DrawTables, weights: int, delays: int) -> Draw:
        """How the rows are drawn; the tables that this needs are added to `tables`.

        `weights`, `delays` are where the tables of quantiles start in the columns of the section.
        """


class Placement(NamedTuple):
    """A bundle, and its place among the neurons that a table connects.

    Attributes:
        bundle: the connections.
        number: by which `Table.block_projection` knows it.
        first_source, first_target: its first source and target neuron.
        receptor: number of the receptor.
    """

    bundle: StoredBundle | RedrawnBundle
    number: int
    first_source: int = 0
    first_target: int = 0
    receptor: int = 0


_PIECE = 1 << 18  # connections in a piece


class ListedBundle(StoredBundle):
    """Connections given one by one: `pre[c]` to `post[c]`, in any order, with multapses.

    Attributes:
        pre, post: whole numbers below `n_sources`, `n_targets`.
        weights: one per connection, or None if they have none of their own.
        delays: [steps] one per connection, or one number for all, at least 1.
        order: for each place of the rows the number of the given connection.

    Raises:
        InvalidValueError: for lists of different lengths, numbers out of range or delays below 1.
    """

    def __init__(
        self,
        pre: ArrayLike,
        post: ArrayLike,
        n_sources: int,
        n_targets: int,
        weights: ArrayLike | None = None,
        delays: ArrayLike = 1,
    ):
        pre, post = (np.asarray(x, np.int64) for x in (pre, post))
        self._delays = np.asarray(delays, np.int64)
        self._weights = None if weights is None else np.asarray(weights)
        for name, x in (("post", post), ("weights", self._weights), ("delays", self._delays)):
            if x is not None and x.shape != pre.shape and not (name == "delays" and x.ndim == 0):
                raise InvalidValueError(
                    "", name, f"one with one entry per connection, {pre.shape}", str(x.shape)
                )
        for name, x, n in (("pre", pre, n_sources), ("post", post, n_targets)):
            if x.size and (x.min() < 0 or x.max() >= n):
                raise InvalidValueError("", name, f"from 0 to {n - 1}", f"{x.min()} to {x.max()}")
        if self._delays.size and self._delays.min() < 1:
            raise InvalidValueError("", "delays", "at least one step", str(self._delays.min()))
        self.n_sources, self.n_targets, self.size = n_sources, n_targets, pre.size
        self.own_weights, self.own_delays = weights is not None, self._delays.ndim == 1
        self.delay = 0 if self.own_delays else int(self._delays)
        self.longest_delay = int(self._delays.max(initial=1))
        self.order = _order(pre, post)
        self.counts = np.bincount(pre, minlength=n_sources).astype(np.uint32)
        self._post = post[self.order]

    def pieces(self, weights: Any, delays: Any) -> Iterator[Callable[[], Piece]]:
        ends = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        first = 0
        while first < self.n_sources:
            stop = int(np.searchsorted(ends, ends[first] + _PIECE, side="right")) - 1
            stop = max(stop, first + 1)
            if ends[stop] > ends[first]:
                span = slice(int(ends[first]), int(ends[stop]))
                yield partial(self._rows, (first, stop), span, weights, delays)
            first = stop

    def _rows(self, rows: tuple[int, int], span: slice, weights: Any, delays: Any) -> Piece:
        """The connections of some rows."""
        order, numbers = self.order[span], np.arange(*rows)
        own_weights = None if weights is None else self._weights[order].astype(weights)  # type: ignore[index]
        own_delays = None if delays is None else self._delays[order].astype(delays)
        counts, none_before = self.counts[slice(*rows)], np.zeros(numbers.size, np.uint32)
        return Piece(numbers, counts, none_before, self._post[span], own_weights, own_delays)


def _order(
    pre: Int64[np.ndarray, " synapses"], post: Int64[np.ndarray, " synapses"]
) -> Int64[np.ndarray, " synapses"]:
    """By source, then target, then as given."""
    after = (pre[1:] > pre[:-1]) | ((pre[1:] == pre[:-1]) & (post[1:] >= post[:-1]))
    return np.arange(pre.size) if after.all() else np.lexsort((post, pre))
