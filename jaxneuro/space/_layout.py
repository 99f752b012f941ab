"""The role of a layout: it gives the positions of the n neurons of a population."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import Named
from .._help import DocumentedModule


class Layout(Named, eqx.Module, metaclass=DocumentedModule):
    """The positions of a population's neurons, in any number of dimensions.

    **Step** `check(label, n)` raises if n neurons cannot be placed. `draw(key, n)` returns
    their positions, float64 (n, dims), on the host; `key` is a stream of
    `numerics.stream_key`. `dims` is the number of axes, `period` the length after which each
    axis repeats, (dims,) with inf for an open axis, or None where all are open.

    **Source** Senk et al. (2022), "networks embedded in space",
    doi:10.1371/journal.pcbi.1010086.
    """

    @property
    @abstractmethod
    def dims(self) -> int:
        """The number of axes."""

    @property
    @abstractmethod
    def period(self) -> np.ndarray | None:
        """The period of each axis (inf for an open one); None where all axes are open."""

    @abstractmethod
    def check(self, label: str, n: int) -> None:
        """Raises `ValueError`, naming `label`, unless n neurons can be placed."""

    @abstractmethod
    def draw(self, key: Any, n: int) -> np.ndarray: ...
