"""Distances between neurons, and functions of distance."""

import math
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from .. import spec
from .._arrays import ArrayLike


class Place(NamedTuple):
    """The positions of the neurons of one side of a projection.

    Attributes:
        points: positions [um], (n, dims).
        period: of their space [um], (dims,), inf for an open axis, or None where all are open.
    """

    points: Float[np.ndarray, "n dims"]
    period: Float[np.ndarray, " dims"] | None = None


def distance(a: ArrayLike, b: ArrayLike, period: Any = None) -> Float[Any, "*shape"]:
    """Euclidean distance [um] between positions `(..., dims)`, with the minimal image.

    On an axis of period P the gap `|a - b|` is taken modulo P and along the shorter way:
    `min(gap, P - gap)`.

    Args:
        a, b: positions [um] of equally many axes.
        period: (dims,), 0 or inf for an open axis, or None.

    Reference:
        Minimum image convention: Allen and Tildesley (1987), "Computer Simulation of Liquids",
        section 1.5.2.
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-1]:
        must = f"of as many axes as a, shape {a.shape}"
        raise spec.InvalidValueError("distance", "b", must, f"shape {b.shape}")
    total: Any = 0.0
    for axis in range(a.shape[-1]):
        gap = np.abs(a[..., axis] - b[..., axis])
        length = 0.0 if period is None else float(period[axis])
        if 0.0 < length < np.inf:
            if (gap > length).any():
                gap = gap % length
            gap = np.minimum(gap, length - gap)
        total = total + gap * gap
    return np.sqrt(total)


def placed(label: str, pre: Place | None, post: Place | None) -> list[tuple]:
    """Positions and period of both sides, which may be in two spaces of different dimensions.

    Raises:
        InvalidValueError: where positions are missing or not finite; its owner is `label`.
    """
    sides = []
    for side, place in (("source", pre), ("target", post)):
        if place is None:
            must = "a population with positions, for what depends on space"
            raise spec.InvalidValueError(label, side, must, "one without")
        sides.append(_checked(label, side, place))
    return sides


def common_period(
    label: str, pre: Place | None, post: Place | None
) -> Float[np.ndarray, " dims"] | None:
    """The period of the space of both sides, inf for open axes; None where all are open.

    Raises:
        InvalidValueError: where positions are missing, not finite, or of different dimension or
            period; its owner is `label`.
    """
    (a, period), (b, other) = placed(label, pre, post)
    if a.shape[1] != b.shape[1]:
        must = "in the space of the source (a function of both positions may join two spaces)"
        dimensions = f"{a.shape[1]} and {b.shape[1]} dimensions"
        raise spec.InvalidValueError(label, "target", must, dimensions)
    equal = np.isclose(period, other, rtol=1e-9, atol=0) | (np.isinf(period) & np.isinf(other))
    if not equal.all():
        must = "in the space of the source"
        raise spec.InvalidValueError(label, "target", must, f"the periods {period} and {other} um")
    return None if np.isinf(period).all() else period


def _checked(
    label: str, side: str, place: Place
) -> tuple[Float[np.ndarray, "n dims"], Float[np.ndarray, " dims"]]:
    """Positions and the period of every axis, inf for an open one."""
    points = np.asarray(place.points, np.float64)
    if points.ndim != 2:
        must = "a population with positions (n, dims)"
        raise spec.InvalidValueError(label, side, must, f"shape {points.shape}")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        got = f"{points[bad[0]]} of neuron {bad[0]}"
        raise spec.InvalidValueError(label, side, "a population with finite positions", got)
    dims = points.shape[1]
    period = np.full(dims, np.inf) if place.period is None else np.array(place.period, np.float64)
    if period.shape != (dims,) or not (period >= 0).all():
        must = f"in a space with a period of at least 0 for each of {dims} axes"
        raise spec.InvalidValueError(label, side, must, str(place.period))
    period[period == 0] = np.inf
    return points, period


def distance_range(pre: Place, post: Place) -> tuple[float, float]:
    """Bounds [um] of the distance between any two neurons, from their bounding boxes."""
    period = common_period("positions", pre, post)
    a, b = np.asarray(pre.points, np.float64), np.asarray(post.points, np.float64)
    if a.size == 0 or b.size == 0:
        return 0.0, 0.0
    near = np.maximum(np.maximum(b.min(0) - a.max(0), a.min(0) - b.max(0)), 0.0)
    far = np.maximum(b.max(0) - a.min(0), a.max(0) - b.min(0))
    if period is not None:
        near = np.where(np.isinf(period), near, 0.0)
        far = np.minimum(far, period / 2)
    zero = np.zeros_like(near)  # the same sums as for a pair, so that rounding cannot exceed them
    return float(distance(near, zero)), float(distance(far, zero))


_LENGTH = spec.Number(unit="um", above=0.0)


class Profile(spec.Module):
    """A function of distance, for probabilities, weights or delays.

    `profile(d)` maps distances [um] to values, NumPy in and out, any shape. `reach(level)` is the
    distance beyond which the absolute value stays below `level`, or inf. `monotonic` says that the
    value only falls or only rises, so that its extremes over a range of distances are at the ends
    of the range.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    monotonic: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, d: ArrayLike) -> Float[Any, "*shape"]: ...

    @abstractmethod
    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""


