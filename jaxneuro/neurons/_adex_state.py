"""The state of an exponential neuron that adapts. Brette and Gerstner (2005)."""

from typing import NamedTuple

import jax


class AdExState(NamedTuple):
    """State of n AdEx neurons.

    **Fields** `v` [mV], `w` [pA] (n,): membrane potential and adaptation, after the reset;
    `spikes` bool (n,): which spiked in the last step; `refractory` uint16 (n,): steps left.

    **Source** Brette and Gerstner (2005), doi:10.1152/jn.00686.2005.
    """

    v: jax.Array
    w: jax.Array
    spikes: jax.Array
    refractory: jax.Array
