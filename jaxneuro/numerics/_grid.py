"""The time grid: durations as whole numbers of steps."""

from typing import Any

import numpy as np

from .._checks import as_number
from .._units import hint

# The shortest time step [ms]; one of 0.1 ms is 0.0001 in seconds.
_SHORTEST = 0.001

_TOLERANCE = 1e-6  # steps; float32 is this exact for a duration of 8 steps


def check_dt(dt: Any) -> float:
    """`dt` [ms] as a float above 0, or `ValueError`."""
    value = as_number(dt)
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"dt must be a finite number above 0 ms; got {dt!r}")
    if value < _SHORTEST * (1.0 - _TOLERANCE):
        raise ValueError(
            f"dt must be in ms, and at least {_SHORTEST:g}; got {dt!r}{hint(value, 'ms')}"
        )
    return value


def steps_on_grid(name: str, duration: Any, dt: float, at_least: int = 0) -> np.ndarray:
    """Durations [ms] as whole numbers of steps; a `ValueError` names both neighbours."""
    raw = np.asarray(duration)
    x = raw.astype(np.float64) / dt
    if not np.isfinite(x).all():
        raise ValueError(f"{name} must be finite; got {raw[~np.isfinite(x)].flat[0]} ms")
    n = np.rint(x)
    # A float32 leaf holds 0.1 only to a relative error of 6e-8.
    slack = np.maximum(_TOLERANCE, 2e-7 * np.abs(x) if raw.dtype == np.float32 else 0.0)
    off = ~(np.abs(x - n) <= slack)
    if off.any():
        k = np.floor(x[off].flat[0])
        # No duration is as long as a step.
        meant = f"{1e3 * raw[off].flat[0]:.4g}" if (np.abs(x) < 1.0).all() else ""
        seconds = f". Times are in ms, not in s: did you mean {meant}?" if meant else ""
        raise ValueError(
            f"{name} must be a whole number of time steps of {dt:.10g} ms; got {_shown(raw[off])} "
            f"ms, between {k * dt:.10g} and {(k + 1) * dt:.10g} ms{seconds}"
        )
    if (n < at_least).any():
        raise ValueError(
            f"{name} must be at least {at_least} time step(s) of {dt:.10g} ms; got "
            f"{_shown(raw[n < at_least])} ms"
        )
    return n.astype(np.int64)


def _shown(values: np.ndarray) -> str:
    """The first value with as many digits as its dtype keeps, at most 10."""
    return f"{values.flat[0]:{'.7g' if values.dtype == np.float32 else '.10g'}}"
