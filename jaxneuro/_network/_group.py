"""A group: all populations of one neuron model, with their receptors and stimuli."""

import functools
import itertools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from jaxneuro._network._group_state import GroupState
from jaxneuro._network._initial import Initial, quantile, replace_variable
from jaxneuro._network._members import as_floating, spread
from jaxneuro._network._ring import count_fed, empty_ring
from jaxneuro._network._spread_group import SpreadGroup
from jaxneuro._network._start import Start, started
from jaxneuro._network._stimuli import StimulusGroup

from .._kernels import Released
from .._numerics import Distribution, Stream, bits, spread_rows, stream_keys
from .._types import Neuron, StochasticNeuron, Synapse


class PopulationSpan(NamedTuple):
    """A population of a group.

    **Fields** `name`; `n` its number of neurons.
    """

    name: str
    n: int


class Group(eqx.Module):
    """Populations of one neuron model as one array of neurons.

    **Fields** `model` merged; `receptors` synapse models; `stimuli`; `initial` start values of
    neurons, `starts` of each receptor; static `members` its populations, in their order in the
    arrays; `fed` whether projections or couplings lead to each receptor; `slots` of its ring.
    """

    model: Neuron
    receptors: tuple[Synapse, ...]
    stimuli: tuple[StimulusGroup, ...]
    initial: tuple[Initial, ...]
    starts: tuple[tuple[Start, ...], ...]
    members: tuple[PopulationSpan, ...] = eqx.field(static=True)
    fed: tuple[bool, ...] = eqx.field(static=True)
    slots: int = eqx.field(static=True, default=1)

    @property
    def populations(self) -> tuple[str, ...]:
        """Names of the populations."""
        return tuple(member.name for member in self.members)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of neurons of the populations."""
        return tuple(member.n for member in self.members)

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def fed_inputs(self) -> int:
        """How many rows of arrivals its ring has."""
        return count_fed(self.receptors, self.fed)

    def span(self, index: int) -> slice:
        """The neurons of population number `index`."""
        start = _starts(self.sizes)[index]
        return slice(start, start + self.sizes[index])

    def index(self, name: str) -> int | None:
        """The number of a population, or None if it is not in this group."""
        return _numbers(self.populations).get(name)

    def spread(self) -> SpreadGroup:
        """The group as a loop runs it: merged parameters spread over the neurons."""
        return SpreadGroup(
            spread(self.model, self.sizes),
            tuple(spread(r, self.sizes) for r in self.receptors),
            tuple(s.spread() for s in self.stimuli),
            self.members,
            self.fed,
        )

    def init(self, seed: Any, ring_dtype: Any, dtype: Any, dt: float) -> GroupState:
        """The state at t = 0, with the start values of its populations; nothing was released."""
        running = self.spread()
        neurons = initial_state(running.model, self.n, self._stream(seed))
        for variable in sorted({i.variable for i in self.initial}):
            x = jnp.asarray(getattr(neurons, variable))
            neurons = replace_variable(neurons, variable, self._start(variable, x, seed))
        state = GroupState(
            neurons=neurons,
            receptors=tuple(
                started(r.init(self.n), starts, seed)
                for r, starts in zip(running.receptors, self.starts)
            ),
            stimuli=tuple(s.init(seed) for s in running.stimuli),
            ring=empty_ring(self.slots, self.fed_inputs, self.n, ring_dtype),
            released=Released(jnp.zeros(0, jnp.uint8)),
        )
        state = as_floating(state, dtype)
        return state._replace(released=running.nothing_released(state, dtype, dt))

    def _stream(self, seed: Any) -> Stream | None:
        """The random bits of neurons that draw: a stream for each population."""
        if not isinstance(self.model, StochasticNeuron):
            return None
        keys = stream_keys(seed, self.populations, "neuron")
        high, low = (spread_rows(jnp.asarray(k), self.sizes) for k in keys)
        return Stream(high, low, self._local())

    def _start(self, variable: str, x: jax.Array, seed: Any) -> jax.Array:
        """`x` with the start values of a variable: one draw for the group."""
        initial = {i.population: i.value for i in self.initial if i.variable == variable}
        words = None
        if any(isinstance(v, Distribution) for v in initial.values()):
            keys = stream_keys(seed, self.populations, f"initial {variable}")
            high, low = (spread_rows(jnp.asarray(k), self.sizes) for k in keys)
            words = bits((high, low), self._local(), 0)[0]
        pieces = []
        laws = [initial.get(number) for number in range(len(self.members))]
        for _, run in itertools.groupby(enumerate(laws), key=_run_key):
            numbers = [number for number, _ in run]
            span = slice(self.span(numbers[0]).start, self.span(numbers[-1]).stop)
            value = laws[numbers[0]]
            if value is None:
                pieces.append(x[span])
            elif isinstance(value, Distribution):
                assert words is not None
                pieces.append(quantile(value, words[span], x.dtype))
            else:
                piece = jnp.asarray(value, x.dtype)
                pieces.append(jnp.broadcast_to(piece, (span.stop - span.start,)))
        return jnp.concatenate(pieces)

    def _local(self) -> jax.Array:
        """The number of each neuron in its own population."""
        # By concatenation, as in `spread_rows`.
        return jnp.concatenate([jnp.arange(n, dtype=jnp.uint32) for n in self.sizes])


def initial_state(model: Neuron, n: int, stream: Stream | None = None) -> Any:
    """The state of n neurons; those that draw use `stream`, or any stream if none is given."""
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
        return value  # equal distributions are one value
    return None if value is None else number


@functools.cache
def _starts(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(itertools.accumulate(sizes, initial=0))


@functools.cache
def _numbers(names: tuple[str, ...]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}