class ProfileKind(spec.Function):
    """A `Profile`, or any other function."""

    def convert(self, value: Any) -> Any:
        if isinstance(value, spec.Module) and not isinstance(value, Profile):
            raise spec.Unfit("a `Profile`, or a function")
        return super().convert(value)

    def read(self, entry: Any) -> Any:
        return entry.instance(Profile)


class Gaussian(Profile):
    """`peak exp(-d^2 / (2 sigma^2))`.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    sigma: float = spec.field(_LENGTH, static=True, doc="standard deviation")
    peak: float = spec.field(spec.Number(), default=1.0, static=True, doc="value at distance 0")
    monotonic = True

    def __call__(self, d: ArrayLike) -> Float[Any, "*shape"]:
        x = np.asarray(d, np.float64) / self.sigma
        return self.peak * np.exp(-0.5 * (x * x))

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        return self.sigma * math.sqrt(2.0 * _falls(self.peak, level))


class Exponential(Profile):
    """`peak exp(-d / length)`.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    length: float = spec.field(_LENGTH, static=True, doc="distance in which it falls to 1/e")
    peak: float = spec.field(spec.Number(), default=1.0, static=True, doc="value at distance 0")
    monotonic = True

    def __call__(self, d: ArrayLike) -> Float[Any, "*shape"]:
        return self.peak * np.exp(-np.asarray(d, np.float64) / self.length)

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        return self.length * _falls(self.peak, level)


class Linear(Profile):
    """`peak max(0, 1 - d / radius)`: falls in a straight line and is 0 from the radius on.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    radius: float = spec.field(_LENGTH, static=True, doc="distance from which on it is 0")
    peak: float = spec.field(spec.Number(), default=1.0, static=True, doc="value at distance 0")
    monotonic = True

    def __call__(self, d: ArrayLike) -> Float[Any, "*shape"]:
        return self.peak * np.maximum(0.0, 1.0 - np.asarray(d, np.float64) / self.radius)

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        if level <= 0:
            return math.inf
        return self.radius * max(0.0, 1.0 - level / abs(self.peak)) if self.peak else 0.0


class Disc(Profile):
    """`peak` up to the radius and on it, 0 beyond.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    radius: float = spec.field(_LENGTH, static=True, doc="distance up to which it is the peak")
    peak: float = spec.field(spec.Number(), default=1.0, static=True, doc="value inside")
    monotonic = True

    def __call__(self, d: ArrayLike) -> Float[Any, "*shape"]:
        return np.where(np.asarray(d, np.float64) <= self.radius, self.peak, 0.0)

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        if level <= 0:
            return math.inf
        return self.radius if abs(self.peak) >= level else 0.0


def _falls(peak: float, level: float) -> float:
    """The x with `|peak| exp(-x) = level`, at least 0; inf for no level."""
    if level <= 0:
        return math.inf
    return max(0.0, math.log(abs(peak) / level)) if peak else 0.0
