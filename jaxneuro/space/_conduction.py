"""Delays by conduction along axons: distance over speed."""

from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_bounds
from ._axes import per_axis
from ._distance import Place, distance_range
from ._values import Bound, SpatialValue, distances


def _number(value: Any) -> float:
    return per_axis("ConductionDelay: speed and offset", value, 1)[0]


class ConductionDelay(SpatialValue):
    """`offset + distance / speed` [ms].

    `build` rounds delays to the time grid, to one step at least.

    **Fields** `speed` [um/ms] above 0 (0.3 m/s is 300 um/ms); `offset` [ms] at least 0.

    **Raises** `ValueError` unless both are finite, speed above 0 and offset at least 0.

    **Source** Senk et al. (2022), "distance-dependent delay",
    doi:10.1371/journal.pcbi.1010086.
    """

    speed: float = eqx.field(static=True, converter=_number)
    offset: float = eqx.field(static=True, converter=_number, default=0.0)

    def __check_init__(self) -> None:
        check_bounds("ConductionDelay: speed", self.speed, "um/ms", above=0.0)
        check_bounds("ConductionDelay: offset", self.offset, "ms", at_least=0.0)

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `ValueError`, naming `label`, if positions do not fit."""
        apart = distances(label, pre, post)

        def values(i: np.ndarray, j: np.ndarray) -> np.ndarray:
            return self.offset + apart(i, j) / self.speed

        return values

    def longest(self, pre: Place, post: Place) -> float:
        """An upper bound of the values."""
        return self.offset + distance_range(pre, post)[1] / self.speed
