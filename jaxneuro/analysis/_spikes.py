"""Spikes as two arrays: their checks, their bins, and their order by neuron."""

import numpy as np

from .._checks import check_bounds, check_count
from ..numerics import in_window, warn_of_no_spikes


def checked_times(times: np.ndarray, name: str = "times") -> np.ndarray:
    """`times` as float64, or `ValueError` unless it is one row of finite numbers."""
    out = np.asarray(times, np.float64)
    if out.ndim != 1:
        raise ValueError(f"{name} must be an array of one dimension; got shape {out.shape}")
    check_bounds(name, out, "ms")
    return out


def checked_events(times: np.ndarray, neurons: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """`times` as float64 and `neurons` as int64, or `ValueError` unless they are spikes."""
    check_count("n", n)
    times, neurons = np.asarray(times, np.float64), np.asarray(neurons)
    if times.shape != neurons.shape or times.ndim != 1:
        raise ValueError(
            "spike times and neurons must be two arrays of one length; "
            f"got shapes {times.shape} and {neurons.shape}"
        )
    check_bounds("spike times", times, "ms")
    if neurons.size and neurons.dtype.kind not in "iu":
        raise ValueError(f"neurons must be whole numbers; got dtype {neurons.dtype}")
    if neurons.size and not (neurons.min() >= 0 and neurons.max() < n):
        raise ValueError(
            f"neurons must be indices from 0 to {n - 1}; got {neurons.min()} to {neurons.max()}"
        )
    return times, neurons.astype(np.int64)


def check_window(start: float, stop: float) -> None:
    """Raises `ValueError` unless both times [ms] are finite, and `stop` is not before `start`."""
    check_bounds("start", start, "ms")
    check_bounds("stop", stop, "ms")
    if stop < start:
        raise ValueError(f"stop must not be before start; got {stop} < {start}")


def events_between(
    times: np.ndarray, neurons: np.ndarray, n: int, start: float | None, stop: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Checked spikes in `(start, stop]` [ms], by default all of them."""
    times, neurons = checked_events(times, neurons, n)
    if start is None and stop is None:
        return times, neurons
    first = times.min(initial=0.0) - 1.0 if start is None else start
    last = max(first, times.max(initial=first)) if stop is None else stop
    check_window(first, last)
    inside = in_window(times, first, last)
    warn_of_no_spikes(times, first, last, int(inside.sum()))
    return times[inside], neurons[inside]


def number_of_bins(stop: float, bin_ms: float, start: float) -> int:
    """How many whole bins there are from `start` to `stop` [ms], or `ValueError`."""
    if not (bin_ms > 0 and np.isfinite(bin_ms)):
        raise ValueError(f"bin_ms must be above 0 ms; got {bin_ms}")
    check_window(start, stop)
    return int((stop - start) / bin_ms + 1e-6)


def bin_of(
    times: np.ndarray, stop: float, bin_ms: float, start: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """The bin of each spike, whether it is one of the whole bins up to `stop`, and their number."""
    bins = number_of_bins(stop, bin_ms, start)
    index = np.ceil((times - start) / bin_ms - 1e-6).astype(np.int64) - 1
    inside = (index >= 0) & (index < bins)
    warn_of_no_spikes(times, start, stop, int(inside.sum()))
    return index, inside, bins


def binned(
    times: np.ndarray, stop: float, bin_ms: float, start: float, name: str = "times"
) -> np.ndarray:
    """Spikes per bin `(t, t + bin_ms]`, whole bins only: int64 `(bins,)`."""
    index, inside, bins = bin_of(checked_times(times, name), stop, bin_ms, start)
    return np.bincount(index[inside], minlength=bins)


def by_neuron(times: np.ndarray, neurons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Checked spikes sorted by neuron, then by time: (owner, times)."""
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times, neurons = times[order], neurons[order]
    # One integer from neuron and place: NumPy sorts these ten times faster than with `lexsort`.
    shift = times.size.bit_length()
    key = (neurons << shift) | np.arange(times.size)
    key.sort()
    return key >> shift, times[key & ((1 << shift) - 1)]


def checked_counts(counts: np.ndarray, name: str = "counts", at_least: int = 1) -> np.ndarray:
    """A row of numbers per bin as float64, or `ValueError`: one dimension, finite, not below 0."""
    out = np.asarray(counts, np.float64)
    if out.ndim != 1 or out.size < at_least:
        raise ValueError(
            f"{name} must be an array of one dimension, a number for each of at least "
            f"{at_least} bins; got shape {out.shape}"
        )
    check_bounds(name, out, at_least=0.0)
    return out


def runs(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last index of each run of True."""
    edge = np.diff(np.concatenate([[0], np.asarray(mask, np.int8), [0]]))
    return np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
