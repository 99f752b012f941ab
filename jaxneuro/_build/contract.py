"""The contract: what the methods of a model take and return, one table per role.

`build` checks every model before anything is drawn: it traces the methods for `TRIED` neurons.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from .. import _model
from .._describe.description import Description
from .._fields import Model
from .._frozen import trace
from .._model import (
    Drive,
    Neuron,
    Plasticity,
    Release,
    SpikeStimulus,
    Stimulus,
    Synapse,
)
from .._network.group import initial_state
from .._network.members import as_floating
from ..spec import InvalidValueError
from ..synapses import Into
from .jaxprs import mixing
from .merge import alone, any_state

# The number of neurons in a trace: one that no user writes by hand, and that no table has.
TRIED = 1009


class Returned(NamedTuple):
    """One of the values that a method returns.

    Attributes:
        words: what it is.
        fits: whether a traced value is one, for n neurons.
    """

    words: str
    fits: Callable[[Any, int], bool]


def _each(x: Any, n: int, *kinds: Any) -> bool:
    """Whether there is one number per neuron, of one of some kinds."""
    fits = getattr(x, "shape", None) == (n,)
    return fits and (not kinds or any(jnp.issubdtype(x.dtype, k) for k in kinds))


def _is_drive(x: Any, n: int) -> bool:
    parts = jax.tree.leaves(x) if isinstance(x, Drive) else []
    return bool(parts) and all(p.shape in ((), (n,)) for p in parts)


def _is_factor(x: Any, n: int) -> bool:
    return getattr(x, "shape", None) in ((), (n,)) and x.dtype.kind in "iuf"


STATE = Returned("the new state", lambda x, n: True)  # it is held against the old one
DRIVE = Returned(
    "a drive, jn.Drive(current=...) or jn.Drive(conductance=...), its parts of shape () or (n,)",
    _is_drive,
)

# `hold` takes the first role that fits: SpikeStimulus, which is a Stimulus, stands before it.
CONTRACTS: dict[type, dict[str, tuple[Returned, ...]]] = {
    Neuron: {
        "step": (
            STATE,
            Returned(
                "spikes of shape (n,), boolean or floating",
                lambda x, n: _each(x, n, jnp.bool_, jnp.floating),
            ),
        ),
        "voltage": (
            Returned(
                "one number per neuron, of shape (n,), or None",
                lambda x, n: x is None or _each(x, n),
            ),
        ),
    },
    Synapse: {"step": (STATE, DRIVE)},
    Release: {"step": (STATE, Returned("values of shape (n,), one per source neuron", _each))},
    SpikeStimulus: {
        "step": (
            STATE,
            Returned(
                "counts of spikes of shape (n,), floating", lambda x, n: _each(x, n, jnp.floating)
            ),
        )
    },
    Stimulus: {"step": (STATE, DRIVE)},
    Plasticity: {
        "init_shared": (
            Returned(
                "a dictionary of single numbers by name",
                lambda x, n: isinstance(x, dict) and not any(v.shape for v in x.values()),
            ),
        ),
        "step_shared": (STATE,),
        "step_post": (
            Returned(
                "a dictionary of numbers, each of shape (n,), one per target",
                lambda x, n: isinstance(x, dict) and all(_each(v, n) for v in x.values()),
            ),
            Returned("events of shape (n,), boolean", lambda x, n: _each(x, n, jnp.bool_)),
            STATE,
        ),
        "factors": (Returned("one factor per target, of shape (n,), or one for all", _is_factor),),
    },
}


def hold(owner: str, model: Any, method: str, out: Any, n: int, before: Any = None) -> Any:
    """What a method returned, as it is.

    Args:
        owner: whose method it is.
        model: the model.
        method: the name of the method.
        out: the traced result.
        n: how many neurons it is for.
        before: the state before a step.

    Raises:
        InvalidValueError: where the result is not what the table says.
    """
    parts = next(table for role, table in CONTRACTS.items() if isinstance(model, role))[method]
    values = out if len(parts) > 1 else (out,)
    if not isinstance(values, tuple) or len(values) != len(parts):
        raise broken(owner, method, ", ".join(part.words for part in parts), out, n)
    for part, value in zip(parts, values):
        if not part.fits(value, n):
            raise broken(owner, method, part.words, value, n)
        if part is STATE:
            _hold_state(owner, method, before, value)
    return out


def broken(owner: str, method: str, words: str, out: Any, n: int) -> InvalidValueError:
    """The error for a method that returns something else."""
    got = f"{shapes(out)} for {n} neurons"
    return InvalidValueError(owner, method, f"one that returns {words}", got)


def _hold_state(owner: str, method: str, before: Any, after: Any) -> None:
    """Raises `InvalidValueError` unless structure, shapes and dtypes are those of before."""
    leaves = [jax.tree.leaves(s) for s in (before, after)]
    same = jax.tree.structure(before) == jax.tree.structure(after)
    if not same or [x.shape for x in leaves[0]] != [getattr(x, "shape", None) for x in leaves[1]]:
        must = f"one that returns a state like that before, {shapes(before)}"
        raise InvalidValueError(owner, method, must, shapes(after))
    named = jax.tree_util.tree_flatten_with_path(before)[0]
    for (path, old), new in zip(named, leaves[1]):
        if old.dtype != new.dtype:
            name = jax.tree_util.keystr(path, simple=True, separator=".") or "the state"
            must = f"one that keeps dtypes ({name} is {old.dtype} at the start)"
            raise InvalidValueError(owner, method, must, f"{new.dtype} after it")


def step(
    owner: str,
    model: Any,
    call: Callable,
    state: Any,
    inputs: tuple,
    takes: str,
    *,
    n: int = TRIED,
    laid_by: str = "",
) -> tuple[ClosedJaxpr, Any]:
    """Trace the step of a model, once; return its jaxpr and what it returns.

    Args:
        owner: the model, for errors.
        model: the model.
        call: a function of the model, the state and the inputs.
        state: the traced state.
        inputs: the arguments of the step after the state.
        takes: the same in words, for the error of a step that raises.
        n: the number of neurons.
        laid_by: the function that lays the network over a mesh, where neurons must not depend on
            each other; "" for a network on one device.

    Raises:
        InvalidValueError: for a step that does not fit the role of the model.
    """
    with traced(owner, "step", f"the state {shapes(state)}{takes}"):
        fixed = len(jax.tree.leaves(model))
        arguments = model, state, *inputs
        closed, out = traced_method(
            owner, model, "step", call, *arguments, n_fixed=fixed, must=_STEADY
        )
    hold(owner, model, "step", out, n, state)
    if laid_by and is_own(model) and (name := mixing(closed.jaxpr, n)):
        must = f"one that computes each neuron by itself over a mesh ({laid_by})"
        got = f"{name}, which mixes neurons: let them interact by a projection or a coupling"
        raise InvalidValueError(owner, "step", must, got)
    return closed, out


_STEADY = (
    "one that draws from a stream, stream.bits(step) (subclass jn.StochasticNeuron or "
    "jn.StochasticRelease; init of a stimulus gets one), and keeps what changes in its state"
)


def traced_method(
    owner: str, model: Any, method: str, call: Callable, *arguments: Any, **options: Any
) -> tuple[ClosedJaxpr, Any]:
    """Trace a method of a model, once; that of a user must not draw random numbers."""
    part = user_part(model)
    if part is None:
        return jax.make_jaxpr(call, return_shape=True)(*arguments)
    if part is not model:
        owner = f"{type(part).__name__} of {owner}"
    return trace(owner, method, call, *arguments, **options)


@contextlib.contextmanager
def traced(owner: str, method: str, takes: str = "") -> Iterator[None]:
    """Around a method of a user: whatever it raises becomes an `InvalidValueError` of it."""
    try:
        yield
    except InvalidValueError as error:
        if error.owner:
            raise
        what = error.field or method, error.must, error.got, error.hint
        raise InvalidValueError(owner, *what) from error
    except Exception as error:
        text = str(error)
        must = f"one that takes {takes}" if takes else "one that can be called"
        if isinstance(error, _UNKNOWN) or "truth value of an array" in text:
            must = (
                "one that can be traced: jnp.where(condition, a, b) instead of if, functions of "
                "jnp instead of those of numpy"
            )
        got = f"{type(error).__name__}: {text.strip().splitlines()[0] if text.strip() else ''}"
        raise InvalidValueError(owner, method, must, got) from error


_UNKNOWN = jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError


def user_part(model: Any) -> Any:
    """Return the model, or a part of it such as a channel, whose class is of a user; else None."""

    def of_user(x: Any) -> bool:
        return isinstance(x, Model) and not type(x).__module__.startswith("jaxneuro.")

    return next(filter(of_user, jax.tree.leaves(model, is_leaf=of_user)), None)


def is_own(model: Any) -> bool:
    """Whether the class of a model, or of a part of it, is of a user."""
    return user_part(model) is not None


def traced_state(owner: str, init: Callable[[int], Any], dtype: np.dtype) -> Any:
    """The traced state of `TRIED` neurons as the network holds it.

    Raises:
        InvalidValueError: for an `init` that does not return named arrays, one entry per neuron.
    """

    def made() -> Any:
        state = init(TRIED)
        if isinstance(state, dict):  # variables are known by their names
            must = "one that returns a NamedTuple of arrays (class State(NamedTuple): v: jax.Array)"
            raise InvalidValueError(owner, "init", must, "a dict")
        if not all(hasattr(x, "dtype") for x in jax.tree.leaves(state)):
            raise broken(owner, "init", "arrays, such as jnp.zeros(n)", state, TRIED)
        return as_floating(state, dtype)

    with traced(owner, "init", "the number of neurons"):
        state = jax.eval_shape(made)
    if any(x.ndim and TRIED not in x.shape and not _is_key(x) for x in jax.tree.leaves(state)):
        raise broken(owner, "init", "arrays of shape (n,), one number per neuron", state, TRIED)
    return state


def has_voltage(neuron: Neuron) -> bool:
    """Whether synapses, releases and rules get a voltage or a rate of a neuron model."""
    voltage = jax.eval_shape(lambda m: m.voltage(initial_state(m, TRIED)), alone(neuron))
    return voltage is not None


def _is_key(x: Any) -> bool:
    """Whether an array is a key of JAX, which all neurons share."""
    return x.dtype == np.uint32 and x.shape == (2,)


# --- classes of models ------------------------------------------------------------------------


def check_roles(description: Description, dtype: np.dtype) -> None:
    """Raises `InvalidValueError` for a model whose class is not what its role says.

    Its methods must take what they are called with, its numbers be numbers, its `init` return a
    state of arrays, and the voltage of a neuron be one number for each.
    """
    seen: set[type] = set()
    for label, given in _models(description):
        model = given.receptor if isinstance(given, Into) else given
        if type(model) in seen or not isinstance(model, tuple(CONTRACTS)):
            continue
        seen.add(type(model))
        owner = f"{type(model).__name__} ({label})"
        _check_methods(owner, model)
        _check_numbers(owner, model)
        if isinstance(model, Neuron | Synapse | Release):
            first: Any = alone(model, dtype)
            make = initial_state if isinstance(model, Neuron) else any_state
            state = traced_state(owner, lambda n: make(first, n), dtype)  # noqa: B023
            if isinstance(model, Neuron):
                with traced(owner, "voltage", f"the state {shapes(state)}"):
                    v = jax.eval_shape(first.voltage, state)
                hold(owner, model, "voltage", v, TRIED)


def _models(description: Description) -> Iterator[tuple[str, Any]]:
    """Every model of a description, with a label for messages."""
    for p in description.populations:
        yield p.label, p.model
    for p in (*description.projections, *description.couplings):
        for model in (p.synapse, p.release, getattr(p, "plasticity", None)):
            yield p.label, model
    for s in description.stimuli:
        for model in (s.stimulus, s.synapse):
            yield s.label, model


def _check_methods(owner: str, model: Any) -> None:
    """Raises `InvalidValueError` unless every method can be called with the role's arguments."""
    cls = type(model)
    role = next(base for base in cls.__mro__ if base.__module__ == _model.__name__)
    for name in (n for n in dir(role) if not n.startswith("_")):
        own, wanted = getattr(cls, name), getattr(role, name)
        if own is wanted or not inspect.isfunction(wanted):
            continue
        needed = inspect.signature(wanted)
        try:
            inspect.signature(own).bind(*needed.parameters)
        except TypeError:
            takes, has = (", ".join(x.parameters) for x in (needed, inspect.signature(own)))
            must = f"one that takes ({takes}), as a {role.__name__} does"
            raise InvalidValueError(owner, name, must, f"({has})") from None


def _check_numbers(owner: str, model: Any) -> None:
    """Raises `InvalidValueError` for a leaf that is no number, or a wrong sign of weights."""
    for path, x in jax.tree_util.tree_flatten_with_path(model)[0]:
        if np.asarray(x).dtype.kind not in "biuf" and not hasattr(x, "aval"):
            where = jax.tree_util.keystr(path, simple=True, separator=".")
            must = "a number or an array of numbers, or else declared as jn.static(...)"
            raise InvalidValueError(owner, where, must, repr(x))
    sign = getattr(model, "weight_sign", 0)
    if isinstance(sign, str) or sign not in (-1, 0, 1):
        must = "1 (weights of at least 0), -1 (at most 0) or 0 (both)"
        raise InvalidValueError(owner, "weight_sign", must, repr(sign))


def shapes(value: Any) -> str:
    """What a traced function returned, for messages: float32[2] for an array."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if hasattr(value, "_fields"):  # a named tuple
        parts = [f"{k}={shapes(x)}" for k, x in zip(value._fields, value) if x is not None]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple | list):
        inside = ", ".join([*map(shapes, value[:3]), *(["..."] if len(value) > 3 else [])])
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {shapes(x)}" for k, x in value.items()) + "}"
    return repr(value)
