"""A group as a loop runs it: parameters spread over the neurons, and the parts of its step."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._types import Drive, Neuron, Synapse, add_drives
from ..kernels import Released
from ._group_state import GroupState
from ._stimuli import StimulusGroup, place


class SpreadGroup(eqx.Module):
    """A group whose parameters are () or (n,), ready to step.

    **Fields** `model`, `receptors`, `stimuli` spread; static `members` its populations.
    """

    model: Neuron
    receptors: tuple[Synapse, ...]
    stimuli: tuple[StimulusGroup, ...]
    members: tuple[Any, ...] = eqx.field(static=True)

    @property
    def n(self) -> int:
        return sum(member.n for member in self.members)

    def step(
        self,
        state: GroupState,
        arrived: Any,
        inputs: Mapping[str, Any],
        step: jax.Array,
        dt: float,
    ) -> tuple[GroupState, jax.Array]:
        """The state without what is released, and the spikes.

        `arrived` (receptors, n) is what the network delivers at the end of the step, None without
        receptors; `inputs` are currents [pA] by population name, () or (n,).
        """
        stimuli, part, outside = self._stimuli(state.stimuli, step, dt)
        v = self.model.voltage(state.neurons)
        receptors, drive = self._receptors(state.receptors, arrived, outside, v, dt)
        drive = self._with_inputs(add_drives(drive, part), inputs)
        neurons, spikes = self.model.step(state.neurons, drive, dt)
        return state._replace(neurons=neurons, receptors=receptors, stimuli=stimuli), spikes

    def _stimuli(self, states: tuple, step: jax.Array, dt: float) -> tuple[tuple, Drive, dict]:
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

    def _receptors(
        self, states: tuple, arrived: Any, outside: dict, v: Any, dt: float
    ) -> tuple[tuple, Drive]:
        """The receptors' new states and their summed drive."""
        drive, new = Drive(), []
        for number, (receptor, state) in enumerate(zip(self.receptors, states)):
            arrivals = arrived[number]
            if number in outside:
                arrivals = arrivals + outside[number]
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
        arrived = jnp.zeros((len(self.receptors), self.n), dtype) if self.receptors else None
        # With a current, because `inputs` can give one to any neuron.
        inputs = {member.name: jnp.zeros((), dtype) for member in self.members}
        step = jnp.zeros((), jnp.int32)
        spikes = jax.eval_shape(lambda: self.step(state, arrived, inputs, step, dt)[1])
        return Released.of_spikes(jnp.zeros(spikes.shape, spikes.dtype))
