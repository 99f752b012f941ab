"""Signals: functions of time in the place of an amplitude or a rate."""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import as_array, is_traced
from .._fields import Model, Parameter, ParameterKind, param, table
from .._frozen import trace
from .._numerics.phase import cycles
from ..spec import (
    AtMost,
    Flag,
    Function,
    InvalidValueError,
    Less,
    Ranged,
    Rule,
    Unfit,
    as_numbers,
    field,
)
from ._time_grid import Times, check_shapes, whole_steps

ON_GRID = "whether times are in steps (set by `prepare`)"


@dataclasses.dataclass(frozen=True)
class StepValues(Ranged):
    """One number per step, or one per step and neuron; kept as a leaf."""

    def convert(self, value: Any) -> jax.Array:
        x = value if is_traced(value) else as_numbers(value)
        if x.ndim not in (1, 2):
            raise Unfit("of shape (m,) or (m, n)", f"shape {x.shape}")
        if is_traced(value):
            return value
        self.check_range(x)
        is_leaf = isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating)
        return value if is_leaf else as_array(x)


class Signal(Model):
    """The role of a signal: a function of time in place of a number.

    `at(step, dt)` returns the value in the time step with the integer number `step`. `bounds()`
    returns the lowest and the highest possible value, or None if the signal does not know them; it
    is called where the numbers of the signal are known, not while one is traced.
    `prepare(label, n, dt, key)` is called once by `build`, on the host: it checks what needs dt and
    n, and returns the signal that runs.
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

    Reference:
        As the sinusoidal generators of Gewaltig and Diesmann (2007), NEST,
        doi:10.4249/scholarpedia.1430.
    """

    mean: Parameter = param(doc="value around which it swings")
    amplitude: Parameter = param(doc="largest distance from the mean")
    frequency: Parameter = param(unit="Hz", at_least=0.0, doc="swings per second")
    phase: Parameter = param(0.0, unit="rad", doc="phase at t = 0")

    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        mean, size = np.asarray(self.mean), np.abs(self.amplitude)
        return mean - size, mean + size

    def at(self, step: Any, dt: float) -> jax.Array:
        """The value in a time step, () or (n,)."""
        turned = cycles(self.frequency, step, dt)
        # Rounding must not give less than mean - amplitude: a rate would be negative.
        wave = jnp.clip(jnp.sin(turned * (2 * np.pi) + self.phase), -1, 1)
        return self.mean + self.amplitude * wave


