"""Between what the numbers in the state of a receptor or a release lie."""

import operator
from typing import Any

import jax
import numpy as np

from jaxneuro._network._members import first_member

from .._checks import concrete
from .._numerics import Distribution
from .._types import state_variables
from ..synapses import Several

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
