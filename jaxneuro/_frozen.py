"""Random numbers that a function of a user draws while it is traced: they never change then."""

import contextlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from .spec import InvalidValueError

_MUST = "free of random draws (numbers that stay are drawn outside of it)"
_DRAWS = {"random_bits", "threefry2x32", "rng_bit_generator", "rng_uniform"}


def trace(
    owner: str,
    field: str,
    function: Callable,
    *arguments: Any,
    n_fixed: int = 0,
    must: str = _MUST,
    hint: str = "",
) -> tuple[Any, Any]:
    """Trace a function of a user, once; return its jaxpr and the shapes of its results.

    Args:
        owner, field: what the function is.
        function: the function.
        *arguments: its arguments, arrays or their shapes.
        n_fixed: the number of leaves, the first of all arguments, that never change.
        must: what the function must be.
        hint: what may have been meant.

    Raises:
        InvalidValueError: if the function draws from `np.random`, or with a key that never changes.
    """
    with no_global_draws(owner, field, hint, must):
        # A new function each time: JAX returns no jaxpr of an earlier trace.
        closed, out = jax.make_jaxpr(lambda *x: function(*x), return_shape=True)(*arguments)
    check_keys(owner, field, closed.jaxpr, n_fixed, hint, must)
    return closed, out


def check_keys(
    owner: str, field: str, jaxpr: Any, n_fixed: int = 0, hint: str = "", must: str = _MUST
) -> None:
    """Raises `InvalidValueError` for a traced function that draws with a key that never changes.

    The arguments are those of `trace`.
    """
    if _draws_alike(jaxpr, [k >= n_fixed for k in range(len(jaxpr.invars))]):
        raise InvalidValueError(owner, field, must, "numbers of a key that never changes", hint)


@contextlib.contextmanager
def no_global_draws(owner: str, field: str, hint: str = "", must: str = _MUST) -> Iterator[None]:
    """A block that calls a function of a user, which must not draw from `np.random`.

    Draws from `random` are allowed: JAX itself may use it during a trace.

    Raises:
        InvalidValueError: if the block has drawn from `np.random`.
    """
    before = _global_state()
    yield
    if _global_state() != before:
        raise InvalidValueError(owner, field, must, "draws from np.random", hint)


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


def _jaxprs(value: Any) -> Iterator[Any]:
    """The traced functions inside a parameter of an equation."""
    if (hasattr(value, "jaxpr") and hasattr(value, "consts")) or hasattr(value, "eqns"):
        yield value
    elif isinstance(value, tuple | list):
        for x in value:
            yield from _jaxprs(x)
