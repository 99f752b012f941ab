"""Recorded spikes: packed bits, and the times, neurons and counts read from them."""

from collections.abc import Collection
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int32, UInt8

from .. import spec
from .._arrays import is_traced, on_host
from .._kernels.bits import unpack
from .._network.network import Network
from .._text import counted, text_inside
from ..spec import InvalidValueError
from .spike_trains import SpikeTrains

# --- Recorded spikes: packed bits, and the times, neurons and counts read from them.


# Steps and neurons of spikes, one entry each.
Events: TypeAlias = tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]


class SpikeBits(eqx.Module):
    """Spikes of a `scan` as packed bits: one bit per neuron and step.

    Attributes:
        bits: per group, uint8 (steps, bytes).
        first_step: the number of the first step, int32 ().
        dt: the time step [ms], static.
        populations: name, group, first and last neuron of each, static.
    """

    bits: tuple[UInt8[Array, "*batch steps _"], ...]
    first_step: Int32[Array, "*batch"]
    dt: float = eqx.field(static=True)
    populations: tuple[tuple[str, int, int, int], ...] = eqx.field(static=True)

    def __repr__(self) -> str:
        steps = counted(self.bits[0].shape[-2], "step") if self.bits else "no neuron"
        names = ", ".join(name for name, *_ in self.populations)
        return f"SpikeBits: {steps} of {self.dt:g} ms, of {names}; see events(name)"

    __pdoc__ = text_inside

    def __getitem__(self, name: str) -> SpikeTrains:
        """The spikes of a population of one run, on the host.

        Raises:
            InvalidValueError: for an unknown population, and a batch of runs.
            ValueError: inside `jit`.
        """
        times, neurons = self.events(name)
        _, start, stop = self._find(name)
        first, steps = int(self.first_step), self.bits[0].shape[0]
        window = time_of(first, self.dt), time_of(first + steps, self.dt)
        return SpikeTrains.known(times, neurons, stop - start, *window)

    def by_population(
        self, names: Collection[str] | None = None, n_steps: int | None = None, first: int = 0
    ) -> dict[str, Events]:
        """Steps, counted from `first`, and neurons of the spikes of one run by population.

        By default of all populations and all steps.
        """
        host = [on_host(x)[:n_steps] for x in self.bits]
        wanted = (place for place in self.populations if names is None or place[0] in names)
        return {name: unpack(host[g], a, b, first) for name, g, a, b in wanted}

    def events(
        self, name: str
    ) -> tuple[Float[np.ndarray, " spikes"], Int32[np.ndarray, " spikes"]]:
        """Spike times [ms] and neuron indices of a population, in order of time.

        A spike of step k has the time (k + 1) dt, the end of its step.

        Raises:
            InvalidValueError: for an unknown population, and a batch of runs.
            ValueError: inside `jit`, where the number of spikes is not known.
        """
        group, start, stop = self._find(name)
        if is_traced(self.bits[group]) or is_traced(self.first_step):
            raise ValueError(
                "events: the spikes must be known, and are traced here. Return the recording, and "
                "call spikes.events outside of jax.jit; inside, use spikes.dense(name), or "
                "jn.Record(rates=True) and recording.counts"
            )
        if self.bits[group].ndim != 2:
            runs = " x ".join(map(str, self.bits[group].shape[:-2]))
            must = "those of one run: take one of the batch, recording[k]"
            raise InvalidValueError("events", "the spikes", must, f"{runs} runs")
        steps, neurons = unpack(on_host(self.bits[group]), start, stop)
        return spike_times(steps, int(self.first_step), self.dt), neurons

    def dense(self, name: str) -> Bool[Array, "*batch steps n"]:
        """Spikes of a population as booleans `(steps, n)`."""
        group, start, stop = self._find(name)
        bits = jnp.asarray(self.bits[group])
        if not bits.size:  # `unpackbits` divides by the number of rows
            return jnp.zeros((*bits.shape[:-1], stop - start), bool)
        return jnp.unpackbits(bits, axis=-1, bitorder="little")[..., start:stop].astype(bool)

    def counts(self, name: str) -> Int32[Array, "*batch steps"]:
        """Number of spikes of a population in each step, int32 `(steps,)`."""
        group, start, stop = self._find(name)
        return count_bits(jnp.asarray(self.bits[group]), start, stop)

    def _find(self, name: str) -> tuple[int, int, int]:
        for known, *place in self.populations:
            if known == name:
                return place[0], place[1], place[2]
        raise spec.unknown("population", name, [p[0] for p in self.populations])


def spike_times(
    steps: Int[np.ndarray, " spikes"], first_step: int, dt: float
) -> Float[np.ndarray, " spikes"]:
    """Times [ms] of spikes in steps counted from `first_step`: the ends of their steps."""
    return (steps + np.int64(first_step + 1)) * dt


def steps_near(
    window: tuple[float, float], first_step: int, n_steps: int, dt: float
) -> tuple[int, int]:
    """A range of steps of a run, counted from its first, that has all that end in a window [ms]."""
    begin, end = (x / dt - first_step for x in window)
    return min(max(int(begin) - 1, 0), n_steps), min(max(int(end) + 1, 0), n_steps)


def time_of(step: int, dt: float) -> float:
    """When a step begins [ms], as one would write it: 3.3 for 33 steps of 0.1 ms."""
    return float(f"{step * dt:.15g}")


def count_bits(bits: UInt8[Array, "*rows bytes"], start: int, stop: int) -> Int32[Array, "*rows"]:
    """Set bits of neurons `start ... stop` of each row `(..., bytes)`, int32 `(...)`."""
    mask = np.zeros(bits.shape[-1] * 8, np.uint8)
    mask[start:stop] = 1
    first, last = start // 8, -(-stop // 8)
    packed = np.packbits(mask, bitorder="little")[first:last]
    ones = jax.lax.population_count(bits[..., first:last] & packed)
    return ones.astype(jnp.int32).sum(axis=-1, dtype=jnp.int32)


def layout(net: Network) -> tuple[tuple[str, int, int, int], ...]:
    """Name, group, start and stop of every population of a network."""
    places = {}
    for number, group in enumerate(net.groups):
        stop = 0
        for member in group.members:
            start, stop = stop, stop + member.n
            places[member.name] = number, start, stop
    return tuple((name, *places[name]) for name in net.order)
