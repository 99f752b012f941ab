"""Makes the stimuli of a group: prepares stimulations on the host and merges them by kind."""

import dataclasses
import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from jaxtyping import Num

from .._arrays import AnyArray, as_array
from .._describe.part import Neurons, count
from .._describe.resolve import Resolver
from .._describe.stimulation import Stimulation, check_one_per_neuron
from .._model import Stimulus
from .._network.members import Seed
from .._network.stimuli import StimulationMember, StimulusGroup, Window
from .._numerics.distributions import Distribution
from .._numerics.draws import drawn
from .._numerics.grid import check_grid, steps_on_grid
from .._numerics.streams import bits, stream_key
from ..spec import InvalidValueError
from .grouping import Grouping
from .merge import kind_key, merge, own_key, sort_key
from .weights import warn_of_nano, warn_of_volts_sent


@dataclasses.dataclass(frozen=True)
class PreparedStimulation:
    """A stimulation with its stimulus as it runs, its neurons and its window in steps."""

    stimulation: Stimulation
    stimulus: Stimulus
    neurons: Neurons
    window: Window
    weight: Num[AnyArray, " n"] | float | None

    @property
    def population(self) -> str:
        return self.stimulation.post.population

    @property
    def n(self) -> int:
        return count(self.neurons)


def prepare_stimuli(
    grouping: Grouping, resolver: Resolver, seed: Seed, dt: float
) -> list[PreparedStimulation]:
    """Every stimulation of a description, by name; raises for times off the grid."""
    out = []
    for p in grouping.description.populations:
        driving = (s for s in grouping.description.stimuli if s.post.population == p.name)
        warn_of_nano(driving, p.model)
    for s in sorted(grouping.description.stimuli, key=lambda s: s.name):
        label, neurons = f"stimulation {s.name!r}", resolver.neurons(s.post)
        check_grid(label, s.stimulus, dt)
        if s.synapse is not None:
            check_grid(f"{label}: synapse", s.synapse, dt)
        check_one_per_neuron(s, count(neurons))
        warn_of_volts_sent(s, grouping.description.population(s.post.population).model)
        key = stream_key(seed, s.name, "stimulus")
        stimulus = s.stimulus.prepare(label, count(neurons), dt, key)
        weight = _weight(s, count(neurons), seed)
        out.append(PreparedStimulation(s, stimulus, neurons, _window(label, s, dt), weight))
    return out


def _weight(s: Stimulation, n: int, seed: Seed) -> Num[AnyArray, " {n}"] | float | None:
    """The weight as numbers: one drawn per neuron from a distribution."""
    if not isinstance(s.weight, Distribution):
        return s.weight
    word = bits(stream_key(seed, s.name, "weights"), np.arange(n), 0)[0]
    return drawn(s.weight, word)


def _window(label: str, s: Stimulation, dt: float) -> Window:
    delay, start = (
        int(steps_on_grid(f"{label}: {key}", getattr(s, key), dt)) for key in ("delay", "start")
    )
    stop = None if s.stop == math.inf else int(steps_on_grid(f"{label}: stop", s.stop, dt))
    if max(delay + start, stop or 0) >= 2**31:
        longest = max(("delay", "start", "stop"), key=lambda k: getattr(s, k))
        must, got = f"below 2^31 steps of {dt:g} ms", f"{getattr(s, longest):g} ms"
        raise InvalidValueError(label, longest, must, got)
    return Window(delay, start, stop)


def group_stimuli(
    grouping: Grouping, driven: list[PreparedStimulation], number: int, dtype: np.dtype
) -> tuple[StimulusGroup, ...]:
    """The stimuli of a group. Those of one kind are one operation; a second one is a layer."""
    layers: dict[tuple[tuple, int], list[PreparedStimulation]] = {}
    used: dict[Hashable, int] = {}
    for d in driven:
        if grouping.seats[d.population].group != number:
            continue
        s = d.stimulation
        # Neurons that are not consecutive in the group make a layer of their own.
        own = s.name if isinstance(d.neurons, np.ndarray) else own_key(s.name, d.stimulus)
        kind = (kind_key(d.stimulus), _input(grouping, s), d.window, own)
        layer = used[kind, d.population] = used.get((kind, d.population), -1) + 1
        layers.setdefault((kind, layer), []).append(d)
    ordered = sorted(layers.items(), key=lambda item: _layer_order(item[0], item[1][0]))
    return tuple(_merged(grouping, members, dtype) for _, members in ordered)


def _layer_order(key: tuple[tuple, int], first: PreparedStimulation) -> tuple:
    """Sorts layers by kind, so that their sum does not depend on other names."""
    (_, place, (delay, start, stop), own), layer = key
    window = delay, start, math.inf if stop is None else stop
    kind = *sort_key(first.stimulus), -1 if place is None else place[1]
    return *kind, window, layer, own, first.stimulation.name


def _input(grouping: Grouping, s: Stimulation) -> tuple[int, int] | None:
    return None if s.synapse is None else grouping.input_of(s)


def _merged(
    grouping: Grouping, members: list[PreparedStimulation], dtype: np.dtype
) -> StimulusGroup:
    receptor, row = _input(grouping, members[0].stimulation) or (None, None)
    members = sorted(members, key=lambda d: grouping.seats[d.population].first)
    sizes = [d.n for d in members]
    first = [grouping.seats[d.population].first for d in members]
    model = merge([d.stimulus for d in members], sizes, dtype)
    weight: Any = None
    if receptor is not None:
        weight = merge([np.asarray(d.weight) for d in members], sizes, dtype)
    index, targets = None, []
    for d, start in zip(members, first):
        if isinstance(d.neurons, slice):
            span, begin = (start + d.neurons.start, start + d.neurons.stop), d.neurons.start
        else:
            index, span, begin = as_array(d.neurons + start, np.int32), None, start
        member = grouping.seats[d.population].member
        targets.append(StimulationMember(d.stimulation.name, member, d.n, span, begin))
    return StimulusGroup(
        model=model,
        weight=weight,
        index=index,
        targets=tuple(targets),
        receptor=receptor,
        input=row,
        window=members[0].window,
    )
