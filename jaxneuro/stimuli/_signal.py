"""Signals: functions of time that can be used as an amplitude or a rate."""

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from .._checks import is_traced
from .._fields import Model, parameters
from .._numerics import steps_on_grid

LAST_STEP = 2**31 - 2  # steps are counted in int32


class Signal(Model):
    """The role of a signal: a function of time in place of a number.

    **Step** `at(step, dt)` returns the value in the time step with the integer number `step`,
    () or (n,). `bounds()` returns the lowest and the highest possible value, or None if they are
    not known. `prepare(label, n, dt, key)` is called once by `build`, on the
    host: it checks what needs dt and n, and returns the signal that runs.
    """

    @abstractmethod
    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""

    @abstractmethod
    def bounds(self) -> tuple[Any, Any] | None:
        """The lowest and the highest value, or None where they are not known."""

    def prepare(self, label: str, n: int, dt: float, key: Any) -> "Signal":
        """The signal as it runs at the time step `dt` [ms]; `label` names it in errors."""
        check_shapes(label, self, n)
        return self


def check_shapes(label: str, model: Model, n: int) -> None:
    """Raises `ValueError` for a parameter that is neither one number nor one per neuron."""
    for field in parameters(type(model)):
        value = getattr(model, field.name)
        if not isinstance(value, Model) and np.shape(value) not in ((), (n,)):
            raise ValueError(
                f"{label}: {field.name} must be one number or one per neuron, shape () or ({n},); "
                f"got shape {np.shape(value)}"
            )


def whole_steps(what: str, times: Any, dt: float, at_least: int = 0) -> jax.Array:
    """Times [ms] as whole steps, int32; `ValueError` for a time off the grid or too late."""
    steps = steps_on_grid(what, times, dt, at_least)
    if steps.size and steps.max() > LAST_STEP:
        raise ValueError(
            f"{what} must be at most {LAST_STEP} time steps of {dt} ms; got {steps.max()} steps"
        )
    return as_array(steps.astype(np.int32))


def need_grid(model: Any) -> None:
    """Raises `ValueError` for a signal whose times are still in ms."""
    if not model.on_grid:
        raise ValueError(
            f"{type(model).__name__}: its times must be whole time steps before it runs; call "
            "prepare(label, n, dt, key) first, as build does"
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


def refuse_events(times: Any) -> None:
    """Raises `ValueError` for what `Result.events` returns: an array of times, one of neurons."""
    pair = isinstance(times, tuple) and len(times) == 2
    if not pair or not all(isinstance(x, np.ndarray) for x in times):
        return
    if times[0].shape == times[1].shape and times[1].dtype.kind in "iu":
        raise ValueError(
            "SpikeTimes: got a pair of times and neurons; unpack what result.events(name) "
            "returns: SpikeTimes(*result.events(name))"
        )


def times_on_grid(label: str, signal: Any, n: int, dt: float, names: Sequence[str]) -> Any:
    """The signal with its times [ms] as whole steps, or `ValueError`; no change if they are."""
    check_shapes(label, signal, n)
    if signal.on_grid:
        return signal
    times = {k: whole_steps(f"{label}: {k}", getattr(signal, k), dt) for k in names}
    return dataclasses.replace(signal, **times, on_grid=True)


def between(a: Any, b: Any) -> tuple[Any, Any] | None:
    """The lower and the higher of two values, or None where they are not known."""
    if is_traced(a) or is_traced(b):
        return None
    return np.minimum(a, b), np.maximum(a, b)
