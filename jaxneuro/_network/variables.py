"""State variables by name: read, replaced, and what feeds them."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import spec
from .._arrays import as_array, is_traced
from .._checks import check_size
from .._fields import potentials
from .._text import listed
from .._types import state_variables
from .._units import check_start
from .._warn import warn
from ..synapses import Direct
from .layout import Layout
from .members import member, replaced
from .names import Holder, Shared, named, span_of, variable_holder
from .ring import input_rows
from .start_values import check_state_value
from .state import NetworkState, state_of


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


def with_values(net: Any, state: NetworkState, name: str, values: dict[str, Any]) -> NetworkState:
    """The state with other values of some variables; see `Network.with_values`."""
    label = named(net, name).label
    for variable, value in values.items():
        holder = variable_holder(net, state, name, variable)
        holder.check_own(label, variable)
        old = getattr(holder.state(state), variable)
        if holder.kind == "plasticity" or not jnp.issubdtype(old.dtype, jnp.floating):
            raise ValueError(
                f"{label}: {variable!r} cannot be set, it is no number of a neuron, a receptor, a "
                "release, a stimulus or a modulator. Weights are set by net.with_weights"
            )
        n = len(range(old.shape[0])[holder.neurons])
        if np.shape(value) not in ((), (n,)):
            raise ValueError(
                f"{label}: {variable} must be one number or of shape ({n},); got {np.shape(value)}"
            )
        check_size(f"{label}: {variable}", value)
        if holder.kind == "population":
            known = potentials(holder.model(net))
            check_start(label, variable, known, variable, value)
        if holder.kind in ("receptor", "release"):
            mine = member(holder.model(net), holder.sizes, holder.member)
            spec.defer(check_state_value, f"{label}: {variable}", mine, variable, value)
            check_state_value(f"{label}: {variable}", mine, variable, value)
        value = jnp.asarray(value, old.dtype) if is_traced(value) else as_array(value, old.dtype)
        new = replaced(old, holder.neurons, value)
        state = eqx.tree_at(lambda s: getattr(holder.state(s), variable), state, new)  # noqa: B023
    return state


def arriving(net: Any, population: str) -> set[tuple[int, int]]:
    """Receptor and row of arrivals of all that is sent to a population."""
    number = net.population(population)[0]
    group = net.groups[number]
    sent = [x for p in net.pathways if p.target == number for x in p.members]
    sent += [c.span for c in net.couplings if c.release is not None]
    found = {(x.receptor, x.input) for x in sent if x.target == population}
    return found | {
        (s.receptor, s.input)
        for s in group.stimuli
        if s.receptor is not None
        and any(group.populations[t.population] == population for t in s.targets)
    }


def unfed(net: Any, name: str) -> dict[str, str]:
    """The variables of a name that only a port fills to which nothing leads: what would feed it."""
    out: dict[str, str] = {}
    for holder in named(net, name).holders:
        fills = getattr(holder.model(net), "port_fills", {})
        fed = _fed_ports(net, holder) if fills else ()
        for port in (port for port in fills if port not in fed):
            synapse = f"jn.synapses.Direct({port!r})"
            if holder.kind == "receptor":
                synapse = f"jn.synapses.Into({type(holder.model(net)).__name__}(...), {port!r})"
            out |= dict.fromkeys(fills[port], synapse)
    return out


def _fed_ports(net: Any, holder: Holder) -> set[str]:
    """The ports of a neuron or of a receptor, at one population, to which something leads."""
    receptors, fed = (getattr(net.groups[holder.path[1]], k) for k in ("receptors", "fed"))
    sent = arriving(net, holder.population)
    if holder.kind == "population":
        return {receptors[k].port for k, _ in sent if isinstance(receptors[k], Direct)}
    mine: Any = holder.path[3]
    first = input_rows(receptors, fed)[mine].start
    return {receptors[mine].ports[row - first] for k, row in sent if k == mine}
