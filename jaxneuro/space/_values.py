"""Weights and delays that depend on where the two neurons of a connection are."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import equinox as eqx
import numpy as np

from .._checks import Named, check_bounds
from .._help import DocumentedModule
from ._distances import Place, Profile, common_period, distance, distance_range, placed
from ._layouts import per_axis

# Values of the connections from neurons i to neurons j (indices), float64.
Bound: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


class SpatialValue(Named, eqx.Module, metaclass=DocumentedModule):
    """A weight or delay that is computed from the positions of both neurons.

    **Step** `bind(label, pre, post)` returns a function of index arrays (i, j) that gives one
    float64 value per connection from source i to target j. `longest(pre, post)` is an upper
    bound of the values, from the bounding boxes and the period of the space; inf if none is known.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    @abstractmethod
    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `ValueError`, naming `label`, if positions do not fit."""

    @abstractmethod
    def longest(self, pre: Place, post: Place) -> float:
        """An upper bound of the values; inf if none is known."""


def distances(label: str, pre: Place | None, post: Place | None) -> Bound:
    """The distances [um] of pairs of neurons (i, j)."""
    period = common_period(label, pre, post)
    assert pre is not None
    assert post is not None
    # One row per axis, so that one coordinate of all pairs is contiguous in memory.
    a, b = (np.ascontiguousarray(np.asarray(x.points, np.float64).T) for x in (pre, post))
    return lambda i, j: distance(a[:, i].T, b[:, j].T, period)


class ByDistance(SpatialValue):
    """A function of the distance between the two neurons.

    An upper bound is known only for a monotonic profile.

    **Fields** `function` a `Profile`, or any function of an array of distances [um] that
    returns values of the same shape (weights in the unit of the synapse, delays in ms).

    **Raises** `ValueError` for a value that is not a function; when values are drawn, for a result
    of another shape or one that is not finite.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    function: Callable = eqx.field(static=True)

    def __check_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(
                f"ByDistance: function must be a Profile or a function of distance; got "
                f"{self.function!r}"
            )

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `ValueError`, naming `label`, if positions do not fit."""
        apart = distances(label, pre, post)

        def values(i: np.ndarray, j: np.ndarray) -> np.ndarray:
            d = apart(i, j)
            x = self._of(label, d)
            bad = np.flatnonzero(~np.isfinite(x))
            if bad.size:
                k = bad[0]
                raise ValueError(
                    f"{label}: a value by distance must be finite; got {x[k]} for {i[k]} -> {j[k]} "
                    f"at distance {d[k]:g} um"
                )
            return x

        return values

    def longest(self, pre: Place, post: Place) -> float:
        """An upper bound of the values; inf if none is known."""
        if not (isinstance(self.function, Profile) and self.function.monotonic):
            return math.inf
        return float(self._of("ByDistance", np.array(distance_range(pre, post))).max())

    def _of(self, label: str, d: np.ndarray) -> np.ndarray:
        x = np.asarray(self.function(d))
        if x.shape != d.shape or x.dtype.kind not in "fiu":
            raise ValueError(
                f"{label}: a function of distance must return one number per distance, shape "
                f"{d.shape}; got shape {x.shape}, {x.dtype}"
            )
        return x.astype(np.float64)


class ByPositions(SpatialValue):
    """A function of the positions of both neurons, which may be in two spaces.

    **Fields** `function` of positions x of sources and y of targets [um], both (m, dims), that
    returns m values (weights in the unit of the synapse, delays in ms). The function itself
    must handle periodic axes.

    **Raises** `ValueError` for a value that is not a function; when values are drawn, for a result
    of another shape or one that is not finite.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    function: Callable = eqx.field(static=True)

    def __check_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, Profile):
            raise ValueError(
                "ByPositions: function must be a function of both positions (a Profile, of their "
                f"distance, goes into ByDistance); got {self.function!r}"
            )

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `ValueError`, naming `label`, if positions do not fit."""
        placed(label, pre, post)
        assert pre is not None
        assert post is not None
        x, y = (np.asarray(p.points, np.float64) for p in (pre, post))

        def values(i: np.ndarray, j: np.ndarray) -> np.ndarray:
            out = np.asarray(self.function(x[i], y[j]))
            if out.shape != i.shape or out.dtype.kind not in "fiu":
                raise ValueError(
                    f"{label}: a function of both positions must return one number per pair, shape "
                    f"{i.shape}; got shape {out.shape}, {out.dtype}"
                )
            bad = np.flatnonzero(~np.isfinite(out))
            if bad.size:
                k = bad[0]
                raise ValueError(
                    f"{label}: a value by positions must be finite; got {out[k]} for {i[k]} -> "
                    f"{j[k]}"
                )
            return out.astype(np.float64)

        return values

    def longest(self, pre: Place, post: Place) -> float:
        """inf: no bound is known of a function."""
        return math.inf


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
