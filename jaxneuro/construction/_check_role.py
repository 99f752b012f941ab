"""Whether the methods of a model take and return what their role says."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import jax

from .. import _types
from .._types import Neuron, Plasticity, Release, Stimulus, Synapse
from ..description import Description
from ..synapses import Into

_ROLES = (Neuron, Synapse, Release, Stimulus, Plasticity)


def check_roles(description: Description) -> None:
    """Raises `ValueError` for a model with a method that cannot be called as its role says."""
    seen: set[type] = set()
    for p in description.populations:
        _check_methods(f"population {p.name!r}", p.model, seen)
    for p in (*description.projections, *description.couplings):
        models = p.synapse, p.release, getattr(p, "plasticity", None)
        for model in models:
            _check_methods(p.label, model, seen)
    for s in description.stimuli:
        for model in (s.stimulus, s.synapse):
            _check_methods(s.label, model, seen)


def _check_methods(label: str, model: Any, seen: set[type]) -> None:
    """Raises `ValueError` unless every method of a role can be called with its arguments."""
    model = model.receptor if isinstance(model, Into) else model
    cls = type(model)
    if cls in seen or not isinstance(model, _ROLES):
        return
    seen.add(cls)
    role = next(base for base in cls.__mro__ if base.__module__ == _types.__name__)
    for name in (n for n in dir(role) if not n.startswith("_")):
        own, wanted = getattr(cls, name), getattr(role, name)
        if own is wanted or not inspect.isfunction(wanted):
            continue
        needed = inspect.signature(wanted)
        try:
            inspect.signature(own).bind(*needed.parameters)
        except TypeError:
            takes, has = (", ".join(x.parameters) for x in (needed, inspect.signature(own)))
            raise ValueError(
                f"{label}: {cls.__name__}: {name} must take ({takes}), as a {role.__name__} does; "
                f"it takes ({has})"
            ) from None


@contextlib.contextmanager
def traced(label: str) -> Iterator[None]:
    """Around the trace of a method of a user: says what to do where a value must be known."""
    advice = (
        "its arrays stand for the numbers of every step, which are not known yet. Write "
        "jnp.where(condition, a, b) instead of if, and functions of jnp instead of those of numpy"
    )
    try:
        yield
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise ValueError(f"{label}: step is traced: {advice}") from error
    except ValueError as error:
        if "truth value of an array" not in str(error):
            raise
        raise ValueError(f"{label}: step is traced: {advice}") from error


def check_per_neuron(label: str, state: Any) -> None:
    """Raises `ValueError` for a state of two neurons with arrays that have no axis of them."""
    if any(x.ndim and 2 not in x.shape for x in jax.tree.leaves(state)):
        raise ValueError(
            f"{label}: init(n) must return arrays of shape (n,), one number per neuron; it returns "
            f"{shapes(state)} for 2 neurons"
        )


def check_pair(label: str, out: Any, what: str) -> tuple[Any, Any]:
    """The two values that a step returned; raises `ValueError`, with `what`, for anything else."""
    if not isinstance(out, tuple) or len(out) != 2:
        raise ValueError(f"{label}: step must return {what}; it returns {shapes(out)}")
    return out


def check_state(label: str, before: Any, after: Any) -> None:
    """Raises `ValueError` unless the state after a step has the structure and shapes of before."""
    same = jax.tree.structure(before) == jax.tree.structure(after)
    leaves = [[getattr(x, "shape", None) for x in jax.tree.leaves(s)] for s in (before, after)]
    if not same or leaves[0] != leaves[1]:
        raise ValueError(
            f"{label}: step must return a state like that of init, with arrays of the same shape; "
            f"it turns {shapes(before)} into {shapes(after)}"
        )


def shapes(value: Any) -> str:
    """What a traced function returned, for messages: float32[2] for an array."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if hasattr(value, "_fields"):  # a named tuple
        parts = [f"{k}={shapes(x)}" for k, x in zip(value._fields, value) if x is not None]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(shapes, value))})"
    return repr(value)
