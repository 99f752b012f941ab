"""A box in space that selects the neurons inside it."""

from typing import Any

import equinox as eqx
import numpy as np

from .._checks import Named
from .._help import DocumentedModule
from ._axes import axes_of, per_axis


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
