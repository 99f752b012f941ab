"""What a traced function shows of itself: what it needs, which neurons it mixes."""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import Jaxpr

from .._frozen import inside

# Operations along an axis, by the name of the parameter that has it.
_ALONG = {
    **dict.fromkeys(("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"), "axes"),
    **dict.fromkeys(("argmax", "argmin"), "axes"),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), "axis"),
    "sort": "dimension",
    "rev": "dimensions",
}


def needed_by(jaxpr: Jaxpr, results: Sequence[Any]) -> set[int]:
    """The ids of all variables on which some results of a traced function depend."""
    needed: set[int] = {id(v) for v in results}
    for equation in reversed(jaxpr.eqns):
        if any(id(v) in needed for v in equation.outvars):
            needed |= {id(v) for v in equation.invars}
    return needed


def used_by(jaxpr: Jaxpr) -> set[int]:
    """The ids of all variables that a traced function takes up, needed or not."""
    used = {id(v) for equation in jaxpr.eqns for v in equation.invars}
    return used | {id(v) for v in jaxpr.outvars}


def mixing(jaxpr: Jaxpr, n: int) -> str:
    """The first operation of a traced step by which neurons depend on each other; "" for none.

    Truths (`any`, `all`) and conditions of loops are taken to be shortcuts that change no number.

    Args:
        jaxpr: the traced step.
        n: the number of neurons, one that no other axis has.
    """
    for equation in jaxpr.eqns:
        if _mixes(equation, n):
            return equation.primitive.name
        for called in inside(equation):
            if name := mixing(called, n):
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
