"""What a group does in a step neuron by neuron: one launch where a GPU runs it."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Num, Shaped, UInt8

from .._arrays import AnyArray
from .._kernels.clock import Clock
from .._kernels.fused_scan import NotFusedError, fused_or_plain
from .._kernels.spike_output import SpikeOutput
from .._model import Drive, Release
from .._numerics.streams import Stream
from .group import Cells, Coupled, Group


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
        cells: theirs.
        spikes: (n,).
        released: the same, packed.
        releases: of each release model of its neurons.
    """

    cells: Cells
    spikes: Shaped[Array, " n"]
    released: SpikeOutput
    releases: tuple[Released, ...]


class Moving(NamedTuple):
    """What a group moves by in a step.

    Attributes:
        group: the group, expanded.
        releases: the release models of its neurons, expanded.
        quanta: (inputs,) what one count of the ring stands for, None if it has the numbers.
        before: its cells.
        held: the states of the release models.
        arrived: (places,) what arrives in this step, None where nothing can.
        ring: from which that is read.
        coupled: what couplings do.
        inputs: currents or spikes by population name, () or (n,).
        last: the last step, whose releases have been delivered.
    """

    group: Group
    releases: tuple[Release, ...]
    quanta: Float[AnyArray, " inputs"] | None
    before: Cells
    held: tuple
    arrived: Num[Array, " places"] | None
    ring: Num[Array, "slots places"]
    coupled: Coupled
    inputs: Mapping[str, Float[Array, "..."]]
    last: Clock


def move(moving: Moving, dt: float, dtype: np.dtype) -> Moved:
    """The group after the step; on a GPU in one launch, if all acts neuron by neuron."""

    def plain(moving: Moving) -> Moved:
        return plain_move(moving, dt, dtype)

    def fused(moving: Moving) -> Moved:
        return fused_move(moving, dt, dtype)

    otherwise = f"the neurons of {moving.group.populations[0]!r} take several launches per step"
    return fused_or_plain(fused, plain, otherwise, moving)


def plain_move(m: Moving, dt: float, dtype: np.dtype) -> Moved:
    """As XLA runs it."""
    arrived, step = m.arrived, m.last.now + 1
    if arrived is not None and m.quanta is not None:
        arrived = arrived.astype(dtype).reshape(m.quanta.size, -1) * m.quanta[:, None]
    # For a derivative the drive of stimuli is kept; all else is computed again from the state.
    stimuli, drive, outside = m.group.stimulate(m.before.stimuli, step, dt)
    group = dataclasses.replace(m.group, stimuli=())
    again = functools.partial(_step, dt=dt, dtype=dtype)
    given = m.before._replace(stimuli=()), m.held, arrived, drive, outside, m.coupled, m.inputs
    after, spikes, counted, held, values = jax.checkpoint(again, prevent_cse=False)(
        (group, m.releases), *given, step
    )
    released = SpikeOutput.of_spikes(spikes, counted)
    releases = tuple(Released(*x, released.bits) for x in zip(held, values))
    return Moved(after._replace(stimuli=stimuli), spikes, released, releases)


def _step(models, cells, held, arrived, drive, outside, coupled, inputs, step, dt, dtype):
    """The step of the neurons, receptors and releases of a group, after that of its stimuli."""
    group, releases = models
    if arrived is not None:  # not before, so that a loop that has it keeps no copy
        arrived = arrived.reshape(group.fed_inputs, group.n)
    drive, outside = coupled.plus(drive, outside)
    coupled = Coupled((), outside)
    after, (spikes, counted) = group.step(cells, arrived, coupled, inputs, step, dt, drive)
    held, values = _release(group, releases, held, after.neurons, spikes, dt, dtype)
    return after, spikes, counted, held, values


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


