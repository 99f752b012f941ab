"""The time grid: durations as whole numbers of steps."""

from typing import Any

import numpy as np

from .._checks import as_number
from .._units import hint

# The shortest time step [ms]; one of 0.1 ms is 0.0001 in seconds.
_SHORTEST = 0.001

# A duration below this [ms] is one in seconds.
_IN_SECONDS = 0.1

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
        k, more = np.floor(x[off].flat[0]), _instead_of(name, raw[off].flat[0], x, dt)
        raise ValueError(
            f"{name} must be a whole number of time steps of {dt:.10g} ms; got {_shown(raw[off])} "
            f"ms, between {k * dt:.10g} and {(k + 1) * dt:.10g} ms{more}"
        )
    if (n < at_least).any():
        raise ValueError(
            f"{name} must be at least {at_least} time step(s) of {dt:.10g} ms; got "
            f"{_shown(raw[n < at_least])} ms"
        )
    return n.astype(np.int64)


def _instead_of(name: str, value: Any, steps: np.ndarray, dt: float) -> str:
    """What may be meant where every duration is shorter than a time step."""
    if not (np.abs(steps) < 1.0).all() or "--" in name:  # an option says its own unit
        return ""
    if abs(value) < _IN_SECONDS:
        return f". Times are in ms, not in s: did you mean {1e3 * value:.4g}?"
    return f". The time step is longer than it: did you mean a dt of 0.1 ms, not {dt:.10g}?"


def _shown(values: np.ndarray) -> str:
    """The first value with as many digits as its dtype keeps, at most 10."""
    return f"{values.flat[0]:{'.7g' if values.dtype == np.float32 else '.10g'}}"
