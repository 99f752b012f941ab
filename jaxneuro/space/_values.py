"""Weights and delays that depend on where the two neurons of a connection are."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Integer

from .. import spec
from ._distances import Place, Profile, ProfileKind, common_period, distance, distance_range, placed

_FINITE = "one that returns finite values"

# Values of the connections from neurons i to neurons j (indices), float64.
Bound: TypeAlias = Callable[
    [Integer[np.ndarray, " pairs"], Integer[np.ndarray, " pairs"]], Float[np.ndarray, " pairs"]
]


class SpatialValue(spec.Module):
    """A weight or delay that is computed from the positions of both neurons.

    `bind(label, pre, post)` returns a function of index arrays (i, j) that gives one float64 value
    per connection from source i to target j; `label` names the value in errors. `longest(pre,
    post)` is an upper bound of the values, from the bounding boxes and the period of the space; inf
    if none is known.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    @abstractmethod
    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `InvalidValueError` if positions do not fit."""

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

    The function takes an array of distances [um] and returns values of the same shape: weights in
    the unit of the synapse, delays in ms. An upper bound is known only for a monotonic profile.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    function: Callable = spec.field(
        ProfileKind(), static=True, doc="a `Profile`, or any function of distances"
    )

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `InvalidValueError` if positions do not fit."""
        apart = distances(label, pre, post)

        def values(
            i: Integer[np.ndarray, " pairs"], j: Integer[np.ndarray, " pairs"]
        ) -> Float[np.ndarray, " pairs"]:
            d = apart(i, j)
            x = self._of(label, d)
            bad = np.flatnonzero(~np.isfinite(x))
            if bad.size:
                k = bad[0]
                got = f"{x[k]} for {i[k]} -> {j[k]} at distance {d[k]:g} um"
                raise spec.InvalidValueError(label, "function", _FINITE, got)
            return x

        return values

    def longest(self, pre: Place, post: Place) -> float:
        """An upper bound of the values; inf if none is known."""
        if not (isinstance(self.function, Profile) and self.function.monotonic):
            return math.inf
        return float(self._of("ByDistance", np.array(distance_range(pre, post))).max())

    def _of(self, label: str, d: Float[np.ndarray, " pairs"]) -> Float[np.ndarray, " pairs"]:
        x = np.asarray(self.function(d))
        if x.shape != d.shape or x.dtype.kind not in "fiu":
            must = f"one that returns a number per distance, shape {d.shape}"
            raise spec.InvalidValueError(label, "function", must, f"shape {x.shape}, {x.dtype}")
        return x.astype(np.float64)


class ByPositions(SpatialValue):
    """A function of the positions of both neurons, which may be in two spaces.

    The function takes the positions x of sources and y of targets [um], both (m, dims), and returns
    m values: weights in the unit of the synapse, delays in ms. It must handle periodic axes itself.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    function: Callable = spec.field(
        spec.Function(), static=True, doc="a function of both positions"
    )
    rules = (
        spec.Rule(
            "function",
            "of both positions (a Profile goes into ByDistance)",
            lambda function: not isinstance(function, Profile),
        ),
    )

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `InvalidValueError` if positions do not fit."""
        placed(label, pre, post)
        assert pre is not None
        assert post is not None
        x, y = (np.asarray(p.points, np.float64) for p in (pre, post))

        def values(
            i: Integer[np.ndarray, " pairs"], j: Integer[np.ndarray, " pairs"]
        ) -> Float[np.ndarray, " pairs"]:
            out = np.asarray(self.function(x[i], y[j]))
            if out.shape != i.shape or out.dtype.kind not in "fiu":
                must = f"one that returns a number per pair, shape {i.shape}"
                got = f"shape {out.shape}, {out.dtype}"
                raise spec.InvalidValueError(label, "function", must, got)
            bad = np.flatnonzero(~np.isfinite(out))
            if bad.size:
                k = bad[0]
                got = f"{out[k]} for {i[k]} -> {j[k]}"
                raise spec.InvalidValueError(label, "function", _FINITE, got)
            return out.astype(np.float64)

        return values

    def longest(self, pre: Place, post: Place) -> float:
        """inf: no bound is known of a function."""
        return math.inf


class ConductionDelay(SpatialValue):
    """`offset + distance / speed` [ms]: 0.3 m/s is 300 um/ms.

    `build` rounds delays to the time grid, to one step at least.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "distance-dependent
        delay", doi:10.1371/journal.pcbi.1010086.
    """

    speed: float = spec.field(
        spec.Number(unit="um/ms", above=0.0), static=True, doc="speed along the axon"
    )
    offset: float = spec.field(
        spec.Number(unit="ms", at_least=0.0),
        default=0.0,
        static=True,
        doc="delay at distance 0",
    )

    def bind(self, label: str, pre: Place | None, post: Place | None) -> Bound:
        """The values by neuron; raises `InvalidValueError` if positions do not fit."""
        apart = distances(label, pre, post)

        def values(
            i: Integer[np.ndarray, " pairs"], j: Integer[np.ndarray, " pairs"]
        ) -> Float[np.ndarray, " pairs"]:
            return self.offset + apart(i, j) / self.speed

        return values

    def longest(self, pre: Place, post: Place) -> float:
        """An upper bound of the values."""
        return self.offset + distance_range(pre, post)[1] / self.speed
