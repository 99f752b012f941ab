"""Layouts, which give the positions of the neurons of a population, and areas."""

import math
from abc import abstractmethod
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import Named, check_count
from .._help import DocumentedModule
from .._numerics import bits

_FAR = 1e15  # um


def per_axis(name: str, value: Any, dims: int, infinite: bool = False) -> tuple[float, ...]:
    """`value` as one float per axis; raises unless it is one number, or one per axis."""
    x = _numbers(name, value)
    if x.ndim > 1 or (x.ndim == 1 and x.size != dims):
        raise ValueError(
            f"{name} must be one number, or one per axis for {dims} axes; got {value!r}"
        )
    if np.isnan(x).any() or not (infinite or np.isfinite(x).all()):
        raise ValueError(f"{name} must be finite; got {value!r}")
    return tuple(np.broadcast_to(x, (dims,)).tolist())


def check_far(name: str, value: Any) -> None:
    """Raises `ValueError` for lengths [um] so large that distances would lose their digits."""
    x = np.abs(np.asarray(value, np.float64))
    far = np.isfinite(x) & (x >= _FAR)
    if far.any():
        raise ValueError(
            f"{name} must be below {_FAR:g} um in size; got {np.asarray(value)[far].flat[0]:g} um"
        )


def flag_per_axis(name: str, value: Any, dims: int) -> tuple[bool, ...]:
    """`value` as one truth value per axis."""
    x = np.asarray(value)
    if x.dtype != bool or x.ndim > 1 or (x.ndim == 1 and x.size != dims):
        raise ValueError(
            f"{name} must be True or False, or one of them per axis for {dims} axes; got {value!r}"
        )
    return tuple(np.broadcast_to(x, (dims,)).tolist())


def axes_of(*values: Any) -> int:
    """The number of axes of some values: the length of the first that is a sequence, else 1."""
    return next((np.size(v) for v in values if np.ndim(v)), 1)


def periods(extent: tuple[float, ...], periodic: tuple[bool, ...]) -> np.ndarray | None:
    """The period of each axis, inf for an open one; None when all are open."""
    return np.where(periodic, extent, np.inf) if any(periodic) else None


def _numbers(name: str, value: Any) -> np.ndarray:
    x = np.asarray(value)
    if x.dtype == bool or not (
        np.issubdtype(x.dtype, np.integer) or np.issubdtype(x.dtype, np.floating)
    ):
        raise ValueError(f"{name} must be numbers; got {value!r}")
    return x.astype(np.float64)


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


