"""Random numbers that a function of a user draws while it is traced: they never change then."""

import contextlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import is_traced
from .spec import InvalidValueError

_MUST = "one that draws nothing itself (numbers that are to stay are drawn outside of it)"
_DRAWS = {"random_bits", "threefry2x32", "rng_bit_generator", "rng_uniform"}


def trace(function: Callable, *given: Any) -> tuple[Any, Any]:
    """The jaxpr of a function, and what it returns."""
    # A function of its own each time: nothing is kept from the last trace.
    return jax.make_jaxpr(lambda *x: function(*x), return_shape=True)(*given)


def refuse_frozen(
    owner: str,
    field: str,
    function: Callable,
    given: tuple,
    first: Any = None,
    *,
    fixed: int = 0,
    must: str = _MUST,
    hint: str = "",
) -> None:
    """Raises `InvalidValueError` for a function whose random numbers are always the same.

    Args:
        owner, field: what the function is.
        function: the function, which is traced once more.
        given: its arguments, as `trace` takes them.
        first: its jaxpr (default: traced here).
        fixed: how many of the first arguments, as leaves, never change.
        must: what it must be.
        hint: what may have been meant.
    """
    first = trace(function, *given)[0] if first is None else first
    varying = [k >= fixed for k in range(len(first.jaxpr.invars))]
    got = ""
    if not _same_numbers(first, trace(function, *given)[0]):
        # NumPy, random, a counter or a list outside: the function is traced once.
        got = "other numbers at a second trace: it uses something outside that changes"
    elif _draws_alike(first.jaxpr, varying):
        got = "numbers of a key that never changes"
    if got:
        raise InvalidValueError(owner, field, must, got, hint)


@contextlib.contextmanager
def no_global_draws(owner: str, field: str, hint: str = "") -> Iterator[None]:
    """Around a function that is too costly for a second call: `np.random` must rest.

    Nothing is said of `random`, which JAX itself may use while it traces.

    Raises:
        InvalidValueError: where `np.random` was drawn from.
    """
    before = _global_state()
    yield
    if _global_state() != before:
        raise InvalidValueError(owner, field, _MUST, "draws from np.random", hint)


def _global_state() -> bytes:
    return pickle.dumps(np.random.get_state(legacy=False))


def inside(equation: Any) -> list[Any]:
    """The jaxprs that an equation calls, but not the condition of a loop."""
    found = [x for k, v in equation.params.items() if k != "cond_jaxpr" for x in _jaxprs(v)]
    return [getattr(x, "jaxpr", x) for x in found]


def _draws_alike(jaxpr: Any, varying: list[bool]) -> bool:
    """Whether bits are drawn from arguments that do not vary."""
    changes = {id(v) for v, moves in zip(jaxpr.invars, varying, strict=True) if moves}
    for equation in jaxpr.eqns:
        moves = [id(v) in changes for v in equation.invars]
        if equation.primitive.name in _DRAWS and not any(moves):
            return True
        for called in inside(equation):
            many = len(called.invars)
            given = moves[len(moves) - many :] if many <= len(moves) else [True] * many
            if equation.primitive.name not in ("scan", "while") and _draws_alike(called, given):
                return True
        if any(moves):
            changes |= {id(v) for v in equation.outvars}
    return False


def _same_numbers(first: Any, second: Any) -> bool:
    """Whether the numbers that are written into two traces of a function are the same."""
    a, b = [*_constants(first)], [*_constants(second)]
    return len(a) == len(b) and all(map(_equal, a, b))


def _jaxprs(value: Any) -> Iterator[Any]:
    """The traced functions inside a parameter of an equation."""
    if (hasattr(value, "jaxpr") and hasattr(value, "consts")) or hasattr(value, "eqns"):
        yield value
    elif isinstance(value, tuple | list):
        for x in value:
            yield from _jaxprs(x)


def _constants(closed: Any) -> Iterator[Any]:
    yield from getattr(closed, "consts", ())
    jaxpr = getattr(closed, "jaxpr", closed)
    yield from (x.val for x in jaxpr.outvars if hasattr(x, "val"))
    for equation in jaxpr.eqns:
        yield from (x.val for x in equation.invars if hasattr(x, "val"))
        for value in equation.params.values():
            for x in _jaxprs(value):
                yield from _constants(x)


def _equal(x: Any, y: Any) -> bool:
    if is_traced(x) or is_traced(y):
        return True
    kinds = [getattr(z, "dtype", np.dtype(type(z)) if np.isscalar(z) else None) for z in (x, y)]
    if any(k is None or not jnp.issubdtype(k, np.number) for k in kinds):
        return True  # keys and flags
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f"))
