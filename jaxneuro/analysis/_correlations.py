"""How spikes of neurons go together: correlations, correlograms, spectra, synchrony, balance."""

from typing import Any

import numpy as np
from jaxtyping import Float64, Int64, Num

from .. import spec
from .._run.spike_trains import SpikeTrains
from .._text import brief
from .._warn import warn
from ..spec import InvalidValueError
from ._bins import BIN, check_bins
from ._formulas import as_number, correlation, covariance, quotient
from ._source import Name, Time, Traces, of_runs, pooled_of, traces_of, trains_of
from ._spikes import binned, bins_of, by_neuron, counts_of, table_of


@spec.arguments(bin_ms=BIN)
@of_runs(traceable=True)
def count_covariance(
    source: Any, population: Name = None, *, bin_ms: float, start: Time = None, stop: Time = None
) -> Float64[np.ndarray, "n n"]:
    """Covariance of the spike counts of all pairs of neurons, (n, n).

    `C_ij = sum over bins (c_i - mean c_i) (c_j - mean c_j) / (bins - 1)`, as `numpy.cov` and
    Elephant's `covariance`, of the counts of `spike_counts`.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, or fewer than 2 bins.

    Reference:
        Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    counts = table_of(trains_of(source, population, start, stop), bin_ms)
    check_bins("count_covariance", counts.shape[1], bin_ms, 2)
    return covariance(counts)


@spec.arguments(bin_ms=BIN)
@of_runs(traceable=True)
def count_correlation(
    source: Any, population: Name = None, *, bin_ms: float, start: Time = None, stop: Time = None
) -> tuple[float, Float64[np.ndarray, "n n"]]:
    """Correlation of spike counts: its mean over all pairs, and of each pair, (n, n).

    Pearson's `r_ij = C_ij / sqrt(C_ii C_jj)` of `count_covariance`, as `numpy.corrcoef` and
    Elephant's `correlation_coefficient`. The mean is over the pairs `i < j`. A neuron whose
    count never changes has no correlation: it is nan in the matrix and left out of the mean, which
    is nan if no pair is left.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, or fewer than 2 bins.

    Reference:
        Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    counts = table_of(trains_of(source, population, start, stop), bin_ms)
    check_bins("", counts.shape[1], bin_ms, 2)
    mean, matrix = correlation(counts)
    return as_number(mean), matrix


_LAGS = spec.Number("ms", at_least=0.0)


@spec.arguments(bin_ms=BIN, max_lag=_LAGS)
@of_runs()
def cross_correlogram(
    source: Any,
    population: Name = None,
    other: Any = None,
    *,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: Time = None,
    stop: Time = None,
) -> tuple[Float64[np.ndarray, " lags"], Int64[np.ndarray, " lags"]]:
    """Pairs of spikes of two populations by lag: (lags [ms], pairs).

    `pairs(k) = sum over bins b of x(b) y(b + k)` for the counts `x` of `population` and `y` of
    `other`, another population of the run, in the bins `(t, t + bin_ms]`: at a positive
    lag, `other` is later. Of a `SpikeTrains`, `other` is one too:
    `cross_correlogram(trains, other=others)`. Lags are the multiples of `bin_ms` from `-max_lag` to
    `max_lag`, both arrays `(2 max_lag / bin_ms + 1,)`. These are raw counts, as
    in Elephant's `cross_correlation_histogram`, without a correction at the borders: independent
    Poisson trains of `a` and `b` spikes in `B` bins give `a b (B - |k|) / B^2`. The time to compute
    them does not depend on the number of spikes.

    Raises:
        InvalidValueError: for an unknown population, two windows that differ, a part outside the
            run, a bin that is not above 0, or a `max_lag` below 0.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86597-4.
    """
    m = _number_of_lags(bin_ms, max_lag)
    first = pooled_of(source, population, start, stop)
    arrays = isinstance(source, SpikeTrains)
    if not isinstance(other, SpikeTrains if arrays else str):
        must = "another jn.SpikeTrains" if arrays else "the name of a population"
        raise InvalidValueError("cross_correlogram", "other", must, brief(other))
    pair: tuple[Any, Any] = (other, None) if arrays else (source, other)
    second = pooled_of(*pair, start, stop)
    if (first.start, first.stop) != (second.start, second.stop):
        raise InvalidValueError("cross_correlogram", "other", "of the same window", repr(second))
    x, y = binned(first, bin_ms), binned(second, bin_ms)
    # Products of whole numbers: fractions come from rounding in the transform.
    pairs = np.rint(lag_products(x, y, m)).astype(np.int64)
    return bin_ms * np.arange(-m, m + 1), pairs


