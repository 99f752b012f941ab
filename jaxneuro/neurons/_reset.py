"""The check that a reset takes a neuron below its threshold."""

from typing import Any

import numpy as np

from .._checks import known


def check_reset(
    name: str, v_reset: Any, v_th: Any, fields: tuple[str, str] = ("v_reset", "v_th")
) -> None:
    """Raises `ValueError` unless `v_reset` is below `v_th` [mV], where both are known."""
    low, high = _together(v_reset, v_th)
    if np.all(low < high):
        return
    at = np.argmax(low >= high)
    reset, th = (np.ravel(x)[at] for x in np.broadcast_arrays(low, high))
    where = f" at index {at}" if np.ndim(low) or np.ndim(high) else ""
    raise ValueError(
        f"{name}: {fields[0]} must be below {fields[1]}; got {reset} and {th} mV{where}"
    )


def check_peak(name: str, v_reset: Any, v_th: Any, v_peak: Any) -> None:
    """Raises `ValueError` unless the peak is above the reset and not below `v_th` [mV]."""
    check_reset(name, v_reset, v_peak, ("v_reset", "v_peak"))
    th, peak = _together(v_th, v_peak)
    if np.any(peak < th):
        at = np.argmax(peak < th)
        th, peak = (np.ravel(x)[at] for x in np.broadcast_arrays(th, peak))
        raise ValueError(f"{name}: v_peak must be at least v_th; got {peak} and {th} mV")


def _together(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays; empty ones where one is not known, or they are batches of two kinds."""
    x, y = known(a), known(b)
    if x is None or y is None or (x.ndim and y.ndim and x.shape != y.shape):
        return np.zeros(0), np.zeros(0)
    return x, y
