"""Distances of spike trains and of runs, and the rate around events."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import jax
import numpy as np
from jaxtyping import Float, Float64, Int64

from .. import spec
from .._numerics.grid import is_short, largest_of, time_tolerance
from .._numerics.windows import check_time, in_window
from .._run.recording import Recording
from .._run.result import Result
from .._run.spike_trains import SpikeTrains, tolerance_of
from ..spec import InvalidValueError
from ._bins import BIN, bin_of
from ._correlations import count_correlation
from ._counts import neuron_rates
from ._intervals import interval_cvs
from ._source import Name, Time, check_known, of_runs, pooled_of, run_of, trains_of

F = TypeVar("F", bound=Callable)
Distances: TypeAlias = Float64[np.ndarray, "n n"] | float

_TIMES = spec.Numbers("ms", ndim=(1,))
_NEURONS = spec.Whole(at_least=1)


def _or_of_two(function: F) -> F:
    """Makes a function of the neurons of a run, which gives a matrix, one of two arrays, too."""

    @functools.wraps(function)
    def call(source: Any, population: Any = None, **named: Any) -> Any:
        if not isinstance(source, np.ndarray | jax.Array | list | tuple):
            return function(source, population, **named)
        first = spec.check("", "the first train", _TIMES, source)
        second = spec.check("", "the second train", _TIMES, population)
        ends = {k: named.pop(k, None) for k in ("start", "stop")}
        begin, end = (x if x is None else check_time(k, x) for k, x in ends.items())
        window = -np.inf if begin is None else begin, np.inf if end is None else end
        if not window[0] < window[1]:
            must = f"after start ({begin:.10g} ms)"
            raise InvalidValueError("", "stop", must, f"{end:.10g} ms")
        times = np.concatenate([first, second])
        owner = np.repeat([0, 1], [first.size, second.size])
        dtypes = [np.asarray(x).dtype for x in (source, population)]
        coarser = min(dtypes, key=lambda dtype: (not is_short(dtype), dtype.itemsize))
        inside = in_window(times, *window, time_tolerance(times, coarser))
        both = SpikeTrains.known(times[inside], owner[inside], 2, *window, times_dtype=coarser)
        return float(function(both, **named | {"neurons": 2})[0, 1])

    return cast(F, call)


def _first_trains(trains: SpikeTrains, neurons: int) -> list[Float64[np.ndarray, " _"]]:
    """The ascending times of each of the first neurons."""
    few = trains.first(neurons)
    return [few.of(k) for k in range(few.n)]


def _symmetric(trains: SpikeTrains, neurons: int, row: Callable) -> Float64[np.ndarray, "n n"]:
    """The distances of all pairs: `row(a, b, counts)` are those of one train to several.

    The trains b are rows of one length, of which the first `counts` are spikes and all others are
    at the last time of all.
    """
    each = _first_trains(trains, neurons)
    counts = np.array([x.size for x in each], int)
    last = max((x[-1] for x in each if x.size), default=0.0)
    padded = np.full((len(each), counts.max(initial=0)), last)
    padded[np.arange(padded.shape[1]) < counts[:, None]] = np.concatenate([*each, []])
    out = np.zeros((len(each), len(each)))
    for i in range(len(each) - 1):
        out[i, i + 1 :] = out[i + 1 :, i] = row(each[i], padded[i + 1 :], counts[i + 1 :])
    return out


@spec.arguments(cost=spec.Number("1/ms", at_least=0.0), neurons=_NEURONS)
@_or_of_two
@of_runs()
def victor_purpura(
    source: Any,
    population: Any = None,
    *,
    cost: float,
    neurons: int = 100,
    start: Time = None,
    stop: Time = None,
) -> Distances:
    """Victor-Purpura distance of the spike trains of the first neurons, (n, n), or of two arrays.

    The least cost of making one train of the other, where to add or to remove a spike costs 1, and
    to move it costs `cost` [1/ms] times how far: `G_ij = min(G_(i-1)j + 1, G_i(j-1) + 1,
    G_(i-1)(j-1) + cost |a_i - b_j|)` of the first i and j spikes. It is `|n - m|` of n and m spikes
    at cost 0, and `n + m` at a high one if no two are at one time. `victor_purpura(a, b, cost=0.1)`
    of two arrays of times [ms] is one number. Of a run it is of the first `neurons`, or all if
    there are fewer.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a `cost` that is not
            finite or below 0, or times that are not finite.

    Note:
        Elephant's `victor_purpura_distance`, whose `cost_factor` has a unit; infinity, where it
        gives `n + m` also for equal trains, is refused here.

    Reference:
        Victor and Purpura (1996), doi:10.1152/jn.1996.76.2.1310.
    """
    row = functools.partial(_victor_purpura, cost=cost)
    return _symmetric(trains_of(source, population, start, stop), neurons, row)


def _victor_purpura(
    a: Float64[np.ndarray, " spikes"],
    b: Float64[np.ndarray, "trains most"],
    counts: Int64[np.ndarray, " trains"],
    cost: float,
) -> Float64[np.ndarray, " trains"]:
    columns = np.arange(b.shape[1] + 1.0)
    row = np.tile(columns, (len(b), 1))
    for t in a:
        found = row + 1.0
        np.minimum(found[:, 1:], row[:, :-1] + cost * np.abs(t - b), out=found[:, 1:])
        # G_ij = min over k up to j of (found_k + j - k): adds what follows k.
        row = np.minimum.accumulate(found - columns, axis=1) + columns
    return row[np.arange(len(b)), counts]


@spec.arguments(tau=spec.Number("ms", above=0.0), neurons=_NEURONS)
@_or_of_two
@of_runs()
def van_rossum(
    source: Any,
    population: Any = None,
    *,
    tau: float,
    neurons: int = 100,
    start: Time = None,
    stop: Time = None,
) -> Distances:
    """Van Rossum distance of the spike trains of the first neurons, (n, n), or of two arrays.

    `D = sqrt(1 / tau integral (f - g)^2 dt)` of the trains `f(t) = sum over spikes before t of
    exp(-(t - t_k) / tau)`, with `tau` [ms]: a spike too much is 1 / sqrt(2), two spikes far apart
    are 1. It is `sqrt((n + m) / 2)` of n and m spikes at a short tau if no two are at one time,
    and `|n - m| / sqrt(2)` at a long one. The integral is exact: between two events of either
    train f - g decays, and its square is known. `van_rossum(a, b, tau=10.0)` of two arrays of times
    [ms] is one number. Of a run it is of the first `neurons`, or all if there are fewer.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a `tau` that is not
            above 0, or times that are not finite.

    Note:
        Elephant's `van_rossum_distance` is this times sqrt(2), so that a spike too much is 1.

    Reference:
        Van Rossum (2001), doi:10.1162/089976601300014321; the cost of a pair grows with the number
        of its spikes as in Houghton and Kreuz (2012), doi:10.3109/0954898X.2012.673048.
    """
    row = functools.partial(_van_rossum, tau=tau)
    return _symmetric(trains_of(source, population, start, stop), neurons, row)


def _van_rossum(
    a: Float64[np.ndarray, " spikes"],
    b: Float64[np.ndarray, "trains most"],
    counts: Int64[np.ndarray, " trains"],
    tau: float,
) -> Float64[np.ndarray, " trains"]:
    times = np.concatenate([np.tile(a, (len(b), 1)), b], axis=1)
    signs = np.ones(times.shape)
    signs[:, a.size :] = -1.0 * (np.arange(b.shape[1]) < counts[:, None])
    order = np.argsort(times, axis=1, kind="stable")
    gaps = np.diff(np.take_along_axis(times, order, axis=1), axis=1, append=np.inf) / tau
    kept, lost, signs = (
        x.T for x in (np.exp(-gaps), -np.expm1(-2 * gaps), np.take_along_axis(signs, order, axis=1))
    )
    # f - g after each event, and the integral of its square until the next one: a sum of what is
    # never negative, so that little is lost where trains are nearly equal.
    level, total = np.zeros(len(b)), np.zeros(len(b))
    for sign, left, gone in zip(signs, kept, lost):
        level = level + sign
        total += level**2 * gone
        level = level * left
    return np.sqrt(total / 2.0)


@spec.arguments(delta=spec.Number("ms", above=0.0), neurons=_NEURONS)
@_or_of_two
@of_runs()
def coincidence_factor(
    source: Any,
    population: Any = None,
    *,
    delta: float,
    neurons: int = 100,
    start: Time = None,
    stop: Time = None,
) -> Distances:
    """Coincidence factor Gamma of the spike trains of the first neurons, (n, n), or of two arrays.

    `Gamma = (c - 2 r delta n) / ((n + m) / 2) / (1 - 2 r delta)` of a train of n spikes (the data)
    and one of m (the model), whose rate is `r = m / (stop - start)`: `c` are the spikes that are at
    most `delta` [ms] from one of the other train, each counted once, and `2 r delta n` as many as a
    Poisson process of that rate has by chance. 1 if all coincide, 0 if as many as by chance.
    Without spikes in one of them it is 0, in both nan, as it is where `2 r delta` is not below 1.
    In the matrix data are rows. `coincidence_factor(data, model, delta=2.0, start=0.0,
    stop=1000.0)` of two arrays of times [ms] is one number. Of a run it is of the first
    `neurons`, or all if there are fewer.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a `delta` that is not
            above 0, times that are not finite, or two arrays without a start and a stop.

    Note:
        Programs differ in `c` where spikes of one train are closer than 2 delta: here no spike
        coincides with two.

    Reference:
        Kistler, Gerstner and van Hemmen (1997), Neural Computation 9, 1015; Jolivet et al. (2008),
        doi:10.1016/j.jneumeth.2007.11.006.
    """
    trains = trains_of(source, population, start, stop)
    if not np.isfinite(trains.duration):
        got = f"{trains.start:g} and {trains.stop:g} ms"
        raise InvalidValueError("", "start and stop", "given: a rate needs a time", got)
    within = delta + largest_of(tolerance_of(trains))
    each = [x.tolist() for x in _first_trains(trains, neurons)]
    both = np.diag(np.array([len(x) for x in each], float))
    for i, j in zip(*np.triu_indices(len(each), 1)):
        both[i, j] = both[j, i] = _coincidences(each[i], each[j], within)
    count = np.diag(both)
    chance = 2.0 * delta * count / (trains.duration or 1.0)  # per spike of the other
    mean = (count[:, None] + count) / 2.0
    known = (mean > 0.0) & (chance < 1.0)
    scale = np.where(known, mean * (1.0 - chance), 1.0)
    return np.where(known, (both - count[:, None] * chance) / scale, np.nan)


def _coincidences(a: list[float], b: list[float], within: float) -> int:
    """How many pairs there are that are at most `within` apart, each spike in one of them."""
    i = j = found = 0
    while i < len(a) and j < len(b):
        if abs(a[i] - b[j]) <= within:
            i, j, found = i + 1, j + 1, found + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return found


def _times_and_tolerance(value: Any) -> tuple[Float64[np.ndarray, " times"], Any]:
    """Times [ms], and how near each may be to another one to count as equal."""
    times = _TIMES.convert(value)
    return times, time_tolerance(times, np.asarray(value).dtype)


def _two_ends(value: Any) -> tuple[float, float]:
    """Two times, the earlier first; raises `spec.Unfit`."""
    x = spec.as_numbers(value)
    if x.shape != (2,) or not np.isfinite(x).all() or not x[0] < x[1]:
        raise spec.Unfit("two times in ms, the earlier first")
    first, last = map(spec.as_number, np.asarray(value))
    return first, last


@spec.arguments(
    onsets=spec.Converted(_times_and_tolerance, "times in ms"),
    window=spec.Converted(_two_ends, "two times in ms"),
    bin_ms=BIN,
)
@of_runs()
def psth(
    source: Any,
    population: Name = None,
    *,
    onsets: Any,
    window: Any,
    bin_ms: float = 10.0,
    start: Time = None,
    stop: Time = None,
) -> tuple[Float64[np.ndarray, " bins"], Float64[np.ndarray, " bins"]]:
    """Peri-stimulus time histogram: (centres of bins from the onset [ms], rate [Hz]), both (bins,).

    `rate = spikes in the bin / (events n bin)`, over all events and neurons. `onsets` [ms] are the
    times of the events, `window` the two ends [ms] from an onset, such as `(-50.0, 200.0)`. Bins
    are `(t, t + bin_ms]` from the begin of the window, and an incomplete one is left out. Events
    whose window is not within the run, or the part from `start` to `stop`, are left out. It is
    known from `Record(rates=True)`, too.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, onsets that are not
            finite, a window that ends before it begins, a bin that is not above 0 or longer than
            the window, or if no event is left.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, chapter 7, doi:10.1017/CBO9781107447615.
    """
    trains = pooled_of(source, population, start, stop)
    onsets, tolerance = onsets
    begins, length = onsets + window[0], window[1] - window[0]
    within = (begins >= trains.start - tolerance) & (begins + length <= trains.stop + tolerance)
    if not within.any():
        ends = f"from {trains.start:.10g} to {trains.stop:.10g} ms"
        must = f"some whose window, {window[0]:g} to {window[1]:g} ms from it, is {ends}"
        raise InvalidValueError("psth", "onsets", must, f"none of {onsets.size}")
    begins, times = begins[within], np.sort(trains.times)
    near = max(largest_of(tolerance), largest_of(tolerance_of(trains)))
    first = np.searchsorted(times, begins - near)
    last = np.searchsorted(times, begins + length + near)
    elapsed = [times[i:j] - t for i, j, t in zip(first, last, begins)]
    index, inside, bins = bin_of(np.concatenate(elapsed), length, bin_ms, near)
    counts = np.bincount(index[inside], minlength=bins)
    centres = window[0] + bin_ms * (np.arange(bins) + 0.5)
    return centres, counts / (begins.size * max(trains.n, 1)) / (bin_ms * 1e-3)


class Difference(NamedTuple):
    """How the values of one population differ in two runs.

    Attributes:
        population: its name; "" of arrays.
        measure: what was compared: "rate" [Hz], "cv" or "correlation".
        distance: that of Kolmogorov and Smirnov, from 0 to 1; nan if a run has no value.
        p: how probable so large a distance is of equal distributions; nan of correlations, whose
            pairs are not independent, and without a distance.
        a: the values of the first run, one per neuron or pair that has one.
        b: those of the second run.
    """

    population: str
    measure: str
    distance: float
    p: float
    a: Float64[np.ndarray, " _"]
    b: Float64[np.ndarray, " _"]

    @property
    def mean_a(self) -> float:
        """The mean of the first run, nan without a value."""
        return float(self.a.mean()) if self.a.size else np.nan

    @property
    def mean_b(self) -> float:
        """The mean of the second run, nan without a value."""
        return float(self.b.mean()) if self.b.size else np.nan

    def __repr__(self) -> str:
        where = f" of {self.population!r}" if self.population else ""
        numbers = f"distance {self.distance:.3g}, p {_p_text(self.p)}"
        return f"{self.measure}{where}: {numbers}, means {self.mean_a:.3g} and {self.mean_b:.3g}"


def _p_text(p: float) -> str:
    return "-" if np.isnan(p) else f"{p:.2g}"


class Comparison(spec.Value):
    """What `compare` found, shown as a table: `found["E", "rate"].distance`."""

    rows: Any = spec.field(
        spec.Items(spec.Of(Difference)), doc="a `Difference` for each population and measure"
    )

    def __getitem__(self, which: tuple[str, str]) -> Difference:
        known = {f"{x.population}, {x.measure}": x for x in self.rows}
        name = ", ".join(which) if isinstance(which, tuple) else which
        spec.check_known("row", name, known)
        return known[name]

    def __repr__(self) -> str:
        head = ("population", "measure", "distance", "p", "mean a", "mean b")
        lines: list[tuple[str, ...]] = [head]
        for x in self.rows:
            numbers = (f"{x.distance:.3f}", _p_text(x.p), f"{x.mean_a:.4g}", f"{x.mean_b:.4g}")
            lines.append((x.population, x.measure, *numbers))
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join(
            "  ".join(
                text.ljust(width) if k < 2 else text.rjust(width)
                for k, (text, width) in enumerate(zip(line, widths))
            )
            for line in lines
        )


def _names(value: Any) -> tuple[str, ...] | None:
    """Names, or one; raises `spec.Unfit`."""
    some = (value,) if isinstance(value, str) else value
    return spec.Maybe(spec.Items(spec.Name(), at_least=1)).convert(some)


@spec.arguments(
    populations=spec.Converted(_names, "names"), neurons=spec.Whole(at_least=2), bin_ms=BIN
)
def compare(
    a: Any,
    b: Any,
    *,
    populations: Any = None,
    neurons: int = 200,
    bin_ms: float = 2.0,
    start: Time = None,
    stop: Time = None,
) -> Comparison:
    """How the activity of two runs differs: distances of distributions, as a table.

    For each population the distance of Kolmogorov and Smirnov, `max over x of |F_a(x) - F_b(x)|`
    of the cumulative distributions, for three measures: "rate", the rates of its neurons [Hz];
    "cv", the CVs of their intervals; "correlation", the correlations of the counts in bins of
    `bin_ms` [ms] of all pairs of its first `neurons`. `a` and `b` are two runs, or `jn.SpikeTrains`
    both; `populations` names (default all of `a`). What has no CV or correlation is left out.
    Values that differ by rounding alone are equal. The runs should be equally long: CVs and counts
    depend on that. `jn.plot.comparison` draws it.

    Raises:
        InvalidValueError: for what is no run of spikes, a batch (compare its runs, `batch[k]`), a
            population that one of them has not, a part outside of one, or fewer than 2 bins.

    Note:
        `p` is that of `scipy.stats.ks_2samp`, of independent values. Correlations have none:
        compare their distance with that of two seeds.

    Reference:
        Gutzen et al. (2018), doi:10.3389/fninf.2018.00090; of the same three distributions van
        Albada et al. (2018), doi:10.3389/fnins.2018.00291.
    """
    both = [_one_run(name, x) for name, x in (("a", a), ("b", b))]
    if len({isinstance(x, SpikeTrains) for x in both}) > 1:
        raise InvalidValueError("", "a and b", "two runs, or two jn.SpikeTrains", "one of each")
    names: tuple = populations or (None,)
    if isinstance(both[0], Result):
        names = tuple(both[0].populations) if populations is None else populations
        for run in both:
            for name in names:
                spec.check_known("population", name, run.populations)
    window = {"start": start, "stop": stop}
    rows = []
    for name in names:
        found = [_measures(run, name, window, neurons, bin_ms) for run in both]
        rows += [_difference(name or "", k, *(x[k] for x in found)) for k in found[0]]
    return Comparison(rows)


def _one_run(field: str, source: Any) -> Any:
    run = run_of(source)
    if isinstance(run, Recording):
        check_known("jn.analysis.compare", run)
        run = run.result()
    return spec.check("", field, spec.Of(Result, SpikeTrains), run)


def _measures(
    run: Any, name: Name, window: dict[str, Any], neurons: int, bin_ms: float
) -> dict[str, Float64[np.ndarray, " _"]]:
    """The values of each measure that are known, by its name."""
    few = trains_of(run, name, **window).first(neurons)
    pairs = count_correlation(few, bin_ms=bin_ms)[1][np.triu_indices(few.n, 1)]
    cvs = interval_cvs(run, name, **window)
    values = {"rate": neuron_rates(run, name, **window), "cv": cvs, "correlation": pairs}
    return {k: np.asarray(x, np.float64)[~np.isnan(x)] for k, x in values.items()}


def _difference(
    population: str, measure: str, a: Float[np.ndarray, " _"], b: Float[np.ndarray, " _"]
) -> Difference:
    from scipy import stats

    if not (a.size and b.size):
        return Difference(population, measure, np.nan, np.nan, a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a p that is only approximate
        found: Any = stats.ks_2samp(*_ranks(a, b, _ROUNDING[measure]))
    # Pairs share neurons, so that p would be far too small, as of two seeds of one network.
    p = np.nan if measure == "correlation" else float(found.pvalue)
    return Difference(population, measure, float(found.statistic), p, a, b)


# Equal values are at most so far apart. Rates [Hz] and CVs come from rounded times of up to
# 1,000 s, correlations from exact counts; different correlations can be as close as 1 / bins^2.
_ROUNDING = {"rate": 1e-10, "cv": 1e-10, "correlation": 1e-13}


def _ranks(
    a: Float64[np.ndarray, " a"], b: Float64[np.ndarray, " b"], rounding: float
) -> tuple[Int64[np.ndarray, " a"], Int64[np.ndarray, " b"]]:
    """The rank of each value among the different ones of both arrays."""
    both = np.concatenate([a, b])
    order = np.argsort(both)
    ranks = np.empty(both.size, np.int64)
    ranks[order] = np.cumsum(np.diff(both[order], prepend=-np.inf) > rounding)
    return ranks[: a.size], ranks[a.size :]
