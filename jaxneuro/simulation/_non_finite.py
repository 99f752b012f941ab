"""What happens when a state turns NaN or infinite: an error that says where."""

from typing import Any

import numpy as np

from .._types import state_variables
from ..network import Network, NetworkState
from ._result import Result


class NonFiniteError(ValueError):
    """A state turned NaN or infinite; `result` holds what was recorded until then.

    **Fields** `result`: the `Result` up to the end of the chunk in which it happened.

    **Source** the house's own: design section 3.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


def describe_non_finite(net: Network, state: NetworkState) -> str:
    """Which population, neuron and variable are not finite first, in a sentence."""
    for name in net.order:
        number, span = net.population(name)
        holders = [("", state.neurons[number])]
        for receptor, synapses in enumerate(state.synapses[number]):
            holders.append((_receptor_label(net, name, receptor), synapses))
        for label, holder in holders:
            for variable, x in _variables(holder):
                bad = np.flatnonzero(~np.isfinite(np.asarray(x)[span]))
                if bad.size:
                    value = np.asarray(x)[span][bad[0]]
                    return (
                        f"{variable}{label} of population {name!r} is {value} "
                        f"in {bad.size} neuron(s), the first is neuron {bad[0]}"
                    )
    return "a state variable is not finite"


def _receptor_label(net: Network, population: str, receptor: int) -> str:
    """Names a receptor by the first projections or stimulations that use it there."""
    number, _ = net.population(population)
    group = net.groups[number]
    names = [
        projection
        for p in net.pathways
        for projection, target, r in zip(p.projections, p.targets, p.receptors)
        if p.target == number and r == receptor and target == population
    ]
    for s in group.stimuli:
        if s.receptor == receptor:
            names += [n for n, m in zip(s.names, s.members) if group.populations[m] == population]
    if not names:
        return f" of receptor {receptor}"
    more = ", ..." if len(names) > 2 else ""
    return f" of the receptor of {', '.join(map(repr, names[:2]))}{more}"


def _variables(holder: Any) -> list[tuple[str, Any]]:
    pairs = [(name, getattr(holder, name)) for name in state_variables(holder)]
    return [(k, x) for k, x in pairs if np.issubdtype(np.asarray(x).dtype, np.floating)]
