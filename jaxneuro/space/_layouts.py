"""Layouts, which give the positions of the neurons of a population, and areas."""

import dataclasses
import math
from abc import abstractmethod
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer, UInt64

from .. import spec
from .._arrays import ArrayLike
from .._numerics.streams import bits

_FAR = 1e15  # um; distances of neurons that are as far lose their digits


@dataclasses.dataclass(frozen=True)
class PerAxis(spec.Ranged):
    """One number for all axes, or one for each; kept as a float or a tuple.

    Attributes:
        finite: False allows infinity, downwards too where there is no lower bound.
        reach: what finite numbers must be below in size.
    """

    finite: bool = True
    reach: float = np.inf

    def convert(self, value: Any) -> float | tuple[float, ...]:
        x = spec.as_numbers(value)
        if x.ndim > 1 or not x.size:
            raise spec.Unfit("one number, or one per axis", f"shape {x.shape}")
        unbounded = np.isposinf(x) | (np.isneginf(x) & (self.at_least is None))
        inside = x if self.finite else np.where(unbounded, 0.0, x)
        self.check_range(inside)
        _check_reach(inside, self.reach)
        return tuple(x.tolist()) if x.ndim else float(x)


def _check_reach(x: Float[np.ndarray, "..."], reach: float = _FAR) -> None:
    if (far := np.abs(x) >= reach).any():
        raise spec.Unfit(f"below {reach:g} um in size", f"{x[far].flat[0]:g} um")


@dataclasses.dataclass(frozen=True)
class _FlagPerAxis(spec.Kind):
    """True or False for all axes, or for each; kept as a bool or a tuple."""

    def convert(self, value: Any) -> bool | tuple[bool, ...]:
        x = np.asarray(value)
        if x.dtype != bool or x.ndim > 1:
            raise spec.Unfit("True or False, or one of them per axis")
        return tuple(x.tolist()) if x.ndim else bool(x)

    def read(self, entry: Any) -> Any:
        several = isinstance(entry.value, list)
        return [x.scalar(bool) for x in entry] if several else entry.scalar(bool)


def _spread(owner: type, dims: int, **given: Any) -> list[tuple]:
    """Values of fields as one per axis, from one for all axes or one per axis."""
    out = []
    for name, value in given.items():
        kept = "extent" if name == "period" else name  # the argument of Free
        x = spec.check(owner.__name__, name, spec.kinds_of(owner)[kept], value)
        if isinstance(x, tuple) and len(x) != dims:
            must = f"one for all axes, or one for each of {dims}"
            raise spec.InvalidValueError(owner.__name__, name, must, repr(value))
        out.append(x if isinstance(x, tuple) else (x,) * dims)
    return out


def _axes_of(*values: Any) -> int:
    """The number of axes of some values: the length of the first that is a sequence, else 1."""
    return next((np.size(v) for v in values if np.ndim(v)), 1)


def _periods(
    extent: tuple[float, ...], periodic: tuple[bool, ...]
) -> Float[np.ndarray, " dims"] | None:
    """The period of each axis, inf for an open one; None when all are open."""
    return np.where(periodic, extent, np.inf) if any(periodic) else None


_CORNER = PerAxis(unit="um", reach=_FAR)
_BELOW = spec.Rule(
    "high", "above low ({low}) on every axis", lambda low, high: np.less(low, high).all()
)


class Layout(spec.Module):
    """The positions of a population's neurons, in any number of dimensions.

    `check(label, n)` raises if n neurons cannot be placed; `label` is the population. `draw(key,
    n)` returns their positions, float64 (n, dims), on the host; `key` is a stream of draws. `dims`
    is the number of axes, `period` the length after which each axis repeats, (dims,) with inf for
    an open axis, or None where all are open.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "networks embedded
        in space", doi:10.1371/journal.pcbi.1010086.
    """

    @property
    @abstractmethod
    def dims(self) -> int:
        """The number of axes."""

    @property
    @abstractmethod
    def period(self) -> Float[np.ndarray, " dims"] | None:
        """The period of each axis (inf for an open one); None where all axes are open."""

    @abstractmethod
    def check(self, label: str, n: int) -> None:
        """Raises `InvalidValueError` unless n neurons can be placed."""

    @abstractmethod
    def draw(self, key: Any, n: int) -> Float[np.ndarray, "n dims"]: ...


class _Lengths(spec.Kind):
    """Whole numbers of at least 1, one per axis; one alone is one axis."""

    def convert(self, value: Any) -> tuple[int, ...]:
        axes = np.asarray(value).ravel().tolist() if np.ndim(value) < 2 else []
        return spec.Items(spec.Whole(1), at_least=1).convert(axes)

    def words(self) -> str:
        return "whole numbers of at least 1"


