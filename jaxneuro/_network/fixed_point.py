"""Arrivals in whole numbers: sums that do not depend on the order of their terms.

On a GPU the atomic adds of a delivery come in any order, and with it the last bits of a sum of
floats. Integers have no such bits. A ring of int32 holds arrivals in quanta: every product
of release, gain and weight is rounded to a whole number of them. The quantum of a receptor is
the largest sum that can ever arrive at one neuron in one step (every source spikes, all delays
coincide), divided by 2^31 - 2^25: so nothing overflows at any firing rate. What one synapse adds is
wrong by at most half a quantum, beside the rounding of its product, which is made in float32.
"""

from typing import TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._kernels.bits import packed_bytes
from .._kernels.deliver import deliver
from .._kernels.spike_output import SpikeOutput
from .group import Group, empty_ring

if TYPE_CHECKING:
    from .pathway import Pathway

# What rounding can add to the largest sum, 1/2 per synapse, is 2^25 for 2^26 of them.
_LARGEST = 2.0**31 - 2.0**25


class FixedPoint(eqx.Module):
    """The quanta in which a deterministic network counts arrivals.

    Attributes:
        quanta: (inputs,) per group, in the unit of the receptor's weights.
        built: (projections,) per pathway, the |weight gain| for which they were found; 1 where it
            is 0.

    Reference:
        Demmel and Nguyen (2015), Parallel reproducible summation, doi:10.1109/TC.2014.2345391, on
        sums that do not depend on their order.
    """

    quanta: tuple[Float[Array, " _"], ...]
    built: tuple[Float[Array, " _"], ...]

    def now(self, pathways: tuple["Pathway", ...]) -> "FixedPoint":
        """The quanta for the present weights and gains: larger where those have grown."""
        quanta = list(self.quanta)
        for p, built in zip(pathways, self.built):
            grown = jnp.maximum(jnp.abs(p.weight * p.gain) / built, 1)
            inputs = np.array(p.inputs, np.int32)
            most = jnp.ones_like(quanta[p.target]).at[inputs].max(grown)
            quanta[p.target] = jnp.maximum(quanta[p.target], self.quanta[p.target] * most)
        return eqx.tree_at(lambda f: f.quanta, self, tuple(quanta))

    def scale(
        self, scale: Float[Array, " projections"], target: int, inputs: tuple[int, ...]
    ) -> Float[Array, " projections"]:
        """A scale per projection in quanta of the input of group `target` that it reaches."""
        return scale / self.quanta[target][np.array(inputs, np.int32)]


def find_quanta(
    groups: tuple[Group, ...], pathways: tuple["Pathway", ...], dtype: np.dtype
) -> FixedPoint:
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
def _largest(
    pathway: "Pathway",
    scale: Float[Array, " projections"],
    n: int,
    ring: Float[Array, "slots places"],
) -> Float[Array, " places"]:
    every = SpikeOutput(jnp.full(packed_bytes(n), 255, jnp.uint8))
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
