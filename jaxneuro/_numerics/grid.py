"""The time grid: durations as whole numbers of steps, rates per step, and steps that a model takes.

Rates are in Hz and times in ms; nowhere else are they converted.
"""

from typing import Any

import numpy as np

from .._checks import as_number, known
from .._fields import parameters
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


def per_step(rate_hz: Any, dt: float) -> Any:
    """Expected number of events per time step of `dt` [ms] at a rate in Hz."""
    return rate_hz * (dt * 1e-3)


def to_hz(count: Any, units: Any, duration: float) -> Any:
    """Mean rate in Hz of `count` events of `units` units in `duration` [ms]."""
    return count / (units * duration * 1e-3)


_LONGEST = 65_535  # steps of a duration on the grid: counters have 16 bits


def check_grid(label: str, model: Any, dt: float) -> None:
    """Raises `ValueError` if a duration of the model is off the grid of dt."""
    for field in parameters(type(model)):
        value = known(getattr(model, field.name))
        if not field.metadata["on_grid"] or value is None:
            continue
        steps = steps_on_grid(f"{label}: {field.name}", value, dt)
        if steps.size and steps.max() > _LONGEST:
            raise ValueError(
                f"{label}: {field.name} must be at most {_LONGEST} steps, {_LONGEST * dt:g} ms; "
                f"got {np.max(value):g} ms"
            )


def check_stable(label: str, model: Any, dt: float) -> None:
    """Raises `ValueError` if dt is above the largest step known to be stable for the model."""
    bound = model.largest_step()
    largest = None if bound is None else known(bound)
    if largest is not None and largest.size and not np.all(dt <= largest):
        raise ValueError(
            f"{label}: {type(model).__name__} needs a time step dt of at most "
            f"{float(largest.min()):.4g} ms to be stable (spikes may need a smaller one); got "
            f"{dt:g} ms. Take a smaller dt, or a method that is stable at it "
            "(method=jn.integrators.exponential_euler)"
        )
