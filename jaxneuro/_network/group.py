"""A group: all populations of one neuron model, with their receptors, stimuli and ring.

A receptor has one row of arrivals, or one for each of its ports: the inputs of the group. Those to
which projections or couplings lead are *fed*. Their inputs come first, and only these are in the
ring: what stimuli send arrives in the step itself.

The ring has a slot for every step until the longest delay has passed (`ring_slots` of
`_kernels/table.py`), and slots are used again: what arrives at the end of step k is in slot k mod
slots, at the places that `ring_place` gives.
"""

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int32, Num, Shaped, UInt32

from .._arrays import AnyArray
from .._kernels.linear import linear
from .._kernels.spike_output import SpikeOutput
from .._model import Drive, Neuron, StochasticNeuron, Synapse, add_drives
from .._numerics.compensated import Low, no_low, step_compensated
from .._numerics.distributions import Distribution, unit_interval
from .._numerics.streams import (
    Stream,
    any_stream,
    bits,
    expand_rows,
    stream_key,
    stream_keys,
)
from ..surrogates import with_counted
from .members import Seed, as_floating, expand
from .stimuli import StimulusGroup, place


class Cells(NamedTuple):
    """What belongs to the neurons of a group, each by itself.

    Attributes:
        neurons: the state of the neuron model.
        receptors, stimuli: those of each of them.
        low: of the neurons and of each receptor, the digits below those of slow variables.
    """

    neurons: Any
    receptors: tuple
    stimuli: tuple
    low: tuple[Low, ...]


class GroupState(NamedTuple):
    """The state of a group.

    Attributes:
        neurons, receptors, stimuli, low: its `Cells`.
        ring: (slots, places) arrivals of the steps to come.
        released: the spikes of the last step, which the next step delivers.
    """

    neurons: Any
    receptors: tuple
    stimuli: tuple
    low: tuple[Low, ...]
    ring: Num[Array, "slots places"]
    released: SpikeOutput

    @property
    def cells(self) -> Cells:
        """Without what is on its way to other groups and from them."""
        return Cells(self.neurons, self.receptors, self.stimuli, self.low)


class InitialValue(eqx.Module):
    """The start values of one variable of consecutive neurons, or units of a receptor or release.

    Attributes:
        variable: the name of the variable.
        owner: the population, projection or coupling that gives them, whose stream is drawn from.
        first: the first unit.
        n: how many units.
        value: an array of shape () or (n,), or a distribution, which has no leaves.
    """

    variable: str = eqx.field(static=True)
    owner: str = eqx.field(static=True)
    first: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    value: Distribution | Num[AnyArray | np.generic, "..."]


def with_initial(state: Any, values: Sequence[InitialValue], seed: Seed) -> Any:
    """The state of a receptor or a release with its start values."""
    for given in values:
        x = jnp.asarray(getattr(state, given.variable))
        value = given.value
        if isinstance(value, Distribution):
            key = stream_key(seed, given.owner, f"initial {given.variable}")
            word = bits(key, jnp.arange(given.n, dtype=jnp.uint32), 0)[0]
            value = quantile(value, word, x.dtype)
        piece = jnp.broadcast_to(jnp.asarray(value, x.dtype), (given.n,))
        whole = given.n == x.shape[0]
        new = piece if whole else x.at[given.first : given.first + given.n].set(piece)
        state = replace_variable(state, given.variable, new)
    return state


@functools.partial(jax.jit, static_argnames="dtype")
def quantile(law: Distribution, word: UInt32[AnyArray, " n"], dtype: np.dtype) -> Num[Array, " n"]:
    """The numbers that words of random bits stand for, in the dtype of the state."""
    # Compiled also where the words are known: one seed of a batch starts as it does alone.
    return law.quantile(unit_interval(word)).astype(dtype)


def replace_variable(state: Any, variable: str, value: Num[AnyArray, "..."]) -> Any:
    """The state of a model, a named tuple or a module, with another value of one variable."""
    if hasattr(state, "_replace"):
        return state._replace(**{variable: value})
    return eqx.tree_at(lambda s: getattr(s, variable), state, value)


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


def empty_ring(slots: int, inputs: int, n: int, dtype: np.dtype) -> Num[Array, "slots places"]:
    """A ring in which nothing arrives: (slots, places)."""
    return jnp.zeros((slots, inputs * n), dtype)


