"""Reads state variables by name."""

import functools
from typing import Any

import jax

from jaxneuro._network._layout import Layout
from jaxneuro._network._named import Shared, named, span_of, variable_holder
from jaxneuro._network._network_state import NetworkState
from jaxneuro._network._saved_state import state_of

from .._text import listed
from .._types import state_variables
from .._warn import warn


def value_of(net: Any, state: NetworkState, name: str, variable: str) -> jax.Array:
    """A state variable of a name, see `Network.read`."""
    state = state_of(net, state)
    if isinstance(net.layout, Layout):
        return _read_laid(net, state, name, variable)
    return _read(net, state, name, variable)


def shared_by(net: Any, state: NetworkState, name: str, variable: str) -> Shared | None:
    """Whose a variable is that one of several senders of a receptor or a release was asked for."""
    for holder in named(net, name).holders:
        if holder.shared and variable in state_variables(holder.state(state)):
            return holder.shared
    return None


def warn_of_sum(net: Any, state: NetworkState, name: str, variable: str) -> None:
    """Warns where a variable that is read by the name of one sender is that of several."""
    shared = shared_by(net, state, name, variable)
    if shared is not None:
        warn(
            f"{variable!r} of {name!r} is that of the {shared.kind} {shared.name!r}, in which "
            f"{listed(shared.senders)} act together: read it by this name"
        )


def _read(net: Any, state: NetworkState, name: str, variable: str) -> jax.Array:
    state = net.whole(state)
    holder = variable_holder(net, state, name, variable)
    return span_of(getattr(holder.state(state), variable), holder.neurons)


# Over a mesh, one program for what would else be one for each array.
_read_laid = functools.partial(jax.jit, static_argnums=(2, 3))(_read)
