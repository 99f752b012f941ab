"""Spikes counted and as rates; spikes from recorded voltages."""

import numpy as np
from jaxtyping import Float64, Int64, Real
from numpy.typing import ArrayLike

from .. import spec
from .._text import counted
from .._warn import warn
from ..spec import UNITS, InvalidValueError
from ._spikes import (
    array_of,
    arrays_checked,
    begin_of,
    bin_of,
    binned,
    checked_events,
    events_between,
    number_of_bins,
)

_MOST = 2**31  # counts in one array: 17 GB


@arrays_checked
def spike_counts(
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    stop: float,
    bin_ms: float = 1.0,
    start: float | None = None,
) -> Int64[np.ndarray, "{n} bins"]:
    """Spikes of each neuron in bins.

    Bins are `(t, t + bin_ms]` from `start` (default 0). Only whole bins are returned: an incomplete
    bin before `stop` is left out, with its spikes. `times`, `stop`, `bin_ms`, `start` [ms],
    `neurons` indices below `n`.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, a bin that is not above 0, `stop` before `start`, or more than 2^31
            counts (17 GB), before any memory is taken.

    Note:
        Elephant's `BinnedSpikeTrain` has bins `[t, t + bin_ms)`.

    Reference:
        Gerstner et al. (2014), chapter 7, doi:10.1017/CBO9781107447615.
    """
    start = begin_of(start, stop, times)
    _check_fits(
        spec.check("spike_counts", "n", spec.Whole(), n),
        number_of_bins(stop, bin_ms, start),
        bin_ms,
    )
    key, bins = _cells(times, neurons, n, stop, bin_ms, start)
    return np.bincount(key, minlength=n * bins).reshape(n, bins)


@arrays_checked
def fano_factor(
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    stop: float,
    bin_ms: float = 100.0,
    start: float | None = None,
) -> tuple[Float64[np.ndarray, " {n}"], float]:
    """Fano factor of each neuron, and its mean over the neurons that spiked.

    `F = variance / mean` of a neuron's spike counts over the bins `(t, t + bin_ms]`, the
    variance over all bins (`numpy.var`, as Elephant's `fanofactor`); nan for neurons without
    spikes. 0 for a clock, 1 for a Poisson process. `times`, `stop`, `bin_ms`, `start`
    (default 0) [ms], `neurons` indices below `n`. The array of counts is not made, so that `n` and
    the number of bins may both be large.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, a bin that is not above 0, or fewer than 2 bins.

    Reference:
        Nawrot et al. (2008), doi:10.1016/j.jneumeth.2007.10.013.
    """
    start = begin_of(start, stop, times)
    key, bins = _cells(times, neurons, n, stop, bin_ms, start)
    if bins < 2:
        raise InvalidValueError(
            "fano_factor",
            f"at least 2 bins of {bin_ms} ms",
            f"inside {start} to {stop} ms (use a shorter bin_ms)",
            str(bins),
        )
    cells, count = np.unique(key, return_counts=True)
    owner = cells // bins
    total = np.bincount(owner, count, minlength=n)
    squares = np.bincount(owner, count.astype(np.float64) ** 2, minlength=n)
    active = total > 0
    factors = np.full(n, np.nan)
    factors[active] = (bins * squares - total**2)[active] / (bins * total[active])
    return factors, float(factors[active].mean()) if active.any() else float("nan")


def _check_fits(n: int, bins: int, bin_ms: float) -> None:
    """Raises `ValueError` if an array of counts per neuron and bin would be too large."""
    if n * bins > _MOST:
        raise ValueError(
            f"spike_counts: neurons times bins must be at most 2^31; {counted(n, 'neuron')} and "
            f"{counted(bins, 'bin')} of {bin_ms} ms would take {8e-9 * n * bins:,.0f} GB. Use a "
            "longer bin_ms, a shorter time from start to stop, or fewer neurons"
        )


def _cells(
    times: ArrayLike, neurons: ArrayLike, n: int, stop: float, bin_ms: float, start: float
) -> tuple[Int64[np.ndarray, " spikes"], int]:
    """`neuron * bins + bin` of each spike inside the bins, and the number of bins."""
    times, neurons = checked_events(times, neurons, n)
    index, inside, bins = bin_of(times, stop, bin_ms, start)
    return neurons[inside] * bins + index[inside], bins


