"""Conversion between Hz and ms; nowhere else are they converted."""

from typing import Any


def per_step(rate_hz: Any, dt: float) -> Any:
    """Expected number of events per time step of `dt` [ms] at a rate in Hz."""
    return rate_hz * (dt * 1e-3)


def to_hz(count: Any, units: Any, duration: float) -> Any:
    """Mean rate in Hz of `count` events of `units` units in `duration` [ms]."""
    return count / (units * duration * 1e-3)
