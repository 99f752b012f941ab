"""A signal that is a function of time."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import concrete
from .._fields import Parameter, static, table
from ._signal import Signal


def _one_number(value: Any) -> Any:
    x = concrete(value)
    if x is not None and (x.shape != () or not math.isfinite(x)):
        raise ValueError(f"TimeFunction: gain must be one finite number; got {value!r}")
    return jnp.asarray(value, jnp.result_type(float)) if x is not None else value


class TimeFunction(Signal):
    """Any function of time: `gain f(t)`, t [ms] the middle of the time step.

    JAX traces the function: it may use `jax.numpy` and plain arithmetic, but no `if` on t. t has
    the float dtype of the network: in float32, neighbouring steps get the same time from step
    2^23 on (839 s at 0.1 ms). The other signals are exact at any step.

    **Fields** `function` f(t) -> () or (n,), t of shape (); `gain` () multiplies its value.

    **Step** `at(step, dt)` returns the value, () or (n,).

    **Raises** `ValueError` for a value that cannot be called; from `prepare` for a function that
    JAX cannot trace, or whose value is not real or has another shape.
    """

    function: Callable[[jax.Array], Any] = static()
    gain: Parameter = table(1.0, converter=_one_number)

    def __check_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"TimeFunction: function must be callable; got {self.function!r}")

    def bounds(self) -> None:
        """None: they are not known."""
        return None

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Signal:
        """The signal, or `ValueError` for a function that cannot run, or of another shape."""
        shape = self._shape(label)
        if shape not in ((), (n,)):
            raise ValueError(
                f"{label}: the function of time must give one number or one per neuron, shape () "
                f"or ({n},); got shape {shape}"
            )
        return self

    def _shape(self, label: str) -> tuple[int, ...]:
        """The shape of the function's value, from a trial that computes nothing."""
        must = f"{label}: the function of time must take one number t [ms] and give numbers"
        hint = "Use jax.numpy functions, and jax.numpy.where in place of if"
        try:
            out = jax.eval_shape(self._value, jax.ShapeDtypeStruct((), self.gain.dtype))
        except Exception as error:
            got = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
            raise ValueError(f"{must}; got {got}. {hint}") from error
        if jnp.issubdtype(out.dtype, jnp.complexfloating):
            raise ValueError(f"{must} that are real; got {out.dtype}")
        return out.shape

    def _value(self, t: jax.Array) -> jax.Array:
        value = self.function(t)
        if value is None:
            raise ValueError("it returned None")
        return jnp.asarray(value)

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        dtype = self.gain.dtype
        t = (jnp.asarray(step).astype(dtype) + np.asarray(0.5, dtype)) * dt
        return self.gain * self._value(t).astype(dtype)
