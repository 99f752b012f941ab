"""What a run passes to a network by name: currents of populations, signals of rules and levels."""

from collections.abc import Collection, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import spec
from .._text import brief
from ..spec import InvalidValueError


def checked_inputs(what: str, inputs: Any) -> dict[str, Any]:
    """Inputs by name.

    Raises:
        InvalidValueError: for what has no names, and what is no array of numbers.
    """
    if inputs is not None and not isinstance(inputs, Mapping):
        must = (
            "a mapping from names of populations or signals to currents or numbers, {'E': current}"
        )
        raise InvalidValueError(what, "inputs", must, type(inputs).__name__)
    for name, x in (inputs or {}).items():
        if not _is_numeric(x):
            must = "numbers [pA]: one for all, one per time step, or one per step and neuron"
            raise InvalidValueError(what, f"the input of {name!r}", must, brief(x))
    return dict(inputs or {})


def _is_numeric(x: Any) -> bool:
    try:
        dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    except ValueError:  # rows of different lengths
        return False
    return dtype.kind in "biu" or jnp.issubdtype(dtype, jnp.floating)


def check_now(
    inputs: Mapping[str, Any], populations: Mapping[str, int], signals: Collection[str]
) -> None:
    """Holds the inputs of one step to their names and shapes.

    Raises:
        InvalidValueError: for an unknown name, a signal that is missing or not one number, and a
            current that is not one number or one per neuron.
    """
    for name in signals:
        if name not in inputs or np.ndim(inputs[name]):
            got = f"shape {np.shape(inputs[name])}" if name in inputs else "none"
            must = "one number: the signal of a rule or a modulator"
            raise InvalidValueError("step", f"the input of {name!r}", must, got)
    for name, x in inputs.items():
        if name in signals:
            continue
        if name not in populations:
            raise spec.unknown("population to drive", name, [*populations, *signals], "step")
        n = populations[name]
        if np.shape(x) not in ((), (n,)):
            must = f"one number or one per neuron, shape ({n},)"
            raise InvalidValueError("step", f"the input of {name!r}", must, f"shape {np.shape(x)}")
