"""Replaces parameters of one member of a merged model, checked as when made."""

from typing import Any

import jax
import numpy as np

from jaxneuro._network._members import member, replace_member
from jaxneuro._network._named import Holder

from .._fields import check_lengths, inner, named_parameters, with_numbers
from .._numerics import check_grid, check_stable, stream_key
from .._types import Neuron, Plasticity, Stimulus
from ..stimuli import Signal


def _or_each(shapes: tuple) -> str:
    """That an array may be given, too, for messages."""
    return f" or of shape {shapes[1]}" if len(shapes) > 1 else ""


def with_parameters(label: str, holder: Holder, net: Any, values: dict[str, Any]) -> Any:
    """A merged model with parameters of one member replaced, checked as when made."""
    model, sizes, index = holder.model(net), holder.sizes, holder.member
    for key, value in values.items():
        # Whole models are checked below.
        allowed = ((),) if isinstance(model, Plasticity) else ((), (sizes[index],))
        if key not in inner(model) and np.shape(value) not in allowed:
            raise ValueError(
                f"{label}: {key} must be one number{_or_each(allowed)}; got shape {np.shape(value)}"
            )
    old, key = member(model, sizes, index), stream_key(0, label, "stimulus")
    ready = {  # as build leaves them: times as whole steps
        name: x.prepare(f"{label}: {name}", sizes[index], net.dt, key)
        if isinstance(x, Signal)
        else x
        for name, x in values.items()
    }
    known = named_parameters(old)
    try:
        new = with_numbers(old, {known[k][0] if k in known else (k,): x for k, x in ready.items()})
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    if jax.tree.structure(new) != jax.tree.structure(old):
        raise ValueError(
            f"{label}: {', '.join(values)} must stay of its kind: a number (or one per neuron) "
            "where it was a number, a whole signal of the same class where it was a signal, "
            "amplitude=Sinusoid(10.0, 2.0, 8.0). Build another network for another kind"
        )
    check_lengths(label, new, sizes[index], label)
    check_grid(label, new, net.dt)
    if isinstance(new, Neuron):
        check_stable(label, new, net.dt)
    if isinstance(new, Stimulus):  # what build checks is checked for new values too
        new.prepare(label, sizes[index], net.dt, key)
    return replace_member(model, sizes, index, new)
