"""A projection that connects all to all as a matrix product.

Its weights stay in the table, which is what is read, set, saved and laid over devices. A loop gets
the matrix of scale times weight, made once before it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from .._arrays import AnyArray
from .._kernels.clock import Clock
from .._kernels.deliver_reference import clear_slot
from .._kernels.spike_output import SpikeOutput
from .._kernels.table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, REDRAWN, Section, Table


class Dense(NamedTuple):
    """Which sources reach which places, all after one delay.

    Attributes:
        first_source, sources: in the source group.
        first_place, targets: in a slot of the ring of the target group.
        delay: [steps].
        individual: whether each synapse has a weight: row by row, a source each.
        given: the population whose spikes are known before a loop, as inputs of the run, or None.
    """

    first_source: int
    sources: int
    first_place: int
    targets: int
    delay: int
    individual: bool
    given: str | None

    @classmethod
    def of(cls, table: Table, given: str | None) -> "Dense | None":
        """The form of a table of one projection, None if it is no matrix with one delay."""
        if len(table.sections) != 1 or len(table.block_span) != 1:
            return None
        section, targets = Section.read(np.asarray(table.sections)[0]), np.asarray(table.targets)
        n = targets.size // max(section.rows, 1)
        if section.flags & (HAS_DELAYS | HAS_TAGS | REDRAWN) or targets.size != section.rows * n:
            return None
        first = int(targets[0]) if n else 0
        if not n or not (targets.reshape(-1, n) == first + np.arange(n)).all():
            return None
        place, delay = (int(np.asarray(x)[0]) for x in (table.block_offset, table.block_delay))
        own = section.flags & HAS_WEIGHTS != 0
        return cls(section.first_row, section.rows, place + first, n, delay, own, given)

    def matrix(
        self, scale: Float[AnyArray, "1"], weights: Float[AnyArray, " weights"]
    ) -> Float[Array, "sources targets"]:
        """Scale times weight."""
        shape = self.sources, self.targets
        if not self.individual:
            return jnp.broadcast_to(scale, shape)
        own = weights[: self.sources * self.targets]  # `simulate` makes arrays longer
        return jnp.asarray(scale) * own.astype(scale.dtype).reshape(shape)

    def released_by(self, released: SpikeOutput, dtype: np.dtype) -> Float[Array, " sources"]:
        """The numbers that its sources released."""
        return released.dense(dtype)[self.first_source : self.first_source + self.sources]

    def deliver(
        self,
        ring: Float[Array, "slots places"],
        released: SpikeOutput,
        step: Clock,
        matrix: Float[Array, "sources targets"],
        clear: bool,
    ) -> Float[Array, "slots places"]:
        """`deliver` of what was released in `step`."""
        if clear:
            ring = clear_slot(ring, step.now)
        new = _product(self.released_by(released, ring.dtype), matrix)
        if ring.shape == (1, self.targets):
            return ring + new
        slot = lax.rem(step.now + jnp.int32(self.delay), jnp.int32(ring.shape[0]))
        row = lax.dynamic_index_in_dim(ring, slot, 0, keepdims=False)
        row = row.at[self.first_place : self.first_place + self.targets].add(new)
        return lax.dynamic_update_index_in_dim(ring, row, slot, 0)

    def arrivals(
        self,
        released: Float[Array, "steps sources"],
        matrix: Float[Array, "sources targets"],
        slots: int,
        places: int,
    ) -> Float[Array, "slots places"]:
        """The arrivals of the spikes of some steps: of step k in slot `k + delay - 1`."""
        # Before the product, which moves fewer numbers where each has many targets.
        first = self.delay - 1
        released = jnp.pad(released, ((first, slots - first - released.shape[0]), (0, 0)))
        left = places - self.first_place - self.targets
        return jnp.pad(_product(released, matrix), ((0, 0), (self.first_place, left)))


def _product(x: jax.Array, matrix: jax.Array) -> jax.Array:
    # A GPU would round float32 to 10 bits.
    return jnp.matmul(x, matrix, precision=lax.Precision.HIGHEST)
