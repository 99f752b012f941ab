"""A group: all populations of one neuron model, with their receptors and stimuli."""

import functools
import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._types import Drive, Neuron, StochasticNeuron, Synapse, add_drives
from ..numerics import Distribution, Stream, bits, spread_rows, stream_keys, unit_interval
from ._merge import spread
from ._stimuli import StimulusGroup


class Initial(eqx.Module):
    """The start value of one state variable of one population."""

    variable: str = eqx.field(static=True)
    population: int = eqx.field(static=True)
    value: Any  # an array of shape () or (n,), or a distribution (which has no leaves)


class Group(eqx.Module):
    """Populations of one neuron model as one array of neurons.

    **Fields** `model` merged; `receptors` synapse models; `stimuli`; `initial`; static
    `populations` (names) and `sizes`, in the order in which they lie in the arrays.

    **Source** the house's own: design section 3.
    """

    model: Neuron
    receptors: tuple[Synapse, ...]
    stimuli: tuple[StimulusGroup, ...]
    initial: tuple[Initial, ...]
    populations: tuple[str, ...] = eqx.field(static=True)
    sizes: tuple[int, ...] = eqx.field(static=True)

    @property
    def n(self) -> int:
        return sum(self.sizes)

    def span(self, index: int) -> slice:
        """The neurons of population number `index`."""
        start = _starts(self.sizes)[index]
        return slice(start, start + self.sizes[index])

    def index(self, name: str) -> int | None:
        """The number of a population, or None where it is not in this group."""
        return _numbers(self.populations).get(name)

    def spread(self) -> "Group":
        """Merged parameters spread over the neurons."""
        return Group(
            spread(self.model, self.sizes),
            tuple(spread(r, self.sizes) for r in self.receptors),
            tuple(s.spread() for s in self.stimuli),
            self.initial,
            self.populations,
            self.sizes,
        )

    def init_neurons(self, seed: Any) -> Any:
        """The state of the neurons, with the start values that were asked for."""
        state = initial_state(self.model, self.n, self._stream(seed))
        for variable in sorted({i.variable for i in self.initial}):
            x = jnp.asarray(getattr(state, variable))
            state = _replace(state, variable, self._start(variable, x, seed))
        return state

    def _stream(self, seed: Any) -> Stream | None:
        """Where neurons that draw do so: a stream for each population."""
        if not isinstance(self.model, StochasticNeuron):
            return None
        keys = stream_keys(seed, self.populations, "neuron")
        high, low = (spread_rows(jnp.asarray(k), self.sizes) for k in keys)
        return Stream(high, low, self._local())

    def _start(self, variable: str, x: jax.Array, seed: Any) -> jax.Array:
        """`x` with the start values of a variable: one draw for the group, pieces by law."""
        initial = {i.population: i.value for i in self.initial if i.variable == variable}
        words = None
        if any(isinstance(v, Distribution) for v in initial.values()):
            keys = stream_keys(seed, self.populations, f"initial {variable}")
            high, low = (spread_rows(jnp.asarray(k), self.sizes) for k in keys)
            words = bits((high, low), self._local(), 0)[0]
        pieces = []
        laws = [initial.get(number) for number in range(len(self.sizes))]
        for _, run in itertools.groupby(enumerate(laws), key=_run_key):
            numbers = [number for number, _ in run]
            span = slice(self.span(numbers[0]).start, self.span(numbers[-1]).stop)
            value = laws[numbers[0]]
            if value is None:
                pieces.append(x[span])
            elif isinstance(value, Distribution):
                assert words is not None
                pieces.append(_quantile(value, words[span], x.dtype))
            else:
                piece = jnp.asarray(value, x.dtype)
                pieces.append(jnp.broadcast_to(piece, (span.stop - span.start,)))
        return jnp.concatenate(pieces)

    def _local(self) -> jax.Array:
        """The number of each neuron in its own population."""
        # In pieces of counts, as in `spread_rows`.
        return jnp.concatenate([jnp.arange(n, dtype=jnp.uint32) for n in self.sizes])

    def synaptic_drive(
        self, states: Any, arrived: Any, from_outside: dict, neurons: Any, dt: float
    ) -> Any:
        """The receptors' new states and their summed drive.

        `arrived` (receptors, n) from the network, `from_outside` (n,) by receptor from stimuli.
        """
        drive, new = Drive(), []
        v: Any = self.model.voltage(neurons)
        for number, (receptor, state) in enumerate(zip(self.receptors, states)):
            arrivals = arrived[number]
            if number in from_outside:
                arrivals = arrivals + from_outside[number]
            state, part = receptor.step(state, arrivals, v, dt)
            new.append(state)
            drive = add_drives(drive, part)
        return tuple(new), drive

    def stimulus_drive(self, states, step: jax.Array, dt: float):
        """The stimuli's new states, their summed drive, and their spikes by receptor, (n,)."""
        drive, arrivals, new = Drive(), {}, []
        for stimulus, state in zip(self.stimuli, states):
            state, part = stimulus.step(state, step, dt, self.n)
            new.append(state)
            if stimulus.receptor is None:
                drive = add_drives(drive, part)
            else:
                earlier = arrivals.get(stimulus.receptor)
                arrivals[stimulus.receptor] = part if earlier is None else earlier + part
        return tuple(new), drive, arrivals


def initial_state(model: Neuron, n: int, stream: Stream | None = None) -> Any:
    """The state of n neurons; those that draw do so in `stream`, or in any where none is given.

    **Source** the house's own: design sections 2 and 4.
    """
    if not isinstance(model, StochasticNeuron):
        return model.init(n)
    if stream is None:
        zero = jnp.zeros(n, jnp.uint32)
        stream = Stream(zero, zero, jnp.arange(n, dtype=jnp.uint32))
    return model.init(n, stream)


def _run_key(pair: tuple[int, Any]) -> Any:
    """Equal for neighbouring populations whose start values come from one operation."""
    number, value = pair
    if isinstance(value, Distribution):
        return value  # equal laws are one value
    return None if value is None else number


@functools.cache
def _starts(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(itertools.accumulate(sizes, initial=0))


@functools.cache
def _numbers(names: tuple[str, ...]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


@functools.partial(jax.jit, static_argnames="dtype")
def _quantile(law: Distribution, word: Any, dtype: Any) -> jax.Array:
    # Compiled also where the words are known: one seed of a batch starts as it does alone.
    return law.quantile(unit_interval(word)).astype(dtype)


def _replace(state: Any, variable: str, value: jax.Array) -> Any:
    if hasattr(state, "_replace"):
        return state._replace(**{variable: value})
    return eqx.tree_at(lambda s: getattr(s, variable), state, value)