class Steps(Signal):
    """Piecewise constant: `values[k]` from `times[k]` on, 0 before `times[0]`.

    A value holds from the step that starts at its time.

    Reference:
        As step_current_generator of Gewaltig and Diesmann (2007), NEST,
        doi:10.4249/scholarpedia.1430.
    """

    times: Any = table(converter=Times(at_least=0.0), doc="times (m,) of the jumps, whole steps")
    values: Any = table(converter=StepValues(), doc="values (m,), or (m, n) for each neuron")
    on_grid: bool = field(Flag(), default=False, static=True, doc=ON_GRID)
    rules = (
        Rule("times", "at least one", lambda times: len(times) > 0),
        Rule("times", "ascending", lambda times: np.diff(times) > 0),
        Rule("values", "one for each time", lambda times, values: len(times) == len(values)),
    )

    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        values = np.asarray(self.values)
        return values.min(initial=0), values.max(initial=0)

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Signal:
        """The signal on the time grid, or `ValueError`."""
        if np.shape(self.values)[1:] not in ((), (n,)):
            got = f"shape {np.shape(self.values)}"
            raise InvalidValueError(label, "values", f"of shape (m,) or (m, {n})", got)
        times = self.times if self.on_grid else whole_steps(label, "times", self.times, dt)
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

    The value of a step is that at its start.
    """

    start_value: Parameter = param(doc="value before")
    stop_value: Parameter = param(doc="value after")
    t_start: Any = table(converter=Times(at_least=0.0, ndim=0), doc="start, whole steps")
    t_stop: Any = table(converter=Times(at_least=0.0, ndim=0), doc="end, whole steps")
    on_grid: bool = field(Flag(), default=False, static=True, doc=ON_GRID)
    rules = (Less("t_start", "t_stop"),)

    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
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
    """Pulses: from `t_first` on, `amplitude` for `width` in every `period`, else `baseline`."""

    amplitude: Parameter = param(doc="value in a pulse")
    width: Any = table(converter=Times(above=0.0, ndim=0), doc="length of a pulse, whole steps")
    period: Any = table(
        converter=Times(above=0.0, ndim=0), doc="time from pulse to pulse, whole steps"
    )
    t_first: Any = table(
        0.0, converter=Times(at_least=0.0, ndim=0), doc="start of the first pulse, whole steps"
    )
    baseline: Parameter = param(0.0, doc="value between pulses")
    on_grid: bool = field(Flag(), default=False, static=True, doc=ON_GRID)
    rules = (AtMost("width", "period"),)

    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
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


def _as_gain(value: Any) -> jax.Array:
    x = ParameterKind().convert(value)
    if np.ndim(x):
        raise Unfit("one number", f"shape {np.shape(x)}")
    return x


_NOISE = "; WhiteNoise, OrnsteinUhlenbeck and Poisson of jn.stimuli draw anew"


class TimeFunction(Signal):
    """Any function of time: `gain f(t)`, t [ms] the middle of the time step.

    JAX traces the function: it may use `jax.numpy` and plain arithmetic, but no `if` on t. t has
    the float dtype of the network: in float32, neighbouring steps get the same time from step
    2^23 on (839 s at 0.1 ms). The other signals are exact at any step.
    """

    function: Callable[[jax.Array], Any] = field(
        Function(), static=True, doc="f(t) -> () or (n,), t of shape ()"
    )
    gain: Parameter = table(1.0, converter=_as_gain, doc="factor of its value")

    def bounds(self) -> None:
        """None: they are not known."""
        return None

    def prepare(self, label: str, n: int, dt: float, key: Any) -> Signal:
        """The signal; `InvalidValueError` for a function that cannot run, or of another shape."""
        must = "a function of one number t [ms] that gives numbers by jax.numpy, without `if` on t"
        t = jax.ShapeDtypeStruct((), self.gain.dtype)
        try:
            _, out = trace(label, "function", self._value, t, hint=_NOISE)
        except InvalidValueError:
            raise
        except Exception as error:
            got = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
            raise InvalidValueError(label, "function", must, got) from error
        if jnp.issubdtype(out.dtype, jnp.complexfloating):
            raise InvalidValueError(label, "function", "one of real values", str(out.dtype))
        if out.shape not in ((), (n,)):
            must = f"a function of time that gives one number or one per neuron, () or ({n},)"
            raise InvalidValueError(label, "function", must, f"shape {out.shape}")
        return self

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


def need_grid(signal: Any) -> None:
    """Raises `InvalidValueError` for a signal whose times are still in ms."""
    if not signal.on_grid:
        must = "whole time steps before it runs: call prepare(label, n, dt, key), as build does"
        raise InvalidValueError(type(signal).__name__, "its times", must, "times in ms")


def times_on_grid(label: str, signal: Any, n: int, dt: float, names: Sequence[str]) -> Any:
    """The signal with its times [ms] as whole steps, or `ValueError`; no change if they are."""
    check_shapes(label, signal, n)
    if signal.on_grid:
        return signal
    times = {k: whole_steps(label, k, getattr(signal, k), dt) for k in names}
    return dataclasses.replace(signal, **times, on_grid=True)


def between(a: Any, b: Any) -> tuple[Any, Any]:
    """The lower and the higher of two values."""
    return np.minimum(a, b), np.maximum(a, b)
