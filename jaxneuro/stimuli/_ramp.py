"""A signal that moves from one value to another."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_bounds
from .._fields import Parameter, param, static, table
from ._signal import Signal, as_times, between, need_grid, times_on_grid


class Ramp(Signal):
    """Ramp: `start_value` until `t_start`, `stop_value` from `t_stop` on, and linear between them.

    **Fields** `start_value`, `stop_value` () or (n,); `t_start`, `t_stop` [ms] (), whole time
    steps; `on_grid` whether they are in steps (set by `prepare`).

    **Step** `at(step, dt)` returns the value at the start of the step, () or (n,).

    **Raises** `ValueError` for a value that is not finite, a negative time, or `t_stop` that is
    not after `t_start`; from `prepare` for a time off the grid.
    """

    start_value: Parameter = param()
    stop_value: Parameter = param()
    t_start: Any = table(converter=as_times)
    t_stop: Any = table(converter=as_times)
    on_grid: bool = static(False)

    def __check_init__(self) -> None:
        for name in ("t_start", "t_stop"):
            value = getattr(self, name)
            if np.shape(value):
                raise ValueError(f"Ramp: {name} must be one number; got shape {np.shape(value)}")
            check_bounds(f"Ramp: {name}", value, "ms", at_least=0.0)
        if self.t_stop <= self.t_start:
            raise ValueError(
                f"Ramp: t_stop must be after t_start; got {self.t_stop!s} and {self.t_start!s} ms"
            )

    def bounds(self) -> tuple[Any, Any] | None:
        """The lowest and the highest value, or None where they are not known."""
        return between(self.start_value, self.stop_value)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Signal:
        """The signal on the time grid, or `ValueError`."""
        return times_on_grid(label, self, n, dt, _TIMES)

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        need_grid(self)
        step = jnp.asarray(step).astype(jnp.int32)
        dtype = self.start_value.dtype
        passed = jnp.maximum(step - self.t_start, 0).astype(dtype)
        part = passed / (self.t_stop - self.t_start).astype(dtype)
        between = self.start_value + (self.stop_value - self.start_value) * jnp.minimum(part, 1)
        return jnp.where(step < self.t_stop, between, self.stop_value)


_TIMES = ("t_start", "t_stop")