class Grid(Layout):
    """A lattice, filled row-major: the last coordinate runs fastest.

    Neuron number `index(c)` is at `origin + c * spacing`, c its whole-number coordinates.
    A periodic axis repeats after `shape * spacing`.

    **Fields** `shape` neurons along each axis; `spacing` [um] between neighbours, `origin`
    [um] of neuron 0, `periodic`: one value, or one per axis.

    **Raises** `ValueError` unless shape is whole numbers >= 1, spacing is above 0, all have the
    same number of axes, and the lattice is within 1e15 um; from `build`, unless the population has
    as many neurons as the lattice.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    shape: tuple[int, ...] = eqx.field(static=True)
    spacing: tuple[float, ...] = eqx.field(static=True)
    origin: tuple[float, ...] = eqx.field(static=True)
    periodic: tuple[bool, ...] = eqx.field(static=True)

    def __init__(self, shape: Any, spacing: Any = 1.0, origin: Any = 0.0, periodic: Any = False):
        axes = np.asarray(shape).ravel().tolist() if np.ndim(shape) < 2 else []
        if not axes:
            raise ValueError(f"Grid: shape must be whole numbers, one per axis; got {shape!r}")
        self.shape = tuple(check_count("Grid: shape", x, at_least=1) for x in axes)
        self.spacing = per_axis("Grid: spacing", spacing, len(axes))
        self.origin = per_axis("Grid: origin", origin, len(axes))
        self.periodic = flag_per_axis("Grid: periodic", periodic, len(axes))
        if min(self.spacing) <= 0:
            raise ValueError(f"Grid: spacing must be above 0 um; got {spacing!r}")
        last = [a + (k - 1) * s for a, k, s in zip(self.origin, self.shape, self.spacing)]
        for name, value in (("spacing", self.spacing), ("origin", self.origin), ("end", last)):
            check_far(f"Grid: {name}", value)

    @property
    def dims(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of neurons of the lattice."""
        return math.prod(self.shape)

    @property
    def period(self) -> np.ndarray | None:
        """`shape * spacing` of the periodic axes, inf for open ones; None where all are open."""
        extent = tuple(n * s for n, s in zip(self.shape, self.spacing))
        return periods(extent, self.periodic)

    def coordinates(self) -> np.ndarray:
        """Whole-number coordinates (size, dims) of the neurons, in their order."""
        return np.stack(np.unravel_index(np.arange(self.size), self.shape), axis=-1)

    def index(self, *coords: Any) -> Any:
        """The neuron at some coordinates, one argument per axis: whole numbers or arrays.

        A periodic axis wraps; a coordinate outside an open axis is a `ValueError`.
        """
        if len(coords) != self.dims:
            raise ValueError(
                f"Grid: index needs one coordinate per axis, {self.dims}; got {len(coords)}"
            )
        inside = []
        for axis, (c, n, wraps) in enumerate(zip(coords, self.shape, self.periodic)):
            x = np.asarray(c)
            if not np.issubdtype(x.dtype, np.integer):
                raise ValueError(f"Grid: coordinates must be whole numbers; got {c!r}")
            if wraps:
                x = x % n
            elif x.size and (x.min() < 0 or x.max() >= n):
                raise ValueError(
                    f"Grid: coordinate {axis} must be from 0 to {n - 1}; got from {x.min()} to "
                    f"{x.max()}"
                )
            inside.append(x)
        return np.ravel_multi_index(np.broadcast_arrays(*inside), self.shape)

    def check(self, label: str, n: int) -> None:
        """Raises `ValueError`, naming `label`, unless n is the size of the lattice."""
        if n != self.size:
            shape = " x ".join(str(x) for x in self.shape)
            raise ValueError(
                f"{label}: a Grid of {shape} places {self.size} neurons; got {n}. Change the shape "
                "or the number of neurons"
            )

    def draw(self, key: Any, n: int) -> np.ndarray:
        return np.asarray(self.origin) + self.coordinates() * np.asarray(self.spacing)


