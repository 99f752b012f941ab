"""Checks that a model fits the time step: durations on its grid, and a stable step."""

from typing import Any

import numpy as np

from .._checks import known
from .._fields import parameters
from ._grid import steps_on_grid

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
