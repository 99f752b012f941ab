"""The error for a state that turned NaN or infinite, which says where."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._network import Network, NetworkState, holders_at
from .._text import counted
from ._result import Result


class NonFiniteError(ValueError):
    """A state turned NaN or infinite; `result` holds what was recorded until then.

    **Fields** `result`: the `Result` up to the end of the chunk in which it happened.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


def describe_non_finite(net: Network, state: NetworkState) -> str:
    """What is not finite, where first, in a sentence.

    Weights come first: a neuron that gets one that is not finite is not finite either.
    """
    for pathway, mine in zip(net.pathways, state.pathways):
        found = _in_synapses(pathway.plastic, mine.plastic)
        if found is not None:
            return found
    whole = net.whole(state)
    for name in net.order:
        for holder in holders_at(net, name):
            for variable, x in holder.numbers(whole):
                values = np.asarray(x)
                bad = np.flatnonzero(~np.isfinite(values))
                if bad.size:
                    return (
                        f"{variable} of {holder.at_population()} is {values[bad[0]]} in "
                        f"{bad.size} neuron(s), the first is neuron {bad[0]}"
                    )
    return "a state variable is not finite"


def explicit_methods(net: Network, state: NetworkState) -> str:
    """What helps neurons that are not finite, of a model whose method is not stable at any dt."""
    for group, mine in zip(net.groups, net.whole(state).groups):
        method = getattr(group.model, "method", None)
        bad = any(not np.isfinite(x).all() for x in jax.tree.leaves(mine.neurons) if _is_float(x))
        if bad and getattr(method, "reach", None) is not None:
            name, kind = type(group.model).__name__, type(method).__name__
            return (
                f". {name} moves by {kind}, which may need a dt below {net.dt:g} ms in spikes: "
                "half of it, or method=jn.integrators.exponential_euler, which is stable at any dt"
            )
    return ""


def _is_float(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.floating)


def _in_synapses(plastic: Any, state: Any) -> str | None:
    """Which number of a rule's synapses is not finite, None if all are."""
    if plastic is None:
        return None
    rows = (state.synapses.weights, *state.synapses.variables)
    for variable, x in zip(("weight", *plastic.rule.variables()), rows):
        values = np.asarray(x)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return (
                f"{variable} of projection {plastic.name!r} is {values[bad[0]]} in "
                f"{counted(bad.size, 'synapse')}, the first is synapse {bad[0]}"
            )
    for variable, x in state.shared.items():
        if not np.isfinite(x).all():
            return f"{variable} of the plasticity of projection {plastic.name!r} is not finite"
    return None
