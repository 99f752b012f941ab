"""A signal that jumps from one value to the next."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import as_array
from .._checks import check_bounds, concrete
from .._fields import _as_leaf, _Named, static, table
from ._signal import Signal, as_times, need_grid, whole_steps


class Steps(Signal):
    """Piecewise constant: `values[k]` from `times[k]` on, 0 before `times[0]`.

    **Fields** `times` [ms] (m,) ascending, whole time steps; `values` (m,), or (m, n) for one
    value per neuron; `on_grid` whether the times are in steps (set by `prepare`).

    **Step** `at(step, dt)` returns the value, () or (n,); a value holds from the step that starts
    at its time.

    **Raises** `ValueError` for times that are negative, not finite or not ascending, or values
    that are not finite or not as many; from `prepare` for a time off the grid or a wrong n.

    **Source** as step_current_generator of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.
    """

    times: Any = table(converter=as_times)
    values: Any = table(converter=_Named(_as_leaf))
    on_grid: bool = static(False)

    def __check_init__(self) -> None:
        times, m = np.asarray(self.times), np.shape(self.times)
        if len(m) != 1 or not m[0] or np.shape(self.values)[:1] != m or np.ndim(self.values) > 2:
            raise ValueError(
                "Steps: values must have shape (m,) or (m, n) for m times, at least one; got "
                f"times of shape {m}, values of shape {np.shape(self.values)}"
            )
        check_bounds("Steps: times", times, "ms", at_least=0.0)
        check_bounds("Steps: values", self.values)
        late = np.flatnonzero(np.diff(times) <= 0)
        if late.size:
            k = int(late[0])
            raise ValueError(
                f"Steps: times must ascend; got {times[k]!s} ms before {times[k + 1]!s} ms"
            )

    def bounds(self) -> tuple[Any, Any] | None:
        """The lowest and the highest value, or None where they are not known."""
        values = concrete(self.values)
        return None if values is None else (values.min(initial=0), values.max(initial=0))

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Signal:
        """The signal on the time grid, or `ValueError`."""
        if np.shape(self.values)[1:] not in ((), (n,)):
            raise ValueError(
                f"{label}: values must have shape (m,) or (m, {n}); got {np.shape(self.values)}"
            )
        times = self.times if self.on_grid else whole_steps(f"{label}: times", self.times, dt)
        return dataclasses.replace(self, times=as_array(times), on_grid=True)

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        need_grid(self)
        step = jnp.asarray(step).astype(jnp.int32)
        k = jnp.searchsorted(self.times, step, side="right", method="scan_unrolled")
        value = self.values[jnp.maximum(k - 1, 0)]
        return jnp.where(k > 0, value, jnp.zeros_like(value))
