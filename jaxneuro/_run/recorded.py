"""What was recorded, by name: a name that is not there says what is, and how to record it."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from jaxtyping import Int64

from .. import spec
from .._disk.parts import EventsOnDisk
from .._network.names import NoSuchNameError, register_dictionary
from .._numerics.windows import in_window, part_of_run
from .._text import shown
from .chosen import chosen
from .recorders import LFP, Function, Means, Recorder, Traces
from .spike_trains import SpikeTrains, trains_text
from .spikes import Events, spike_times, steps_near
from .statistics import SpikeSums, joined_sums, sums_of_events
from .weight_recorders import WeightHistograms, Weights

# What a field of a `Result` holds by name, and what to write in a `Record` to have it.
FIELDS = {
    "spikes": ("population with recorded spikes", "spikes=True"),
    "counts": ("population with recorded counts", "rates=True"),
    "statistics": ("population with running sums of spikes", "statistics={name!r}"),
    "weight_edges": ("recorded histogram of weights", "weight_histograms={{{name!r}: 50}}"),
    "neurons": ("population of which some neurons were chosen", "neurons={{{name!r}: [0, 1]}}"),
    "synapses": ("projection of which some weights were chosen", "weights={{{name!r}: [0, 1]}}"),
}
# The recorders of this package, by the name of their samples.
RECORDERS: dict[str, type[Recorder]] = {
    "traces": Traces,
    "means": Means,
    "lfp": LFP,
    "function": Function,
    "weights": Weights,
    "weight_histograms": WeightHistograms,
}
_NAMED = spec.Entries(spec.Anything())


class NotRecordedError(NoSuchNameError):
    """What was asked for was not recorded; a `KeyError` and a `ValueError`."""


class Recorded(dict):
    """A dictionary of what was recorded; `how` says how what is missing is recorded."""

    def __init__(self, values: Any, kind: str, how: str):
        dict.__init__(self, values)
        self.kind, self.how = kind, how

    def __missing__(self, name: Any) -> Any:
        error = spec.unknown(self.kind, name, self)
        inside = [k for k, x in self.items() if isinstance(x, Recorded) and name in x]
        if inside:
            raise NotRecordedError(
                f"{error}. {name!r} is of {inside[0]!r}: [{inside[0]!r}][{name!r}]"
            )
        how = self.how.format(name=name)
        raise NotRecordedError(f"{error}. To have it: simulate(..., record=jn.Record({how}))")

    def __repr__(self) -> str:
        return shown(dict(self))

    def __reduce__(self) -> tuple:
        return Recorded, (dict(self), self.kind, self.how)


def recorded(field: str, values: Mapping[str, Any]) -> Recorded:
    """The values of a field of a `Result`, or the samples of a recorder of this package."""
    recorder = RECORDERS.get(field)
    kind, how = FIELDS[field] if recorder is None else (recorder.kind, recorder.how)
    values = spec.check("Result", field, _NAMED, values)
    if recorder is not None and recorder.by_variable:
        values = {name: _variables(field, name, x) for name, x in values.items()}
    return Recorded(values, kind, how)


def named_samples(samples: Mapping[str, Any]) -> dict[str, Any]:
    """The samples of all recorders, those of this package as `Recorded`."""
    samples = spec.check("Result", "samples", _NAMED, samples)
    ours = {name for name, recorder in RECORDERS.items() if recorder.kind}
    return {name: recorded(name, x) if name in ours else x for name, x in samples.items()}


def sampled(recorder: str, words: str) -> Any:
    """A property with the samples of a recorder of this package."""

    def get(run: Any) -> Any:
        return run.samples[recorder] if recorder in run.samples else recorded(recorder, {})

    return property(get, doc=words)


def _variables(field: str, name: str, values: Mapping[str, Any]) -> Recorded:
    field = "variables" if field == "traces" else field
    values = spec.check("Result", f"{field} of {name!r}", _NAMED, values)
    had = "".join(f"{variable!r}, " for variable in sorted(values))  # as JAX orders names
    more = f"{field}={{{{{name!r}: ({had}{{name!r}})}}}}"
    return Recorded(values, f"recorded variable of {name!r}", more)


register_dictionary(Recorded, lambda x: (x.kind, x.how))


class RecordedSpikes(Mapping[str, SpikeTrains]):
    """The spikes of a run by population; there are none if they were not recorded."""

    def __init__(
        self,
        sizes: Mapping[str, int],
        events: Mapping[str, Events | EventsOnDisk] | None,
        steps: tuple[int, int, float],
        window: tuple[float, float],
    ) -> None:
        """`steps` are the first, how many were run, and dt; `window` start and stop [ms]."""
        self.by_population = None if events is None else dict(events)
        self._sizes, self._steps, self._window = sizes, steps, window
        self._kept: dict[str, SpikeTrains] = {}

    def __getitem__(self, name: str) -> SpikeTrains:
        if name not in tuple(self._sizes):
            raise NoSuchNameError(str(spec.unknown("population", name, self._sizes)))
        if name not in self._kept:  # trains keep their order by neuron
            if isinstance(self._known(name), EventsOnDisk):
                self._kept.clear()  # spikes of all populations may be larger than the memory
            self._kept[name] = self._trains(name, self.events(name))
        return self._kept[name]

    def __contains__(self, name: object) -> bool:
        return name in tuple(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_population or ())

    def __len__(self) -> int:
        return len(self.by_population or ())

    def between(
        self,
        name: str,
        start: float | None = None,
        stop: float | None = None,
        neurons: Any = None,
    ) -> SpikeTrains:
        """The spikes of a population in the part `(start, stop]` of the run [ms], by default all.

        `neurons` chooses some, by numbers, a slice or a mask: neuron k of the trains is then the
        k-th of these. Of a run on disk no more is held than one interval and what is chosen.

        Raises:
            InvalidValueError: for an unknown population, a part that is not within the run or has
                no length, and neurons that there are not or that are chosen twice.
        """
        place = None if neurons is None else self._places(name, neurons)
        if start is None and stop is None:
            return self._trains(name, self.events(name, place=place), place)
        window = part_of_run(*self._window, start, stop)
        # Events are in order: times are made only where the part may be.
        near = steps_near(window, *self._steps)
        trains = self._trains(name, self.events(name, *near, place), place)
        inside = in_window(trains.times, *window)
        found = trains.times[inside], trains.neurons[inside]
        return SpikeTrains.known(*found, trains.n, *window)

    def _places(self, name: str, neurons: Any) -> Int64[np.ndarray, " n"]:
        """Of each neuron its place among those that are chosen, or -1."""
        self._known(name)
        which = spec.check("between", "neurons", spec.Converted(chosen), neurons)
        numbers = which.indices("neurons", self._sizes[name], "between")
        place = np.full(self._sizes[name], -1)
        place[numbers] = np.arange(numbers.size)
        return place

    def _trains(
        self, name: str, events: Events, place: Int64[np.ndarray, " n"] | None = None
    ) -> SpikeTrains:
        first, _, dt = self._steps
        steps, neurons = events
        n = self._sizes[name] if place is None else int(place.max()) + 1
        return SpikeTrains.known(spike_times(steps, first, dt), neurons, n, *self._window)

    def events(
        self,
        name: str,
        first: int = 0,
        last: int | None = None,
        place: Int64[np.ndarray, " n"] | None = None,
    ) -> Events:
        """Steps, counted from the first of the run, and neurons of the spikes of a population.

        With `last`, of the steps from `first` to it (excluded) alone; with `place`, by their
        places, without those of neurons whose place is -1.
        """
        found = self._known(name)
        if isinstance(found, EventsOnDisk):
            pieces = [_placed(x, place) for x in found.pieces(first, last)]
            pieces = pieces or [(found.steps[:0], found.neurons[:0])]
            steps, neurons = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces))
        else:
            steps, neurons = _placed(found, place)
        if last is None:
            return steps, neurons
        near = slice(*np.searchsorted(steps, np.array([first, last], steps.dtype)))
        return steps[near], neurons[near]

    def count(self, name: str) -> int:
        """How many spikes a population had."""
        found = self._known(name)
        return len(found.steps if isinstance(found, EventsOnDisk) else found[0])

    def sums_on_disk(self, name: str) -> SpikeSums | None:
        """The running sums of a population whose spikes are on disk, part by part; else None."""
        found = self._known(name)
        if not isinstance(found, EventsOnDisk):
            return None
        first, n = self._steps[0], self._sizes[name]
        each = (sums_of_events(*piece, n, first) for piece in found.pieces())
        return functools.reduce(joined_sums, each)

    def _known(self, name: str) -> Any:
        """The spikes of a population, here or in files."""
        spec.check_known("population", name, self._sizes)
        if self.by_population is None or name not in self.by_population:
            _, how = FIELDS["spikes"]
            raise NotRecordedError(
                f"spikes of {name!r} were not recorded (rates alone need rates=True; rates and CVs "
                "of neurons in a whole run, statistics=...). To have them: simulate(..., "
                f"record=jn.Record({how}))"
            )
        return self.by_population[name]

    def __repr__(self) -> str:  # which reads no spikes
        about = {k: trains_text(self.count(k), self._sizes[k], *self._window) for k in self}
        return shown({name: _Said(text) for name, text in about.items()})


class _Said(str):
    """A text that is shown as it is."""

    __repr__ = str.__str__


def _placed(events: Events, place: Int64[np.ndarray, " n"] | None) -> Events:
    """Those of neurons that have a place, with it in the place of their number."""
    if place is None:
        return events
    steps, neurons = events
    mine = place[neurons] >= 0
    return steps[mine], place[neurons[mine]]
