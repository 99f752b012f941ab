"""What the sources of a pathway released in a time step."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ._pack import pack


class Released(NamedTuple):
    """Which sources released something, and how much.

    **Fields** `bits` uint8, one bit per source, from `pack`; `values` floating (sources,), 0 where
    the bit is not set, or None where everybody who released something released 1 (a spike).
    """

    bits: jax.Array
    values: jax.Array | None = None

    @classmethod
    def of_spikes(cls, spikes: jax.Array) -> "Released":
        """Spikes (n,): boolean, or floating where gradients go through them."""
        if spikes.dtype == bool:
            return cls(pack(spikes))
        return cls(pack(spikes > 0), spikes)

    @classmethod
    def of_values(cls, values: jax.Array) -> "Released":
        """Any numbers (n,); 0 releases nothing."""
        return cls(pack(values != 0), values)

    def dense(self, dtype: Any) -> jax.Array:
        """How much every source released: (sources,), or longer by the padding of the bits."""
        if self.values is None:
            return jnp.unpackbits(self.bits, bitorder="little").astype(dtype)
        return self.values.astype(dtype)