@spec.arguments(bin_ms=BIN, max_lag=_LAGS)
@of_runs()
def autocorrelogram(
    source: Any,
    population: Name = None,
    *,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: Time = None,
    stop: Time = None,
) -> tuple[Float64[np.ndarray, " lags"], Int64[np.ndarray, " lags"]]:
    """Pairs of spikes of the same neuron by lag, over all neurons: (lags [ms], pairs).

    `pairs(k) = sum over neurons i and bins b of c_i(b) c_i(b + k)`, less the pairs of a spike
    with itself at lag 0; `c` the counts in the bins `(t, t + bin_ms]`. Lags are the multiples of
    `bin_ms` from `-max_lag` to `max_lag`, both arrays `(2 max_lag / bin_ms + 1,)`.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a bin that is not
            above 0, or a `max_lag` below 0.

    Note:
        Elephant keeps the pairs of a spike with itself.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86596-2.
    """
    trains = trains_of(source, population, start, stop)
    m = _number_of_lags(bin_ms, max_lag)
    index, inside, _ = bins_of(trains, bin_ms)
    owner, place = by_neuron(index[inside], trains.neurons[inside])
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
    lags = int(max_lag / bin_ms + 1e-6)
    if lags == 0 and max_lag > 0.0:
        warn(
            f"max_lag is {max_lag:g} ms, shorter than a bin of {bin_ms:g} ms, so that lag 0 is the "
            f"only one. If it is in seconds, give max_lag={1e3 * max_lag:g}; if lag 0 is meant, "
            "max_lag=0"
        )
    return lags


