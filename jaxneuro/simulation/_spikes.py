"""Recorded spikes: packed bits, and what a person wants to see of them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import unknown


class SpikeBits(eqx.Module):
    """Spikes of a `scan` as packed bits: one bit per neuron and step.

    **Fields** `bits` per group uint8 `(steps, bytes)`, `first_step` int32 (): the number of
    the first step; static `dt` [ms] and `populations`: name, group and slice.

    **Source** the house's own: design section 3.
    """

    bits: tuple[jax.Array, ...]
    first_step: jax.Array
    dt: float = eqx.field(static=True)
    populations: tuple[tuple[str, int, int, int], ...] = eqx.field(static=True)

    def events(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Spike times [ms] and neuron indices of a population, in order of time.

        A spike of step k has the time (k + 1) dt, the end of its step.
        """
        group, start, stop = self._find(name)
        steps, neurons = set_bits(np.asarray(self.bits[group]), start, stop)
        return (steps + int(self.first_step) + 1) * self.dt, neurons

    def dense(self, name: str) -> jax.Array:
        """Spikes of a population as booleans `(steps, n)`."""
        group, start, stop = self._find(name)
        return jnp.unpackbits(self.bits[group], axis=-1, bitorder="little")[..., start:stop].astype(
            bool
        )

    def counts(self, name: str) -> jax.Array:
        """Number of spikes of a population in each step, int32 `(steps,)`."""
        group, start, stop = self._find(name)
        return count_bits(self.bits[group], start, stop)

    def _find(self, name: str) -> tuple[int, int, int]:
        for known, *place in self.populations:
            if known == name:
                return place[0], place[1], place[2]
        raise unknown("population", name, [p[0] for p in self.populations])


def set_bits(bits: np.ndarray, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and neuron (from `start`) of every set bit of neurons `start ... stop`.

    Looks at whole 64-bit words first: most are 0.
    """
    if bits.ndim != 2:
        raise ValueError(f"spikes must be of one network, bits (steps, bytes); got {bits.shape}")
    first, last = start // 64, -(-stop // 64)
    words = np.ascontiguousarray(bits).view(np.uint64)[:, first:last]
    if words.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = np.flatnonzero(words != 0)
    bit = np.flatnonzero(
        np.unpackbits(words.reshape(-1)[found].view(np.uint8), bitorder="little").view(bool)
    )
    at = found[bit >> 6]
    row = at // words.shape[1]
    neuron = (at - row * words.shape[1] + first) * 64 + (bit & 63)
    if start == first * 64 and stop >= min(last * 64, bits.shape[1] * 8):
        return row, neuron - start
    inside = (neuron >= start) & (neuron < stop)
    return row[inside], neuron[inside] - start


def count_bits(bits: jax.Array, start: int, stop: int) -> jax.Array:
    """Set bits of neurons `start ... stop` of each row `(..., bytes)`, int32 `(...)`."""
    mask = np.zeros(bits.shape[-1] * 8, np.uint8)
    mask[start:stop] = 1
    first, last = start // 8, -(-stop // 8)
    packed = np.packbits(mask, bitorder="little")[first:last]
    ones = jax.lax.population_count(bits[..., first:last] & packed)
    return ones.astype(jnp.int32).sum(axis=-1, dtype=jnp.int32)


def layout(net: Any) -> tuple[tuple[str, int, int, int], ...]:
    """Name, group, start and stop of every population of a network."""
    out = []
    for name in net.order:
        group, span = net.population(name)
        out.append((name, group, span.start, span.stop))
    return tuple(out)
