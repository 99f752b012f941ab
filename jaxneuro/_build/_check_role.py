"""Whether the methods of a model take and return what their role says."""

import contextlib
import functools
import inspect
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from .. import _types
from .._types import Neuron, Plasticity, Release, Stimulus, Synapse
from .._describe import Description
from .._network import as_floating, initial_state
from ..synapses import Into
from ._merge import alone
from ._states import any_state

_ROLES = (Neuron, Synapse, Release, Stimulus, Plasticity)


def check_roles(description: Description, dtype: Any) -> None:
    """Raises `ValueError` for a model that is not what its role says.

    Its methods must take what they are called with, its numbers be numbers, and its `init` return a
    state of arrays.
    """
    seen: set[type] = set()
    for label, model in _models(description):
        model = model.receptor if isinstance(model, Into) else model
        if type(model) not in seen and isinstance(model, _ROLES):
            seen.add(type(model))
            _check_methods(label, model)
            _check_numbers(label, model)
            if isinstance(model, Neuron | Synapse | Release):
                _check_init(label, model, dtype)


def _models(description: Description) -> Iterator[tuple[str, Any]]:
    """Every model of a description, with a label for messages."""
    for p in description.populations:
        yield f"population {p.name!r}", p.model
    for p in (*description.projections, *description.couplings):
        for model in (p.synapse, p.release, getattr(p, "plasticity", None)):
            yield p.label, model
    for s in description.stimuli:
        for model in (s.stimulus, s.synapse):
            yield s.label, model


def _check_numbers(label: str, model: Any) -> None:
    """Raises `ValueError` for a leaf that is no number, or a sign of weights that is none."""
    name = f"{label}: {type(model).__name__}"
    for path, x in jax.tree_util.tree_flatten_with_path(model)[0]:
        if np.asarray(x).dtype.kind not in "biuf" and not hasattr(x, "aval"):
            where = jax.tree_util.keystr(path, simple=True, separator=".")
            raise ValueError(
                f"{name}: {where} must be a number or an array of numbers; got {x!r}. Declare what "
                f"is no number as {where} = jn.static(...)"
            )
    sign = getattr(model, "weight_sign", 0)
    if isinstance(sign, str) or sign not in (-1, 0, 1):
        raise ValueError(
            f"{name}: weight_sign must be 1 (weights of at least 0), -1 (at most 0) or 0 (both); "
            f"got {sign!r}"
        )


def _check_init(label: str, model: Any, dtype: Any) -> None:
    """Raises `ValueError` unless `init` returns a state of arrays."""
    name = f"{label}: {type(model).__name__}"
    first = alone(model, dtype)
    make = initial_state if isinstance(model, Neuron) else any_state
    for n in tried_sizes(model):
        state_of(name, functools.partial(make, first, n), n, dtype)


def _check_methods(label: str, model: Any) -> None:
    """Raises `ValueError` unless every method of a role can be called with its arguments."""
    cls = type(model)
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
def traced(label: str, method: str = "step", given: str = "") -> Iterator[None]:
    """Around a method of a user that is traced: whatever it raises becomes a `ValueError` of it.

    `given` says what the method gets. An error that begins with `label` is passed on.
    """
    try:
        yield
    except Exception as error:
        text = str(error)
        if isinstance(error, ValueError) and text.startswith(label):
            raise
        if isinstance(error, ValueError) and _is_ours(error):
            raise ValueError(f"{label}: {text}") from error
        unknown = isinstance(error, _UNKNOWN) or "truth value of an array" in text
        if unknown:
            raise ValueError(f"{label}: {method} is traced: {_ADVICE}") from error
        first = text.strip().split("\n")[0].rstrip(".")
        more = f". It gets {given}" if given else ""
        raise ValueError(
            f"{label}: {method} raised {type(error).__name__}: {first}{more}"
        ) from error


