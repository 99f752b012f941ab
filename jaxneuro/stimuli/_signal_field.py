"""Fields of a stimulus that hold a number or a signal."""

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_bounds, concrete, is_traced
from .._fields import Model, _as_leaf, _Named, parameters
from .._kernels import LARGEST_MEAN
from .._numerics import per_step
from .._units import check_unit, largest, least_of
from ._signal import Signal, TimeFunction
from ._time_grid import LAST_STEP, check_shapes

M = TypeVar("M", bound=Model)
_SAMPLED = 13_500  # steps at which a function of time is looked at
_MOST_VALUES = 20_000_000
_SMALL = 1e-6
_FEW = 3  # values that are no tail
_TAIL = 1e-6  # of the least size of a unit


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


def check_sampled(label: str, s: Signal, metadata: Any, dt: float) -> None:
    """Raises `ValueError` for a function whose values, at many times, are all in SI units.

    One that is larger at very few of the times, or smaller still, is the tail of a bump that lies
    between two of them.
    """
    x, least = _sampled(s, dt), metadata["least"]
    most = float(np.max(x, initial=0.0))
    if np.isfinite(most) and _TAIL * least <= most and np.sum(x >= 0.01 * most) >= _FEW:
        check_unit(label, most, metadata["checks"]["unit"], least)


def _sampled(s: Signal, dt: float) -> np.ndarray:
    """The largest sizes of a signal at many times, fewer of one that computes many numbers.

    None of a function without a number in it that makes others small: it is not run.
    """

    def size(k: Any) -> Any:
        return jnp.max(jnp.abs(s.at(k, dt)), initial=0.0)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = jax.make_jaxpr(size)(np.int32(0))
            if not any(map(_makes_small, _written(found))):
                return np.zeros(0)
            each = sum(v.aval.size for e in found.eqns for v in (*e.invars, *e.outvars))
            steps = _sampled_steps(dt)[:: 1 + each * _SAMPLED // _MOST_VALUES]
            return np.asarray(jax.jit(lambda ks: jax.lax.map(size, ks))(steps))
    except Exception:  # a function that cannot be called in a loop is not looked at
        return np.zeros(0)


def _written(traced: Any) -> Iterator[Any]:
    """The numbers that are written into a traced function, and those inside it."""
    yield from getattr(traced, "consts", ())
    for equation in traced.eqns:
        yield from (x.val for x in equation.invars if hasattr(x, "val"))
        for value in equation.params.values():
            inside = value if isinstance(value, tuple | list) else (value,)
            for x in inside:
                if hasattr(x, "eqns"):
                    yield from _written(x)


def _makes_small(number: Any) -> bool:
    """Whether a number, or the largest of an array, is very small, or what divides is large."""
    x = largest(number)
    return x is not None and (0.0 < abs(x) < _SMALL or abs(x) > 1.0 / _SMALL)


def _sampled_steps(dt: float) -> np.ndarray:
    """Steps of the first 10 s, 1 ms apart, and of the first hours, 0.2 % apart."""
    times = np.concatenate([np.arange(10_000.0), np.geomspace(1e4, 1e7, _SAMPLED - 10_000)])
    return np.minimum(times / dt, LAST_STEP).astype(np.int32)
