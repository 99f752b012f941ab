"""Spikes in bins and by neuron."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Int, Int64, Num

from .._run.spike_trains import SpikeTrains, tolerance_of
from .._text import counted
from ..spec import InvalidValueError
from ._bins import bin_of, check_bins, number_of_bins
from ._source import Name, Time, pooled_of
from ._traced import TracedTrains

_MOST = 2**31  # counts in one array: 17 GB


def bins_of(
    trains: SpikeTrains, bin_ms: float
) -> tuple[Int64[np.ndarray, " spikes"], Bool[np.ndarray, " spikes"], int]:
    """`bin_of` of the spikes, from the start of their window on."""
    elapsed = trains.times - trains.start
    return bin_of(elapsed, trains.duration, bin_ms, tolerance_of(trains))


def binned(trains: SpikeTrains | TracedTrains, bin_ms: float) -> Num[Any, " bins"]:
    """Spikes of all neurons per bin, whole bins only."""
    if isinstance(trains, TracedTrains):
        return trains.binned(bin_ms)
    index, inside, bins = bins_of(trains, bin_ms)
    return np.bincount(index[inside], minlength=bins)


def counts_by_neuron(trains: SpikeTrains | TracedTrains) -> Int[Any, " n"]:
    """The number of spikes of each neuron."""
    if isinstance(trains, TracedTrains):
        return trains.counts()
    return np.bincount(trains.neurons, minlength=trains.n)


def cells_of(trains: SpikeTrains, bin_ms: float) -> tuple[Int64[np.ndarray, " spikes"], int]:
    """`neuron * bins + bin` of each spike inside the bins, and the number of bins."""
    index, inside, bins = bins_of(trains, bin_ms)
    return trains.neurons[inside].astype(np.int64) * bins + index[inside], bins


def table_of(trains: SpikeTrains | TracedTrains, bin_ms: float) -> Int[Any, "n bins"]:
    """Spikes of each neuron in bins."""
    if isinstance(trains, TracedTrains):
        return trains.table(bin_ms)
    n, bins = trains.n, number_of_bins(trains.duration, bin_ms)
    if n * bins > _MOST:
        must = "so long, or the neurons so few, that at most 2^31 counts are made"
        got = f"{counted(n, 'neuron')} and {counted(bins, 'bin')} of {bin_ms:g} ms"
        raise InvalidValueError("", "bin_ms", must, f"{got}, {8e-9 * n * bins:,.0f} GB")
    cells, bins = cells_of(trains, bin_ms)
    return np.bincount(cells, minlength=n * bins).reshape(n, bins)


def counts_of(
    owner: str,
    source: Any,
    population: Name,
    bin_ms: float,
    window: tuple[Time, Time],
    at_least: int,
) -> Num[Any, " bins"]:
    """Spikes of a population per bin; raises unless there are `at_least` bins."""
    counts = binned(pooled_of(source, population, *window), bin_ms)
    check_bins(owner, counts.size, bin_ms, at_least)
    return counts


def by_neuron(
    times: Num[np.ndarray, " spikes"], neurons: Num[np.ndarray, " spikes"]
) -> tuple[Int64[np.ndarray, " spikes"], Num[np.ndarray, " spikes"]]:
    """Spikes sorted by neuron, then by time [ms or bins]: (owner, times)."""
    neurons = np.asarray(neurons, np.int64)
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times, neurons = times[order], neurons[order]
    # One integer from neuron and place: NumPy sorts these ten times faster than with `lexsort`.
    shift = times.size.bit_length()
    key = (neurons << shift) | np.arange(times.size)
    key.sort()
    return key >> shift, times[key & ((1 << shift) - 1)]


def runs(
    mask: Bool[np.ndarray, " entries"],
) -> tuple[Int64[np.ndarray, " runs"], Int64[np.ndarray, " runs"]]:
    """First and last index of each run of True."""
    edge = np.diff(np.concatenate([[0], np.asarray(mask, np.int8), [0]]))
    return np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
