"""A group as a loop runs it: parameters spread over the neurons, and the parts of its step."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from jaxneuro._network._group_state import GroupState
from jaxneuro._network._ring import count_fed, input_rows
from jaxneuro._network._stimuli import StimulusGroup, place

from .._kernels import Released
from .._types import Drive, Neuron, Synapse, add_drives


class Coupled(NamedTuple):
    """What couplings do to a group in a step: a drive, and arrivals by input, (n,) each."""

    drive: Drive
    arrivals: dict[int, jax.Array]

    def plus(self, drive: Drive | None, arrivals: dict[int, jax.Array]) -> "Coupled":
        """With a further drive and further arrivals."""
        mine = self.arrivals
        both = {k: mine[k] + arrivals[k] for k in mine.keys() & arrivals.keys()}
        total = self.drive if drive is None else add_drives(self.drive, drive)
        return Coupled(total, mine | arrivals | both)


@jax.custom_jvp
def _rounded(x: jax.Array) -> jax.Array:
    """`x`, which no compiler fuses with a sum: weight times count stays a number of its own.

    Else the bits of a decay with arrivals, a sum of two products, would depend on how many neurons
    there are.
    """
    return jnp.where(x != 0, x, jnp.zeros_like(x))


@_rounded.defjvp
def _rounded_jvp(primals: Any, tangents: Any) -> Any:
    return _rounded(*primals), tangents[0]


class SpreadGroup(eqx.Module):
    """A group whose parameters are () or (n,), ready to step.

    **Fields** `model`, `receptors`, `stimuli` spread; static `members` its populations, `fed`
    whether projections or couplings lead to each receptor.
    """

    model: Neuron
    receptors: tuple[Synapse, ...]
    stimuli: tuple[StimulusGroup, ...]
    members: tuple[Any, ...] = eqx.field(static=True)
    fed: tuple[bool, ...] = eqx.field(static=True)

    @property
    def n(self) -> int:
        return sum(member.n for member in self.members)

    @property
    def fed_inputs(self) -> int:
        """How many rows of arrivals its ring has."""
        return count_fed(self.receptors, self.fed)

    def step(
        self,
        state: GroupState,
        arrived: Any,
        coupled: Coupled,
        inputs: Mapping[str, Any],
        now: tuple[jax.Array, float],
    ) -> tuple[GroupState, jax.Array]:
        """The state without what is released, and the spikes.

        `arrived` (fed inputs, n) is what the network delivers at the end of the step, None without
        such inputs; `coupled` what couplings do; `inputs` are currents [pA] by population name, ()
        or (n,); `now` the number of the step, and dt.
        """
        step, dt = now
        stimuli, part, outside = self._stimuli(state.stimuli, step, dt)
        part, outside = coupled.plus(part, outside)
        v = self.model.voltage(state.neurons)
        receptors, drive = self._receptors(state.receptors, arrived, outside, v, dt)
        drive = self._with_inputs(add_drives(drive, part), inputs)
        neurons, spikes = self.model.step(state.neurons, drive, dt)
        return state._replace(neurons=neurons, receptors=receptors, stimuli=stimuli), spikes

    def _stimuli(self, states: tuple, step: jax.Array, dt: float) -> tuple[tuple, Drive, dict]:
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
        self, states: tuple, arrived: Any, outside: dict, v: Any, dt: float
    ) -> tuple[tuple, Drive]:
        """The receptors' new states and their summed drive."""
        drive, new, inside = Drive(), [], range(self.fed_inputs)

        def at(row: int) -> jax.Array:
            if row not in inside:  # 0.0 of any dtype if it is not asked for what stimuli send
                return _rounded(outside[row]) if row in outside else jnp.full(self.n, 0.0)
            return arrived[row] + outside[row] if row in outside else arrived[row]

        all_rows = input_rows(self.receptors, self.fed)
        for receptor, state, rows in zip(self.receptors, states, all_rows):
            each = [at(row) for row in range(rows.start, rows.stop)]
            arrivals = jnp.stack(each) if receptor.ports else each[0]
            state, part = receptor.step(state, arrivals, v, dt)
            new.append(state)
            drive = add_drives(drive, part)
        return tuple(new), drive

    def _with_inputs(self, drive: Drive, inputs: Mapping[str, Any]) -> Drive:
        """The drive with the currents that a run passes to the populations of this group."""
        start = 0
        for member in self.members:
            if member.name in inputs:
                span = start, start + member.n
                drive = add_drives(drive, Drive(place(inputs[member.name], [span], self.n)))
            start += member.n
        return drive

    def nothing_released(self, state: GroupState, dtype: Any, dt: float) -> Released:
        """What is in flight before the first step: no spikes, of the kind of the model."""
        arrived = None
        if self.fed_inputs:
            arrived = jnp.zeros((self.fed_inputs, self.n), dtype)
        # With a current, because `inputs` can give one to any neuron.
        inputs = {member.name: jnp.zeros((), dtype) for member in self.members}
        step = jnp.zeros((), jnp.int32)
        nothing = Coupled(Drive(), {})
        spikes = jax.eval_shape(lambda: self.step(state, arrived, nothing, inputs, (step, dt))[1])
        return Released.of_spikes(jnp.zeros(spikes.shape, spikes.dtype))
