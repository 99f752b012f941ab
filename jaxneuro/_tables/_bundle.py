"""A bundle: the connections from consecutive sources onto consecutive targets."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from jaxneuro._tables._draw_tables import DrawTables

from .._kernels import BLOCK_TARGETS, HAS_DELAYS, HAS_WEIGHTS, REDRAWN, Draw


class Piece(NamedTuple):
    """Some connections of a bundle, row by row.

    **Fields** `rows` numbers of the sources; `counts` connections of each of them in this piece;
    `used` how many connections of each row come before these; `targets` numbers, ascending in
    a row; `weights`, `delays` [steps] one per connection, or None if the bundle has one for all.
    """

    rows: np.ndarray
    counts: np.ndarray
    used: np.ndarray
    targets: np.ndarray
    weights: Any = None
    delays: Any = None


class Bundle(ABC):
    """The connections from consecutive sources onto consecutive targets.

    Sources and targets are numbered from 0. Subclass `StoredBundle` or `RedrawnBundle`.

    **Fields** `n_sources`, `n_targets`; `size` the number of connections; `own_weights`,
    `own_delays` whether each connection has its own; `delay` [steps] the one of all connections,
    0 if each has its own; `longest_delay` [steps], None if it is not known.
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

    **Fields** `counts` uint32 (sources,) connections of each source; `serial` whether the functions
    of `pieces` must be called one after the other, in one thread.
    """

    counts: np.ndarray
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
    def weights(self) -> np.ndarray:
        """The table of quantiles from which weights are drawn."""

    @abstractmethod
    def delays(self) -> np.ndarray:
        """The table of quantiles from which delays [steps] are drawn."""

    @abstractmethod
    def draw(self, tables: DrawTables, weights: int, delays: int) -> Draw:
        """How the rows are drawn; the tables that this needs are added to `tables`.

        `weights`, `delays` are where the tables of quantiles start in the columns of the section.
        """


class Placement(NamedTuple):
    """A bundle, and its place among the neurons that a table connects.

    **Fields** `bundle`; `number` by which `Table.block_projection` knows it; `first_source`,
    `first_target` its first source and target neuron; `receptor` number of the receptor.
    """

    bundle: StoredBundle | RedrawnBundle
    number: int
    first_source: int = 0
    first_target: int = 0
    receptor: int = 0
