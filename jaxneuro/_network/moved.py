"""What a group does in a step neuron by neuron: one launch where a GPU runs it."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Int32, Num, Shaped, UInt8

from .._kernels.fused_scan import NotFusedError, fused_or_plain
from .._kernels.spike_output import SpikeOutput
from .._model import Release
from .._numerics.streams import Stream
from .group import Coupled, Group, GroupState, arrivals


class Released(NamedTuple):
    """What a release model did in a step.

    Attributes:
        state: that of the model.
        values: (n,) what its sources released.
        bits: the packed spikes.
    """

    state: Any
    values: Float[Array, " n"]
    bits: UInt8[Array, " bytes"]


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

    otherwise = f"the neurons of {moving.group.populations[0]!r} take several launches per step"
    return fused_or_plain(fused, plain, otherwise, moving)


def _plain(m: Moving, dt: float, dtype: np.dtype) -> Moved:
    """As XLA runs it."""
    arrived, step = None, m.last + 1
    if m.group.fed_inputs:
        arrived = arrivals(m.ring, step, m.group.fed_inputs)
        if m.quanta is not None:
            arrived = arrived.astype(dtype) * m.quanta[:, None]
    after, spikes = m.group.step(m.before, arrived, m.coupled, m.inputs, step, dt)
    released = SpikeOutput.of_spikes(spikes)
    held, values = _release(m.group, m.releases, m.held, after.neurons, spikes, dt, dtype)
    releases = tuple(Released(*x, released.bits) for x in zip(held, values))
    return Moved(after, spikes, released, releases)


def _release(
    group: Group, models: Any, states: Any, neurons: Any, spikes: Any, dt: float, dtype: np.dtype
) -> tuple[tuple, tuple]:
    """The states of the release models, and what these make of the spikes and the voltages."""
    v, held, values = group.model.voltage(neurons), [], []
    for model, state in zip(models, states):
        new, x = model.step(state, spikes, v, dt)
        held.append(new)
        values.append(x.astype(dtype))
    return tuple(held), tuple(values)


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
    else:
        group, before = _with_runs(group, before)
    inputs = group.placed(m.inputs)

    def block(parameters: Any, state: Any, arrived: Any, given: Any, step: Any) -> tuple:
        group, releases = parameters
        before, held = state
        lanes = max(x.shape[0] for x in jax.tree.leaves((state, arrived)) if x.ndim)
        group, (coupled, inputs) = group.cut(lanes), given
        inputs = {} if inputs is None else {group.populations[0]: inputs}
        after, spikes = group.step(before, arrived, coupled, inputs, step, dt)
        held, values = _release(group, releases, held, after.neurons, spikes, dt, dtype)
        return (after, held), values, spikes

    arriving = Arriving(m.ring, m.quanta) if group.fed_inputs else None
    parameters, state, given = (group, m.releases), (before, m.held), (coupled, inputs)
    copies = 1 + len(m.releases)
    (after, held), values, spikes, bits = fused_step(
        block, parameters, state, given, arriving, m.last, group.n, dtype, copies, interpret
    )
    stepped = _with_streams_of(m.before.stimuli, after.stimuli) if stimuli else stepped
    releases = tuple(map(Released, held, values, bits[1:]))
    return Moved(after._replace(stimuli=stepped), spikes, SpikeOutput(bits[0]), releases)


def _is_stream(x: Any) -> bool:
    return isinstance(x, Stream)


def _with_runs(group: Group, state: GroupState) -> tuple[Group, GroupState]:
    """With what the stimuli have once per run of neurons marked, and streams without runs."""
    from .._kernels.gpu_fused_step import PerRun

    def marked(x: Any, sizes: tuple[int, ...], counted: bool = False) -> Any:
        return PerRun(x, sizes, counted) if x.shape == (len(sizes),) else x

    def stream(s: Any) -> Any:
        if not _is_stream(s) or s.sizes is None:
            return s
        keys = marked(s.high, s.sizes), marked(s.low, s.sizes)
        return Stream(*keys, marked(s.index, s.sizes, counted=True))

    stimuli = [
        dataclasses.replace(s, model=jax.tree.map(lambda x: marked(x, s.sizes), s.model))  # noqa: B023
        if s.per_run
        else s
        for s in group.stimuli
    ]
    states = jax.tree.map(stream, state.stimuli, is_leaf=_is_stream)
    return dataclasses.replace(group, stimuli=tuple(stimuli)), state._replace(stimuli=states)


def _with_streams_of(before: Any, after: Any) -> Any:
    """States of stimuli with streams, which do not change, as they were."""
    keep = lambda old, new: old if _is_stream(old) else new  # noqa: E731
    return jax.tree.map(keep, before, after, is_leaf=_is_stream)