def arrivals(
    ring: Num[Array, "slots places"], step: Int32[Array, ""], tap: Float[Array, " places"] | None
) -> tuple[Num[Array, "slots places"], Num[Array, " places"]]:
    """The ring, unchanged, and what arrives at the end of `step`.

    Its derivative is made in place: by adding the two results JAX would make another ring in every
    step. `tap` is 0, and its derivative that of what arrives (`_run/gradient.py`).
    """
    ring, arrived = linear(_arrivals, _arrivals_transposed, (step,), (ring,))
    return ring, arrived if tap is None else arrived + tap


def _arrivals(step: Any, ring: Any) -> tuple[Any, Any]:
    return ring, slot_of(ring, step)


def _arrivals_transposed(step: Any, ring_bar: Any, arrived_bar: Any) -> tuple[Any]:
    new = slot_of(ring_bar, step) + arrived_bar
    if ring_bar.shape[0] == 1:
        return (new[None],)
    slot = lax.rem(step, jnp.int32(ring_bar.shape[0]))
    return (lax.dynamic_update_index_in_dim(ring_bar, new, slot, 0),)


def slot_of(ring: Num[Array, "slots places"], step: Int32[Array, ""]) -> Num[Array, " places"]:
    """What arrives at the end of `step`."""
    if ring.shape[0] == 1:  # of a batch JAX would make a gather
        return ring[0]
    slot = lax.rem(step, jnp.int32(ring.shape[0]))
    return lax.dynamic_index_in_dim(ring, slot, 0, keepdims=False)


class GapSum(eqx.Module):
    """What gap junctions do to some neurons of a group: `scale (sums - total v)`.

    Attributes:
        sums: (targets,) the weighted voltages of those that each sees.
        total: (targets,) the sum of its weights.
        scale: () or (targets,), which multiplies both.
        targets: the neurons, first and last + 1.
        n: how many the group has.
    """

    sums: Float[Array, " targets"]
    total: Float[AnyArray, " targets"]
    scale: Float[AnyArray, "..."]
    targets: tuple[int, int] = eqx.field(static=True)
    n: int = eqx.field(static=True)

    def drive(self) -> Drive:
        """As a current and a conductance of all neurons."""
        current = self.sums * self.scale
        drive = Drive(current, jnp.broadcast_to(self.total * self.scale, current.shape))
        return jax.tree.map(lambda x: place(x, [self.targets], self.n), drive)

    def onto_all(self, n: int) -> bool:
        """Whether all n neurons of the group are targets."""
        return self.targets == (0, n)

    def cut(self, n: int) -> "GapSum":
        """A block of n neurons of one that is onto all."""
        return dataclasses.replace(self, targets=(0, n), n=n)


class Coupled(NamedTuple):
    """What couplings do to a group in a step.

    Attributes:
        gaps: what gap junctions do.
        arrivals: by input, (n,) each.
    """

    gaps: tuple[GapSum, ...]
    arrivals: dict[int, Float[Array, " n"]]

    def plus(
        self, drive: Drive, arrivals: dict[int, Float[Array, " n"]]
    ) -> tuple[Drive, dict[int, Float[Array, " n"]]]:
        """All as a drive and arrivals, with a further drive and further arrivals."""
        total = Drive()
        for gap in self.gaps:
            total = add_drives(total, gap.drive())
        return add_drives(total, drive), added(self.arrivals, arrivals)


def added(a: dict[int, Any], b: dict[int, Any]) -> dict[int, Any]:
    """The sums of two kinds of arrivals by input."""
    return a | b | {k: a[k] + b[k] for k in a.keys() & b.keys()}


@jax.custom_jvp
def _rounded(x: Float[Array, " n"]) -> Float[Array, " n"]:
    """`x`, which no compiler fuses with a sum: weight times count stays a number of its own.

    Else the bits of a decay with arrivals, a sum of two products, would depend on how many neurons
    there are.
    """
    return jnp.where(x != 0, x, jnp.zeros_like(x))


@_rounded.defjvp
def _rounded_jvp(primals: Any, tangents: Any) -> Any:
    return _rounded(*primals), tangents[0]


class PopulationMember(NamedTuple):
    """A population of a group.

    Attributes:
        name: its name.
        n: its number of neurons.
    """

    name: str
    n: int


