"""The time grid: durations as whole numbers of steps, rates per step, and steps that a model takes.

Rates are in Hz and times in ms; nowhere else are they converted.
"""

import dataclasses
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Int64, Num

from .. import spec
from .._arrays import ArrayLike
from .._fields import Model, ParameterKind, parameters
from .._text import brief
from .._units import least_of

M = TypeVar("M", bound=Model)

_TOLERANCE = 1e-6  # steps; float32 is this exact for a duration of 8 steps

# The shortest time step is 0.001 ms; one of 0.1 ms is 0.0001 in seconds.
TIME_STEP = spec.Number(unit="ms", above=0.0, least=0.001 * (1.0 - _TOLERANCE))

_LONGEST = 65_535  # steps of a duration on the grid: counters have 16 bits
_MOST = 2**31 - 1  # of an `InSteps`: steps of a run have 32 bits


@dataclasses.dataclass(frozen=True)
class InSteps:
    """A duration as a number of time steps: what `on_grid` makes of ms, and old files have."""

    n_steps: int


@dataclasses.dataclass(frozen=True)
class Duration(spec.Number):
    """A duration of a whole number of time steps [ms], of a field that is part of the program.

    Kept as a `float`, or as `InSteps`.

    Attributes:
        unit, least: as of any number.
        used: a field and the value with which the duration is used; None: always.
    """

    unit: str = "ms"
    least: float | None = least_of("ms", on_grid=True)
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
    x = raw.astype(np.float64) / dt
    if not np.isfinite(x).all():
        got = f"{raw[~np.isfinite(x)].flat[0]} ms"
        raise spec.InvalidValueError(owner, field, "finite", got)
    n = np.rint(x)
    # A float32 leaf holds 0.1 only to a relative error of 6e-8.
    slack = np.maximum(_TOLERANCE, 2e-7 * np.abs(x) if raw.dtype == np.float32 else 0.0)
    off = ~(np.abs(x - n) <= slack)
    if off.any():
        k, one = np.floor(x[off].flat[0]), float(raw[off].flat[0])
        must = f"a whole number of time steps of {dt:.10g} ms"
        got = f"{_shown(raw[off])} ms, between {k * dt:.10g} and {(k + 1) * dt:.10g} ms"
        option = field.startswith("--")  # of the command line, which says its own unit
        seconds = (np.abs(x) < 1.0).all() and abs(one) < 0.1 and not option
        hint = spec.in_other_unit(one, "ms") if seconds else ""
        raise spec.InvalidValueError(owner, field, must, got, hint)
    if (n < at_least).any():
        must = f"at least {at_least} time step(s) of {dt:.10g} ms"
        raise spec.InvalidValueError(owner, field, must, f"{_shown(raw[n < at_least])} ms")
    return n.astype(np.int64)


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
    return f"{values.flat[0]:{'.7g' if values.dtype == np.float32 else '.10g'}}"


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
