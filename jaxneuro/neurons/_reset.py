"""The check that a reset takes a neuron below its threshold."""

from typing import Any

import numpy as np

from .._checks import concrete


def check_reset(
    name: str, v_reset: Any, v_th: Any, fields: tuple[str, str] = ("v_reset", "v_th")
) -> None:
    """Raises `ValueError` unless `v_reset` is below `v_th` [mV], where both are known."""
    low, high = concrete(v_reset), concrete(v_th)
    if low is None or high is None or np.all(low < high):
        return
    at = np.argmax(low >= high)
    reset, th = (np.ravel(x)[at] for x in np.broadcast_arrays(low, high))
    where = f" at index {at}" if np.ndim(low) or np.ndim(high) else ""
    raise ValueError(
        f"{name}: {fields[0]} must be below {fields[1]}; got {reset} and {th} mV{where}"
    )
