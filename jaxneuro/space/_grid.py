"""A regular lattice of neurons."""

import math
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_count
from ._axes import check_far, flag_per_axis, per_axis, periods
from ._layout import Layout


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