def _is_ours(error: Exception) -> bool:
    """Whether this package raised an error: then its text says what to do."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return frames[-1].f_globals.get("__name__", "").startswith("jaxneuro.")


_UNKNOWN = jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError
_ADVICE = (
    "its arrays stand for the numbers of every step, which are not known yet. Write "
    "jnp.where(condition, a, b) instead of if, and functions of jnp instead of those of numpy"
)
DRIVE_PARTS = (
    "a jn.Drive has the parts current, conductance, jump and arrivals, and the methods "
    "current_at(v), jumped(v) and arriving(port)"
)


def tried_sizes(model: Any) -> tuple[int, ...]:
    """For how many neurons a model is traced: a class of a user twice.

    A size that is written into it by hand does not fit both: jnp.zeros(3), v[:3].
    """
    return (2,) if type(model).__module__.startswith("jaxneuro.") else (2, 101)


def state_of(label: str, init: Callable[[], Any], n: int, dtype: Any) -> Any:
    """The traced state of n neurons as the network holds it; `ValueError` unless it is one."""

    def made() -> Any:
        state = init()
        if isinstance(state, dict):
            raise ValueError(
                f"{label}: init(n) must return a NamedTuple of arrays, so that its variables have "
                "names (class State(NamedTuple): v: jax.Array); it returns a dict"
            )
        if not all(hasattr(x, "dtype") for x in jax.tree.leaves(state)):
            raise ValueError(
                f"{label}: init(n) must return arrays, such as jnp.zeros(n); it returns "
                f"{shapes(state)} for {n} neurons"
            )
        return as_floating(state, dtype)

    with traced(label, "init"):
        state = jax.eval_shape(made)
    check_per_neuron(label, state, n)
    return state


def check_per_neuron(label: str, state: Any, n: int = 2) -> None:
    """Raises `ValueError` for a state of n neurons with arrays that have no axis of them."""
    # Also a key of JAX, which all share: uint32 (2,).
    if any(x.ndim and n not in x.shape and not _is_key(x) for x in jax.tree.leaves(state)):
        raise ValueError(
            f"{label}: init(n) must return arrays of shape (n,), one number per neuron; it returns "
            f"{shapes(state)} for {n} neurons"
        )


def _is_key(x: Any) -> bool:
    return x.dtype == np.uint32 and x.shape == (2,)


def check_pair(label: str, out: Any, what: str) -> tuple[Any, Any]:
    """The two values that a step returned; raises `ValueError`, with `what`, for anything else."""
    if not isinstance(out, tuple) or len(out) != 2:
        raise ValueError(f"{label}: step must return {what}; it returns {shapes(out)}")
    return out


def check_state(label: str, before: Any, after: Any, methods: str = "init and step") -> None:
    """Raises `ValueError` unless a state after a step has structure, shapes and dtypes of before.

    `methods` are those that return the two.
    """
    first, then = methods.split(" and ")
    like = f"{label}: {then} must return a state like that of {first}, with arrays of the same"
    leaves = [jax.tree.leaves(s) for s in (before, after)]
    same = jax.tree.structure(before) == jax.tree.structure(after)
    if not same or [x.shape for x in leaves[0]] != [getattr(x, "shape", None) for x in leaves[1]]:
        raise ValueError(f"{like} shape; it turns {shapes(before)} into {shapes(after)}")
    named = jax.tree_util.tree_flatten_with_path(before)[0]
    for (path, old), new in zip(named, leaves[1]):
        if old.dtype != new.dtype:
            name = jax.tree_util.keystr(path, simple=True, separator=".") or "the state"
            raise ValueError(
                f"{like} dtype; {name} is {old.dtype} in {first} and {new.dtype} after {then}. Let "
                f"{first} return {new.dtype}, as jnp.zeros(n, jnp.{new.dtype}), or {then} "
                f"{old.dtype}, with .astype(jnp.{old.dtype})"
            )


def shapes(value: Any) -> str:
    """What a traced function returned, for messages: float32[2] for an array."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if hasattr(value, "_fields"):  # a named tuple
        parts = [f"{k}={shapes(x)}" for k, x in zip(value._fields, value) if x is not None]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple | list):
        inside = ", ".join(map(shapes, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {shapes(x)}" for k, x in value.items()) + "}"
    return repr(value)
