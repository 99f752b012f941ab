"""Correlograms: the number of pairs of spikes by their distance in time."""

import numpy as np

from .._checks import check_bounds
from .._warn import warn
from ._given import arrays_checked
from ._lags import lag_products
from ._spikes import begin_of, bin_of, binned, by_neuron, checked_events


@arrays_checked
def cross_correlogram(
    times: np.ndarray,
    others: np.ndarray,
    stop: float,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of spikes of two neurons or populations by lag: (lags [ms], pairs).

    `pairs(k) = sum over bins b of x(b) y(b + k)` for the counts `x` of `times` and `y` of
    `others` in the bins `(t, t + bin_ms]` from `start` [ms] (default 0) to `stop`: at a positive
    lag, `others` is later. Lags are the multiples of `bin_ms` from `-max_lag` to `max_lag`, both
    arrays `(2 max_lag / bin_ms + 1,)`. These are raw counts, as
    in Elephant's `cross_correlation_histogram`, without a correction at the borders: independent
    Poisson trains of `a` and `b` spikes in `B` bins give `a b (B - |k|) / B^2`. The time to compute
    them does not depend on the number of spikes.

    **Raises** `ValueError` for times that are not finite, a bin that is not above 0, `stop`
    before `start`, or a `max_lag` below 0.

    **Source** Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86597-4.
    """
    m = _number_of_lags(bin_ms, max_lag)
    start = begin_of(start, stop, times, others)
    x = binned(times, stop, bin_ms, start)
    y = binned(others, stop, bin_ms, start, "others")
    # Products of whole numbers: fractions come from rounding in the transform.
    pairs = np.rint(lag_products(x, y, m)).astype(np.int64)
    return bin_ms * np.arange(-m, m + 1), pairs


@arrays_checked
def autocorrelogram(
    times: np.ndarray,
    neurons: np.ndarray,
    n: int,
    stop: float,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of spikes of the same neuron by lag, over all neurons: (lags [ms], pairs).

    `pairs(k) = sum over neurons i and bins b of c_i(b) c_i(b + k)`, less the pairs of a spike
    with itself at lag 0; `c` the counts in the bins `(t, t + bin_ms]` from `start` to `stop`
    [ms]. Lags are the multiples of `bin_ms` from `-max_lag` to `max_lag`, both arrays
    `(2 max_lag / bin_ms + 1,)`. For one neuron pass its spikes alone. `neurons` indices below
    `n`.

    **Raises** `ValueError` for arrays of different lengths, indices outside `0 ... n - 1`, times
    that are not finite, a bin that is not above 0, `stop` before `start`, or a `max_lag` below 0.

    **Source** Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86596-2.

    **Differs** Elephant keeps the pairs of a spike with itself.
    """
    start = begin_of(start, stop, times)
    times, neurons = checked_events(times, neurons, n)
    m = _number_of_lags(bin_ms, max_lag)
    index, inside, _ = bin_of(times, stop, bin_ms, start)
    owner, place = by_neuron(index[inside], neurons[inside])
    later = np.zeros(m + 1, np.int64)
    # Each spike with the next of its neuron, the next but one, ... until the lag is too long.
    spike, step = np.arange(place.size), 1
    while True:
        spike = spike[: np.searchsorted(spike, place.size - step)]
        lag = place[spike + step] - place[spike]
        near = (owner[spike + step] == owner[spike]) & (lag <= m)
        spike, lag, step = spike[near], lag[near], step + 1
        if not spike.size:
            break
        later += np.bincount(lag, minlength=m + 1)
    pairs = np.concatenate([later[:0:-1], 2 * later[:1], later[1:]])
    return bin_ms * np.arange(-m, m + 1), pairs


def _number_of_lags(bin_ms: float, max_lag: float) -> int:
    check_bounds("bin_ms", bin_ms, "ms", above=0.0)
    check_bounds("max_lag", max_lag, "ms", at_least=0.0)
    lags = int(max_lag / bin_ms + 1e-6)
    if lags == 0 and max_lag > 0.0:
        warn(
            f"max_lag is {max_lag:g} ms, shorter than a bin of {bin_ms:g} ms, so that lag 0 is the "
            f"only one. If it is in seconds, give max_lag={1e3 * max_lag:g}; if lag 0 is meant, "
            "max_lag=0"
        )
    return lags
