"""What changes in a group from step to step."""

from typing import Any, NamedTuple

import jax

from .._kernels import Released


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
    released: Released
