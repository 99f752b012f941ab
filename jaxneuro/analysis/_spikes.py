"""Spikes in bins and by neuron."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64, Num

from .. import spec
from .._numerics.grid import spacing_above_half, step_counts
from .._numerics.windows import NEAR_MS
from .._run.spike_trains import SpikeTrains, tolerance_of
from .._warn import warn
from ..spec import InvalidValueError
from ._source import Name, Time, pooled_of

BIN = spec.Number("ms", above=0.0)


def number_of_bins(length: float, bin_ms: float) -> int:
    """How many whole bins there are in a window [ms]; raises where it is shorter than one."""
    bins = int(length / bin_ms + 1e-6)
    if bins == 0 and length > 0.0:
        must = f"at most {length:g} ms, the time from start to stop"
        raise InvalidValueError("", "bin_ms", must, f"{bin_ms:g} ms")
    return bins


def bin_of(
    elapsed: Float[np.ndarray, " times"],
    length: float,
    bin_ms: float,
    tolerance: float | Float[np.ndarray, " times"] = NEAR_MS,
) -> tuple[Int64[np.ndarray, " times"], Bool[np.ndarray, " times"], int]:
    """The bin of each time, whether it is one of the whole bins of the window, and their number.

    Times [ms] are from the start of the window on. One belongs to the bin `(t, t + bin_ms]`. A
    time within its tolerance [ms] of the end of a bin is at the end.
    """
    bins = number_of_bins(length, bin_ms)
    if gap := spacing_above_half(tolerance, bin_ms):
        warn(
            f"times came in float32 or shorter, whose numbers are {gap:.4g} ms apart here: more "
            f"than half a bin of {bin_ms:g} ms, so that spikes may be counted in the bin beside "
            "theirs. Give the times in float64, or take longer bins"
        )
    index = step_counts(elapsed, bin_ms, tolerance) - 1
    return index, (index >= 0) & (index < bins), bins


def bins_of(
    trains: SpikeTrains, bin_ms: float
) -> tuple[Int64[np.ndarray, " spikes"], Bool[np.ndarray, " spikes"], int]:
    """`bin_of` of the spikes, from the start of their window on."""
    elapsed = trains.times - trains.start
    return bin_of(elapsed, trains.duration, bin_ms, tolerance_of(trains))


def binned(trains: SpikeTrains, bin_ms: float) -> Int64[np.ndarray, " bins"]:
    """Spikes of all neurons per bin, whole bins only."""
    index, inside, bins = bins_of(trains, bin_ms)
    return np.bincount(index[inside], minlength=bins)


def counts_of(
    owner: str,
    source: Any,
    population: Name,
    bin_ms: float,
    window: tuple[Time, Time],
    at_least: int,
) -> Int64[np.ndarray, " bins"]:
    """Spikes of a population per bin; raises unless there are `at_least` bins."""
    counts = binned(pooled_of(source, population, *window), bin_ms)
    check_bins(owner, counts.size, bin_ms, at_least)
    return counts


def check_bins(owner: str, bins: int, bin_ms: float, at_least: int) -> None:
    """Raises unless so many bins fit into the window."""
    if bins < at_least:
        must = f"so short that at least {at_least} fit from start to stop"
        raise InvalidValueError(owner, "bin_ms", must, f"{bin_ms:g} ms, {bins} of them")


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
