"""Bursts of single neurons, and of a population."""

from typing import NamedTuple

import numpy as np

from .._checks import check_bounds, check_count
from .._numerics import NEAR_MS
from ._given import arrays_checked
from ._spikes import begin_of, binned, by_neuron, events_between, runs, warn_of_fine


class Bursts(NamedTuple):
    """Bursts of single neurons, in the order of the neurons, then of time.

    **Fields** all `(bursts,)`: `start` [ms] time of the first spike; `stop` [ms] time of the
    last spike; `spikes` number of spikes; `owner` the neuron.

    **Source** Cotterill et al. (2016), doi:10.1152/jn.00093.2016.
    """

    start: np.ndarray
    stop: np.ndarray
    spikes: np.ndarray
    owner: np.ndarray


@arrays_checked
def bursts(
    times: np.ndarray,
    neurons: np.ndarray,
    n: int,
    max_begin: float = 170.0,
    max_end: float = 300.0,
    min_gap: float = 200.0,
    min_duration: float = 10.0,
    min_spikes: int = 3,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> Bursts:
    """Bursts of each neuron by the max-interval method.

    A burst begins with an interval of at most `max_begin` and continues while intervals are at
    most `max_end`. Bursts of a neuron that are less than `min_gap` apart (last spike to first
    spike) are merged, with the spikes between them. The result contains those with at least
    `min_duration` and `min_spikes`. Times are in ms; the defaults are those of the source.
    `times` [ms], `neurons` indices below `n`; of the spikes in `(start, stop]` [ms], if given.

    **Raises** `ValueError` for arrays of different lengths, indices outside `0 ... n - 1`, times
    that are not finite, a limit below 0, a `max_end` below `max_begin`, `min_spikes` below 2, or
    `stop` before `start`.

    **Source** Cotterill et al. (2016), "max interval", doi:10.1152/jn.00093.2016.
    """
    for name, value in (("max_begin", max_begin), ("min_gap", min_gap)):
        check_bounds(name, value, "ms", at_least=0.0)
    check_bounds("min_duration", min_duration, "ms", at_least=0.0)
    check_bounds("max_end", max_end, "ms", at_least=max_begin)
    check_count("min_spikes", min_spikes, at_least=2)
    times, neurons = events_between(times, neurons, n, start, stop)
    warn_of_fine("max_begin", max_begin, times)
    owner, at = by_neuron(times, neurons)
    gap = np.where(owner[1:] == owner[:-1], np.diff(at), np.inf)
    first, last = runs(gap <= max_end + NEAR_MS)
    begins = np.flatnonzero(gap <= max_begin + NEAR_MS)
    # The first interval of each run that is short enough to begin a burst, if there is one.
    place = np.searchsorted(begins, first)
    begin = np.append(begins, gap.size)[place]
    begun = begin <= last
    first, last = begin[begun], last[begun] + 1
    apart = at[first[1:]] - at[last[:-1]] >= min_gap - NEAR_MS
    apart |= owner[first[1:]] != owner[last[:-1]]
    ends = np.ones(min(first.size, 1), bool)
    first, last = first[np.append(ends, apart)], last[np.append(apart, ends)]
    spikes = last - first + 1
    counts = (spikes >= min_spikes) & (at[last] - at[first] >= min_duration - NEAR_MS)
    first, last = first[counts], last[counts]
    return Bursts(at[first], at[last], spikes[counts], owner[first])


@arrays_checked
def population_bursts(
    times: np.ndarray,
    n: int,
    stop: float,
    threshold: float,
    bin_ms: float = 10.0,
    start: float | None = None,
    min_duration: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bursts of a population by a threshold of its rate: (start [ms], stop [ms], spikes).

    A burst is a sequence of bins `(t, t + bin_ms]` whose rate, `spikes / (n bin)`, is at least
    `threshold` [Hz], and which lasts at least `min_duration` [ms]. `start` and `stop` are the
    edges of its first and last bin (bins from `start`, default 0, to `stop`), `spikes` its
    number of spikes, all `(bursts,)`.

    **Raises** `ValueError` for times that are not finite, an `n` below 1, a bin or threshold that
    is not above 0, `stop` before `start`, or a `min_duration` below 0.

    **Source** van Pelt et al. (2004), IEEE Transactions on Biomedical Engineering 51, 2051.
    """
    check_count("n", n, at_least=1)
    check_bounds("threshold", threshold, "Hz", above=0.0)
    check_bounds("min_duration", min_duration, "ms", at_least=0.0)
    start = begin_of(start, stop, times)
    counts = binned(times, stop, bin_ms, start)
    # In spikes per bin, with room for the rounding of the threshold.
    first, last = runs(counts >= threshold * n * bin_ms * 1e-3 * (1.0 - 1e-9))
    long = (last + 1 - first) * bin_ms >= min_duration - NEAR_MS
    first, last = first[long], last[long]
    total = np.append(0, np.cumsum(counts))
    return start + bin_ms * first, start + bin_ms * (last + 1), total[last + 1] - total[first]
