"""Checks of classes of users by their traced `step`: random numbers, and neurons that mix."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_DRAWS = {"random_bits", "threefry2x32", "rng_bit_generator", "rng_uniform"}
_OWN_STREAM = (
    "A step that draws gets its bits from a stream: subclass jn.StochasticNeuron or "
    "jn.StochasticRelease, or use the stream that init of a stimulus gets, and call "
    "stream.bits(step). Numbers that stay the same belong into a parameter"
)


def is_own(model: Any) -> bool:
    """Whether the class of a model is one of a user."""
    return not type(model).__module__.startswith("jaxneuro.")


def check_draws(label: str, model: Any, first: Any, trace: Callable[[], Any]) -> None:
    """Raises `ValueError` for an own `step` whose random numbers are the same in every step.

    `first` is its jaxpr, `trace()` makes it again; its arguments are the model in the first place,
    and then what changes from step to step.
    """
    if not is_own(model):
        return
    second = trace()
    fixed = len(jax.tree.leaves(model))
    varying = [k >= fixed for k in range(len(first.jaxpr.invars))]
    if not _same([*_constants(first)], [*_constants(second)]):
        raise ValueError(
            f"{label}: two traces of step gave different numbers: it draws with numpy or random, "
            "or uses something outside that changes, such as a counter or a list. step is traced "
            "once, so that the same numbers would be used in every step. What changes from step to "
            f"step belongs into the state. {_OWN_STREAM}"
        )
    if _draws_alike(first.jaxpr, varying):
        raise ValueError(
            f"{label}: step draws from a key that never changes, so that the same numbers would be "
            f"used in every step. {_OWN_STREAM}"
        )


def _jaxprs(value: Any) -> Iterator[Any]:
    """The traced functions inside a parameter of an equation."""
    if (hasattr(value, "jaxpr") and hasattr(value, "consts")) or hasattr(value, "eqns"):
        yield value
    elif isinstance(value, tuple | list):
        for x in value:
            yield from _jaxprs(x)


def inside_of(equation: Any) -> list[Any]:
    """The jaxprs that an equation calls, but not the condition of a loop."""
    found = [x for k, v in equation.params.items() if k != "cond_jaxpr" for x in _jaxprs(v)]
    return [getattr(x, "jaxpr", x) for x in found]


def _constants(closed: Any) -> Iterator[Any]:
    """All numbers that are written into a traced function."""
    yield from getattr(closed, "consts", ())
    for equation in getattr(closed, "jaxpr", closed).eqns:
        yield from (x.val for x in equation.invars if hasattr(x, "val"))
        for value in equation.params.values():
            for x in _jaxprs(value):
                yield from _constants(x)


def _same(first: list, second: list) -> bool:
    return len(first) == len(second) and all(map(_equal, first, second))


def _equal(x: Any, y: Any) -> bool:
    kinds = [getattr(z, "dtype", np.dtype(type(z)) if np.isscalar(z) else None) for z in (x, y)]
    if any(k is None or not np.issubdtype(k, np.number) for k in kinds):
        return True  # keys and flags
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f"))


def _draws_alike(jaxpr: Any, varying: list[bool]) -> bool:
    """Whether bits are drawn from what does not vary."""
    changes = {id(v) for v, moves in zip(jaxpr.invars, varying, strict=True) if moves}
    for equation in jaxpr.eqns:
        moves = [id(v) in changes for v in equation.invars]
        if equation.primitive.name in _DRAWS and not any(moves):
            return True
        for inside in inside_of(equation):
            many = len(inside.invars)
            given = moves[len(moves) - many :] if many <= len(moves) else [True] * many
            if equation.primitive.name not in ("scan", "while") and _draws_alike(inside, given):
                return True
        if any(moves):
            changes |= {id(v) for v in equation.outvars}
    return False


def needed_by(jaxpr: Any) -> set[int]:
    """The ids of all variables on which the results of a traced function depend."""
    needed: set[int] = {id(v) for v in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        if any(id(v) in needed for v in equation.outvars):
            needed |= {id(v) for v in equation.invars}
    return needed


def traced_twice(step: Any, *args: Any) -> tuple[Any, Any]:
    """The jaxpr of a step, and what makes it again, with nothing kept from the first time."""

    def trace() -> Any:
        return jax.make_jaxpr(lambda *given: step(*given))(*args)

    return trace(), trace


def _instead_of(model: Any) -> str:
    """What a neuron returns that gives its voltage or rate as spikes."""
    if model.rate_sign is None:
        return "Return (state, v >= self.v_th), v being in the state"
    return "A rate unit never spikes: return jnp.zeros(n, bool), its rate being in the state"


def check_spikes(label: str, model: Any, spikes: Callable[[Any], Any], state: Any) -> None:
    """Raises `ValueError` for floating spikes of an own neuron that are neither 0 nor 1.

    `spikes(state)` gives them; it is called at the start, and a little beside it.
    """
    if not is_own(model):
        return
    start = jax.tree.map(lambda x: x + 0.37 if jnp.issubdtype(x.dtype, jnp.floating) else x, state)
    for given in (state, start):
        x = np.asarray(jax.jit(spikes)(given))
        bad = x[np.isfinite(x) & (x != 0) & (x != 1)]
        if bad.size:
            raise ValueError(
                f"{label}: step must return spikes, True or False (or 1.0 and 0.0 of a surrogate); "
                f"it returns {bad.flat[0]:g}. {_instead_of(model)}"
            )
