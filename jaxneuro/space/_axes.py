"""Numbers given once for all axes or once per axis."""

from typing import Any

import numpy as np

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
