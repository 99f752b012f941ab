"""The result of a run."""

import datetime
import os
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Num, Shaped

from .. import spec
from .._build.releases import never_spikes_at_all
from .._describe.part import Part
from .._disk.arrays import MOST_MB
from .._disk.values import FileKind, read_values, write_values
from .._html import page, raster, table
from .._network.members import first_member
from .._network.names import ByName
from .._network.network import Network
from .._network.state import NetworkState, SavedState
from .._numerics.grid import to_hz
from .._numerics.windows import in_window, run_window
from .._text import counted
from ..spec import InvalidValueError
from .checked import check_events, check_fields, sums_of_file
from .nwb import to_nwb
from .parts import name_and_neurons
from .recorded import RecordedSpikes, named_samples, recorded, sampled
from .spikes import spike_times, steps_near, time_of
from .statistics import SpikeSums
from .tables import (
    signals,
    spikes_to_pandas,
    to_neo,
    to_xarray,
    traces_to_pandas,
    weights_to_pandas,
)

# --- Results in a notebook.

_DRAWN = 1_000_000  # spikes that are looked at


def html_of_result(result: "Result") -> str:
    """Populations with their rates, a small raster, and what else was recorded."""
    title = f"Result: {counted(len(result.populations), 'population')}, {result.duration:g} ms"
    title += f" from {result.start:g} to {result.stop:g} ms in {result.run_s:.3g} s"
    title += f"; {result.nothing_sampled}" if result.nothing_sampled else ""
    title += _ended(result)
    bands, rows, first = [], [], _drawn_from(result)
    for name, n in result.populations.items():
        spikes = rate = "not recorded"
        if result.spikes:
            bands.append((name, *result.events(name, first), n))
            spikes = f"{result.spikes.count(name):,}"
        if result.spikes or name in result.counts or name in result.statistics:
            hz = result.rate(name)
            rate = f"{hz:.2f} Hz" if hz == hz else "-"
            if result.n_steps and hz != hz:
                spikes = rate = "its model never spikes"
        rows.append((name, f"{n:,}", spikes, rate))
    tables = [table(("population", "neurons", "spikes", "mean rate"), rows)]
    sampled = [(signal.name, signal.what, signal.samples) for signal in signals(result)]
    sampled += [(k, "spikes per step", x) for k, x in result.counts.items()]
    shapes = [(name, what, " x ".join(f"{n:,}" for n in x.shape)) for name, what, x in sampled]
    tables.append(table(("recorded", "variable", "samples x numbers"), shapes))
    drawing = raster(bands, result.start if first is None else first, result.stop)
    return page(title if result.n_steps else f"{title}: no time steps", tables, drawing)


def _drawn_from(result: "Result") -> float | None:
    """From when on spikes are drawn [ms]: the last of many, which may be on disk; None for all."""
    total = sum(result.spikes.count(name) for name in result.spikes)
    part = result.duration * _DRAWN / max(total, 1)
    return None if total <= _DRAWN else result.stop - max(part, result.dt)


def _ended(result: "Result") -> str:
    """What ended a run, where it was not its duration alone."""
    return ", interrupted" * result.interrupted + ", until its condition held" * result.until_held


# --- The result of a simulation: events, traces and rates by name, on the host.


