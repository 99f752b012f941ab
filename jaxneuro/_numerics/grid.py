"""The time grid: durations as whole numbers of steps, rates per step, and steps that a model takes.

Rates are in Hz and times in ms; nowhere else are they converted.
"""

import dataclasses
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float64, Int64, Num

from .. import spec
from .._arrays import ArrayLike
from .._fields import Model, ParameterKind, parameters
from .._text import brief, plainly
from .windows import NEAR_MS

M = TypeVar("M", bound=Model)

_TOLERANCE = 1e-6  # steps

_SHORTEST = 0.001  # ms; a time step of 0.1 ms is 0.0001 in seconds

_LONGEST = 65_535  # steps of a duration on the grid: counters have 16 bits
_MOST = 2**31 - 1  # of an `InSteps`: steps of a run have 32 bits


@dataclasses.dataclass(frozen=True)
class InSteps:
    """A duration as a number of time steps: `on_grid` makes it of ms."""

    n_steps: int


@dataclasses.dataclass(frozen=True)
class TimeStep(spec.Number):
    """A time step [ms]."""

    unit: str = "ms"
    above: float | None = 0.0

    def convert(self, value: Any) -> float:
        dt = super().convert(value)
        if dt < _SHORTEST * (1.0 - _TOLERANCE):
            hint = spec.in_other_unit(dt, "ms")
            raise spec.Unfit(f"at least {_SHORTEST:g} ms", plainly(dt), hint)
        return dt

    def words(self) -> str:
        return f"ms, at least {_SHORTEST:g}"


TIME_STEP = TimeStep()


@dataclasses.dataclass(frozen=True)
class Duration(spec.Number):
    """A duration of a whole number of time steps [ms], of a field that is part of the program.

    Kept as a `float`, or as `InSteps`.

    Attributes:
        unit: as of any number.
        used: a field and the value with which the duration is used; None: always.
    """

    unit: str = "ms"
    used: tuple[str, Any] | None = None

    @property
    def fewest(self) -> int:
        """The fewest steps."""
        return 1 if self.above == 0.0 else 0

    def convert(self, value: Any) -> Any:
        if isinstance(value, InSteps):
            return InSteps(spec.Whole(self.fewest, _MOST).convert(value.n_steps))
        return super().convert(value)

    def words(self) -> str:
        return f"{super().words()}, whole steps"


def check_dt(dt: Any) -> float:
    """`dt` [ms] as a float above 0, or `InvalidValueError`."""
    return spec.check("", "dt", TIME_STEP, dt)


def steps_on_grid(
    name: str, duration: ArrayLike, dt: float, at_least: int = 0
) -> Int64[Any, "..."]:
    """Durations as whole numbers of steps.

    Args:
        name: what they are of, and which they are: `population 'E': t_ref`.
        duration: one or more [ms].
        dt: time step [ms].
        at_least: the fewest steps.

    Raises:
        InvalidValueError: for what is not finite, too short, or between two steps, which it names.
    """
    owner, _, field = name.rpartition(": ")
    raw = np.asarray(duration)
    times = raw.astype(np.float64)
    x = times / dt
    if not np.isfinite(x).all():
        got = f"{raw[~np.isfinite(x)].flat[0]} ms"
        raise spec.InvalidValueError(owner, field, "finite", got)
    n, slack = np.rint(x), _TOLERANCE
    if is_short(raw.dtype):
        tolerance = time_tolerance(times, raw.dtype)
        check_resolved(owner, field, tolerance, dt)
        slack = np.maximum(_TOLERANCE, tolerance / dt)
    off = ~(np.abs(x - n) <= slack)
    if off.any():
        k, one = np.floor(x[off].flat[0]), float(raw[off].flat[0])
        must = f"a whole number of time steps of {dt:.10g} ms"
        got = f"{_shown(raw[off])} ms, between {k * dt:.10g} and {(k + 1) * dt:.10g} ms"
        option = field.startswith("--")  # of the command line, which says its own unit
        seconds = abs(one) < min(dt, 0.1) and not option
        hint = spec.in_other_unit(one, "ms") if seconds else ""
        raise spec.InvalidValueError(owner, field, must, got, hint)
    if (n < at_least).any():
        must = f"at least {at_least} time step(s) of {dt:.10g} ms"
        raise spec.InvalidValueError(owner, field, must, f"{_shown(raw[n < at_least])} ms")
    return n.astype(np.int64)


def is_short(dtype: np.dtype) -> bool:
    """Whether numbers of a dtype have fewer digits than float64, as those of float32."""
    return dtype.kind == "f" and dtype.itemsize < 8


def time_tolerance(
    times: Float64[np.ndarray, "*shape"], dtype: np.dtype
) -> float | Float64[np.ndarray, "*shape"]:
    """How far [ms] each time may be from a point of the time grid that it stands for.

    Times that came in a short dtype may be off by two spacings of its numbers: one rounding of
    `np.float32(0.1)` and one of its product with a step number make up to 1.5.

    Args:
        times: times [ms].
        dtype: the dtype in which they came.
    """
    if not is_short(dtype):
        return NEAR_MS
    return np.maximum(NEAR_MS, 2.0 * np.spacing(np.abs(times).astype(dtype)).astype(np.float64))


