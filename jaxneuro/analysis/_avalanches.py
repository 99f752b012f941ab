"""Bursts, avalanches and branching."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from .. import spec
from .._numerics.grid import largest_of
from .._numerics.windows import NEAR_MS
from .._run.spike_trains import tolerance_of
from ..spec import InvalidValueError
from ._bins import BIN
from ._correlations import lag_products
from ._source import Name, Time, of_runs, pooled_of, trains_of
from ._spikes import binned, by_neuron, counts_of, runs


class Bursts(NamedTuple):
    """Bursts of single neurons, in the order of the neurons, then of time.

    Attributes:
        start: time of the first spike [ms].
        stop: time of the last spike [ms].
        spikes: number of spikes.
        owner: the neuron.

    Reference:
        Cotterill et al. (2016), A comparison of computational methods for detecting bursts in
        neuronal spike trains and their application to human stem cell-derived neuronal networks,
        doi:10.1152/jn.00093.2016.
    """

    start: Float64[np.ndarray, " bursts"]
    stop: Float64[np.ndarray, " bursts"]
    spikes: Int64[np.ndarray, " bursts"]
    owner: Int64[np.ndarray, " bursts"]


_LIMIT = spec.Number("ms", at_least=0.0)


@spec.arguments(
    max_begin=_LIMIT,
    max_end=_LIMIT,
    min_gap=_LIMIT,
    min_duration=_LIMIT,
    min_spikes=spec.Whole(at_least=2),
)
@of_runs(listed=True)
def bursts(
    source: Any,
    population: Name = None,
    *,
    max_begin: float = 170.0,
    max_end: float = 300.0,
    min_gap: float = 200.0,
    min_duration: float = 10.0,
    min_spikes: int = 3,
    start: Time = None,
    stop: Time = None,
) -> Bursts:
    """Bursts of each neuron by the max-interval method; of a batch a list of these.

    A burst begins with an interval of at most `max_begin` and continues while intervals are at
    most `max_end`. Bursts of a neuron that are less than `min_gap` apart (last spike to first
    spike) are merged, with the spikes between them. The result contains those with at least
    `min_duration` and `min_spikes`. Times are in ms; the defaults are those of the source.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a limit below 0, a
            `max_end` below `max_begin`, or `min_spikes` below 2.

    Reference:
        Cotterill et al. (2016), A comparison of computational methods for detecting bursts in
        neuronal spike trains and their application to human stem cell-derived neuronal networks,
        "max interval", doi:10.1152/jn.00093.2016.
    """
    if max_end < max_begin:
        must = f"at least max_begin ({max_begin:g} ms)"
        raise InvalidValueError("bursts", "max_end", must, f"{max_end:g} ms")
    trains = trains_of(source, population, start, stop)
    near = largest_of(tolerance_of(trains))
    owner, at = by_neuron(trains.times, trains.neurons)
    gap = np.where(owner[1:] == owner[:-1], np.diff(at), np.inf)
    first, last = runs(gap <= max_end + near)
    begins = np.flatnonzero(gap <= max_begin + near)
    # The first interval of each run that is short enough to begin a burst, if there is one.
    place = np.searchsorted(begins, first)
    begin = np.append(begins, gap.size)[place]
    begun = begin <= last
    first, last = begin[begun], last[begun] + 1
    apart = at[first[1:]] - at[last[:-1]] >= min_gap - near
    apart |= owner[first[1:]] != owner[last[:-1]]
    ends = np.ones(min(first.size, 1), bool)
    first, last = first[np.append(ends, apart)], last[np.append(apart, ends)]
    spikes = last - first + 1
    counts = (spikes >= min_spikes) & (at[last] - at[first] >= min_duration - near)
    first, last = first[counts], last[counts]
    return Bursts(at[first], at[last], spikes[counts], owner[first])


@spec.arguments(
    threshold=spec.Number("Hz", above=0.0),
    bin_ms=BIN,
    min_duration=_LIMIT,
)
@of_runs(listed=True)
def population_bursts(
    source: Any,
    population: Name = None,
    *,
    threshold: float,
    bin_ms: float = 10.0,
    min_duration: float = 0.0,
    start: Time = None,
    stop: Time = None,
) -> tuple[
    Float64[np.ndarray, " bursts"], Float64[np.ndarray, " bursts"], Int64[np.ndarray, " bursts"]
]:
    """Bursts of a population by its rate: (start [ms], stop [ms], spikes); of a batch a list.

    A burst is a sequence of bins `(t, t + bin_ms]` whose rate, `spikes / (n bin)`, is at least
    `threshold` [Hz], and which lasts at least `min_duration` [ms]. `start` and `stop` are the
    edges of its first and last bin, `spikes` its number of spikes.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a population of no
            neuron, a bin or threshold that is not above 0, or a `min_duration` below 0.

    Reference:
        van Pelt et al. (2004), IEEE Transactions on Biomedical Engineering 51, 2051.
    """
    trains = pooled_of(source, population, start, stop)
    spec.check("population_bursts", "neurons", spec.Whole(at_least=1), trains.n)
    counts, begin = binned(trains, bin_ms), trains.start
    # In spikes per bin, with room for the rounding of the threshold.
    first, last = runs(counts >= threshold * trains.n * bin_ms * 1e-3 * (1.0 - 1e-9))
    long = (last + 1 - first) * bin_ms >= min_duration - NEAR_MS
    first, last = first[long], last[long]
    total = np.append(0, np.cumsum(counts))
    return begin + bin_ms * first, begin + bin_ms * (last + 1), total[last + 1] - total[first]


@spec.arguments(bin_ms=BIN)
@of_runs(listed=True)
def avalanches(
    source: Any, population: Name = None, *, bin_ms: float, start: Time = None, stop: Time = None
) -> tuple[Int64[np.ndarray, " avalanches"], Int64[np.ndarray, " avalanches"]]:
    """Avalanches of activity: (size [spikes], duration [bins]); of a batch a list of these.

    An avalanche is a sequence of bins with spikes between two empty bins. Its size is the sum
    over these bins, its duration their number. An avalanche that begins or ends with the record is
    incomplete and left out. The width of the bin determines what is one avalanche; the mean
    interval between spikes of the population is the usual choice.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, or a bin that is not
            above 0 or longer than the part.

    Reference:
        Beggs and Plenz (2003), doi:10.1523/JNEUROSCI.23-35-11167.2003.
    """
    activity = counts_of("avalanches", source, population, bin_ms, (start, stop), 1)
    first, last = runs(activity > 0)
    whole = (first > 0) & (last < activity.size - 1)
    first, last = first[whole], last[whole]
    total = np.append(0, np.cumsum(activity))
    return total[last + 1] - total[first], last + 1 - first


class Multistep(NamedTuple):
    """A branching ratio by multistep regression.

    Attributes:
        ratio: m, 1 at the critical point; the activity decays with the time constant `-bin / ln m`.
        offset: b of the fit, below 1 if only a part is observed.
        slopes: the slopes r_k.

    Reference:
        Wilting and Priesemann (2018), Inferring collective dynamical states from widely unobserved
        systems, doi:10.1038/s41467-018-04725-4.
    """

    ratio: float
    offset: float
    slopes: Float64[np.ndarray, " max_lag"]


@spec.arguments(bin_ms=BIN)
@of_runs()
def branching_ratio(
    source: Any, population: Name = None, *, bin_ms: float, start: Time = None, stop: Time = None
) -> float:
    """Branching ratio by regression of the activity on that of the bin before.

    `m = Cov(A_t, A_(t+1)) / Var(A_t)`, the slope of a straight line by least squares: 0 for a
    Poisson process, 1 at the critical point. It is too small if only some of the neurons are
    observed; use `multistep_branching_ratio` then. nan if the activity is constant.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, or fewer than 3 bins.

    Reference:
        Wilting and Priesemann (2018), Inferring collective dynamical states from widely unobserved
        systems, doi:10.1038/s41467-018-04725-4.
    """
    counts = counts_of("branching_ratio", source, population, bin_ms, (start, stop), 3)
    return float(_slopes(counts, 1)[0])


@spec.arguments(bin_ms=BIN, max_lag=spec.Whole(at_least=2))
@of_runs()
def multistep_branching_ratio(
    source: Any,
    population: Name = None,
    *,
    bin_ms: float,
    max_lag: int,
    start: Time = None,
    stop: Time = None,
) -> Multistep:
    """Branching ratio that does not depend on how many of the neurons are observed.

    The slopes `r_k` of the regression of `A_(t+k)` on `A_t` for `k = 1 ... max_lag` bins follow
    `r_k = b m^k`; returns `m`, `b` and the slopes. The fit minimises the sum of squared
    differences. An `offset` that is not well above 0 means that there is no exponential decay to
    fit. The slopes should decay within `max_lag`. nan if the activity is constant. It should be
    that of a stationary time.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a `max_lag` below 2,
            or fewer than `max_lag + 2` bins.

    Reference:
        Wilting and Priesemann (2018), Inferring collective dynamical states from widely unobserved
        systems, doi:10.1038/s41467-018-04725-4.
    """
    window, owner = (start, stop), "multistep_branching_ratio"
    slopes = _slopes(counts_of(owner, source, population, bin_ms, window, max_lag + 2), max_lag)
    if np.isnan(slopes).any():
        return Multistep(float("nan"), float("nan"), slopes)
    log_m = _decay(slopes)
    return Multistep(float(np.exp(log_m)), _fit(log_m, slopes)[0], slopes)


def _slopes(counts: Int64[np.ndarray, " bins"], max_lag: int) -> Float64[np.ndarray, " {max_lag}"]:
    """Slopes of the straight lines from `a[t]` to `a[t + k]`, k = 1 ... max_lag."""
    a = counts - counts.mean()
    lag = np.arange(1, max_lag + 1)
    m = a.size - lag
    sums, squares = (np.append(0.0, np.cumsum(x)) for x in (a, a * a))
    early, late = sums[m] / m, (sums[-1] - sums[lag]) / m
    # There is no slope if all values that the line starts from are equal.
    varies = np.append(np.flatnonzero(a != a[0]), a.size)[0] < m
    variance = np.where(varies, squares[m] / m - early**2, np.nan)
    return (lag_products(a, a, max_lag)[max_lag + 1 :] / m - early * late) / variance


def _fit(log_m: float, slopes: Float64[np.ndarray, " max_lag"]) -> tuple[float, float]:
    """The best offset b for a decay, and the remaining sum of squares."""
    power = np.exp(log_m * np.arange(1, slopes.size + 1))
    # Scaled, so that a fast decay does not divide by 0.
    scaled = power / power[np.argmax(power)]
    height = np.dot(scaled, slopes) / np.dot(scaled, scaled)
    return float(height / power.max()), float(np.sum((slopes - height * scaled) ** 2))


def _decay(slopes: Float64[np.ndarray, " max_lag"]) -> float:
    """ln m of the best fit: the best point of a grid, then the minimum between its neighbours."""
    from scipy.optimize import minimize_scalar

    k = slopes.size
    grid = np.concatenate([-np.geomspace(20.0, 1e-4 / k, 200), np.geomspace(1e-4 / k, 2.0 / k, 50)])
    best = int(np.argmin([_fit(x, slopes)[1] for x in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(
        lambda x: _fit(x, slopes)[1],
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10 / k},
    )
    return float(found.x)  # pyright: ignore[reportAttributeAccessIssue]
