"""Fields of a stimulus that hold a number or a signal."""

import dataclasses
from typing import Any, TypeVar

import jax
import numpy as np

from .._fields import Model, ParameterKind, parameters
from .._kernels.poisson import LARGEST_MEAN
from .._numerics.grid import per_step
from ..spec import InvalidValueError, Unfit, field
from ._signal import Signal, TimeFunction
from ._time_grid import all_known, check_shapes

M = TypeVar("M", bound=Model)


@dataclasses.dataclass(frozen=True)
class SignalKind(ParameterKind):
    """A parameter, a function of t [ms], or a `Signal` whose values are in the range."""

    def convert(self, value: Any) -> Any:
        if isinstance(value, type):
            raise Unfit("a number, a function or a signal", hint=" (a class was given: call it)")
        if not isinstance(value, Signal):
            return TimeFunction(value) if callable(value) else super().convert(value)
        numbers = self.known(value)
        if numbers is not None:
            try:
                self.check_range(numbers)
            except Unfit as error:
                span = f"{numbers.min(initial=0.0):g} to {numbers.max(initial=0.0):g}"
                got = f"a {type(value).__name__} of {span}"
                raise Unfit(error.must, got, error.hint) from None
        return value

    def read(self, entry: Any) -> Any:
        return entry.numbers(Signal)

    def known(self, value: Any) -> np.ndarray | None:
        """The number, or the bounds of a signal; None where they are not known."""
        if not isinstance(value, Signal):
            return super().known(value)
        bounds = known_bounds(value)
        return None if bounds is None else np.concatenate([np.ravel(x) for x in bounds])


def signal(
    default: Any = dataclasses.MISSING,
    *,
    unit: str = "1",
    at_least: float | None = None,
    doc: str = "",
) -> Any:
    """A parameter that may change with time: a number, (n,), a function of t [ms], a `Signal`.

    Args:
        default: its value where none is given.
        unit: its unit.
        at_least: the lowest value allowed.
        doc: what it is, a phrase for `help` and the docs.
    """
    return field(SignalKind(unit, at_least=at_least), default=default, doc=doc)


def prepare_signals(label: str, model: M, n: int, dt: float, key: Any) -> M:
    """The model with its signals prepared; checks the shapes of all its parameters."""
    check_shapes(label, model, n)
    values = {f.name: getattr(model, f.name) for f in parameters(type(model))}
    ready = {
        name: value.prepare(f"{label}: {name}", n, dt, key)
        for name, value in values.items()
        if isinstance(value, Signal)
    }
    return dataclasses.replace(model, **ready) if ready else model  # type: ignore[type-var]


def value_at(value: Any, step: Any, dt: float) -> jax.Array:
    """The value of a number or a signal in a time step, () or (n,)."""
    return value.at(step, dt) if isinstance(value, Signal) else value


def known_bounds(value: Any) -> tuple[Any, Any] | None:
    """The lowest and the highest value of a number or a signal; None where they are not known."""
    if not all_known(value):
        return None
    return value.bounds() if isinstance(value, Signal) else (np.asarray(value), np.asarray(value))


def check_rate(owner: str, rate: Any, dt: float, factor: Any = 1.0) -> None:
    """Raises `InvalidValueError` where a rate gives more events than can be drawn in a step.

    Args:
        owner: what the rate belongs to.
        rate: the rate [Hz], or a signal.
        dt: the time step [ms].
        factor: events for each that the rate asks for.
    """
    bounds = known_bounds(rate)
    if bounds is None or not all_known(factor):
        return
    highest = np.max(per_step(bounds[1], dt) * np.asarray(factor), initial=0.0)
    if highest > LARGEST_MEAN:
        must = f"of at most {LARGEST_MEAN:g} events per neuron and time step of {dt} ms"
        raise InvalidValueError(owner, "rate", must, f"{highest:g} events")
