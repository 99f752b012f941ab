"""A signal of regular pulses."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_bounds
from .._fields import Parameter, param, static, table
from ._signal import Signal, as_times, between, need_grid, times_on_grid


class Pulses(Signal):
    """Pulse train: from `t_first` on, `amplitude` for `width` in every `period`, else `baseline`.

    **Fields** `amplitude` () or (n,): the value in a pulse; `width`, `period` [ms] (), above 0;
    `t_first` [ms] (): start of the first pulse (default 0); `baseline` () or (n,): the value
    between pulses (default 0); `on_grid` whether times are in steps (set by `prepare`).

    **Step** `at(step, dt)` returns the value, () or (n,).

    **Raises** `ValueError` for a value that is not finite, a width or period that is not above
    0, a width longer than the period, or a negative `t_first`; from `prepare` for a time off
    the grid.
    """

    amplitude: Parameter = param()
    width: Any = table(converter=as_times)
    period: Any = table(converter=as_times)
    t_first: Any = table(0.0, converter=as_times)
    baseline: Parameter = param(0.0)
    on_grid: bool = static(False)

    def __check_init__(self) -> None:
        for name in _TIMES:
            value, first = getattr(self, name), name == "t_first"
            if np.shape(value):
                raise ValueError(f"Pulses: {name} must be one number; got shape {np.shape(value)}")
            bound = {"at_least": 0.0} if first else {"above": 0.0}
            check_bounds(f"Pulses: {name}", value, "ms", **bound)
        if self.width > self.period:
            raise ValueError(
                f"Pulses: width must be at most the period; got {self.width!s} and "
                f"{self.period!s} ms"
            )

    def bounds(self) -> tuple[Any, Any] | None:
        """The lowest and the highest value, or None where they are not known."""
        return between(self.amplitude, self.baseline)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Signal:
        """The signal on the time grid, or `ValueError`."""
        return times_on_grid(label, self, n, dt, _TIMES)

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        need_grid(self)
        since = jnp.asarray(step).astype(jnp.int32) - self.t_first
        on = (since >= 0) & (since % self.period < self.width)
        return jnp.where(on, self.amplitude, self.baseline)


_TIMES = ("width", "period", "t_first")
