"""Sets state variables by name, for `Network.with_values`."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from jaxneuro._network._members import member, replaced
from jaxneuro._network._named import named, variable_holder
from jaxneuro._network._network_state import NetworkState
from jaxneuro._network._state_bounds import check_state_value

from .. import spec
from .._arrays import as_array, is_traced
from .._checks import check_size
from .._fields import potentials
from .._units import check_start


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
