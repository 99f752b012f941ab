"""States of receptors and releases before there is a network: which variables they have."""

from typing import Any

import jax
import numpy as np

from .._types import StochasticRelease, state_variables
from .._network import release_state
from ._merge import alone


def any_state(model: Any, n: int) -> Any:
    """A state of a receptor or a release, of any stream if it draws."""
    if isinstance(model, StochasticRelease):
        return release_state(model, n, np.uint32(0), "")
    return model.init(n)


def state_shapes(model: Any) -> dict[str, Any]:
    """The shapes of all arrays in the state of a receptor or a release, for two neurons."""
    state = jax.eval_shape(lambda m: any_state(m, 2), alone(model))
    return {x: getattr(getattr(state, x), "shape", None) for x in state_variables(state)}


def state_dtypes(model: Any) -> dict[str, Any]:
    """The dtypes of the state variables that have one number per neuron."""
    state = jax.eval_shape(lambda m: any_state(m, 2), alone(model))
    each = {name: getattr(state, name) for name in state_variables(state)}
    return {name: x.dtype for name, x in each.items() if getattr(x, "shape", None) == (2,)}
