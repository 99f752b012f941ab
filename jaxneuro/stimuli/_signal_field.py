"""Fields of a stimulus that hold a number or a signal."""

import dataclasses
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from .._checks import check_bounds, concrete, is_traced
from .._fields import Model, _as_leaf, _Named, parameters
from .._kernels import LARGEST_MEAN
from .._numerics import per_step
from .._units import check_unit, least_of
from ._sampled import check_sampled
from ._signal import Signal, check_shapes
from ._time_function import TimeFunction

M = TypeVar("M", bound=Model)


def _as_signal(value: Any) -> Any:
    if isinstance(value, Signal):
        return value
    return TimeFunction(value) if callable(value) else _as_leaf(value)


def signal(
    default: Any = dataclasses.MISSING, *, unit: str = "1", at_least: float | None = None
) -> Any:
    """A parameter that may change with time: a number, (n,), a function of t [ms], a `Signal`.

    **Fields** `default` value; `unit` its unit; `at_least` the lowest value allowed, checked when
    the model is made, if the value is known then.
    """
    checks = {"unit": unit, "above": None, "at_least": at_least, "at_most": None}
    metadata = {"checks": checks, "on_grid": False, "least": least_of(unit)}
    if default is dataclasses.MISSING:
        return eqx.field(converter=_Named(_as_signal), metadata=metadata)
    return eqx.field(converter=_Named(_as_signal), default=default, metadata=metadata)


def check_signals(model: Model) -> None:
    """Raises `ValueError` for a signal that leaves the bounds of its field."""
    for field in parameters(type(model)):
        value = getattr(model, field.name)
        bounds = value.bounds() if isinstance(value, Signal) else None
        if bounds is not None:
            name = f"{type(model).__name__}: {field.name}: the {type(value).__name__}"
            for bound in bounds:
                check_bounds(name, bound, **field.metadata["checks"])
            sizes = [np.max(np.abs(bound), initial=0.0) for bound in bounds]
            check_unit(name, max(sizes), field.metadata["checks"]["unit"], field.metadata["least"])


def prepare_signals(label: str, model: M, n: int, dt: float, key: Any) -> M:
    """The model with its signals prepared; checks the shapes of all its parameters."""
    check_shapes(label, model, n)
    names = [f.name for f in parameters(type(model))]
    signals = {k: v for k in names if isinstance(v := getattr(model, k), Signal)}
    ready = {k: s.prepare(f"{label}: {k}", n, dt, key) for k, s in signals.items()}
    for name, s in ready.items():
        metadata = next(f.metadata for f in parameters(type(model)) if f.name == name)
        if s.bounds() is None and metadata["least"]:
            check_sampled(f"{label}: {name}", s, metadata, dt)
    return dataclasses.replace(model, **ready) if ready else model  # type: ignore[type-var]


def value_at(value: Any, step: Any, dt: float) -> jax.Array:
    """The value of a number or a signal in a time step, () or (n,)."""
    return value.at(step, dt) if isinstance(value, Signal) else value


def check_rate(label: str, rate: Any, dt: float, factor: Any = 1.0) -> None:
    """Raises `ValueError` where `factor` times a rate [Hz] is more than can be drawn per step."""
    bounds = rate.bounds() if isinstance(rate, Signal) else (rate, rate)
    if bounds is None or is_traced(bounds[1]) or is_traced(factor):
        return
    highest = np.max(per_step(concrete(bounds[1]), dt) * concrete(factor), initial=0.0)
    if highest > LARGEST_MEAN:
        raise ValueError(
            f"{label}: rate must give at most {LARGEST_MEAN:g} events per neuron and time step of "
            f"{dt} ms; it gives {highest:g}. Lower the rate or the time step"
        )
