"""Whether classes of users compute each neuron by itself, which a network over a mesh needs."""

from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from .._types import Drive
from .._network import first_member, initial_state
from ._check_own import inside_of, is_own
from ._states import any_state

# How many neurons are traced: a number that no other axis has.
_N = 1009

# Operations along an axis, by the name of the parameter that has it.
_ALONG = {
    **dict.fromkeys(("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"), "axes"),
    **dict.fromkeys(("argmax", "argmin"), "axes"),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), "axis"),
    "sort": "dimension",
    "rev": "dimensions",
}


def mixing(jaxpr: Any, n: int) -> str:
    """The first operation of a traced step by which neurons depend on each other; "" for none.

    `n` is the number of neurons, one that no other axis has. Truths (`any`, `all`) and conditions
    of loops are taken to be shortcuts that change no number.
    """
    for equation in jaxpr.eqns:
        if _mixes(equation, n):
            return equation.primitive.name
        for inside in inside_of(equation):
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


def check_apart(
    what: str, groups: Iterable[Any], releases: Iterable[tuple[str, Any]], dt: float, dtype: Any
) -> None:
    """Raises `ValueError` for an own model whose step lets neurons depend on each other.

    Over a mesh each device computes its own neurons, and the step would see those alone. `what` is
    the function that lays out the network; `releases` come with labels.
    """
    zeros: Any = np.zeros(_N, dtype)
    for group in groups:
        label, model = f"population {group.populations[0]!r}", first_member(group.model)
        if is_own(model):
            arrivals: Any = dict.fromkeys(model.ports, zeros) or None
            drive = Drive(zeros, zeros, zeros, arrivals)
            start = jax.eval_shape(lambda m: initial_state(m, _N), model)
            _check(what, label, model, lambda m, s, d=drive: m.step(s, d, dt), start)
        for receptor in map(first_member, group.receptors):
            if is_own(receptor):
                given = np.zeros((len(receptor.ports), _N) if receptor.ports else _N, dtype)
                start = jax.eval_shape(lambda m: m.init(_N), receptor)
                step = lambda m, s, a=given: m.step(s, a, zeros, dt)  # noqa: E731
                _check(what, label, receptor, step, start)
    for label, release in releases:
        model = None if release is None else first_member(release)
        if model is not None and is_own(model):
            start = jax.eval_shape(lambda m: any_state(m, _N), model)
            _check(what, label, model, lambda m, s: m.step(s, zeros > 0, zeros, dt), start)


def _check(what: str, label: str, model: Any, step: Any, state: Any) -> None:
    name = mixing(jax.make_jaxpr(step)(model, state).jaxpr, _N)
    if name:
        raise ValueError(
            f"{what}: a model over a mesh must compute each neuron by itself; the step of "
            f"{type(model).__name__} ({label}) mixes them ({name}), and each device would see its "
            "own neurons alone. Let them interact by a projection or a coupling, or run on one "
            "device. Random numbers come from stream.bits(step), one per neuron"
        )