class Grid(Layout):
    """A lattice, filled row-major: the last coordinate runs fastest.

    Neuron number `index(c)` is at `origin + c * spacing`, c its whole-number coordinates.
    A periodic axis repeats after `shape * spacing`. The population has as many neurons as the
    lattice. `spacing`, `origin` and `periodic` are one value for all axes, or one for each.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    shape: tuple[int, ...] = spec.field(_Lengths(), static=True, doc="neurons along each axis")
    spacing: tuple[float, ...] = spec.field(
        PerAxis(unit="um", above=0.0, reach=_FAR),
        default=1.0,
        static=True,
        doc="between neighbours",
    )
    origin: tuple[float, ...] = spec.field(
        _CORNER, default=0.0, static=True, doc="position of neuron 0"
    )
    periodic: tuple[bool, ...] = spec.field(
        _FlagPerAxis(), default=False, static=True, doc="whether an axis repeats"
    )
    rules = (
        spec.Rule(
            "spacing",
            f"so small that the lattice ends below {_FAR:g} um",
            lambda shape, spacing, origin: (
                np.abs(np.add(origin, np.multiply(np.subtract(shape, 1), spacing))).max() < _FAR
            ),
        ),
    )

    def __init__(
        self,
        shape: Any,
        spacing: Any = 1.0,
        origin: Any = 0.0,
        periodic: Any = False,
    ):
        self.shape = spec.check("Grid", "shape", _Lengths(), shape)
        self.spacing, self.origin, self.periodic = _spread(
            Grid, len(self.shape), spacing=spacing, origin=origin, periodic=periodic
        )

    @property
    def dims(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of neurons of the lattice."""
        return math.prod(self.shape)

    @property
    def period(self) -> Float[np.ndarray, " dims"] | None:
        """`shape * spacing` of the periodic axes, inf for open ones; None where all are open."""
        extent = tuple(n * s for n, s in zip(self.shape, self.spacing))
        return _periods(extent, self.periodic)

    def coordinates(self) -> Integer[np.ndarray, "size dims"]:
        """Whole-number coordinates (size, dims) of the neurons, in their order."""
        return np.stack(np.unravel_index(np.arange(self.size), self.shape), axis=-1)

    def index(self, *coords: ArrayLike) -> Integer[Any, "..."]:
        """The neuron at some coordinates, one argument per axis: whole numbers or arrays.

        A periodic axis wraps.

        Raises:
            InvalidValueError: for a coordinate outside an open axis.
        """
        if len(coords) != self.dims:
            raise spec.InvalidValueError(
                "Grid.index", "coords", f"one for each of {self.dims} axes", str(len(coords))
            )
        inside = []
        for axis, (c, n, wraps) in enumerate(zip(coords, self.shape, self.periodic)):
            x = np.asarray(c)
            if not np.issubdtype(x.dtype, np.integer):
                raise spec.InvalidValueError("Grid.index", "coords", "whole numbers", repr(c))
            if wraps:
                x = x % n
            elif x.size and (x.min() < 0 or x.max() >= n):
                must, got = f"from 0 to {n - 1} on axis {axis}", f"from {x.min()} to {x.max()}"
                raise spec.InvalidValueError("Grid.index", "coords", must, got)
            inside.append(x)
        return np.ravel_multi_index(np.broadcast_arrays(*inside), self.shape)

    def check(self, label: str, n: int) -> None:
        """Raises `InvalidValueError` unless n is the size of the lattice."""
        if n != self.size:
            shape = " x ".join(str(x) for x in self.shape)
            raise spec.InvalidValueError(
                label, "positions", f"a layout of {n} neurons", f"a Grid of {shape} = {self.size}"
            )

    def draw(self, key: Any, n: int) -> Float[np.ndarray, "n dims"]:
        return np.asarray(self.origin) + self.coordinates() * np.asarray(self.spacing)