class Group(eqx.Module):
    """Populations of one neuron model as one array of neurons.

    `expand` makes the group that a loop steps, whose parameters are () or (n,).

    Attributes:
        model: the merged neuron model.
        receptors: synapse models.
        stimuli: those of each kind.
        initial: start values of neurons.
        receptor_initial: those of each receptor.
        members: the populations, in their order in the arrays.
        fed: whether projections or couplings lead to each receptor.
        slow: names of the slow variables of the neurons and of each receptor (see `slow.py`).
        slots: those of its ring.
    """

    model: Neuron
    receptors: tuple[Synapse, ...]
    stimuli: tuple[StimulusGroup, ...]
    initial: tuple[InitialValue, ...]
    receptor_initial: tuple[tuple[InitialValue, ...], ...]
    members: tuple[PopulationMember, ...] = eqx.field(static=True)
    fed: tuple[bool, ...] = eqx.field(static=True)
    slow: tuple[tuple[str, ...], ...] = eqx.field(static=True)
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

    def expand(self) -> "Group":
        """The group as a loop runs it: merged parameters expanded to one number per neuron."""
        return dataclasses.replace(
            self,
            model=expand(self.model, self.sizes),
            receptors=tuple(expand(r, self.sizes) for r in self.receptors),
            stimuli=tuple(s.expand() for s in self.stimuli),
            initial=(),
            receptor_initial=(),
        )

    def init(self, seed: Seed, ring_dtype: np.dtype, dtype: np.dtype, dt: float) -> GroupState:
        """The state at t = 0, with the start values of its populations; nothing was released."""
        runtime = self.expand()
        neurons = initial_state(runtime.model, self.n, self._stream(seed))
        for variable in sorted({i.variable for i in self.initial}):
            x = jnp.asarray(getattr(neurons, variable))
            neurons = replace_variable(neurons, variable, self._initial(variable, x, seed))
        receptors = tuple(
            with_initial(r.init(self.n), values, seed)
            for r, values in zip(runtime.receptors, self.receptor_initial)
        )
        cells = Cells(
            neurons=neurons,
            receptors=receptors,
            stimuli=tuple(s.init(seed) for s in runtime.stimuli),
            low=tuple(map(no_low, (neurons, *receptors), self.slow)),
        )
        cells = as_floating(cells, dtype)
        ring = empty_ring(self.slots, self.fed_inputs, self.n, ring_dtype)
        return GroupState(*cells, ring, runtime.nothing_released(cells, dtype, dt))

    def nothing_released(self, cells: Cells, dtype: np.dtype, dt: float) -> SpikeOutput:
        """What is in flight before the first step: no spikes, of the kind of the model."""
        arrived = None
        if self.fed_inputs:
            arrived = jnp.zeros((self.fed_inputs, self.n), dtype)
        # With a current, because `inputs` can give one to any neuron.
        inputs = {member.name: jnp.zeros((), dtype) for member in self.members}
        step = jnp.zeros((), jnp.int32)
        nothing = Coupled((), {})
        spikes = jax.eval_shape(lambda: self.step(cells, arrived, nothing, inputs, step, dt)[1])
        return SpikeOutput.of_spikes(*jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), spikes))

    def step(
        self,
        cells: Cells,
        arrived: Float[Array, "inputs n"] | tuple[Float[Array, " n"], ...] | None,
        coupled: Coupled,
        inputs: Mapping[str, Float[Array, "..."]],
        step: Int32[Array, ""],
        dt: float,
        drive: Drive | None = None,
    ) -> tuple[Cells, tuple[Shaped[Array, " n"], Bool[Array, " n"] | None]]:
        """The cells after the step, their spikes, and which of these have a derivative.

        `arrived` (fed inputs, n) is what the network delivers at the end of the step, None without
        such inputs; `coupled` what couplings do; `inputs` are currents [pA] or spikes by
        population name, () or (n,); `drive` is a further one.
        """
        stimuli, part, outside = self.stimulate(cells.stimuli, step, dt)
        part = part if drive is None else add_drives(drive, part)
        part, outside = coupled.plus(part, outside)
        v = self.model.voltage(cells.neurons)
        of_neurons, *low = cells.low
        receptors, low, drive = self._receptors(cells.receptors, low, arrived, outside, v, dt)
        drive = self._with_inputs(add_drives(drive, part), inputs)
        move = with_counted(lambda state, drive: self.model.step(state, drive, dt))
        neurons, of_neurons, spikes = step_compensated(move, cells.neurons, of_neurons, drive)
        return Cells(neurons, receptors, stimuli, (of_neurons, *low)), spikes

    def stimulate(
        self, states: tuple, step: Int32[Array, ""], dt: float
    ) -> tuple[tuple, Drive, dict[int, Float[Array, " n"]]]:
        """The stimuli's new states, their summed drive, and their spikes by input, (n,)."""
        drive, arrivals, new = Drive(), {}, []
        for stimulus, state in zip(self.stimuli, states):
            state, part = stimulus.step(state, step, dt, self.n)
            new.append(state)
            if stimulus.input is None:
                drive = add_drives(drive, part)
            else:
                earlier = arrivals.get(stimulus.input)
                arrivals[stimulus.input] = part if earlier is None else earlier + part
        return tuple(new), drive, arrivals

    def _receptors(
        self,
        states: tuple,
        lows: Sequence[Low],
        arrived: Any,
        outside: dict[int, Float[Array, " n"]],
        v: Any,
        dt: float,
    ) -> tuple[tuple, tuple[Low, ...], Drive]:
        """The receptors' new states, their digits below, and their summed drive."""
        drive, new, inside = Drive(), [], range(self.fed_inputs)

        def at(row: int) -> Float[Array, " n"]:
            if row not in inside:  # 0.0 of any dtype if it is not asked for what stimuli send
                return _rounded(outside[row]) if row in outside else jnp.full(self.n, 0.0)
            return arrived[row] + outside[row] if row in outside else arrived[row]

        all_rows = input_rows(self.receptors, self.fed)
        for receptor, state, low, rows in zip(self.receptors, states, lows, all_rows):
            each = [at(row) for row in range(rows.start, rows.stop)]
            arrivals = jnp.stack(each) if receptor.ports else each[0]
            move = functools.partial(receptor.step, dt=dt)
            state, low, part = step_compensated(move, state, low, arrivals, v)
            new.append((state, low))
            drive = add_drives(drive, part)
        states, lows = zip(*new) if new else ((), ())
        return states, lows, drive

    def _with_inputs(self, drive: Drive, inputs: Mapping[str, Float[Array, "..."]]) -> Drive:
        """The drive with what a run gives to the populations of this group."""
        given = self.placed(inputs)
        if given is None:
            return drive
        return add_drives(drive, Drive()._replace(**{self.model.input_part: given}))

    def placed(self, inputs: Mapping[str, Float[Array, "..."]]) -> Float[Array, "..."] | None:
        """What a run gives to the populations of this group, () or (n,); None if it is nothing."""
        start, out = 0, None
        for member in self.members:
            if member.name in inputs:
                given = place(inputs[member.name], [(start, start + member.n)], self.n)
                out = given if out is None else out + given
            start += member.n
        return out

    def cut(self, n: int) -> "Group":
        """A block of n of its neurons, which all its stimuli drive, as one population."""
        member = PopulationMember(self.populations[0], n)
        stimuli = tuple(s.cut(n) for s in self.stimuli)
        return dataclasses.replace(self, members=(member,), stimuli=stimuli)

    def _stream(self, seed: Seed) -> Stream | None:
        """The random bits of neurons that draw: a stream for each population."""
        if not isinstance(self.model, StochasticNeuron):
            return None
        keys = stream_keys(seed, self.populations, "neuron")
        high, low = (expand_rows(jnp.asarray(k), self.sizes) for k in keys)
        return Stream(high, low, self._local())

    def _initial(self, variable: str, x: Num[Array, " n"], seed: Seed) -> Num[Array, " n"]:
        """`x` with the start values of a variable: one draw for the group."""
        initial = {i.owner: i.value for i in self.initial if i.variable == variable}
        words = None
        if any(isinstance(v, Distribution) for v in initial.values()):
            keys = stream_keys(seed, self.populations, f"initial {variable}")
            high, low = (expand_rows(jnp.asarray(k), self.sizes) for k in keys)
            words = bits((high, low), self._local(), 0)[0]
        pieces = []
        laws = [initial.get(name) for name in self.populations]
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

    def _local(self) -> UInt32[Array, " n"]:
        """The number of each neuron in its own population."""
        # By concatenation, as in `expand_rows`.
        return jnp.concatenate([jnp.arange(n, dtype=jnp.uint32) for n in self.sizes])


def initial_state(model: Neuron, n: int, stream: Stream | None = None) -> Any:
    """The state of n neurons; those that draw use `stream`, or any stream if none is given."""
    if not isinstance(model, StochasticNeuron):
        return model.init(n)
    return model.init(n, any_stream(n) if stream is None else stream)


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
