"""What was recorded, by name: a name that is not there says what is, and how to record it."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from .. import spec
from .._network.names import NoSuchNameError, register_dictionary
from .._text import shown
from .spike_trains import SpikeTrains
from .spikes import Events, Lookup, spike_times, split_events

# What a field of a `Result` holds by name, and what to write in a `Record` to have it.
FIELDS = {
    "spikes": ("population with recorded spikes", "spikes=True"),
    "traces": ("recorded population or projection", "variables={{{name!r}: ...}}"),
    "means": ("population or projection with recorded means", "means={{{name!r}: 'v'}}"),
    "lfp": ("population with a recorded LFP", "lfp=({name!r},)"),
    "counts": ("population with recorded counts", "rates=True"),
    "statistics": ("population with running sums of spikes", "statistics={name!r}"),
    "weights": ("projection with recorded weights", "weights={{{name!r}: ...}}"),
    "weight_histograms": ("recorded histogram of weights", "weight_histograms={{{name!r}: 50}}"),
    "weight_edges": ("recorded histogram of weights", "weight_histograms={{{name!r}: 50}}"),
    "neurons": ("population of which some neurons were chosen", "neurons={{{name!r}: [0, 1]}}"),
    "synapses": ("projection of which some weights were chosen", "weights={{{name!r}: [0, 1]}}"),
}


class NotRecordedError(NoSuchNameError):
    """What was asked for was not recorded; a `KeyError` and a `ValueError`."""


class Recorded(dict):
    """A dictionary of what was recorded; `how` says how what is missing is recorded."""

    def __init__(self, values: Mapping[str, Any], kind: str, how: str):
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
    """The values of a field of a `Result`; of traces and means, each by variable too."""
    kind, how = FIELDS[field]
    if field in ("traces", "means"):
        values = {name: _variables(field, name, x) for name, x in values.items()}
    return Recorded(values, kind, how)


def _variables(field: str, name: str, values: Mapping[str, Any]) -> Recorded:
    field = "variables" if field == "traces" else field
    had = "".join(f"{variable!r}, " for variable in values)
    more = f"{field}={{{{{name!r}: ({had}{{name!r}})}}}}"
    return Recorded(values, f"recorded variable of {name!r}", more)


register_dictionary(Recorded, dict)


class RecordedSpikes(Mapping[str, SpikeTrains]):
    """The spikes of a run by population; there are none if they were not recorded.

    They are kept by group, and parted by population when they are first asked for.
    """

    def __init__(
        self,
        layout: tuple[tuple[str, int, int, int], ...],
        groups: tuple[Events, ...] | None,
        times: tuple[int, int, float],
        window: tuple[float, float],
    ) -> None:
        """`times` are the first step, how many were run, and dt; `window` start and stop [ms]."""
        self.groups, self._layout, self._times, self._window = groups, layout, times, window
        self._sizes = {} if groups is None else {name: b - a for name, _, a, b in layout}
        self._lookups: dict[str, Lookup] = {}

    def __getitem__(self, name: str) -> SpikeTrains:
        steps, neurons = self.events(name)
        first, _, dt = self._times
        times = spike_times(steps, first, dt)
        return SpikeTrains.known(times, neurons, self._sizes[name], *self._window)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def events(self, name: str) -> Events:
        """Steps, counted from the first of the run, and neurons of the spikes of a population."""
        spec.check_known("population", name, [known for known, *_ in self._layout])
        if self.groups is None:
            _, how = FIELDS["spikes"]
            raise NotRecordedError(
                f"spikes were not recorded. To have them: simulate(..., record=jn.Record({how}))"
            )
        return self._split[name]

    def lookup(self, name: str) -> Lookup:
        """The spikes of a population by step and by neuron."""
        events = self.events(name)
        if name not in self._lookups:
            self._lookups[name] = Lookup.of(*events, self._times[1], self._sizes[name])
        return self._lookups[name]

    @functools.cached_property
    def _split(self) -> dict[str, Events]:
        return split_events(self._layout, self.groups or ())

    def __repr__(self) -> str:
        return shown({name: self[name] for name in self})
