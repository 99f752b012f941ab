"""What changes in a network from step to step, and what a step returns."""

from typing import NamedTuple

import jax
import numpy as np

from jaxneuro._network._coupling_state import CouplingState
from jaxneuro._network._group_state import GroupState
from jaxneuro._network._html import html_of_state
from jaxneuro._network._modulator_state import ModulatorState
from jaxneuro._network._pathway_state import PathwayState

from .._arrays import is_traced
from .._text import megabytes


class NetworkState(NamedTuple):
    """Everything that changes from step to step.

    **Fields** `step` int32 (): steps done; `seed` uint32 (): the seed of the run;
    `groups`, `pathways`, `couplings` and `modulators` the states of those of the network, in their
    order; `fingerprint` uint32 (2,), that of the network.
    """

    step: jax.Array
    seed: jax.Array
    groups: tuple[GroupState, ...]
    pathways: tuple[PathwayState, ...]
    couplings: tuple[CouplingState, ...]
    modulators: tuple[ModulatorState, ...]
    fingerprint: jax.Array

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_state(self)

    def __repr__(self) -> str:
        step = "traced" if is_traced(self.step) else np.asarray(self.step).tolist()
        size = sum(x.nbytes for x in jax.tree.leaves(tuple(self)) if hasattr(x, "nbytes"))
        return f"NetworkState: after step {step}, {megabytes(size)}"


class Output(NamedTuple):
    """What one step returns.

    **Fields** `spikes` by population name, (n,); `bits` per group, packed spikes.
    """

    spikes: dict[str, jax.Array]
    bits: tuple[jax.Array, ...]
