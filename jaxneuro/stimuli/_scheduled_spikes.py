"""Spikes at given time steps: `build` turns spike times into this."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._arrays import as_array
from .._fields import static, table
from .._types import SpikeStimulus

_NEVER = 2**31 - 1  # the step of entries that are never reached


class ScheduledSpikesState(NamedTuple):
    """Position of the run in the list of spikes.

    **Fields** `next` int32 (): the first entry that is not over.
    """

    next: jax.Array


class ScheduledSpikes(SpikeStimulus):
    """Spikes at given time steps: what `prepare` makes of `SpikeTimes` and `PulsePackets`.

    A step reads `most` entries, however long the list is.

    **Fields** `steps` int32 (m,) ascending, the step at whose end each spike arrives; `neurons`
    int32 (m,), or None for all neurons; `counts` (m,): the number of spikes of an entry; `n`
    neurons; `most` the largest number of entries of one step. The last `most` entries are padding
    and are never reached.

    **Step** returns the counts, (n,). The steps of a run must be consecutive.
    """

    steps: Any = table()
    neurons: Any = table(converter=lambda x: x)
    counts: Any = table()
    n: int = static()
    most: int = static()

    def init(self, n: int, stream: Any) -> ScheduledSpikesState:
        return ScheduledSpikesState(jnp.zeros((), jnp.int32))

    def step(
        self, state: ScheduledSpikesState, step: jax.Array, dt: float
    ) -> tuple[ScheduledSpikesState, jax.Array]:
        def window(x: Any) -> jax.Array:
            return lax.dynamic_slice(jnp.asarray(x), (state.next,), (self.most,))

        step = jnp.asarray(step).astype(jnp.int32)
        steps, entries = window(self.steps), window(self.counts)
        entries = jnp.where(steps == step, entries, jnp.zeros_like(entries))
        after = state.next + (steps <= step).sum(dtype=jnp.int32)
        if self.neurons is None:
            return ScheduledSpikesState(after), jnp.broadcast_to(entries.sum(), (self.n,))
        counts = jnp.zeros(self.n, entries.dtype).at[window(self.neurons)].add(entries)
        return ScheduledSpikesState(after), counts


def schedule(steps: np.ndarray, neurons: np.ndarray | None, n: int) -> ScheduledSpikes:
    """The stimulus for spikes in any order; spikes of one step and neuron become one entry."""
    keys = steps if neurons is None else steps * n + neurons
    keys, counts = np.unique(keys.astype(np.int64), return_counts=True)
    size = 1 if neurons is None else max(n, 1)
    steps = keys // size
    most = max(int(np.unique(steps, return_counts=True)[1].max(initial=1)), 1)
    counts = np.append(counts, np.zeros(most)).astype(jnp.result_type(float))
    targets = None
    if neurons is not None:
        targets = as_array(np.append(keys % size, np.zeros(most)).astype(np.int32))
    steps = np.append(steps, np.full(most, _NEVER)).astype(np.int32)
    return ScheduledSpikes(as_array(steps), targets, as_array(counts), n, most)
