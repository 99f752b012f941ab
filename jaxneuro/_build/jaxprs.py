"""What a traced function shows of itself: what it needs, what it draws, which neurons it mixes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

_DRAWS = {"random_bits", "threefry2x32", "rng_bit_generator", "rng_uniform"}

# Operations along an axis, by the name of the parameter that has it.
_ALONG = {
    **dict.fromkeys(("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"), "axes"),
    **dict.fromkeys(("argmax", "argmin"), "axes"),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), "axis"),
    "sort": "dimension",
    "rev": "dimensions",
}


def needed_by(jaxpr: Any) -> set[int]:
    """The ids of all variables on which the results of a traced function depend."""
    needed: set[int] = {id(v) for v in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        if any(id(v) in needed for v in equation.outvars):
            needed |= {id(v) for v in equation.invars}
    return needed


def used_by(jaxpr: Any) -> set[int]:
    """The ids of all variables that a traced function takes up, needed or not."""
    used = {id(v) for equation in jaxpr.eqns for v in equation.invars}
    return used | {id(v) for v in jaxpr.outvars}


def draws_alike(jaxpr: Any, varying: list[bool]) -> bool:
    """Whether bits are drawn from arguments that do not vary."""
    changes = {id(v) for v, moves in zip(jaxpr.invars, varying, strict=True) if moves}
    for equation in jaxpr.eqns:
        moves = [id(v) in changes for v in equation.invars]
        if equation.primitive.name in _DRAWS and not any(moves):
            return True
        for inside in _inside(equation):
            many = len(inside.invars)
            given = moves[len(moves) - many :] if many <= len(moves) else [True] * many
            if equation.primitive.name not in ("scan", "while") and draws_alike(inside, given):
                return True
        if any(moves):
            changes |= {id(v) for v in equation.outvars}
    return False


def same_numbers(first: Any, second: Any) -> bool:
    """Whether the numbers that are written into two traces of a function are the same."""
    a, b = [*_constants(first)], [*_constants(second)]
    return len(a) == len(b) and all(map(_equal, a, b))


def mixing(jaxpr: Any, n: int) -> str:
    """The first operation of a traced step by which neurons depend on each other; "" for none.

    Truths (`any`, `all`) and conditions of loops are taken to be shortcuts that change no number.

    Args:
        jaxpr: the traced step.
        n: the number of neurons, one that no other axis has.
    """
    for equation in jaxpr.eqns:
        if _mixes(equation, n):
            return equation.primitive.name
        for inside in _inside(equation):
            if name := mixing(inside, n):
                return name
    return ""


def _mixes(equation: Any, n: int) -> bool:
    name, params = equation.primitive.name, equation.params
    shapes = [x.aval.shape for x in equation.invars]
    if n not in (size for shape in shapes for size in shape):
        return name == "random_bits" and n in params["shape"]  # one key for all
    if name in _ALONG:
        axes = params[_ALONG[name]]
        axes = axes if isinstance(axes, tuple) else (axes,)
        return any(shapes[0][k] == n for k in axes)
    if name == "dot_general":
        (left, _), _ = params["dimension_numbers"]
        return any(shapes[0][k] == n for k in left)
    if name in ("slice", "dynamic_slice"):
        out = equation.outvars[0].aval.shape
        return any(a == n and b != n for a, b in zip(shapes[0], out))
    return name in ("gather", "fft") and shapes[0] == (n,)


def _jaxprs(value: Any) -> Iterator[Any]:
    """The traced functions inside a parameter of an equation."""
    if (hasattr(value, "jaxpr") and hasattr(value, "consts")) or hasattr(value, "eqns"):
        yield value
    elif isinstance(value, tuple | list):
        for x in value:
            yield from _jaxprs(x)


def _inside(equation: Any) -> list[Any]:
    """The jaxprs that an equation calls, but not the condition of a loop."""
    found = [x for k, v in equation.params.items() if k != "cond_jaxpr" for x in _jaxprs(v)]
    return [getattr(x, "jaxpr", x) for x in found]


def _constants(closed: Any) -> Iterator[Any]:
    yield from getattr(closed, "consts", ())
    for equation in getattr(closed, "jaxpr", closed).eqns:
        yield from (x.val for x in equation.invars if hasattr(x, "val"))
        for value in equation.params.values():
            for x in _jaxprs(value):
                yield from _constants(x)


def _equal(x: Any, y: Any) -> bool:
    kinds = [getattr(z, "dtype", np.dtype(type(z)) if np.isscalar(z) else None) for z in (x, y)]
    if any(k is None or not np.issubdtype(k, np.number) for k in kinds):
        return True  # keys and flags
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f"))
