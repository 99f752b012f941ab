"""What the sources of a pathway set free in a time step."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt8

from .._arrays import AnyArray
from .bits import pack

_NO_VALUES = (0,)


class SpikeOutput(NamedTuple):
    """Which sources released something, and how much.

    Attributes:
        bits: uint8, one bit per source, from `pack`.
        values: floating (sources,), 0 where the bit is not set, or None if every source that
            released something released 1 (a spike).
        counted: uint8, one bit per source whose value has a derivative, None if all may have one.
    """

    bits: UInt8[Array, "*steps bytes"]
    values: Float[Array, "*steps sources"] | None = None
    counted: UInt8[Array, "*steps bytes"] | None = None

    @classmethod
    def of_spikes(cls, spikes: AnyArray, counted: AnyArray | None = None) -> "SpikeOutput":
        """Spikes (n,): boolean, or floating where gradients go through those that are `counted`."""
        if spikes.dtype == bool:
            return cls(pack(spikes))
        own = None if counted is None else pack(counted)
        return cls(pack(spikes > 0), jnp.asarray(spikes), own)

    @classmethod
    def of_values(cls, values: AnyArray) -> "SpikeOutput":
        """Any numbers (n,); 0 releases nothing."""
        return cls(pack(values != 0), jnp.asarray(values))

    def made_of(self, spikes: "SpikeOutput") -> "SpikeOutput":
        """With a derivative only where one of these spikes is, or has one."""
        if spikes.values is None:
            return self._replace(counted=self.bits)
        return self if spikes.counted is None else self._replace(counted=spikes.counted | self.bits)

    def slopes(self) -> Any:
        """One bit per source whose value may have a derivative, uint8 (bytes,)."""
        assert self.values is not None
        return pack(jnp.ones(self.values.shape, bool)) if self.counted is None else self.counted

    @classmethod
    def of_operands(cls, bits: jax.Array, values: jax.Array) -> "SpikeOutput":
        """From what `operands` gives."""
        return cls(bits, values if values.shape != _NO_VALUES else None)

    def operands(self, dtype: Any) -> tuple[Any, Any]:
        """Bits and values as two arrays; the values are empty where the bits say all."""
        return self.bits, jnp.zeros(_NO_VALUES, dtype) if self.values is None else self.values

    def dense(self, dtype: Any) -> jax.Array:
        """How much every source released: (sources,), or longer by the padding of the bits."""
        if self.values is None:
            return jnp.unpackbits(self.bits, bitorder="little").astype(dtype)
        return self.values.astype(dtype)

    def dense_in_steps(self, n: int) -> jax.Array:
        """In each of some steps, of the first n sources: (steps, n), spikes as booleans."""
        if self.values is None:
            return jnp.unpackbits(self.bits, axis=-1, bitorder="little")[:, :n] != 0
        return self.values
