"""Spike counts in bins, and their variability."""

import numpy as np

from .._checks import check_count
from .._text import counted
from ._given import arrays_checked
from ._spikes import begin_of, bin_of, checked_events, number_of_bins

_MOST = 2**31  # counts in one array: 17 GB


@arrays_checked
def spike_counts(
    times: np.ndarray,
    neurons: np.ndarray,
    n: int,
    stop: float,
    bin_ms: float = 1.0,
    start: float | None = None,
) -> np.ndarray:
    """Spikes of each neuron in bins: int64 `(n, bins)`.

    Bins are `(t, t + bin_ms]` from `start` (default 0). Only whole bins are returned: an incomplete
    bin before `stop` is left out, with its spikes. `times`, `stop`, `bin_ms`, `start` [ms],
    `neurons` indices below `n`.

    **Raises** `ValueError` for arrays of different lengths, indices outside `0 ... n - 1`, times
    that are not finite, a bin that is not above 0, `stop` before `start`, or more than 2^31
    counts (17 GB), before any memory is taken.

    **Source** Gerstner et al. (2014), chapter 7, doi:10.1017/CBO9781107447615.

    **Differs** Elephant's `BinnedSpikeTrain` has bins `[t, t + bin_ms)`.
    """
    start = begin_of(start, stop, times)
    _check_fits(check_count("n", n), number_of_bins(stop, bin_ms, start), bin_ms)
    key, bins = _cells(times, neurons, n, stop, bin_ms, start)
    return np.bincount(key, minlength=n * bins).reshape(n, bins)


@arrays_checked
def fano_factor(
    times: np.ndarray,
    neurons: np.ndarray,
    n: int,
    stop: float,
    bin_ms: float = 100.0,
    start: float | None = None,
) -> tuple[np.ndarray, float]:
    """Fano factor of each neuron, `(n,)`, and its mean over the neurons that spiked.

    `F = variance / mean` of a neuron's spike counts over the bins `(t, t + bin_ms]`, the
    variance over all bins (`numpy.var`, as Elephant's `fanofactor`); nan for neurons without
    spikes. 0 for a clock, 1 for a Poisson process. `times`, `stop`, `bin_ms`, `start`
    (default 0) [ms], `neurons` indices below `n`. The array of counts is not made, so that `n` and
    the number of bins may both be large.

    **Raises** `ValueError` for arrays of different lengths, indices outside `0 ... n - 1`, times
    that are not finite, a bin that is not above 0, or fewer than 2 bins.

    **Source** Nawrot et al. (2008), doi:10.1016/j.jneumeth.2007.10.013.
    """
    start = begin_of(start, stop, times)
    key, bins = _cells(times, neurons, n, stop, bin_ms, start)
    if bins < 2:
        raise ValueError(
            f"fano_factor: at least 2 bins of {bin_ms} ms must fit from {start} to {stop} ms; "
            f"got {bins}. Use a shorter bin_ms"
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
    times: np.ndarray, neurons: np.ndarray, n: int, stop: float, bin_ms: float, start: float
) -> tuple[np.ndarray, int]:
    """`neuron * bins + bin` of each spike inside the bins, and the number of bins."""
    times, neurons = checked_events(times, neurons, n)
    index, inside, bins = bin_of(times, stop, bin_ms, start)
    return neurons[inside] * bins + index[inside], bins
