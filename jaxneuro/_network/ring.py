"""The ring of a group: what arrives at its receptors in the time steps to come.

A receptor has one row of arrivals, or one for each of its ports: the inputs of the group. Those to
which projections or couplings lead are *fed*. Their inputs come first, and only these are in the
ring: what stimuli send arrives in the step itself.
A ring has a slot for every step until the longest delay has passed (`kernels.ring_slots`), and
slots are used again: what arrives at the end of step k is in slot k mod slots, at the places that
`kernels.ring_place` gives.

Arrivals may be counted in whole numbers, whose sums do not depend on the order of their terms: on a
GPU the atomic adds of a delivery come in any order, and with it the last bits of a sum of floats.
Such a ring of int32 holds arrivals in quanta: every product of release, gain and weight is rounded
to a whole number of them. The quantum of a receptor is the largest sum that can ever arrive at one
neuron in one step (every source spikes, all delays coincide), divided by 2^31: so nothing overflows
at any firing rate. What one synapse adds is wrong by at most half a quantum, beside the rounding of
its product, which is made in float32.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._kernels import Released, deliver, packed_bytes
from .._types import Synapse


def input_rows(receptors: Sequence[Synapse], fed: Sequence[bool]) -> list[slice]:
    """The rows of arrivals of each receptor: one, or one for each of its ports; fed ones first."""
    rows, end = [slice(0)] * len(receptors), 0
    for number in sorted(range(len(receptors)), key=lambda number: not fed[number]):
        start, end = end, end + max(len(receptors[number].ports), 1)
        rows[number] = slice(start, end)
    return rows


def count_fed(receptors: Sequence[Synapse], fed: Sequence[bool]) -> int:
    """How many rows of arrivals the ring has: those of fed receptors."""
    return sum(max(len(r.ports), 1) for r, fed in zip(receptors, fed) if fed)


def empty_ring(slots: int, inputs: int, n: int, dtype: Any) -> jax.Array:
    """A ring in which nothing arrives: (slots, places)."""
    return jnp.zeros((slots, inputs * n), dtype)


def arrivals(ring: jax.Array, step: jax.Array, inputs: int) -> jax.Array:
    """What arrives at the end of `step`: (inputs, n)."""
    slot = lax.rem(step, jnp.int32(ring.shape[0]))
    now = lax.dynamic_index_in_dim(ring, slot, 0, keepdims=False)
    return now.reshape(inputs, ring.shape[1] // max(inputs, 1))


# What rounding can add to the largest sum, 1/2 per synapse, stays below 2^25 for 2^26 of them.
_LARGEST = 2.0**31 - 2.0**25


class FixedPoint(eqx.Module):
    """The quanta in which a deterministic network counts arrivals.

    **Fields** `quanta` (inputs,) per group, in the unit of the receptor's weights; `built`
    (projections,) per pathway: the |weight gain| for which they were found, 1 where that is 0.

    **Source** Demmel and Nguyen (2015), doi:10.1109/TC.2014.2345391, on sums
    that do not depend on their order.
    """

    quanta: tuple[jax.Array, ...]
    built: tuple[jax.Array, ...]

    def now(self, pathways: tuple) -> "FixedPoint":
        """The quanta for the present weights and gains: larger where those have grown."""
        quanta = list(self.quanta)
        for p, built in zip(pathways, self.built):
            grown = jnp.maximum(jnp.abs(p.weight * p.gain) / built, 1)
            inputs = np.array(p.inputs, np.int32)
            most = jnp.ones_like(quanta[p.target]).at[inputs].max(grown)
            quanta[p.target] = jnp.maximum(quanta[p.target], self.quanta[p.target] * most)
        return eqx.tree_at(lambda f: f.quanta, self, tuple(quanta))

    def scale(self, scale: jax.Array, target: int, inputs: tuple[int, ...]) -> jax.Array:
        """A scale per projection in quanta of the input of group `target` that it reaches."""
        return scale / self.quanta[target][np.array(inputs, np.int32)]


def find_quanta(groups: tuple, pathways: tuple, dtype: Any) -> FixedPoint:
    """The quanta of every receptor: delivers all absolute weights once, from all sources."""
    most = [jnp.zeros((g.fed_inputs, g.n), dtype) for g in groups]
    built = []
    for p in pathways:
        scale = jnp.abs(p.weight * p.gain)
        built.append(jnp.where(scale == 0, 1, scale))
        slots, inputs = groups[p.target].slots, most[p.target].shape[0]
        ring = empty_ring(slots, inputs, groups[p.target].n, dtype)
        largest = _largest(p, built[-1], groups[p.source].n, ring)
        most[p.target] += largest.reshape(most[p.target].shape)
    quanta = (jnp.max(m, axis=1, initial=0) / np.asarray(_LARGEST, dtype) for m in most)
    return FixedPoint(tuple(jnp.where(q == 0, 1, q) for q in quanta), tuple(built))


@eqx.filter_jit
def _largest(pathway: Any, scale: jax.Array, n: int, ring: jax.Array) -> jax.Array:
    every = Released(jnp.full(packed_bytes(n), 255, jnp.uint8))
    ring = deliver(
        ring,
        every,
        jnp.int32(0),
        scale[pathway.table.block_projection],
        jnp.abs(pathway.weights),
        pathway.table,
        False,
    )
    return jnp.sum(ring, axis=0)
