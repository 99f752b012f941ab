"""The error for a state that turned NaN or infinite, which says where."""

import numpy as np

from ..network import Network, NetworkState, holders_at
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
    """Which population, neuron and variable are not finite first, in a sentence."""
    for name in net.order:
        for holder in holders_at(net, name):
            for variable, x in holder.numbers(state):
                values = np.asarray(x)
                bad = np.flatnonzero(~np.isfinite(values))
                if bad.size:
                    return (
                        f"{variable} of {holder.at_population()} is {values[bad[0]]} in "
                        f"{bad.size} neuron(s), the first is neuron {bad[0]}"
                    )
    return "a state variable is not finite"
