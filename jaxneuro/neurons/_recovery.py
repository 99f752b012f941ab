"""The state of neurons with a voltage and a recovery variable. Izhikevich (2003)."""

from typing import NamedTuple

import jax

# Where 0.04 v^2 + 5 v is least [mV]: what passes it goes up by itself.
SLOWEST = -62.5


class IzhikevichState(NamedTuple):
    """State of n Izhikevich neurons, plain or leaky.

    **Fields** `v` [mV] and `u` [1] (n,): voltage and recovery; after a spike their values
    *before* the reset; `spikes` bool (n,): which spiked in the last step.

    **Source** Izhikevich (2003), doi:10.1109/TNN.2003.820440.
    """

    v: jax.Array
    u: jax.Array
    spikes: jax.Array
