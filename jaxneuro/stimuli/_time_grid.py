"""Times of stimuli, as they are given and as whole time steps; one number or one per neuron."""

import dataclasses
from typing import Any

import jax
import numpy as np

from .._arrays import as_array, is_traced
from .._fields import Model, parameters
from .._numerics.grid import is_short, steps_on_grid
from ..spec import InvalidValueError, Ranged, Unfit

LAST_STEP = 2**31 - 2  # steps are counted in int32


@dataclasses.dataclass(frozen=True)
class Times(Ranged):
    """Times [ms] as they are given, float32 with its tolerance; or whole steps, as they are.

    Attributes:
        unit: ms.
        ndim: 0 for one time, 1 for a list.
    """

    unit: str = "ms"
    ndim: int = 1

    def convert(self, value: Any) -> Any:
        x = as_times(value)
        if x.ndim != self.ndim:
            must = "a list of times, shape (m,)" if self.ndim else "one time"
            raise Unfit(must, f"shape {x.shape}")
        if not is_traced(x):
            self.check_range(np.asarray(x))
        return x


def as_times(value: Any) -> Any:
    """Times in float64, or in a shorter dtype or int32 if they are; else raises `Unfit`."""
    if isinstance(value, jax.Array) and (is_traced(value) or value.dtype == np.int32):
        return value
    try:
        x = np.asarray(value)
        if x.dtype == object and any(t is None for t in x.flat):  # else None becomes nan
            raise TypeError
        return x if is_short(x.dtype) else np.asarray(x, np.float64)
    except (TypeError, ValueError):
        raise Unfit("numbers in ms") from None


def whole_steps(owner: str, field: str, times: Any, dt: float, at_least: int = 0) -> jax.Array:
    """Times [ms] as whole steps, int32; `ValueError` for a time off the grid or too late."""
    steps = steps_on_grid(f"{owner}: {field}", times, dt, at_least)
    if steps.size and steps.max() > LAST_STEP:
        must = f"at most {LAST_STEP} time steps of {dt} ms"
        raise InvalidValueError(owner, field, must, f"{steps.max()} steps")
    return as_array(steps.astype(np.int32))


def check_shapes(owner: str, model: Model, n: int) -> None:
    """Raises `InvalidValueError` for a parameter that is neither one number nor one per neuron."""
    for field in parameters(type(model)):
        value = getattr(model, field.name)
        if not isinstance(value, Model) and np.shape(value) not in ((), (n,)):
            must = f"one number or one per neuron, shape () or ({n},)"
            raise InvalidValueError(owner, field.name, must, f"shape {np.shape(value)}")


def all_known(*values: Any) -> bool:
    """Whether nothing in some values is traced."""
    return not any(map(is_traced, jax.tree.leaves(values)))
