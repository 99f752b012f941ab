"""What changes in a group from step to step.

What changes in a projection whose weights are plastic.

What changes in a pathway from step to step.

What changes in a coupling from step to step.

What changes in a modulator from step to step.

What changes in a network from step to step, and what a step returns.
"""

from typing import Any, NamedTuple

import jax
import numpy as np

from .._arrays import is_traced
from .._kernels.event_log import EventLog
from .._kernels.learn import PlasticSynapses
from .._kernels.spike_output import SpikeOutput
from .._text import megabytes
from .html import html_of_state


class GroupState(NamedTuple):
    """The state of a group.

    **Fields** `neurons` that of the neuron model; `receptors` and `stimuli` those of each of them;
    `ring` (slots, places) arrivals of the steps to come, see `_ring.py`; `released` the spikes of
    the last step, which the next step delivers.
    """

    neurons: Any
    receptors: tuple
    stimuli: tuple
    ring: jax.Array
    released: SpikeOutput


# The fields of `PlasticState` of synapses and targets, which a device of a mesh has of its own.
SYNAPTIC = 4


class PlasticState(NamedTuple):
    """The state of a rule at a projection.

    **Fields** `synapses` weights and more (see `kernels.PlasticSynapses`); `log` postsynaptic
    events that not all synapses have seen; `targets` what `step_post` of the rule keeps;
    `target_ring` (slots, rows, targets) its numbers in the last steps; `shared` what `step_shared`
    keeps, `shared_ring` (slots, rows) its numbers in the last steps; `in_flight` what was
    released in the last steps and has not reached the synapses, None without an axonal delay;
    `signals` named inputs of the last step; `learning` int32 (): 1, or 0 while weights are frozen.
    """

    synapses: PlasticSynapses
    log: EventLog
    targets: Any
    target_ring: jax.Array
    shared: dict[str, jax.Array]
    shared_ring: jax.Array
    in_flight: SpikeOutput | None
    signals: dict[str, jax.Array]
    learning: jax.Array


class PathwayState(NamedTuple):
    """The state of a pathway.

    **Fields** `release` that of the release model; `released` what it released in the last step,
    None if that is the spikes of the source group; `plastic` that of a rule by which weights
    change, None if they do not.
    """

    release: Any
    released: SpikeOutput | None
    plastic: PlasticState | None = None


class CouplingState(NamedTuple):
    """The state of a coupling.

    **Fields** `release` that of its release model; `values` what that released in the last step,
    (n,). Both are None for gap junctions.
    """

    release: Any = None
    values: jax.Array | None = None


class ModulatorState(NamedTuple):
    """The state of a modulator.

    **Fields** `level` (1,).
    """

    level: jax.Array


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
