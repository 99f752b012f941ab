"""From stimulations to stimuli of a group: prepared on the host, merged by kind."""

import dataclasses
import math
from collections.abc import Hashable
from typing import Any

import jax.numpy as jnp
import numpy as np

from .._types import Stimulus
from ..numerics import Distribution, bits, drawn, steps_on_grid, stream_key
from ._merge import kind_key, merge, own_key, sort_key
from ._places import Neurons, Places, count
from ._plan import Plan, receptor_key
from ._set import check_grid
from ._stimulation import Stimulation, check_one_per_neuron
from ._stimuli import StimulusGroup


@dataclasses.dataclass(frozen=True)
class Driven:
    """A stimulation with its stimulus as it runs, its neurons and its window in steps."""

    stimulation: Stimulation
    stimulus: Stimulus
    neurons: Neurons
    window: tuple[int, int, int | None]
    weight: Any

    @property
    def population(self) -> str:
        return self.stimulation.post.population

    @property
    def n(self) -> int:
        return count(self.neurons)


def prepare_stimuli(plan: Plan, places: Places, seed: Any, dt: float) -> list[Driven]:
    """Every stimulation of a description, by name; raises for times off the grid."""
    out = []
    for s in sorted(plan.description.stimuli, key=lambda s: s.name):
        label, neurons = f"stimulation {s.name!r}", places.neurons(s.post)
        check_grid(label, s.stimulus, dt)
        check_one_per_neuron(s, count(neurons))
        key = stream_key(seed, s.name, "stimulus")
        stimulus = s.stimulus.prepare(label, count(neurons), dt, key)
        weight = _weight(s, count(neurons), seed)
        out.append(Driven(s, stimulus, neurons, _window(label, s, dt), weight))
    return out


def _weight(s: Stimulation, n: int, seed: Any) -> Any:
    """The weight as numbers: one drawn per neuron from a distribution."""
    if not isinstance(s.weight, Distribution):
        return s.weight
    word = bits(stream_key(seed, s.name, "weights"), np.arange(n), 0)[0]
    return drawn(s.weight, word)


def _window(label: str, s: Stimulation, dt: float) -> tuple[int, int, int | None]:
    delay, start = (
        int(steps_on_grid(f"{label}: {key}", getattr(s, key), dt)) for key in ("delay", "start")
    )
    stop = None if s.stop == math.inf else int(steps_on_grid(f"{label}: stop", s.stop, dt))
    if max(delay + start, stop or 0) >= 2**31:
        raise ValueError(f"{label}: delay, start and stop must be below 2^31 steps")
    return delay, start, stop


def group_stimuli(
    plan: Plan, driven: list[Driven], number: int, dtype: Any
) -> tuple[StimulusGroup, ...]:
    """The stimuli of a group. Those of one kind are one operation; a second one is a layer."""
    receptors = list(plan.receptors[number])
    layers: dict[Hashable, list[Driven]] = {}
    used: dict[Hashable, int] = {}
    for d in driven:
        if plan.place[d.population][0] != number:
            continue
        s = d.stimulation
        # What is no stretch of the group is a layer of its own.
        own = s.name if isinstance(d.neurons, np.ndarray) else own_key(s.name, d.stimulus)
        kind = (kind_key(d.stimulus), _receptor(receptors, s), d.window, own)
        layer = used[kind, d.population] = used.get((kind, d.population), -1) + 1
        layers.setdefault((kind, layer), []).append(d)
    ordered = sorted(layers.items(), key=lambda item: _layer_order(item[0], item[1][0]))
    return tuple(_merged(plan, receptors, members, dtype) for _, members in ordered)


def _layer_order(key: Any, first: Driven) -> tuple:
    """Orders layers by what they are, so that their sum does not depend on other names."""
    (_, receptor, (delay, start, stop), own), layer = key
    window = delay, start, math.inf if stop is None else stop
    kind = *sort_key(first.stimulus), -1 if receptor is None else receptor
    return *kind, window, layer, own, first.stimulation.name


def _receptor(receptors: list, s: Stimulation) -> int | None:
    return None if s.synapse is None else receptors.index(receptor_key(s))


def _merged(plan: Plan, receptors: list, members: list[Driven], dtype: Any) -> StimulusGroup:
    receptor = _receptor(receptors, members[0].stimulation)
    members = sorted(members, key=lambda d: plan.place[d.population][2])
    sizes = [d.n for d in members]
    first = [plan.place[d.population][2] for d in members]
    model = merge([d.stimulus for d in members], sizes, dtype)
    weight: Any = None
    if receptor is not None:
        weight = merge([np.asarray(d.weight) for d in members], sizes, dtype)
    index, spans, starts = None, [], []
    for d, start in zip(members, first):
        if isinstance(d.neurons, slice):
            spans.append((start + d.neurons.start, start + d.neurons.stop))
            starts.append(d.neurons.start)
        else:
            index = jnp.asarray(d.neurons + start, jnp.int32)
            starts.append(start)
    return StimulusGroup(
        model=model,
        weight=weight,
        index=index,
        names=tuple(d.stimulation.name for d in members),
        members=tuple(plan.place[d.population][1] for d in members),
        sizes=tuple(sizes),
        spans=tuple(spans),
        locals=tuple(starts),
        receptor=receptor,
        window=members[0].window,
    )
