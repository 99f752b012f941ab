"""Times on the time grid, and one number or one per neuron."""

from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from .._checks import is_traced
from .._fields import Model, parameters
from .._numerics import steps_on_grid

LAST_STEP = 2**31 - 2  # steps are counted in int32


def check_shapes(label: str, model: Model, n: int) -> None:
    """Raises `ValueError` for a parameter that is neither one number nor one per neuron."""
    for field in parameters(type(model)):
        value = getattr(model, field.name)
        if not isinstance(value, Model) and np.shape(value) not in ((), (n,)):
            raise ValueError(
                f"{label}: {field.name} must be one number or one per neuron, shape () or ({n},); "
                f"got shape {np.shape(value)}"
            )


def as_times(times: Any) -> Any:
    """Times as an array; a converter of fields. float32 stays float32 and keeps its tolerance."""
    if isinstance(times, jax.Array) and (is_traced(times) or times.dtype == np.int32):
        return times
    try:
        x = np.asarray(times)
        if x.dtype == object and any(t is None for t in x.flat):  # else None becomes nan
            raise TypeError
        return x if x.dtype == np.float32 else np.asarray(x, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"times must be numbers [ms]; got {times!r}") from None


def whole_steps(what: str, times: Any, dt: float, at_least: int = 0) -> jax.Array:
    """Times [ms] as whole steps, int32; `ValueError` for a time off the grid or too late."""
    steps = steps_on_grid(what, times, dt, at_least)
    if steps.size and steps.max() > LAST_STEP:
        raise ValueError(
            f"{what} must be at most {LAST_STEP} time steps of {dt} ms; got {steps.max()} steps"
        )
    return as_array(steps.astype(np.int32))
