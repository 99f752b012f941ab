"""What changes in a projection whose weights are plastic."""

from typing import Any, NamedTuple

import jax

from .._kernels import EventLog, PlasticSynapses, Released

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
    in_flight: Released | None
    signals: dict[str, jax.Array]
    learning: jax.Array
