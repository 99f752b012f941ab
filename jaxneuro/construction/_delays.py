"""Delays in whole time steps."""

from typing import Any

import numpy as np

from ..description import ResolvedProjection, is_computed
from ..numerics import Distribution, drawn, steps_on_grid
from ..space import SpatialValue

_LONGEST = 65_535  # steps: a delay has 16 bits


def delay_steps(name: str, delay: Any, dt: float) -> np.ndarray:
    """Delays [ms] that the user gave, in whole steps of at least one."""
    steps = steps_on_grid(f"projection {name!r}: delay", delay, dt, at_least=1)
    _check_longest(name, steps.max(initial=0), dt)
    return steps


def round_delays(name: str, drawn: np.ndarray, dt: float) -> np.ndarray:
    """Drawn or computed delays [ms], rounded to the grid and at least one step."""
    steps = np.maximum(np.rint(drawn / dt), 1)
    _check_longest(name, steps.max(initial=0), dt)
    return steps


def _check_longest(name: str, steps: float, dt: float) -> None:
    if not steps <= _LONGEST:
        raise ValueError(
            f"projection {name!r}: a delay must be at most {_LONGEST} steps, {_LONGEST * dt:g} ms; "
            f"got {steps * dt:g} ms. Bound the distribution (high=...)"
        )


def longest_delay(resolved: ResolvedProjection, dt: float) -> int | None:
    """The longest delay in steps that a projection can have; None if it is not known."""
    p = resolved.projection
    if isinstance(p.delay, SpatialValue):
        pre, post = resolved.places
        p.delay.bind(f"projection {p.name!r}: delay", pre, post)  # raises without positions
        longest = p.delay.longest(pre, post) if pre and post else 0.0
        return int(round_delays(p.name, np.array(longest), dt)) if np.isfinite(longest) else None
    if is_computed(p.delay) and not isinstance(p.delay, Distribution):
        return None
    if not isinstance(p.delay, Distribution):
        return int(delay_steps(p.name, p.delay, dt).max(initial=1))
    extremes = drawn(p.delay, np.array([0, 2**32 - 1], np.uint32))
    if extremes.max() <= 0:
        raise ValueError(
            f"projection {p.name!r}: a delay must be above 0 ms, at least one time step; the "
            f"distribution gives at most {extremes.max():g} ms"
        )
    return int(round_delays(p.name, extremes, dt).max())
