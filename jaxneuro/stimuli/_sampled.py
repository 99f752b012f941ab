"""Looks at what functions of time give, at many times: whether it is in SI units."""

import warnings
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._units import check_unit, largest
from ._signal import LAST_STEP, Signal

_SAMPLED = 13_500  # steps at which a function of time is looked at
_MOST_VALUES = 20_000_000
_SMALL = 1e-6
_FEW = 3  # values that are no tail
_TAIL = 1e-6  # of the least size of a unit


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