def lag_products(
    x: Num[np.ndarray, " bins"], y: Num[np.ndarray, " bins"], m: int
) -> Float64[np.ndarray, " {2*m+1}"]:
    """`sum over t of x[t] y[t + k]` for k = -m ... m, of series of one length.

    Multiplies the Fourier transforms of blocks of x and of the part of y that their lags reach.
    The spectra of all blocks are added and transformed back once.
    """
    size = 1 << max(13, (8 * m + 1).bit_length())
    block = size - 2 * m
    ahead = np.concatenate([np.zeros(m), y, np.zeros(m)])
    spectrum = np.zeros(size // 2 + 1, np.complex128)
    for at in range(0, x.size, block):
        here = np.fft.rfft(x[at : at + block], size)
        spectrum += here.conj() * np.fft.rfft(ahead[at : at + size], size)
    return np.fft.irfft(spectrum, size)[: 2 * m + 1]


# The main lobe of a Hann window at frequency 0, where the mean is removed, is 2 frequencies wide.
# With fewer steps than these it covers all frequencies.
_FEWEST = 4


@spec.arguments(bin_ms=BIN, segment_ms=BIN)
@of_runs()
def power_spectrum(
    source: Any,
    population: Name = None,
    *,
    variable: str | None = None,
    bin_ms: float = 1.0,
    segment_ms: float = 1000.0,
    start: Time = None,
    stop: Time = None,
) -> tuple[Float64[np.ndarray, " frequencies"], Float64[np.ndarray, "frequencies ..."]]:
    """Power spectral density: (frequencies [Hz], density [unit^2 / Hz]).

    That of the population's rate in bins of `bin_ms`, (frequencies,), or of a recorded
    `variable` of each of its neurons, (frequencies, n); of a `Traces` that of its values.
    Welch's method: the mean periodogram of segments that overlap by half, each less its mean
    and under a Hann window. One-sided: the density integrates to the variance. This is
    `scipy.signal.welch(trace, 1000 / dt, nperseg=segment_ms / dt)`. The resolution is
    `1000 / segment_ms` Hz. What is shorter is one segment; in what is longer, steps at its end that
    do not fill a segment are left out. A Poisson process of rate r has the density 2 r, in
    Hz^2 / Hz.

    Raises:
        InvalidValueError: for what was not recorded, a part outside the run, or a segment of fewer
            than 4 steps.

    Reference:
        Welch (1967), doi:10.1109/TAU.1967.1161901.
    """
    from scipy import signal

    if variable is None and not isinstance(source, Traces):
        trains = pooled_of(source, population, start, stop)
        dt, values = bin_ms, binned(trains, bin_ms) / max(trains.n, 1) / (bin_ms * 1e-3)
    else:
        traces = traces_of(source, population, variable or "", start, stop)
        dt, values = traces.interval, traces.values
    segment = min(int(segment_ms / dt + 1e-6), len(values))
    if segment < _FEWEST or values.size == 0:
        must = f"so long, and the run too, that a segment has at least {_FEWEST} steps"
        raise InvalidValueError(
            "power_spectrum", "segment_ms", must, f"{segment} steps of {dt:g} ms"
        )
    return signal.welch(values, fs=1e3 / dt, nperseg=segment, axis=0)


@spec.arguments()
@of_runs()
def voltage_synchrony(
    source: Any, name: Name = None, *, variable: str = "v", start: Time = None, stop: Time = None
) -> float:
    """Synchrony chi of a population from its recorded membrane potentials.

    `chi^2 = Var_t(mean over neurons of v) / (mean over neurons of Var_t(v))`; returns chi: 1 if all
    neurons move together, about `1 / sqrt(n)` if they are independent, nan if none moves.

    Raises:
        InvalidValueError: for what was not recorded, voltages that are not finite, fewer than 2
            samples, or no neuron.

    Reference:
        Golomb and Rinzel (1994), doi:10.1016/0167-2789(94)90214-3.
    """
    traces = traces_of(source, name, variable, start, stop)
    values = traces.values
    if values.shape[0] < 2 or values.shape[1] < 1:
        must = "at least 2, of at least a neuron"
        raise InvalidValueError("voltage_synchrony", "the samples", must, repr(traces))
    if not np.ptp(values, axis=0).any():
        return float("nan")
    return float(np.sqrt(values.mean(axis=1).var() / values.var(axis=0).mean()))


@spec.arguments(bin_ms=BIN)
@of_runs(traceable=True)
def count_synchrony(
    source: Any,
    population: Name = None,
    *,
    bin_ms: float = 3.0,
    start: Time = None,
    stop: Time = None,
) -> float:
    """Synchrony of a population from the histogram of its spikes.

    `variance / mean` over the bins `(t, t + bin_ms]` of the number of spikes of all neurons: 1 for
    independent Poisson processes; if neurons are correlated, it grows with their number, so that
    only equal numbers of neurons can be compared. nan without spikes. It is known from
    `Record(rates=True)`, too.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, a bin that is not
            above 0, or fewer than 2 bins.

    Reference:
        Potjans and Diesmann (2014), The cell-type specific cortical microcircuit: relating
        structure and activity in a full-scale spiking network model, doi:10.1093/cercor/bhs358.
    """
    counts = counts_of("count_synchrony", source, population, bin_ms, (start, stop), 2)
    return as_number(quotient(counts.var(), counts.mean()))


@spec.arguments()
@of_runs()
def excitation_inhibition(
    source: Any,
    excitatory: str | None = None,
    inhibitory: Any = None,
    *,
    variable: str = "current",
    start: Time = None,
    stop: Time = None,
) -> tuple[Float64[np.ndarray, " n"], Float64[np.ndarray, " n"]]:
    """Balance of excitatory and inhibitory currents: (ratio, correlation) of each neuron, (n,).

    `ratio = -mean(I_E) / mean(I_I)` over time, and Pearson's correlation of `I_E` and `-I_I` at
    lag 0: 1 if inhibition follows excitation at once (tight balance). The two are projections of
    which `variable` was recorded, a current [pA] as it flows into the neuron, excitation positive
    and inhibition negative: `excitation_inhibition(result, "E->E", "I->E")`. Of arrays they are two
    `Traces`: `excitation_inhibition(excitatory, inhibitory=inhibitory)`. The ratio is inf without
    inhibition, and nan without any current; the correlation is nan where a current is constant.

    Raises:
        InvalidValueError: for what was not recorded, shapes that differ or have fewer than 2
            samples, currents that are not finite, or a mean of the wrong sign.

    Reference:
        Okun and Lampl (2008), doi:10.1038/nn.2105.
    """
    second = (inhibitory, None) if isinstance(source, Traces) else (source, inhibitory)
    plus = traces_of(source, excitatory, variable, start, stop).values
    minus = -traces_of(*second, variable, start, stop).values
    if plus.shape != minus.shape or plus.shape[0] < 2:
        raise InvalidValueError(
            "excitation_inhibition",
            "excitatory and inhibitory",
            "samples of one shape (samples, n), at least 2",
            f"{plus.shape} and {minus.shape}",
        )
    mean_plus, mean_minus = plus.mean(axis=0), minus.mean(axis=0)
    for name, mean, must in (
        ("excitatory", mean_plus, "at least"),
        ("inhibitory", mean_minus, "at most"),
    ):
        if (mean < 0).any():
            raise InvalidValueError(
                "excitation_inhibition",
                f"the mean of {name}",
                f"{must} 0 pA in every neuron: excitation flows in, inhibition out",
                f"the opposite in {int((mean < 0).sum())}",
            )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = mean_plus / mean_minus
        constant = (np.ptp(plus, axis=0) == 0) | (np.ptp(minus, axis=0) == 0)
        together = ((plus - mean_plus) * (minus - mean_minus)).mean(axis=0)
        correlation = np.where(constant, np.nan, together / (plus.std(axis=0) * minus.std(axis=0)))
    return ratio, correlation
