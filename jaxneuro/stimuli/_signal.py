"""Signals: functions of time in the place of an amplitude or a rate."""

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import as_array
from .._checks import check_bounds, concrete, is_traced
from .._fields import Model, Parameter, _as_leaf, _Named, param, static, table
from .._numerics import cycles
from ._time_grid import as_times, check_shapes, whole_steps


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


class Sinusoid(Signal):
    """Sinusoid: `mean + amplitude sin(2 pi frequency t + phase)`, t the start of the step.

    The phase is computed in whole numbers, so that it is as exact after hours as at the start.

    **Fields** each () or (n,): `mean` and `amplitude` in the unit of the field they are used for;
    `frequency` [Hz] of at least 0; `phase` [rad] at t = 0 (default 0).

    **Step** `at(step, dt)` returns the value, () or (n,).

    **Raises** `ValueError` for a value that is not finite or a negative frequency.

    **Source** as the sinusoidal generators of Gewaltig and Diesmann (2007), NEST,
    doi:10.4249/scholarpedia.1430.
    """

    mean: Parameter = param()
    amplitude: Parameter = param()
    frequency: Parameter = param(unit="Hz", at_least=0.0)
    phase: Parameter = param(0.0, unit="rad")

    def bounds(self) -> tuple[Any, Any] | None:
        """The lowest and the highest value, or None where they are not known."""
        if is_traced(self.mean) or is_traced(self.amplitude):
            return None
        size = np.abs(self.amplitude)
        return np.asarray(self.mean - size), np.asarray(self.mean + size)

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        turned = cycles(self.frequency, step, dt)
        # Rounding must not give less than mean - amplitude: a rate would be negative.
        wave = jnp.clip(jnp.sin(turned * (2 * np.pi) + self.phase), -1, 1)
        return self.mean + self.amplitude * wave


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
        return times_on_grid(label, self, n, dt, ("t_start", "t_stop"))

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        need_grid(self)
        step = jnp.asarray(step).astype(jnp.int32)
        dtype = self.start_value.dtype
        passed = jnp.maximum(step - self.t_start, 0).astype(dtype)
        part = passed / (self.t_stop - self.t_start).astype(dtype)
        between = self.start_value + (self.stop_value - self.start_value) * jnp.minimum(part, 1)
        return jnp.where(step < self.t_stop, between, self.stop_value)


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
        for name in ("width", "period", "t_first"):
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
        return times_on_grid(label, self, n, dt, ("width", "period", "t_first"))

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        need_grid(self)
        since = jnp.asarray(step).astype(jnp.int32) - self.t_first
        on = (since >= 0) & (since % self.period < self.width)
        return jnp.where(on, self.amplitude, self.baseline)


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


def need_grid(model: Any) -> None:
    """Raises `ValueError` for a signal whose times are still in ms."""
    if not model.on_grid:
        raise ValueError(
            f"{type(model).__name__}: its times must be whole time steps before it runs; call "
            "prepare(label, n, dt, key) first, as build does"
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