@arrays_checked
def population_rate(
    times: ArrayLike, n: int, stop: float, bin_ms: float = 1.0, start: float | None = None
) -> tuple[Float64[np.ndarray, " bins"], Float64[np.ndarray, " bins"]]:
    """Rate of a population in bins: (bin starts [ms], rate [Hz]).

    `rate = spikes in the bin / (n bin)`. Bins are `(t, t + bin_ms]`, so that a spike at the
    end of a time step counts in the bin of that step. Only whole bins from `start` (default 0) to
    `stop` are returned: an incomplete bin before `stop` is left out, with its spikes.

    Raises:
        InvalidValueError: for times that are not finite, a bin that is not above 0 or longer than
            the time from `start` to `stop`, or `stop` before `start`.

    Reference:
        Gerstner et al. (2014), eq. 7.11, doi:10.1017/CBO9781107447615.
    """
    start = begin_of(start, stop, times)
    counts = binned(times, stop, bin_ms, start)
    n = spec.check("population_rate", "n", spec.Whole(1 if counts.any() else 0), n)
    return start + bin_ms * np.arange(counts.size), counts / max(n, 1) / (bin_ms * 1e-3)


@arrays_checked
def neuron_rates(
    times: ArrayLike, neurons: ArrayLike, n: int, stop: float, start: float | None = None
) -> Float64[np.ndarray, " {n}"]:
    """Mean rate of each neuron [Hz].

    `rate = spikes in (start, stop] / (stop - start)`; `times`, `start` (default 0) and `stop`
    [ms] since the network started: `result.start` and `result.stop` are those of a run. `neurons`
    indices below `n`.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, or `stop` that is not after `start`.

    Reference:
        Gerstner et al. (2014), chapter 7, doi:10.1017/CBO9781107447615.
    """
    start = begin_of(start, stop, times)
    _, neurons = events_between(times, neurons, n, start, stop)
    if not stop > start:
        raise InvalidValueError("neuron_rates", "stop", "after start", f"{stop} and {start}")
    return np.bincount(neurons, minlength=n) / ((stop - start) * 1e-3)


_MILLIVOLTS = 10.0  # some voltage of a neuron is at least so large [mV]


@arrays_checked
def crossing_times(
    times: ArrayLike, v: ArrayLike, level: float = 0.0
) -> tuple[Float64[np.ndarray, " crossings"], Int64[np.ndarray, " crossings"]]:
    """When sampled voltages cross a level upwards: (times [ms], neurons), in order of time.

    `t = t_k + (level - v_k) / (v_(k+1) - v_k) (t_(k+1) - t_k)` between two samples with
    `v_k < level <= v_(k+1)`: by linear interpolation, to second order in the distance of the
    samples. `times` [ms] `(samples,)` ascending, as `result.sample_times`; `v` [mV] `(samples,)`
    or `(samples, n)`, as `result.traces[name]["v"]`. Pass the result to `intervals`,
    `interval_cv` and similar functions. Warns where nothing crosses a level that looks like volts.

    Raises:
        InvalidValueError: for arrays that do not match, times that do not ascend, or a level, times
            or voltages that are not finite.

    Reference:
        Hansel et al. (1998), doi:10.1162/089976698300017845.
    """
    times, v = array_of("times", times).astype(np.float64), array_of("v", v)
    v = v[:, None] if v.ndim == 1 else v
    if times.ndim != 1 or v.ndim != 2 or len(v) != len(times):
        raise InvalidValueError(
            "crossing_times",
            "v",
            "one with one row per time, shape (samples,) or (samples, n)",
            f"times of shape {times.shape}, v of shape {v.shape}",
        )
    for name, x, unit in (("times", times, "ms"), ("v", v, "mV"), ("level", level, "mV")):
        spec.check("crossing_times", name, spec.Numbers(unit, least=0.0), x)
    if (np.diff(times) <= 0).any():
        raise ValueError("crossing_times: times must ascend")
    k, neurons = np.nonzero((v[:-1] < level) & (v[1:] >= level))
    before, after = (v[at, neurons].astype(np.float64) for at in (k, k + 1))
    found = times[k] + (level - before) / (after - before) * (times[k + 1] - times[k])
    if not found.size:
        _warn_of_volts(v, float(level))
    order = np.lexsort((neurons, found))
    return found[order], neurons[order]


def _warn_of_volts(v: Real[np.ndarray, "samples n"], level: float) -> None:
    """Warns of a level that would be among the voltages if it were in V, or they were."""
    if not v.size or level == 0.0:
        return
    low, high, small = float(v.min()), float(v.max()), UNITS["mV"].least
    most, factor = max(abs(low), abs(high)), 0.0
    if abs(level) < small and most >= _MILLIVOLTS:
        factor = 1e3
    elif abs(level) >= _MILLIVOLTS and low <= -1e-3 * _MILLIVOLTS and most < small:
        factor = 1e-3
    room = 0.25 * most
    if factor and low - room <= factor * level <= high + room:
        unit = "v is in mV, and level in V" if factor > 1.0 else "v is in V, and level in mV"
        warn(
            f"crossing_times: nothing crosses level={level:g}, where v is from {low:.4g} to "
            f"{high:.4g}: it looks as if {unit}. Did you mean level={factor * level:.4g}?"
        )