@dataclass(frozen=True, eq=False)
class Result:
    """What `simulate` recorded, as NumPy arrays by population name.

    Where a name is asked for that was not recorded, the error says what was, and how to record it.

    Attributes:
        network: the network; None in a loaded result.
        state: the state after the last step; pass it, or the result, to `simulate` to go on. In a
            loaded result a `SavedState`, None if the file has none.
        dt: the time step [ms].
        layout: name, group, start and stop of every population.
        first_step: the number of the first step.
        n_steps: how many were run.
        spikes: by population, a `SpikeTrains`.
        sample_times: when samples were taken [ms], at multiples of `interval`.
        interval: the time from one sample to the next [ms].
        samples: by recorder, what was sampled, (samples, ...) each: `samples["mine"]` of
            `Record(recorders={"mine": ...})`, `traces` and others have names of their own.
        columns: by recorder and name, the neurons or synapses of the samples, if not all; see
            `neurons` and `synapses`.
        constants: by recorder, what all its samples share; see `weight_edges`.
        shared: by name and variable, the receptor or release whose variable it is, where others
            than `name` use it too.
        counts: by population, spikes per step, if recorded; floats where the neurons have a
            surrogate.
        statistics: by population, running sums of the spikes of each neuron, a `SpikeSums`.
        key: the seed of the run: of one that began at 0, `simulate(network, duration,
            key=result.key)` is the same run.
        compile_s: wall seconds of compiling.
        run_s: wall seconds of the run.
        interrupted: whether Ctrl-C ended it.
        until_held: whether it ended as the condition `until` of `simulate` held.

    Raises:
        NotRecordedError: for what was not recorded; a `KeyError` and a `ValueError`.
    """

    network: Network | None
    state: NetworkState | SavedState | None
    dt: float
    layout: tuple[tuple[str, int, int, int], ...]
    first_step: int
    n_steps: int
    spikes: RecordedSpikes
    sample_times: Float[np.ndarray, " samples"]
    interval: float
    samples: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Int[np.ndarray, " _"]]] = field(default_factory=dict)
    constants: dict[str, dict[str, Any]] = field(default_factory=dict)
    shared: dict[str, dict[str, str]] = field(default_factory=dict)
    counts: dict[str, Num[np.ndarray, " steps"]] = field(default_factory=dict)
    statistics: dict[str, SpikeSums] = field(default_factory=dict)
    key: int | None = None
    compile_s: float = float("nan")
    run_s: float = float("nan")
    interrupted: bool = False
    until_held: bool = False

    def __post_init__(self) -> None:
        for name in ("counts", "statistics"):
            object.__setattr__(self, name, recorded(name, getattr(self, name)))
        object.__setattr__(self, "samples", named_samples(self.samples))
        events: Any = self.spikes  # by population, steps from `first_step` and neurons, or None
        events = events.by_population if isinstance(events, RecordedSpikes) else events
        for name in (*(name for name, *_ in self.layout), *(events or ())):  # a file may hold any
            spec.check("Result", "populations", spec.Name(), name)
        steps, window = (self.first_step, self.n_steps, self.dt), (self.start, self.stop)
        spikes = RecordedSpikes(self.populations, events, steps, window)
        object.__setattr__(self, "spikes", spikes)

    traces = sampled("traces", "By name and variable, (samples, n).")
    means = sampled("means", "By name and variable, (samples,).")
    lfp = sampled("lfp", "By population [pA], (samples,).")
    weights = sampled("weights", "By plastic projection, (samples, chosen).")
    weight_histograms = sampled(
        "weight_histograms", "By plastic projection, int32 (samples, bins)."
    )

    @property
    def function(self) -> Any:
        """The samples of the record's function; None without one."""
        return self.samples.get("function")

    @property
    def weight_edges(self) -> dict[str, Any]:
        """The edges of the bins of `weight_histograms`, (bins + 1,)."""
        return recorded("weight_edges", self.constants.get("weight_histograms", {}))

    @property
    def populations(self) -> dict[str, int]:
        """Sizes by population name, in the order of the description."""
        return ByName((name, stop - start) for name, _, start, stop in self.layout)

    @property
    def neurons(self) -> dict[str, Int[np.ndarray, " _"]]:
        """By name, the neurons of the traces, if not all."""
        return recorded("neurons", self.columns.get("traces", {}))

    @property
    def synapses(self) -> dict[str, Int[np.ndarray, " _"]]:
        """By projection, the synapses of the weights in `net.connections(name)`, if not all."""
        return recorded("synapses", self.columns.get("weights", {}))

    @property
    def duration(self) -> float:
        """Biological time that was run [ms]."""
        return time_of(self.n_steps, self.dt)

    @property
    def nothing_sampled(self) -> str:
        """Why there is no sample of what was to be sampled; "" where there is one."""
        if self.sample_times.size or not self.samples:
            return ""
        return f"no samples: no time of the run is a multiple of interval={self.interval:g} ms"

    @property
    def start(self) -> float:
        """Biological time at which the run started [ms]."""
        return time_of(self.first_step, self.dt)

    @property
    def stop(self) -> float:
        """Biological time at which the run ended [ms]: `start + duration`."""
        return time_of(self.first_step + self.n_steps, self.dt)

    def events(
        self, name: str, start: float | None = None, stop: float | None = None
    ) -> tuple[Float[np.ndarray, " spikes"], Int[np.ndarray, " spikes"]]:
        """Spike times [ms] and neuron indices of a population, in order of time.

        A spike of step k has the time (k + 1) dt, the end of its step. With `start` or `stop` [ms],
        only those in `(start, stop]`, by the time of the network as all times here.

        Raises:
            InvalidValueError: for an unknown population, or a part that is not within the run or
                has no length.
            ValueError: if spikes were not recorded.
        """
        trains = self.spikes.between(name, start, stop)
        self._window(start, stop)  # warns of a part that looks like seconds
        return trains.times, trains.neurons

    @spec.arguments(step=spec.Whole())
    def neurons_at(self, name: str, step: int) -> Int[np.ndarray, " spikes"]:
        """The neurons of a population that spiked in a step, ascending.

        `step` is counted from the network's start: k means the time from k dt to (k + 1) dt.

        Raises:
            InvalidValueError: for a step that was not run.
        """
        k, _ = step - self.first_step, self.spikes.count(name)  # which says if there are none
        if not 0 <= k < self.n_steps:
            last = self.first_step + self.n_steps
            raise InvalidValueError(
                "neurons_at",
                "step",
                f"one of {self.first_step} ... {last} (excluded), those that were run",
                str(step),
            )
        return self.spikes.events(name, k, k + 1)[1]

    def rate(
        self, name: str | Part, start: float | None = None, stop: float | None = None
    ) -> float:
        """Mean rate of a population or a `Part` [Hz] over the run, or from `start` to `stop` [ms].

        Where spikes were not recorded, from the counts per step (`Record(rates=True)`) or, of the
        whole run, from the statistics. nan where there is no answer: without a time step, and of
        models that never spike, such as rate units, if the result has its network. 0 without a
        neuron.

        Raises:
            InvalidValueError: for an unknown population, or a part that is not within the run or
                has no length.
            NotRecordedError: if none of them was recorded.
        """
        name, neurons = name_and_neurons(self, name)
        n = self.populations[name] if neurons is None else neurons.size
        first, last = self._window(start, stop)
        if n == 0 or self.n_steps == 0:
            return 0.0 if self.n_steps else float("nan")
        if not self.spikes and name in self.counts and neurons is None:
            a, b = steps_near((first, last), self.first_step, self.n_steps, self.dt)
            ends = spike_times(np.arange(a, b), self.first_step, self.dt)
            spikes = float(self.counts[name][a:b][in_window(ends, first, last)].sum())
        elif not self.spikes and name in self.statistics and (first, last) == self._window():
            count = np.asarray(self.statistics[name].count)
            spikes = float((count if neurons is None else count[neurons]).sum())
        elif (first, last) == self._window() and neurons is None:
            spikes = self.spikes.count(name)  # without making all their times
        else:
            spikes = len(self.spikes.between(name, start, stop, neurons))
        if spikes == 0 and self.never_spikes(name):
            return float("nan")
        return float(to_hz(spikes, n, last - first))

    def never_spikes(self, name: str) -> bool:
        """Whether the model of a population has no spikes at all; False without its network."""
        spec.check_known("population", name, self.populations)
        if self.network is None:
            return False
        net = self.network
        model = net.groups[net.population(name)[0]].model
        return never_spikes_at_all(first_member(model), net.dt, net.dtype)

    def history(self, name: str) -> dict[str, Shaped[np.ndarray, "samples ..."]]:
        """All that was sampled of a population or projection, with its times.

        `time` [ms] `(samples,)`, traces `(samples, n)` by variable, means `(samples,)` as
        `mean v`, `lfp`, `weights` `(samples, chosen)` and `weight histogram` `(samples, bins)`.

        Raises:
            InvalidValueError: if nothing was sampled under that name.
        """
        by_name: dict[str, dict[str, Any]] = {}
        for signal in signals(self):
            by_name.setdefault(signal.name, {})[signal.what] = signal.samples
        spec.check_known("sampled population or projection", name, by_name)
        return {"time": self.sample_times, **by_name[name]}

    def save(self, path: str | os.PathLike) -> None:
        """Writes all but the network to a file, which `Result.load` reads.

        An npz file: NumPy arrays, nothing that runs. It gets its name only when it is
        complete. It holds the last state, unless that lies on devices of several processes.

        Raises:
            ValueError: for samples of `function` that are not arrays, or dicts, tuples or lists of
                arrays.
            FileNotFoundError: for a missing folder.
        """
        state = SavedState.of(self.state) if isinstance(self.state, NetworkState) else self.state
        values = {name: getattr(self, name) for name in _SAVED}
        values["state"] = None if state is None else dict(vars(state))
        values["spikes"] = {name: self.spikes.events(name) for name in self.spikes}
        values["spikes"] = values["spikes"] if self.spikes.by_population is not None else None
        values["statistics"] = {name: tuple(x) for name, x in self.statistics.items()}
        whole = spec.check("save", "path", spec.FilePath(), path)
        if whole.suffix in _OTHERS:
            must = "an .npz file (other formats: result.to_pandas(), to_nwb(), to_neo())"
            raise InvalidValueError("save", "path", must, repr(os.fspath(path)))
        write_values(whole, _FILE, values)

    @classmethod
    @spec.arguments(max_mb=spec.Number(above=0.0))
    def load(cls, path: str | os.PathLike, *, max_mb: float = MOST_MB) -> "Result":
        """A result from a file that `save` wrote, without its network.

        `simulate(net, ms, state=result)` goes on from it, with the network built as it was.

        Args:
            path: the file.
            max_mb: how much a file that somebody has compressed may unpack to, in MB; `save` does
                not compress, and its files are read whatever their size.

        Raises:
            ValueError: for a file that is cut off, of another kind or version, or unpacks to more.
        """
        whole = spec.check("load", "path", spec.FilePath(), path)
        found = read_values("load", whole, _FILE, max_mb)
        if found.keys() != _SAVED:
            named = f"the file {os.fspath(path)!r}"
            raise InvalidValueError("load", named, "whole", "one with other fields: it is damaged")
        check_fields("load", whole, found)
        check_events("load", whole, found)
        state = found["state"]
        found["state"] = SavedState(**state) if state else None
        found["statistics"] = sums_of_file(found["statistics"])
        return cls(network=None, **found)

    def to_pandas(self) -> Any:
        """All spikes as a `pandas.DataFrame`: columns time_ms, population, neuron, by time.

        Raises:
            ImportError: without pandas.
            ValueError: if spikes were not recorded.
        """
        return spikes_to_pandas(self)

    def traces_to_pandas(self, name: str) -> Any:
        """The traces of a population or projection as a `pandas.DataFrame`.

        A row per sample, under its time_ms; a column per variable and neuron.

        Raises:
            ImportError: without pandas.
            NotRecordedError: for a name of which no variable was recorded.
        """
        return traces_to_pandas(self, name)

    def weights_to_pandas(self, name: str) -> Any:
        """The recorded weights of a plastic projection as a `pandas.DataFrame`.

        A row per sample, under its time_ms; a column per synapse, by its number.

        Raises:
            ImportError: without pandas.
            NotRecordedError: for a name of which no weight was recorded.
        """
        return weights_to_pandas(self, name)

    def to_neo(self) -> Any:
        """The run as a `neo.Segment`: a spike train per neuron, a signal per sampled variable.

        Annotations name the population, neuron or synapse, and variable; histograms of weights are
        not in it.

        Raises:
            ImportError: without neo.
        """
        return to_neo(self)

    def to_xarray(self) -> Any:
        """Traces, means, field potentials and weights as an `xarray.Dataset` over time_ms.

        Variables are called `E v`, `E mean v`, `E lfp`, `E->E weight`; their second dimension,
        `E neuron` or `E->E synapse`, has the numbers of neurons or synapses. Names and units are
        attributes.

        Raises:
            ImportError: without xarray.
        """
        return to_xarray(self)

    def to_nwb(
        self,
        session_start_time: datetime.datetime | None = None,
        *,
        session_description: str | None = None,
        identifier: str | None = None,
        **more: Any,
    ) -> Any:
        """The run as a `pynwb.NWBFile`, which `pynwb.NWBHDF5IO(path, "w")` writes.

        Units are the neurons, with population, number and spike times [s]; each sampled variable
        is a `TimeSeries` of SI units, and a table `sampled_units` says which units its columns are.
        Histograms of weights are not in it. Time 0 of the network is the start of the session.

        Args:
            session_start_time: with a time zone (default: now).
            session_description: what was done (default: how much of which network was simulated).
            identifier: of this file and no other (default: a random UUID).
            **more: further arguments of `NWBFile`, such as `experimenter` or `keywords`.

        Raises:
            ImportError: without pynwb.
            InvalidValueError: for a time without a time zone.
        """
        return to_nwb(self, session_start_time, session_description, identifier, more)

    def _window(self, start: float | None = None, stop: float | None = None) -> tuple[float, float]:
        return run_window(self.start, self.stop, start, stop)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_result(self)

    def __repr__(self) -> str:
        of = self.network
        if of is None:
            populations = counted(len(self.layout), "population")
            of = f"{populations}, {counted(sum(self.populations.values()), 'neuron')}"
        more = f"; {self.nothing_sampled}" if self.nothing_sampled else ""
        more += "".join(
            f"; {variable!r} of {name!r} is that of {owner!r}"
            for name, variables in self.shared.items()
            for variable, owner in variables.items()
        )
        more += _ended(self)
        key = "" if self.key is None else f", key {self.key}"
        run = f"{self.duration:g} ms ({counted(self.n_steps, 'step')})"
        run += f" from {self.start:.10g} ms on" if self.first_step else ""
        return f"Result: {run} of {of}{key}{more}"


_SAVED = {f.name for f in fields(Result) if f.name != "network"}
_FILE = FileKind("jaxneuro result", 1, "Result.save")
# Formats that a result is not written in.
_OTHERS = frozenset((".csv", ".tsv", ".txt", ".json", ".mat", ".h5", ".hdf5", ".nwb", ".parquet"))
