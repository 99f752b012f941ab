"""Start values of state variables, how they get into a state, and their bounds."""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import concrete
from .._numerics import Distribution, bits, stream_key, unit_interval
from .._types import state_variables
from ..synapses import Several
from .members import first_member


class Initial(eqx.Module):
    """The start value of one state variable of one population.

    **Fields** `variable` its name; `population` number in the group; `value` an array of shape ()
    or (n,), or a distribution.
    """

    variable: str = eqx.field(static=True)
    population: int = eqx.field(static=True)
    value: Any  # a distribution has no leaves


@functools.partial(jax.jit, static_argnames="dtype")
def quantile(law: Distribution, word: Any, dtype: Any) -> jax.Array:
    """The numbers that words of random bits stand for, in the dtype of the state."""
    # Compiled also where the words are known: one seed of a batch starts as it does alone.
    return law.quantile(unit_interval(word)).astype(dtype)


def replace_variable(state: Any, variable: str, value: jax.Array) -> Any:
    """The state of a model, a named tuple or a module, with another value of one variable."""
    if hasattr(state, "_replace"):
        return state._replace(**{variable: value})
    return eqx.tree_at(lambda s: getattr(s, variable), state, value)


class Start(eqx.Module):
    """The start values of one variable of consecutive units of a receptor or a release.

    **Fields** `variable` its name; `owner` the projection or coupling that gives them, whose stream
    is drawn from; `first`, `n` units; `value` an array of shape () or (n,), or a distribution.
    """

    variable: str = eqx.field(static=True)
    owner: str = eqx.field(static=True)
    first: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    value: Any  # a distribution has no leaves


def started(state: Any, starts: Sequence[Start], seed: Any) -> Any:
    """The state of a receptor or a release with its start values."""
    for start in starts:
        x = jnp.asarray(getattr(state, start.variable))
        value = start.value
        if isinstance(value, Distribution):
            key = stream_key(seed, start.owner, f"initial {start.variable}")
            word = bits(key, jnp.arange(start.n, dtype=jnp.uint32), 0)[0]
            value = quantile(value, word, x.dtype)
        piece = jnp.broadcast_to(jnp.asarray(value, x.dtype), (start.n,))
        whole = start.n == x.shape[0]
        new = piece if whole else x.at[start.first : start.first + start.n].set(piece)
        state = replace_variable(state, start.variable, new)
    return state


# What a run may leave outside a bound by rounding; values that were read can be set again.
_ROUNDING = 1e-5


def check_state_value(label: str, model: Any, variable: str, value: Any) -> None:
    """Raises `ValueError` for numbers, or a distribution, that a state variable never has.

    `label` names the value; `model` is the receptor or the release, whose `state_bounds` count.
    """
    low, high, *whole = state_bounds(model).get(variable, (None, None))
    drawn = isinstance(value, Distribution)
    ends: Any = value.support() if drawn else (concrete(value),) * 2
    bounds = [None if b is None else concrete(b) for b in (low, high)]
    if any(x is None for x in ends) or (bounds == [None, None] and not whole):
        return
    bad = [
        b is not None and np.any(sign * (x - b) < -_ROUNDING * np.maximum(np.abs(b), 1.0))
        for sign, x, b in zip((1, -1), ends, bounds)
    ]
    bad.append(bool(whole) and (drawn or bool(np.any(ends[0] != np.rint(ends[0])))))
    if any(bad):
        kind = "whole numbers " if whole else ""
        least, most = (None if b is None else _shown(b) for b in bounds)
        span = f"from {least} to {most}" if most and least else f"at least {least or most}"
        hint = "; bound the distribution (low=, high=)" if drawn and not whole else ""
        raise ValueError(f"{label} must be {kind}{span}; got {_got(value)}{hint}")


def state_bounds(model: Any) -> dict[str, tuple]:
    """The bounds of the state variables of a model, numbers in the place of names of fields."""
    if isinstance(model, Several):  # its state has the variables of its parts, in their order
        names = state_variables(jax.eval_shape(lambda m: m.init(1), first_member(model)))
        each = [pair for part in model.parts for pair in _each(part)]
        return {name: bounds for name, (_, bounds) in zip(names, each) if bounds}
    return {
        name: tuple(operator.attrgetter(b)(model) if isinstance(b, str) else b for b in bounds)
        for name, bounds in model.state_bounds.items()
    }


def _each(part: Any) -> list[tuple[str, tuple | None]]:
    """All state variables of a part, with their bounds or None."""
    state = jax.eval_shape(lambda m: m.init(1), first_member(part))
    bounds = state_bounds(part)
    return [(name, bounds.get(name)) for name in state_variables(state)]


def _shown(bound: np.ndarray) -> str:
    return f"{bound:g}" if bound.ndim == 0 else f"the neuron's own ({bound.min():g} or more)"


def _got(value: Any) -> str:
    if isinstance(value, Distribution) or np.ndim(value) == 0:
        return f"{value!r}" if isinstance(value, Distribution) else f"{float(value):g}"
    x = np.asarray(value)
    return f"values from {x.min():g} to {x.max():g}"