def fused_move(m: Moving, dt: float, dtype: np.dtype, interpret: bool = False) -> Moved:
    """In one launch on a GPU; stimuli and couplings that do not fit into it, XLA steps before."""
    try:
        return _fused(m, dt, dtype, True, interpret)
    except NotFusedError:
        if not m.group.stimuli and not m.coupled.gaps:
            raise
        return _fused(m, dt, dtype, False, interpret)


def _fused(m: Moving, dt: float, dtype: np.dtype, whole: bool, interpret: bool) -> Moved:
    from .._kernels.gpu_fused_step import Arriving, fused_step  # Pallas: only where it is needed

    group, before, coupled, stepped, drive = m.group, m.before, m.coupled, (), Drive()
    if not whole:
        stepped, drive, outside = group.stimulate(before.stimuli, m.last.now + 1, dt)
        drive, outside = coupled.plus(drive, outside)
        coupled, group = Coupled((), outside), dataclasses.replace(group, stimuli=())
        before = before._replace(stimuli=())
    elif not all(x.onto_all(group.n) for x in (*group.stimuli, *coupled.gaps)):
        raise NotFusedError("it has a stimulus or a coupling into some of its neurons")
    else:
        group, before = _with_runs(group, before)
    inputs = group.placed(m.inputs)

    def block(parameters: Any, state: Any, arrived: Any, given: Any, step: Any) -> tuple:
        group, releases = parameters
        before, held = _without_runs(state)
        lanes = max(x.shape[0] for x in jax.tree.leaves((state, arrived)) if x.ndim)
        group, (coupled, drive, inputs) = group.cut(lanes), given
        coupled = coupled._replace(gaps=tuple(gap.cut(lanes) for gap in coupled.gaps))
        inputs = {} if inputs is None else {group.populations[0]: inputs}
        after, (spikes, _) = group.step(before, arrived, coupled, inputs, step, dt, drive)
        held, values = _release(group, releases, held, after.neurons, spikes, dt, dtype)
        return (after, held), values, spikes

    arriving = Arriving(m.ring, m.quanta) if group.fed_inputs else None
    parameters, state, given = (group, m.releases), (before, m.held), (coupled, drive, inputs)
    copies = 1 + len(m.releases)
    (after, held), values, spikes, bits = fused_step(
        block, parameters, state, given, arriving, m.last, group.n, dtype, copies, interpret
    )
    after = after if whole else after._replace(stimuli=stepped)
    releases = tuple(map(Released, held, values, bits[1:]))
    return Moved(after, spikes, SpikeOutput(bits[0]), releases)


def _is_stream(x: Any) -> bool:
    return isinstance(x, Stream)


def _with_runs(group: Group, cells: Cells) -> tuple[Group, Cells]:
    """With what the stimuli have once per run of neurons marked."""
    from .._kernels.gpu_fused_step import PerRun

    def marked(x: Any, sizes: tuple[int, ...], counted: bool = False) -> Any:
        return PerRun(x, sizes, counted) if x.shape == (len(sizes),) else x

    def stream(s: Any) -> Any:
        if not _is_stream(s) or s.sizes is None:
            return s
        keys = [marked(x, s.sizes) for x in (s.high, s.low)]
        leaves = [*keys, marked(s.index, s.sizes, counted=True)]
        return jax.tree.unflatten(jax.tree.structure(s), leaves)

    stimuli = [
        dataclasses.replace(s, model=jax.tree.map(lambda x: marked(x, s.sizes), s.model))  # noqa: B023
        if s.per_run
        else s
        for s in group.stimuli
    ]
    states = jax.tree.map(stream, cells.stimuli, is_leaf=_is_stream)
    return dataclasses.replace(group, stimuli=tuple(stimuli)), cells._replace(stimuli=states)


def _without_runs(state: Any) -> Any:
    """With streams whose numbers are given once per neuron."""

    def stream(s: Any) -> Any:
        return Stream(s.high, s.low, s.index) if _is_stream(s) else s

    return jax.tree.map(stream, state, is_leaf=_is_stream)