def check_resolved(
    owner: str, field: str, tolerance: float | Float64[np.ndarray, "..."], dt: float
) -> None:
    """Raises `InvalidValueError` for times whose numbers are more than dt / 2 apart.

    Args:
        owner: what the times belong to.
        field: their name.
        tolerance: that of `time_tolerance` [ms].
        dt: time step [ms].
    """
    if gap := spacing_above_half(tolerance, dt):
        must = f"in float64, or at most half a time step apart ({0.5 * dt:.4g} ms)"
        got = f"numbers of a shorter dtype, such as float32, that are {gap:.4g} ms apart"
        raise spec.InvalidValueError(owner, field, must, got)


def largest_of(tolerance: float | Float64[np.ndarray, "..."]) -> float:
    """The largest tolerance [ms] of some times."""
    return float(np.max(tolerance, initial=NEAR_MS))


def spacing_above_half(tolerance: float | Float64[np.ndarray, "..."], width: float) -> float:
    """The spacing [ms] of short numbers where it is above half a step or bin; else 0."""
    largest = largest_of(tolerance)
    return 0.5 * largest if largest > max(width, NEAR_MS) else 0.0


def step_counts(
    elapsed: Float64[np.ndarray, " times"],
    dt: float,
    tolerance: float | Float64[np.ndarray, " times"] = NEAR_MS,
) -> Int64[np.ndarray, " times"]:
    """How many steps have begun before each time: k at the end of step k, and just before it.

    A time within its tolerance of the grid is on the grid. It is the one rule for times of spikes.

    Args:
        elapsed: times [ms] since the begin of the first step.
        dt: the time step, or the width of bins [ms].
        tolerance: that of `time_tolerance` [ms].
    """
    x = elapsed / dt
    nearest = np.rint(x)
    is_near = np.abs(x - nearest) <= np.minimum(np.asarray(tolerance) / dt, 0.5)
    return np.where(is_near, nearest, np.ceil(x)).astype(np.int64)


def in_steps(name: str, duration: float | InSteps, dt: float, at_least: int = 0) -> InSteps:
    """A duration [ms] as a number of steps, or `InvalidValueError`; see `steps_on_grid`."""
    if isinstance(duration, InSteps):
        return duration
    n_steps = int(steps_on_grid(name, duration, dt, at_least))
    if n_steps > _MOST:
        owner, _, field = name.rpartition(": ")
        must = f"at most {_MOST:,} steps, {_MOST * dt:g} ms"
        raise spec.InvalidValueError(owner, field, must, f"{duration:g} ms")
    return InSteps(n_steps)


def on_grid(owner: str, model: M, dt: float) -> M:
    """The model with each `Duration` that it uses, also of a model inside it, as `InSteps`.

    Raises:
        InvalidValueError: for one off the grid of dt.
    """
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(model):
        kind, value = field.metadata.get("kind"), getattr(model, field.name)
        if isinstance(kind, Duration):
            if kind.used is not None and getattr(model, kind.used[0]) != kind.used[1]:
                continue
            changed[field.name] = in_steps(f"{owner}: {field.name}", value, dt, kind.fewest)
        elif isinstance(value, Model):
            inside = on_grid(owner, value, dt)
            changed |= {field.name: inside} if inside is not value else {}
    return dataclasses.replace(model, **changed) if changed else model


def _shown(values: Num[np.ndarray, " _"]) -> str:
    """The first value with as many digits as its dtype keeps, at most 10."""
    return f"{values.flat[0]:{'.7g' if is_short(values.dtype) else '.10g'}}"


def per_step(rate_hz: Any, dt: float) -> Any:
    """Expected number of events per time step of `dt` [ms] at a rate in Hz."""
    return rate_hz * (dt * 1e-3)


def to_hz(count: Any, units: Any, duration: float) -> Any:
    """Mean rate in Hz of `count` events of `units` units in `duration` [ms]."""
    return count / (units * duration * 1e-3)


def check_grid(label: str, model: Any, dt: float) -> None:
    """Raises `InvalidValueError` if a known duration of the model is off the grid of dt."""
    for field in parameters(type(model)):
        kind, value = field.metadata.get("kind"), getattr(model, field.name)
        if not (isinstance(kind, ParameterKind) and kind.on_grid) or spec.is_traced(value):
            continue
        steps = steps_on_grid(f"{label}: {field.name}", value, dt)
        if steps.size and steps.max() > _LONGEST:
            must = f"at most {_LONGEST} steps, {_LONGEST * dt:g} ms"
            raise spec.InvalidValueError(label, field.name, must, f"{np.max(value):g} ms")


def check_stable(label: str, model: Any, dt: float) -> None:
    """Raises `InvalidValueError` if dt is above the largest step that is known for the model."""
    largest = model.largest_step()
    if largest is None or spec.is_traced(largest):
        return
    if np.asarray(largest).dtype.kind not in "iuf" or not np.all(np.asarray(largest) > 0.0):
        must = "one that returns a number above 0 ms, or None"
        raise spec.InvalidValueError(label, "largest_step", must, brief(largest))
    if np.all(dt <= np.asarray(largest)):
        return
    must = (
        f"at most {float(np.min(largest)):.4g} ms, the largest step of this {type(model).__name__}"
    )
    raise spec.InvalidValueError(label, "dt", must, f"{dt:g} ms")
