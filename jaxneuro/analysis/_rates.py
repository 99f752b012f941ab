"""Firing rates."""

import numpy as np

from .._checks import check_count
from ._given import arrays_checked
from ._spikes import begin_of, binned, events_between


@arrays_checked
def population_rate(
    times: np.ndarray, n: int, stop: float, bin_ms: float = 1.0, start: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rate of a population in bins: (bin starts [ms], rate [Hz]).

    `rate = spikes in the bin / (n bin)`. Bins are `(t, t + bin_ms]`, so that a spike at the
    end of a time step counts in the bin of that step. Only whole bins from `start` (default 0) to
    `stop` are returned: an incomplete bin before `stop` is left out, with its spikes.

    **Raises** `ValueError` for times that are not finite, a bin that is not above 0 or longer than
    the time from `start` to `stop`, or `stop` before `start`.

    **Source** Gerstner et al. (2014), eq. 7.11, doi:10.1017/CBO9781107447615.
    """
    start = begin_of(start, stop, times)
    counts = binned(times, stop, bin_ms, start)
    seconds = bin_ms * 1e-3
    return start + bin_ms * np.arange(counts.size), counts / max(check_count("n", n), 1) / seconds


@arrays_checked
def neuron_rates(
    times: np.ndarray, neurons: np.ndarray, n: int, stop: float, start: float | None = None
) -> np.ndarray:
    """Mean rate of each neuron [Hz], `(n,)`.

    `rate = spikes in (start, stop] / (stop - start)`; `times`, `start` (default 0) and `stop`
    [ms] since the network started: `result.start` and `result.stop` are those of a run. `neurons`
    indices below `n`.

    **Raises** `ValueError` for arrays of different lengths, indices outside `0 ... n - 1`, times
    that are not finite, or `stop` that is not after `start`.

    **Source** Gerstner et al. (2014), chapter 7, doi:10.1017/CBO9781107447615.
    """
    start = begin_of(start, stop, times)
    _, neurons = events_between(times, neurons, n, start, stop)
    if not stop > start:
        raise ValueError(f"stop must be after start; got {stop} and {start}")
    return np.bincount(neurons, minlength=n) / ((stop - start) * 1e-3)
