"""What changes in a network from step to step, and what a step gives."""

from typing import NamedTuple

import jax
import numpy as np

from .._checks import is_traced
from .._text import megabytes


class NetworkState(NamedTuple):
    """Everything that changes from step to step.

    **Fields** `step` int32 (): steps done; `seed` uint32 (); per group `neurons`, `synapses`
    (per receptor), `stimuli`, `rings` (slots, receptors, n) of future arrivals; per pathway
    `release`; `released`: what the last step released, per group (spike bits, or float
    spikes with a surrogate) and per pathway with a release model of its own.

    **Source** the house's own: design section 3.
    """

    step: jax.Array
    seed: jax.Array
    neurons: tuple
    synapses: tuple
    stimuli: tuple
    rings: tuple
    release: tuple
    released: tuple[tuple, tuple]

    def __repr__(self) -> str:
        step = "traced" if is_traced(self.step) else np.asarray(self.step).tolist()
        size = sum(x.nbytes for x in jax.tree.leaves(tuple(self)) if hasattr(x, "nbytes"))
        return f"NetworkState: after step {step}, {megabytes(size)}"


class Output(NamedTuple):
    """What one step gives.

    **Fields** `spikes` by population name, (n,); `bits` per group, packed spikes.

    **Source** the house's own: design section 3.
    """

    spikes: dict[str, jax.Array]
    bits: tuple[jax.Array, ...]
