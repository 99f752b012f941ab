"""Positions given one by one."""

from typing import Any

import equinox as eqx
import numpy as np

from ._axes import check_far, per_axis
from ._layout import Layout


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
