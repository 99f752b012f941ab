"""What a group does in a step neuron by neuron: one launch where a GPU runs it."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Int32, Num, Shaped

from .._kernels.fused_scan import NotFusedError, fused_or_loop
from .._kernels.spike_output import SpikeOutput
from .._model import Release
from .group import Coupled, Group, GroupState, arrivals


class Released(NamedTuple):
    """The state of a release model after a step, and what its sources released, (n,)."""

    state: Any
    values: Float[Array, " n"]


class Moved(NamedTuple):
    """A group after its neurons have moved.

    Attributes:
        state: that of the group, without ring and what is released.
        spikes: (n,).
        released: the same, packed.
        releases: of each release model of its neurons.
    """

    state: GroupState
    spikes: Shaped[Array, " n"]
    released: SpikeOutput
    releases: tuple[Released, ...]


class Moving(NamedTuple):
    """What a group moves by in a step.

    Attributes:
        group: the group, expanded.
        releases: the release models of its neurons, expanded.
        quanta: (inputs,) what one count of the ring stands for, None if it has the numbers.
        before: the state of the group, without ring and what was released.
        held: the states of the release models.
        ring: with what arrives in this step.
        coupled: what couplings do.
        inputs: currents or spikes by population name, () or (n,).
        last: the number of the last step, whose releases have been delivered. With that of this
            step, a GPU would compute two numbers where one is enough.
    """

    group: Group
    releases: tuple[Release, ...]
    quanta: Float[Array, " inputs"] | None
    before: GroupState
    held: tuple
    ring: Num[Array, "slots places"]
    coupled: Coupled
    inputs: Mapping[str, Float[Array, "..."]]
    last: Int32[Array, ""]


def move(moving: Moving, dt: float, dtype: np.dtype) -> Moved:
    """The group after the step; on a GPU in one launch, if all acts neuron by neuron."""

    def plain(moving: Moving) -> Moved:
        return _plain(moving, dt, dtype)

    def fused(moving: Moving) -> Moved:
        try:
            return fused_move(moving, dt, dtype)
        except NotFusedError:  # a stimulus that is not: XLA steps all of them
            if not moving.group.stimuli:
                raise
            return fused_move(moving, dt, dtype, stimuli=False)

    return fused_or_loop(fused, plain, moving)


def _plain(m: Moving, dt: float, dtype: np.dtype) -> Moved:
    """As XLA runs it."""
    arrived, step = None, m.last + 1
    if m.group.fed_inputs:
        arrived = arrivals(m.ring, step, m.group.fed_inputs)
        if m.quanta is not None:
            arrived = arrived.astype(dtype) * m.quanta[:, None]
    after, spikes = m.group.step(m.before, arrived, m.coupled, m.inputs, step, dt)
    releases = _release(m.group, m.releases, m.held, after.neurons, spikes, dt, dtype)
    return Moved(after, spikes, SpikeOutput.of_spikes(spikes), releases)


def _release(
    group: Group, models: Any, states: Any, neurons: Any, spikes: Any, dt: float, dtype: np.dtype
) -> tuple[Released, ...]:
    """What the release models make of the spikes and the voltages after the step."""
    out = []
    for model, state in zip(models, states):
        new, values = model.step(state, spikes, group.model.voltage(neurons), dt)
        out.append(Released(new, values.astype(dtype)))
    return tuple(out)


def fused_move(
    m: Moving, dt: float, dtype: np.dtype, stimuli: bool = True, interpret: bool = False
) -> Moved:
    """In one launch on a GPU; without `stimuli`, XLA steps these before it."""
    from .._kernels.gpu_fused_step import Arriving, fused_step  # Pallas: only where it is needed

    group, before, coupled, stepped = m.group, m.before, m.coupled, ()
    if not stimuli:
        stepped, part, outside = group.stimulate(before.stimuli, m.last + 1, dt)
        coupled, group = coupled.plus(part, outside), dataclasses.replace(group, stimuli=())
        before = before._replace(stimuli=())
    elif not all(stimulus.onto_all(group.n) for stimulus in group.stimuli):
        raise NotFusedError("it has a stimulus into some of its neurons")
    inputs = group.placed(m.inputs)

    def block(parameters: Any, state: Any, arrived: Any, given: Any, step: Any) -> tuple:
        group, releases = parameters
        before, held = state
        lanes = max(x.shape[0] for x in jax.tree.leaves((state, arrived)) if x.ndim)
        group, (coupled, inputs) = group.cut(lanes), given
        inputs = {} if inputs is None else {group.populations[0]: inputs}
        after, spikes = group.step(before, arrived, coupled, inputs, step, dt)
        new = _release(group, releases, held, after.neurons, spikes, dt, dtype)
        return (after, tuple(r.state for r in new)), tuple(r.values for r in new), spikes

    arriving = Arriving(m.ring, m.quanta) if group.fed_inputs else None
    parameters, state, given = (group, m.releases), (before, m.held), (coupled, inputs)
    (after, held), values, spikes, bits = fused_step(
        block, parameters, state, given, arriving, m.last, group.n, dtype, interpret
    )
    after = after if stimuli else after._replace(stimuli=stepped)
    return Moved(after, spikes, SpikeOutput(bits), tuple(map(Released, held, values)))