class UniformBox(Layout):
    """Independent positions, uniform in the box `low <= x < high`.

    Index of a draw: the neuron; counter: the axis. 53 random bits make each coordinate.

    **Fields** `low`, `high` [um] corners, one number per axis (two single numbers make one
    axis); `periodic` whether an axis repeats after `high - low`: one value,
    or one per axis.

    **Raises** `ValueError` unless low is below high on every axis, both within 1e15 um.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    low: tuple[float, ...] = eqx.field(static=True)
    high: tuple[float, ...] = eqx.field(static=True)
    periodic: tuple[bool, ...] = eqx.field(static=True)

    def __init__(self, low: Any, high: Any, periodic: Any = False):
        dims = axes_of(low, high, periodic)
        self.low = per_axis("UniformBox: low", low, dims)
        self.high = per_axis("UniformBox: high", high, dims)
        check_far("UniformBox: low", self.low)
        check_far("UniformBox: high", self.high)
        self.periodic = flag_per_axis("UniformBox: periodic", periodic, dims)
        if not dims or any(a >= b for a, b in zip(self.low, self.high)):
            raise ValueError(
                f"UniformBox: low must be below high on every axis; got {low!r} and {high!r}"
            )

    @property
    def dims(self) -> int:
        """The number of axes."""
        return len(self.low)

    @property
    def period(self) -> np.ndarray | None:
        """`high - low` of the periodic axes, inf for open ones; None where all are open."""
        return periods(tuple(b - a for a, b in zip(self.low, self.high)), self.periodic)

    def check(self, label: str, n: int) -> None:
        """Any number of neurons fits."""

    def draw(self, key: Any, n: int) -> np.ndarray:
        first, second = bits(key, np.arange(n)[:, None], np.arange(self.dims)[None, :])
        u = (first * 2.0**21 + (second >> np.uint32(11))) * 2.0**-53
        low, high = np.asarray(self.low), np.asarray(self.high)
        return np.minimum(low + (high - low) * u, np.nextafter(high, low))


class Free(Layout):
    """Positions given one by one.

    **Fields** `points` [um] (n, dims): where neuron i is; (n,) is one axis. `extent` is the
    argument `period` [um]: the length after which each axis repeats, one number or one per
    axis, 0 or inf for an open one; None where all are open.

    **Raises** `ValueError` for points that are not finite numbers of shape (n, dims), or a
    period below 0, or 1e15 um and more; from `build`, unless there is one point per neuron.
    """

    points: np.ndarray
    extent: tuple[float, ...] | None = eqx.field(static=True)

    def __init__(self, points: Any, period: Any = None):
        self.points = _checked_points(points)
        self.extent = None
        if period is not None:
            extent = per_axis("Free: period", period, self.points.shape[1], infinite=True)
            check_far("Free: period", extent)
            if min(extent) < 0:
                raise ValueError(f"Free: period must be at least 0 um; got {period!r}")
            self.extent = tuple(x or np.inf for x in extent)

    def __repr__(self) -> str:
        return f"Free(points={self.points.shape} array, period={self.extent})"

    @property
    def dims(self) -> int:
        """The number of axes."""
        return self.points.shape[1]

    @property
    def period(self) -> np.ndarray | None:
        """The period of each axis, inf for open ones; None where all are open."""
        if self.extent is None or np.isinf(self.extent).all():
            return None
        return np.asarray(self.extent)

    def check(self, label: str, n: int) -> None:
        """Raises `ValueError`, naming `label`, unless there is one point per neuron."""
        if n != len(self.points):
            raise ValueError(
                f"{label}: positions must have one point per neuron, {n}; got {len(self.points)}"
            )

    def draw(self, key: Any, n: int) -> np.ndarray:
        return self.points


def _checked_points(points: Any) -> np.ndarray:
    must = "Free: points must be numbers of shape (n, dims), one row per neuron"
    try:
        x = np.array(points, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{must}; got {points!r}") from None
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.shape[-1] == 0:
        raise ValueError(f"{must}; got shape {x.shape}")
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if bad.size:
        raise ValueError(f"Free: points must be finite; got {x[bad[0]]} for neuron {bad[0]}")
    check_far("Free: points", x)
    return x


class Area(Named, eqx.Module, metaclass=DocumentedModule):
    """An axis-aligned box of coordinates: `low <= x < high` on every axis.

    **Fields** `low`, `high` [um] corners, one number per axis; -inf and inf leave a side open.

    **Raises** `ValueError` unless low is below high on every axis; from `contains`, for
    positions with another number of dimensions.
    """

    low: tuple[float, ...] = eqx.field(static=True)
    high: tuple[float, ...] = eqx.field(static=True)

    def __init__(self, low: Any, high: Any):
        dims = axes_of(low, high)
        self.low = per_axis("Area: low", low, dims, infinite=True)
        self.high = per_axis("Area: high", high, dims, infinite=True)
        if not dims or any(a >= b for a, b in zip(self.low, self.high)):
            raise ValueError(
                f"Area: low must be below high on every axis; got {low!r} and {high!r}"
            )

    def contains(self, points: Any) -> np.ndarray:
        """Which of the positions (n, dims) are inside, as booleans (n,)."""
        x = np.asarray(points, np.float64)
        if x.ndim != 2 or x.shape[1] != len(self.low):
            raise ValueError(
                f"an Area of {len(self.low)} axes needs positions of shape (n, {len(self.low)}); "
                f"got {x.shape}"
            )
        return np.asarray(((x >= self.low) & (x < self.high)).all(axis=1))


def morton_codes(points: np.ndarray) -> np.ndarray:
    """The place of each point on the Z-order curve through the box of all points: uint64 (n,).

    `points` (n, d), d from 1 to 16: each coordinate becomes a whole number of 64 // d bits (at most
    21), whose bits are interleaved, those of the first coordinate lowest.

    **Source** Morton (1966), A computer oriented geodetic data base, IBM.
    """
    x = np.asarray(points, np.float64)
    n, dimensions = x.shape
    if not 1 <= dimensions <= 16:
        raise ValueError(f"Z-order needs positions of 1 to 16 dimensions; got {dimensions}")
    bits = min(64 // dimensions, 21)
    low = x.min(0, initial=np.inf) if n else np.zeros(dimensions)
    width = np.maximum((x.max(0, initial=-np.inf) if n else low) - low, np.finfo(float).tiny)
    cells = np.minimum((x - low) / width * 2**bits, 2**bits - 1).astype(np.uint64)
    code = np.zeros(n, np.uint64)
    for bit in range(bits):
        for axis in range(dimensions):
            one = (cells[:, axis] >> np.uint64(bit)) & np.uint64(1)
            code |= one << np.uint64(bit * dimensions + axis)
    return code
