"""Delays in whole time steps."""

from typing import Any

import numpy as np

from .._describe import Projection, ResolvedProjection, is_computed
from .._numerics import Distribution, drawn, steps_on_grid
from ..space import ConductionDelay, SpatialValue

_LONGEST = 65_535  # steps: a delay has 16 bits
_BOUND = "Bound the distribution (high=...)"
_SPEED = "The speed of a ConductionDelay is in um/ms: 0.3 m/s is 300 um/ms"


def delay_steps(name: str, delay: Any, dt: float) -> np.ndarray:
    """Delays [ms] that the user gave, in whole steps of at least one."""
    steps = steps_on_grid(f"projection {name!r}: delay", delay, dt, at_least=1)
    _check_longest(name, steps.max(initial=0), dt, "Delays are in ms")
    return steps


def round_delays(name: str, drawn: np.ndarray, dt: float, hint: str = _BOUND) -> np.ndarray:
    """Drawn or computed delays [ms], rounded to the grid and at least one step.

    `hint` says what to do about delays that are too long.
    """
    steps = np.maximum(np.rint(drawn / dt), 1)
    _check_longest(name, steps.max(initial=0), dt, hint)
    return steps


def axonal_steps(p: Projection, dt: float) -> int:
    """The axonal delay of a projection in steps; 0 where no rule of plasticity sees it."""
    steps = int(steps_on_grid(f"projection {p.name!r}: axonal", p.axonal, dt))
    return 0 if p.plasticity is None else steps


def behind_synapse(p: Projection, steps: Any, dt: float) -> Any:
    """What is left of delays, in steps, after the axonal part.

    **Raises** `ValueError` where that is less than one step.
    """
    rest = steps - axonal_steps(p, dt)
    if np.size(rest) and np.min(rest) < 1:
        raise ValueError(
            f"projection {p.name!r}: axonal must leave at least one time step ({dt:g} ms) of every "
            f"delay for the way from the synapse to the neuron; got axonal = {p.axonal:g} ms and a "
            f"delay of {np.min(steps) * dt:g} ms"
        )
    return rest


def check_axonal(p: Projection, dt: float) -> None:
    """Raises `ValueError` for an axonal delay off the grid, or as long as a delay that is known."""
    if isinstance(p.delay, Distribution):
        least = drawn(p.delay, np.array([0], np.uint32))
        behind_synapse(p, round_delays(p.name, least, dt), dt)
    elif isinstance(p.delay, float | np.ndarray):
        behind_synapse(p, delay_steps(p.name, p.delay, dt), dt)


def _check_longest(name: str, steps: float, dt: float, hint: str = _BOUND) -> None:
    if not steps <= _LONGEST:
        raise ValueError(
            f"projection {name!r}: a delay must be at most {_LONGEST} steps, {_LONGEST * dt:g} ms; "
            f"got {steps * dt:g} ms. {hint}"
        )


def longest_delay(resolved: ResolvedProjection, dt: float) -> int | None:
    """The longest delay in steps that a projection can have; None if it is not known."""
    p = resolved.projection
    if isinstance(p.delay, SpatialValue):
        pre, post = resolved.places
        p.delay.bind(f"projection {p.name!r}: delay", pre, post)  # raises without positions
        longest = p.delay.longest(pre, post) if pre and post else 0.0
        if not np.isfinite(longest):
            return None
        hint = _SPEED if isinstance(p.delay, ConductionDelay) else "Delays are in ms"
        return int(round_delays(p.name, np.array(longest), dt, hint))
    if is_computed(p.delay) and not isinstance(p.delay, Distribution):
        return None
    if not isinstance(p.delay, Distribution):
        return int(delay_steps(p.name, p.delay, dt).max(initial=1))
    extremes = drawn(p.delay, np.array([0, 2**32 - 1], np.uint32))
    _check_drawn(p, extremes, dt)
    return int(round_delays(p.name, extremes, dt).max())


def _check_drawn(p: Projection, extremes: np.ndarray, dt: float) -> None:
    """Raises `ValueError` for a distribution with delays that would be rounded to no step."""
    low, high = extremes.min(), extremes.max()
    if high < 0.5 * dt:
        raise ValueError(
            f"projection {p.name!r}: a delay must be above 0 ms, at least one time step ({dt:g} "
            f"ms); the distribution gives {low:g} to {high:g} ms. Delays are in ms, not in s"
        )
    if low < 0.5 * dt * (1 - 1e-6):
        raise ValueError(
            f"projection {p.name!r}: a delay must be at least one time step ({dt:g} ms); the "
            f"distribution reaches down to {low:g} ms. Bound it: low={dt:g} (or "
            f"low={0.5 * dt:g}, which is rounded to one step)"
        )


class ComputedDelays:
    """Looks at the delays of a projection that a function computes, some at a time."""

    def __init__(self, name: str, dt: float, size: int):
        self._name, self._dt, self._left, self._longest = name, dt, size, 0.0

    def see(self, delays: np.ndarray) -> None:
        """Raises `ValueError` after the last ones if all of them are below half a time step."""
        self._left -= delays.size
        self._longest = max(self._longest, float(delays.max(initial=0.0)))
        if self._left <= 0 and self._longest < 0.5 * self._dt:
            raise ValueError(
                f"projection {self._name!r}: delays must be above 0 ms, at least one time step "
                f"({self._dt:g} ms); the function gives at most {self._longest:g} ms. Delays are "
                "in ms, not in s"
            )
