"""Recorded spikes: packed bits, and the times, neurons and counts read from them."""

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced, unknown
from .._help import DocumentedModule, missing
from .._kernels import unpack
from .._text import counted


class SpikeBits(eqx.Module, metaclass=DocumentedModule):
    """Spikes of a `scan` as packed bits: one bit per neuron and step.

    **Fields** `bits` per group uint8 `(steps, bytes)`, `first_step` int32 (): the number of
    the first step; static `dt` [ms] and `populations`: name, group and slice.
    """

    bits: tuple[jax.Array, ...]
    first_step: jax.Array
    dt: float = eqx.field(static=True)
    populations: tuple[tuple[str, int, int, int], ...] = eqx.field(static=True)

    if not TYPE_CHECKING:  # every name would be right
        __getattr__ = missing

    def __repr__(self) -> str:
        steps = counted(self.bits[0].shape[-2], "step") if self.bits else "no neuron"
        names = ", ".join(name for name, *_ in self.populations)
        return f"SpikeBits: {steps} of {self.dt:g} ms, of {names}; see events(name)"

    def events(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Spike times [ms] and neuron indices of a population, in order of time.

        A spike of step k has the time (k + 1) dt, the end of its step. Raises `ValueError` for an
        unknown population, and inside `jit`, where the number of spikes is not known.
        """
        group, start, stop = self._find(name)
        if is_traced(self.bits[group]) or is_traced(self.first_step):
            raise ValueError(
                "events: the spikes must be known, and are traced here. Return the recording, and "
                "call spikes.events outside of jax.jit; inside, use spikes.dense(name), or "
                "jn.Record(rates=True) and recording.counts"
            )
        steps, neurons = unpack(np.asarray(self.bits[group]), start, stop)
        return spike_times(steps, int(self.first_step), self.dt), neurons

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


def spike_times(steps: np.ndarray, first_step: int, dt: float) -> np.ndarray:
    """Times [ms] of spikes in steps counted from `first_step`: the ends of their steps."""
    return (steps + np.int64(first_step + 1)) * dt


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
