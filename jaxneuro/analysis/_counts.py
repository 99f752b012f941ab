"""Spikes counted and as rates; spikes from recorded voltages."""

from typing import Any

import numpy as np
from jaxtyping import Float, Float64, Int64, Real

from .. import spec
from .._arrays import AnyArray, is_traced
from .._run.spike_trains import SpikeTrains
from .._warn import warn
from ..spec import UNITS, InvalidValueError
from ._bins import BIN, check_bins
from ._formulas import as_float, as_number, mean_of_known, quotient
from ._source import Name, Time, duration_of, of_runs, pooled_of, sums_kept, traces_of, trains_of
from ._spikes import binned, cells_of, counts_by_neuron, table_of
from ._traced import TracedTrains


@spec.arguments(bin_ms=BIN)
@of_runs(traceable=True)
def spike_counts(
    source: Any,
    population: Name = None,
    *,
    bin_ms: float = 1.0,
    start: Time = None,
    stop: Time = None,
) -> Int64[np.ndarray, "n bins"]:
    """Spikes of each neuron in bins, (n, bins).

    Bins are `(t, t + bin_ms]` from `start`. Only whole bins are returned: an incomplete bin before
    `stop` is left out, with its spikes.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a bin that is not
            above 0 or longer than the part, or more than 2^31 counts (17 GB), before any memory is
            taken.

    Note:
        Elephant's `BinnedSpikeTrain` has bins `[t, t + bin_ms)`.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, chapter 7, doi:10.1017/CBO9781107447615.
    """
    return table_of(trains_of(source, population, start, stop), bin_ms)


@spec.arguments(bin_ms=BIN)
@of_runs(traceable=True)
def fano_factor(
    source: Any,
    population: Name = None,
    *,
    bin_ms: float = 100.0,
    start: Time = None,
    stop: Time = None,
) -> tuple[Float64[np.ndarray, " n"], float]:
    """Fano factor of each neuron (n,), and its mean over the neurons that spiked.

    `F = variance / mean` of a neuron's spike counts over the bins `(t, t + bin_ms]`, the
    variance over all bins (`numpy.var`, as Elephant's `fanofactor`); nan for neurons without
    spikes. 0 for a clock, 1 for a Poisson process. The array of counts is not made, so that neurons
    and bins may both be many.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a bin that is not
            above 0, or fewer than 2 bins.

    Reference:
        Nawrot et al. (2008), doi:10.1016/j.jneumeth.2007.10.013.
    """
    variance, mean = _moments(trains_of(source, population, start, stop), bin_ms)
    factors = quotient(variance, mean)
    return factors, as_number(mean_of_known(factors, mean > 0))


def _moments(
    trains: SpikeTrains | TracedTrains, bin_ms: float
) -> tuple[Float[AnyArray, " n"], Float[AnyArray, " n"]]:
    """Variance and mean over bins of the counts of each neuron."""
    if isinstance(trains, TracedTrains):
        counts = as_float(trains.table(bin_ms))
        check_bins("fano_factor", counts.shape[1], bin_ms, 2)
        return counts.var(axis=1), counts.mean(axis=1)
    n, (cells, bins) = trains.n, cells_of(trains, bin_ms)
    check_bins("fano_factor", bins, bin_ms, 2)
    cells, count = np.unique(cells, return_counts=True)
    owner = cells // bins
    total = np.bincount(owner, count, minlength=n)
    squares = np.bincount(owner, count.astype(np.float64) ** 2, minlength=n)
    return (bins * squares - total**2) / bins**2, total / bins


@spec.arguments(bin_ms=BIN)
@of_runs(traceable=True)
def population_rate(
    source: Any,
    population: Name = None,
    *,
    bin_ms: float = 1.0,
    start: Time = None,
    stop: Time = None,
) -> tuple[Float64[np.ndarray, " bins"], Float64[np.ndarray, " bins"]]:
    """Rate of a population in bins: (bin starts [ms], rate [Hz]), both (bins,).

    `rate = spikes in the bin / (n bin)`. Bins are `(t, t + bin_ms]`, so that a spike at the
    end of a time step counts in the bin of that step. Only whole bins from `start` to
    `stop` are returned: an incomplete bin before `stop` is left out, with its spikes. It is known
    from `Record(rates=True)`, too.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, or a bin that is not
            above 0 or longer than the part.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, eq. 7.11, doi:10.1017/CBO9781107447615.
    """
    trains = pooled_of(source, population, start, stop)
    counts = binned(trains, bin_ms)
    begins = trains.start + bin_ms * np.arange(counts.size)
    return begins, counts / max(trains.n, 1) / (bin_ms * 1e-3)


@spec.arguments()
@of_runs(traceable=True)
def neuron_rates(
    source: Any, population: Name = None, *, start: Time = None, stop: Time = None
) -> Float64[np.ndarray, " n"]:
    """Mean rate of each neuron [Hz], (n,).

    `rate = spikes in (start, stop] / (stop - start)`. Of a whole run it is known from
    `Record(statistics=...)`, too.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, or a run of no time.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, chapter 7, doi:10.1017/CBO9781107447615.
    """
    sums = sums_kept(source, population, start, stop)
    if sums is None:
        trains = trains_of(source, population, start, stop)
        count, ms = counts_by_neuron(trains), trains.duration
    else:
        count, ms = sums.count, duration_of(source)
    if not is_traced(ms) and not ms > 0.0:
        raise InvalidValueError("neuron_rates", "the run", "of some time", f"{ms:g} ms")
    return as_float(count) / (ms * 1e-3)


_MILLIVOLTS = 10.0  # some voltage of a neuron is at least so large [mV]


@spec.arguments(level=spec.Number("mV"))
@of_runs(listed=True)
def crossing_times(
    source: Any,
    name: Name = None,
    *,
    variable: str = "v",
    level: float = 0.0,
    start: Time = None,
    stop: Time = None,
) -> SpikeTrains:
    """When sampled voltages cross a level [mV] upwards, as spikes; of a batch a list of these.

    `t = t_k + (level - v_k) / (v_(k+1) - v_k) (t_(k+1) - t_k)` between two samples with
    `v_k < level <= v_(k+1)`: by linear interpolation, to second order in the distance of the
    samples. `name` is that of a population of which `variable` was recorded; neurons are numbered
    as the columns of its traces, and the window is that of the samples. What comes out goes into
    `intervals`, `interval_cv` and all other functions of spikes. Warns where nothing crosses a
    level that looks like volts.

    Raises:
        InvalidValueError: for what was not recorded, a part outside the run, or a level or
            voltages that are not finite.

    Reference:
        Hansel et al. (1998), doi:10.1162/089976698300017845.
    """
    traces = traces_of(source, name, variable, start, stop)
    times, v = traces.times, traces.values
    k, neurons = np.nonzero((v[:-1] < level) & (v[1:] >= level))
    before, after = v[k, neurons], v[k + 1, neurons]
    found = times[k] + (level - before) / (after - before) * (times[k + 1] - times[k])
    if not found.size:
        _warn_of_volts(v, level)
    order = np.lexsort((neurons, found))
    window = map(float, times[[0, -1]] if times.size else (0.0, 0.0))
    return SpikeTrains.known(found[order], neurons[order], v.shape[1], *window)


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