class UniformBox(Layout):
    """Independent positions, uniform in the box `low <= x < high`.

    Index of a draw: the neuron; counter: the axis. 53 random bits make each coordinate. Each of
    the fields is one value for all axes, or one for each; two single numbers make one axis.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    low: tuple[float, ...] = spec.field(_CORNER, static=True, doc="lower corner")
    high: tuple[float, ...] = spec.field(_CORNER, static=True, doc="upper corner")
    periodic: tuple[bool, ...] = spec.field(
        _FlagPerAxis(), default=False, static=True, doc="whether an axis repeats after `high - low`"
    )
    rules = (_BELOW,)

    def __init__(self, low: Any, high: Any, periodic: Any = False):
        self.low, self.high, self.periodic = _spread(
            UniformBox, _axes_of(low, high, periodic), low=low, high=high, periodic=periodic
        )

    @property
    def dims(self) -> int:
        """The number of axes."""
        return len(self.low)

    @property
    def period(self) -> Float[np.ndarray, " dims"] | None:
        """`high - low` of the periodic axes, inf for open ones; None where all are open."""
        return _periods(tuple(b - a for a, b in zip(self.low, self.high)), self.periodic)

    def check(self, label: str, n: int) -> None:
        """Any number of neurons fits."""

    def draw(self, key: Any, n: int) -> Float[np.ndarray, "n dims"]:
        first, second = bits(key, np.arange(n)[:, None], np.arange(self.dims)[None, :])
        u = (first * 2.0**21 + (second >> np.uint32(11))) * 2.0**-53
        low, high = np.asarray(self.low), np.asarray(self.high)
        return np.minimum(low + (high - low) * u, np.nextafter(high, low))


class _Points(spec.Kind):
    """Positions (n, dims), or (n,) for one axis."""

    def convert(self, value: Any) -> Float[np.ndarray, "n dims"]:
        x = np.array(spec.as_numbers(value))
        x = x[:, None] if x.ndim == 1 else x
        if x.ndim != 2 or x.shape[-1] == 0:
            raise spec.Unfit("of shape (n, dims), one row per neuron", f"shape {x.shape}")
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        if bad.size:
            raise spec.Unfit("finite", f"{x[bad[0]]} for neuron {bad[0]}")
        _check_reach(x)
        return x

    def words(self) -> str:
        return "um"


class Free(Layout):
    """Positions given one by one, one for each neuron.

    `extent` is the argument `period`: the length after which each axis repeats, one number or one
    per axis, 0 or inf for an open one.
    """

    points: np.ndarray = spec.field(_Points(), doc="where neurons are, (n, dims) or (n,)")
    extent: tuple[float, ...] | None = spec.field(
        spec.Maybe(PerAxis(unit="um", at_least=0.0, finite=False, reach=_FAR)),
        default=None,
        static=True,
        doc="period of each axis, inf for an open one; None where all are open",
        metadata={"key": "period"},
    )

    def __init__(self, points: Any, period: Any = None):
        self.points = spec.check("Free", "points", _Points(), points)
        self.extent = None
        if period is not None:
            (extent,) = _spread(Free, self.points.shape[1], period=period)
            self.extent = tuple(x or np.inf for x in extent)

    def __repr__(self) -> str:
        return f"Free(points={self.points.shape} array, period={self.extent})"

    @property
    def dims(self) -> int:
        """The number of axes."""
        return self.points.shape[1]

    @property
    def period(self) -> Float[np.ndarray, " dims"] | None:
        """The period of each axis, inf for open ones; None where all are open."""
        if self.extent is None or np.isinf(self.extent).all():
            return None
        return np.asarray(self.extent)

    def check(self, label: str, n: int) -> None:
        """Raises `InvalidValueError` unless there is one point per neuron."""
        if n != len(self.points):
            must = f"one point for each of {n} neurons"
            raise spec.InvalidValueError(label, "positions", must, f"{len(self.points)} points")

    def draw(self, key: Any, n: int) -> Float[np.ndarray, "n dims"]:
        return self.points


class Area(spec.Module):
    """An axis-aligned box of coordinates: `low <= x < high` on every axis.

    Both corners are one number per axis, or one for all.
    """

    low: tuple[float, ...] = spec.field(
        PerAxis(unit="um", finite=False), static=True, doc="lower corner, -inf for an open side"
    )
    high: tuple[float, ...] = spec.field(
        PerAxis(unit="um", finite=False), static=True, doc="upper corner, inf for an open side"
    )
    rules = (_BELOW,)

    def __init__(self, low: Any, high: Any):
        self.low, self.high = _spread(Area, _axes_of(low, high), low=low, high=high)

    def contains(self, points: ArrayLike) -> Bool[np.ndarray, " n"]:
        """Which of the positions (n, dims) are inside, as booleans (n,)."""
        x = np.asarray(points, np.float64)
        if x.ndim != 2 or x.shape[1] != len(self.low):
            must = f"of shape (n, {len(self.low)})"
            raise spec.InvalidValueError("Area.contains", "points", must, f"shape {x.shape}")
        return np.asarray(((x >= self.low) & (x < self.high)).all(axis=1))


@spec.arguments(points=spec.Numbers("um", ndim=(2,)))
def morton_codes(points: ArrayLike) -> UInt64[np.ndarray, " n"]:
    """The place of each point on the Z-order curve through the box of all points: uint64 (n,).

    Each coordinate becomes a whole number of 64 // d bits (at most 21), whose bits are interleaved,
    those of the first coordinate lowest.

    Args:
        points: positions (n, d), d from 1 to 16.

    Reference:
        Morton (1966), A computer oriented geodetic data base, IBM.
    """
    x = np.asarray(points, np.float64)
    n, dimensions = x.shape
    if not 1 <= dimensions <= 16:
        must = "of 1 to 16 dimensions"
        raise spec.InvalidValueError("morton_codes", "points", must, str(dimensions))
    digits = min(64 // dimensions, 21)
    low = x.min(0, initial=np.inf) if n else np.zeros(dimensions)
    width = np.maximum((x.max(0, initial=-np.inf) if n else low) - low, np.finfo(float).tiny)
    cells = np.minimum((x - low) / width * 2**digits, 2**digits - 1).astype(np.uint64)
    code = np.zeros(n, np.uint64)
    for bit in range(digits):
        for axis in range(dimensions):
            one = (cells[:, axis] >> np.uint64(bit)) & np.uint64(1)
            code |= one << np.uint64(bit * dimensions + axis)
    return code
