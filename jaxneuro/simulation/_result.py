"""The result of a simulation: events, traces and rates by name, on the host."""

import dataclasses
import functools
import os
from typing import Any

import numpy as np

from .._checks import check_count, unknown
from .._text import counted
from ..network import Network, NetworkState
from ..numerics import to_hz
from ._files import read_file, write_file
from ._lookup import Lookup, split_events
from ._spikes import spike_times
from ._tables import spikes_to_pandas, to_neo, traces_to_pandas, weights_to_pandas


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """What `simulate` recorded, as NumPy arrays by population name.

    **Fields** `network` and `state` after the last step (pass it to `simulate` to continue); both
    are None in a loaded result; `dt` [ms]; `layout` name,
    group, start and stop of every population; `first_step`, `n_steps` that were run; `spikes`
    steps (from `first_step`) and neurons per group, see `events`; `traces[name][variable]`
    `(samples, n)`, `means[name][variable]` and `lfp[name]` [pA] `(samples,)`, and `function`,
    the samples of the record's function, all at `sample_times` [ms], `every` so many steps;
    `neurons[name]` whose traces they are, if not all; `weights[name]` `(samples, chosen)` of a
    plastic projection, `synapses[name]` their numbers in `net.connections(name)`, if not all;
    `weight_histograms[name]` int32 `(samples, bins)`, how many weights are in each bin between
    the `weight_edges[name]` `(bins + 1,)`; `counts[name]` spikes per step, if recorded;
    `compile_s`, `run_s` wall seconds; `interrupted` by Ctrl-C.
    """

    network: Network | None
    state: NetworkState | None
    dt: float
    layout: tuple[tuple[str, int, int, int], ...]
    first_step: int
    n_steps: int
    spikes: tuple[tuple[np.ndarray, np.ndarray], ...] | None
    sample_times: np.ndarray
    every: int
    traces: dict[str, dict[str, np.ndarray]]
    neurons: dict[str, np.ndarray]
    means: dict[str, dict[str, np.ndarray]]
    lfp: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]
    synapses: dict[str, np.ndarray]
    weight_histograms: dict[str, np.ndarray]
    weight_edges: dict[str, np.ndarray]
    function: Any
    counts: dict[str, np.ndarray]
    compile_s: float
    run_s: float
    interrupted: bool

    @property
    def populations(self) -> dict[str, int]:
        """Sizes by population name, in the order of the description."""
        return {name: stop - start for name, _, start, stop in self.layout}

    @property
    def duration(self) -> float:
        """Biological time that was run [ms]."""
        return self.n_steps * self.dt

    @property
    def start(self) -> float:
        """Biological time at which the run started [ms]."""
        return self.first_step * self.dt

    def events(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Spike times [ms] and neuron indices of a population, in order of time.

        A spike of step k has the time (k + 1) dt, the end of its step. Raises `ValueError`
        for an unknown population, or if spikes were not recorded.
        """
        steps, neurons = self._events(name)
        return spike_times(steps, self.first_step, self.dt), neurons

    def neurons_at(self, name: str, step: int) -> np.ndarray:
        """The neurons of a population that spiked in a step, ascending.

        `step` is counted from the network's start: k means the time from k dt to (k + 1) dt.
        Raises `ValueError` for a step that was not run.
        """
        lookup, k = self._lookup(name), check_count("neurons_at: step", step) - self.first_step
        if not 0 <= k < self.n_steps:
            last = self.first_step + self.n_steps
            raise ValueError(
                f"neurons_at: step must be one of {self.first_step} ... {last} (excluded), those "
                f"that were run; got {step}"
            )
        return lookup.neurons_at(k)

    def times_of(self, name: str, neuron: int) -> np.ndarray:
        """The spike times [ms] of one neuron of a population, ascending.

        Raises `ValueError` for a neuron that the population has not.
        """
        lookup, i = self._lookup(name), check_count("times_of: neuron", neuron)
        if i >= self.populations[name]:
            raise ValueError(
                f"times_of: neuron must be below {self.populations[name]}, the size of {name!r}; "
                f"got {i}"
            )
        return spike_times(lookup.steps_of(i), self.first_step, self.dt)

    def rate(self, name: str) -> float:
        """Mean rate of a population [Hz] over the run."""
        n = self.populations.get(name)
        if n is None:
            raise unknown("population", name, self.populations)
        if n == 0 or self.n_steps == 0:
            return 0.0
        return float(to_hz(self._events(name)[0].size, n, self.duration))

    def history(self, name: str) -> dict[str, np.ndarray]:
        """All that was sampled of a population or projection, with its times.

        `time` [ms] `(samples,)`, traces `(samples, n)` by variable, means `(samples,)` as
        `mean v`, `lfp`, `weights` `(samples, chosen)` and `weight histogram` `(samples, bins)`.
        Raises `ValueError` if nothing was sampled under that name.
        """
        learned = {"weights": self.weights, "weight histogram": self.weight_histograms}
        names = {**self.traces, **self.means, **self.lfp, **self.weights, **self.weight_histograms}
        if name not in names:
            raise unknown("sampled population or projection", name, names)
        means = {f"mean {k}": x for k, x in self.means.get(name, {}).items()}
        lfp = {"lfp": self.lfp[name]} if name in self.lfp else {}
        more = {what: x[name] for what, x in learned.items() if name in x}
        return {"time": self.sample_times, **self.traces.get(name, {}), **means, **lfp, **more}

    def save(self, path: str | os.PathLike) -> None:
        """Writes all but the network and its state to a file, which `Result.load` reads.

        An npz file: NumPy arrays, nothing that runs. It gets its name only when it is
        complete. Raises `ValueError` for samples of `function` that are not arrays, or dicts,
        tuples or lists of arrays.
        """
        write_file(path, {name: getattr(self, name) for name in _KEPT})

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Result":
        """A result from a file that `save` wrote; its `network` and `state` are None.

        Raises `ValueError` for a file that is cut off, of another kind, or of a newer version.
        """
        return cls(network=None, state=None, **read_file(path, _KEPT, _SINCE))

    def to_pandas(self) -> Any:
        """All spikes as a `pandas.DataFrame`: columns time_ms, population, neuron, by time.

        Raises `ImportError` without pandas, `ValueError` if spikes were not recorded.
        """
        return spikes_to_pandas(self)

    def traces_to_pandas(self, name: str) -> Any:
        """The traces of a population or projection as a `pandas.DataFrame`.

        A row per sample, under its time_ms; a column per variable and neuron. Raises
        `ImportError` without pandas, `ValueError` for a name of which no variable was recorded.
        """
        return traces_to_pandas(self, name)

    def weights_to_pandas(self, name: str) -> Any:
        """The recorded weights of a plastic projection as a `pandas.DataFrame`.

        A row per sample, under its time_ms; a column per synapse, by its number. Raises
        `ImportError` without pandas, `ValueError` for a name of which no weight was recorded.
        """
        return weights_to_pandas(self, name)

    def to_neo(self) -> Any:
        """The run as a `neo.Segment`: a spike train per neuron, a signal per sampled variable.

        Annotations name the population, neuron or synapse, and variable; histograms of weights are
        not in it. Raises `ImportError` without neo.
        """
        return to_neo(self)

    def _events(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Steps from `first_step`, and neurons, of the spikes of a population."""
        if name not in self.populations:
            raise unknown("population", name, self.populations)
        if self.spikes is None:
            raise ValueError("spikes were not recorded; run with record=Record(spikes=True)")
        return self._split[name]

    @functools.cached_property
    def _split(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        return split_events(self.layout, self.spikes or ())

    def _lookup(self, name: str) -> Lookup:
        """Made on first use, population by population."""
        events = self._events(name)
        if name not in self._lookups:
            self._lookups[name] = Lookup.of(*events, self.n_steps, self.populations[name])
        return self._lookups[name]

    @functools.cached_property
    def _lookups(self) -> dict[str, Lookup]:
        return {}

    def __repr__(self) -> str:
        of = self.network
        if of is None:
            populations = counted(len(self.layout), "population")
            of = f"{populations}, {counted(sum(self.populations.values()), 'neuron')}"
        return f"Result: {self.duration:g} ms of {of}{', interrupted' if self.interrupted else ''}"


# The fields that a file holds, and those that files have only from a version on.
_KEPT = tuple(f.name for f in dataclasses.fields(Result) if f.name not in ("network", "state"))
_SINCE = {"weights": 2, "synapses": 2, "weight_histograms": 2, "weight_edges": 2}
