"""Spikes and counts as arguments: checked, in a window, in bins."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from jaxtyping import Bool, Float64, Int64, Num, Shaped
from numpy.typing import ArrayLike

from .. import spec
from .._numerics.windows import (
    NEAR_MS,
    check_time,
    in_window,
    warn_of_late_spikes,
    warn_of_no_spikes,
)
from .._warn import warn
from ..spec import InvalidValueError, as_number

F = TypeVar("F", bound=Callable)
_COUNTED = {"times", "neurons", "n", "start", "stop", "bin_ms"}  # what spike_counts takes


def arrays_checked(function: F) -> F:
    """Makes a result or a pair in place of arrays a `ValueError`."""
    how = _how(function)
    takes = inspect.signature(function).parameters
    pairs = "v" not in takes

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        for value in (*args, *named.values()):
            if hasattr(value, "events") and hasattr(value, "populations"):
                raise ValueError(f"{function.__name__} takes arrays, no result of a run. {how}")
            if pairs and _is_pair(value):
                apart = "times and neurons as two arguments, or times alone"
                what = "counts" if "counts" in takes else apart
                raise ValueError(f"{function.__name__} takes {what}; got both as a pair. {how}")
        if "counts" in takes and (len(args) > len(takes) or (_COUNTED & set(named)) - set(takes)):
            raise ValueError(
                f"{function.__name__} takes the counts that spike_counts gives, no times: "
                f"jn.analysis.{function.__name__}(jn.analysis.spike_counts(times, neurons, n, "
                "stop=..., bin_ms=...))"
            )
        return function(*args, **named)

    return cast(F, call)


def _is_pair(value: Any) -> bool:
    """Whether it is what `result.events(name)` returns: times and neurons."""
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    times, neurons = (getattr(x, "dtype", None) for x in value)
    return getattr(times, "kind", "") == "f" and getattr(neurons, "kind", "") in tuple("iu")


def _how(function: Callable) -> str:
    """Which arrays of a result a function takes."""
    names = inspect.signature(function).parameters
    if "counts" in names:
        return "Count its spikes first: jn.analysis.spike_counts(*result.events(name), ...)"
    if "stop" not in names:
        return "Its samples are result.traces[name][variable], at result.sample_times"
    given = ["*result.events(name)" if "neurons" in names else "result.events(name)[0]"]
    given += ["result.events(other)[0]"] * ("others" in names)
    given += ["result.populations[name]"] * ("n" in names)
    window = "start=result.start, stop=result.stop"
    return f"Give jn.analysis.{function.__name__}({', '.join(given)}, {window})"


_FINE = 0.1  # ms: a longer bin may be meant, whatever the time step is
_FEW = 8  # spike times of which the time step is not known


def array_of(name: str, values: ArrayLike) -> Shaped[np.ndarray, "..."]:
    """`values` as an array of real numbers, or `ValueError`."""
    try:
        out = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} must be an array of numbers: {error}") from None
    if out.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be an array of numbers; got {values!r}"[:400])
    return out


def begin_of(start: float | None, stop: float, *times: ArrayLike) -> float:
    """Where a window begins [ms], by default at 0; warns if the spikes do so much later."""
    check_time("stop", stop)
    if start is None:
        at = np.concatenate([array_of("times", x).ravel() for x in times])
        if np.isfinite(at).all():
            warn_of_late_spikes(at, stop)
        return 0.0
    check_time("start", start)
    return start


def checked_times(times: ArrayLike, name: str = "times") -> Float64[np.ndarray, " spikes"]:
    """`times` as float64, or `ValueError` unless it is one row of finite numbers."""
    out = array_of(name, times).astype(np.float64)
    if out.ndim != 1:
        raise InvalidValueError("", name, "an array of one dimension", f"shape {out.shape}")
    spec.check("", name, spec.Numbers("ms", least=0.0), out)
    return out


def checked_events(
    times: ArrayLike, neurons: ArrayLike, n: int
) -> tuple[Float64[np.ndarray, " spikes"], Int64[np.ndarray, " spikes"]]:
    """`times` as float64 and `neurons` as int64, or `ValueError` unless they are spikes."""
    spec.check("", "n", spec.Whole(), n)
    times = array_of("spike times", times).astype(np.float64)
    neurons = array_of("neurons", neurons)
    if times.shape != neurons.shape or times.ndim != 1:
        raise InvalidValueError(
            "",
            "spike times and neurons",
            "two arrays of one length",
            f"shapes {times.shape} and {neurons.shape}",
        )
    spec.check("", "spike times", spec.Numbers("ms", least=0.0), times)
    if neurons.size and neurons.dtype.kind not in "iu":
        raise InvalidValueError("", "neurons", "whole numbers", f"dtype {neurons.dtype}")
    if neurons.size and not (neurons.min() >= 0 and neurons.max() < n):
        raise InvalidValueError(
            "",
            "neurons",
            f"indices from 0 to {n - 1}",
            f"{neurons.min()} to {neurons.max()}",
        )
    return times, neurons.astype(np.int64)


def check_window(start: float, stop: float) -> None:
    """Raises `ValueError` unless both times [ms] are finite, and `stop` is not before `start`."""
    check_time("start", start)
    check_time("stop", stop)
    if stop < start:
        raise InvalidValueError("", "stop", "not before start", f"{stop} < {start}")


def events_between(
    times: ArrayLike, neurons: ArrayLike, n: int, start: float | None, stop: float | None
) -> tuple[Float64[np.ndarray, " spikes"], Int64[np.ndarray, " spikes"]]:
    """Checked spikes in `(start, stop]` [ms], by default all of them."""
    times, neurons = checked_events(times, neurons, n)
    if start is None and stop is None:
        return times, neurons
    if start is not None:
        check_time("start", start)
    if stop is not None:
        begin_of(start, stop, times)
    first = times.min(initial=0.0) - 1.0 if start is None else start
    last = max(first, times.max(initial=first)) if stop is None else stop
    check_window(first, last)
    inside = in_window(times, first, last)
    warn_of_no_spikes(times, first, last, int(inside.sum()))
    return times[inside], neurons[inside]


def number_of_bins(stop: float, bin_ms: float, start: float) -> int:
    """How many whole bins there are from `start` to `stop` [ms], or `ValueError`."""
    if not (as_number(bin_ms) > 0 and np.isfinite(bin_ms)):
        raise InvalidValueError("", "bin_ms", "above 0 ms", repr(bin_ms))
    check_window(start, stop)
    bins = int((stop - start) / bin_ms + 1e-6)
    if bins == 0 and stop > start:
        raise ValueError(
            f"at least one bin of {bin_ms:g} ms must fit from {start:g} to {stop:g} ms; got none. "
            "Use a shorter bin_ms"
        )
    return bins


def warn_of_fine(name: str, ms: float, times: Float64[np.ndarray, " spikes"]) -> None:
    """Warns of a length of time [ms] below the time step of the spikes: it looks like seconds.

    The step is the longest of which all times are multiples; of few spikes it may not be known.
    """
    if not 0.0 < ms <= _FINE or times.size < _FEW:
        return
    at = np.unique(np.rint(times / NEAR_MS).astype(np.int64))
    step = int(np.gcd.reduce(at)) * NEAR_MS if at.size >= _FEW else 0.0
    if ms < step - NEAR_MS:
        warn(
            f"{name} is {ms:g} ms, shorter than the time step of the spikes, {step:g} ms. Times "
            f"are in ms, and this looks like seconds: did you mean {name}={1e3 * ms:g}?"
        )


def bin_of(
    times: Float64[np.ndarray, " spikes"], stop: float, bin_ms: float, start: float
) -> tuple[Int64[np.ndarray, " spikes"], Bool[np.ndarray, " spikes"], int]:
    """The bin of each spike, whether it is one of the whole bins up to `stop`, and their number."""
    bins = number_of_bins(stop, bin_ms, start)
    warn_of_fine("bin_ms", bin_ms, times)
    index = np.ceil((times - start) / bin_ms - 1e-6).astype(np.int64) - 1
    inside = (index >= 0) & (index < bins)
    warn_of_no_spikes(times, start, stop, int(inside.sum()))
    return index, inside, bins


def binned(
    times: ArrayLike, stop: float, bin_ms: float, start: float, name: str = "times"
) -> Int64[np.ndarray, " bins"]:
    """Spikes per bin `(t, t + bin_ms]`, whole bins only."""
    index, inside, bins = bin_of(checked_times(times, name), stop, bin_ms, start)
    return np.bincount(index[inside], minlength=bins)


def by_neuron(
    times: Num[np.ndarray, " spikes"], neurons: Int64[np.ndarray, " spikes"]
) -> tuple[Int64[np.ndarray, " spikes"], Num[np.ndarray, " spikes"]]:
    """Checked spikes sorted by neuron, then by time [ms or bins]: (owner, times)."""
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times, neurons = times[order], neurons[order]
    # One integer from neuron and place: NumPy sorts these ten times faster than with `lexsort`.
    shift = times.size.bit_length()
    key = (neurons << shift) | np.arange(times.size)
    key.sort()
    return key >> shift, times[key & ((1 << shift) - 1)]


def checked_counts(
    counts: ArrayLike, name: str = "counts", at_least: int = 1
) -> Float64[np.ndarray, " bins"]:
    """A row of numbers per bin as float64, or `ValueError`: one dimension, finite, not below 0."""
    out = array_of(name, counts).astype(np.float64)
    if out.ndim != 1 or out.size < at_least:
        raise InvalidValueError(
            "",
            name,
            f"an array of one dimension, a number for each of at least {at_least} bins",
            f"shape {out.shape}",
        )
    spec.check("", name, spec.Numbers(at_least=0.0), out)
    if (np.diff(out) >= 0).all() and (out % 1.0 != 0).any() and out[0] < out[-1]:
        raise InvalidValueError(
            "",
            name,
            "counts of one signal, as jn.analysis.population_rate gives it",
            "numbers that ascend and are not whole, as times do",
        )
    return out


def runs(
    mask: Bool[np.ndarray, " entries"],
) -> tuple[Int64[np.ndarray, " runs"], Int64[np.ndarray, " runs"]]:
    """First and last index of each run of True."""
    edge = np.diff(np.concatenate([[0], np.asarray(mask, np.int8), [0]]))
    return np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
