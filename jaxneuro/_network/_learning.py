"""Plastic weights as a user reads and sets them, for the methods of `Network`."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro._network._named import projection
from jaxneuro._network._network_state import NetworkState
from jaxneuro._network._plastic_state import SYNAPTIC, PlasticState
from jaxneuro._network._saved_state import state_of
from jaxneuro._network._sharded_network import each_device

from .. import spec
from .._arrays import as_array, is_traced
from .._checks import check_size
from ..spec import check_known


def plastic_pathway(net: Any, name: str) -> int:
    """The number of the pathway of a plastic projection, or `ValueError`."""
    number, _ = projection(net, name)
    if net.pathways[number].plastic is None:
        known = [p.plastic.name for p in net.pathways if p.plastic is not None]
        raise ValueError(
            f"projection {name!r} must be plastic (Projection(..., plasticity=...)); its weights "
            f"do not change. Plastic are: {', '.join(map(repr, known)) or 'none'}"
        )
    return number


def weights_now(net: Any, state: NetworkState, name: str, variable: str = "weight") -> jax.Array:
    """See `Network.weights`."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    known = ("weight", *net.pathways[number].plastic.programs.names.variables)
    check_known(f"variable of the synapses of {name!r}", variable, known)
    return _weights_now(net, state, number, known.index(variable))


@functools.partial(jax.jit, static_argnums=(2, 3))
def _weights_now(net: Any, state: NetworkState, number: int, which: int) -> jax.Array:
    synapses = _settled(net, state, number).synapses
    if which:
        found = synapses.variables[..., which - 1, :]
    else:
        # What a rule integrates between events may have passed a bound; the next event brings it
        # back.
        found = _within(net, number, synapses.weights)
    return found if net.layout is None else net.layout.synapses_whole(number, found)


def _within(net: Any, number: int, weights: jax.Array) -> jax.Array:
    """Weights brought into the bounds of the rule of a pathway."""
    low, high = net.pathways[number].plastic.rule.bounds()
    weights = weights if low is None else jnp.maximum(weights, low)
    return weights if high is None else jnp.minimum(weights, high)


def with_learning(net: Any, state: NetworkState, name: str, learning: bool) -> NetworkState:
    """The state in which weights change or rest; see `Network.freeze`."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    settled = _settled(net, state, number)
    # Weights that rest are delivered as they are: an event would have brought them into bounds.
    synapses = settled.synapses
    synapses = synapses._replace(weights=_within(net, number, synapses.weights))
    learns = as_array(learning, np.int32)
    return _replaced(state, number, settled._replace(synapses=synapses, learning=learns))


def with_weights(net: Any, state: NetworkState, name: str, values: Any) -> NetworkState:
    """The state with other weights; see `Network.with_weights`."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    settled = _settled(net, state, number)
    old = settled.synapses.weights
    shape = (net.synapses_of(number),)
    if np.shape(values) not in ((), shape):
        raise ValueError(
            f"projection {name!r}: weights must be one number or one per connection, in the order "
            f"of net.connections({name!r}), shape {shape}; got {np.shape(values)}"
        )
    check_size(f"projection {name!r}: weights", values)
    rule = net.pathways[number].plastic.rule
    spec.defer(check_within, f"projection {name!r}: weights", rule, values)
    check_within(f"projection {name!r}: weights", rule, values)
    new = _within(net, number, jnp.broadcast_to(jnp.asarray(values, old.dtype), shape))
    if net.layout is not None:
        new = net.layout.synapses_split(number, new, old)
    synapses = settled.synapses._replace(weights=new)
    return _replaced(state, number, settled._replace(synapses=synapses))


def check_within(what: str, rule: Any, values: Any) -> None:
    """Raises `ValueError` for known weights outside the bounds of a rule."""
    if any(is_traced(x) for x in (values, *jax.tree.leaves(rule))) or not np.size(values):
        return
    low, high = rule.limits()
    low, high = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    least, most = float(np.min(values)), float(np.max(values))
    # Weights and bounds are stored in the precision of the network.
    slack = 1e-6 * max(abs(x) for x in (low, high, 0.0) if np.isfinite(x))
    if not (low - slack <= least and most <= high + slack):
        raise ValueError(
            f"{what} must be within the bounds of {type(rule).__name__}, {low:g} to {high:g}; got "
            f"{least:g} to {most:g}. An inhibitory projection onto currents has positive weights "
            "and gain=-1"
        )


@functools.partial(jax.jit, static_argnums=2)
def _settled(net: Any, state: NetworkState, number: int) -> PlasticState:
    """The state of a plastic pathway with all rows as they are after what has been delivered."""
    pathway, mine = net.pathways[number], state.pathways[number].plastic
    # Step k delivers what step k - 1 released: after k steps k - 2 was the last one.
    last = jnp.maximum(state.step - 2, -1)
    assert mine is not None
    settled = pathway.plastic.spread().settled
    if mine.synapses.weights.ndim == 1:
        return settled(mine, last, pathway.table)
    own, rest = tuple(mine[:SYNAPTIC]), tuple(mine[SYNAPTIC:])

    def here(own: tuple, table: Any, rest: tuple, last: jax.Array) -> tuple:
        return tuple(settled(PlasticState(*own, *rest), last, table)[:SYNAPTIC])

    new = each_device(net.layout, here, own, pathway.table, shared=(rest, last))
    return PlasticState(*new, *rest)


def settled(net: Any, state: NetworkState, name: str) -> NetworkState:
    """The state with the rows of a plastic projection brought up to date."""
    number = plastic_pathway(net, name)
    state = state_of(net, state)
    return _replaced(state, number, _settled(net, state, number))


def _replaced(state: NetworkState, number: int, plastic: PlasticState) -> NetworkState:
    pathways = list(state.pathways)
    pathways[number] = pathways[number]._replace(plastic=plastic)
    return state._replace(pathways=tuple(pathways))
