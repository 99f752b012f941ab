"""How spikes of neurons go together: correlations, correlograms, spectra, synchrony, balance."""

from typing import Any

import numpy as np
from jaxtyping import Float64, Int64, Num
from numpy.typing import ArrayLike

from .. import spec
from .._warn import warn
from ..spec import InvalidValueError, as_number
from ._spikes import array_of, arrays_checked, begin_of, bin_of, binned, by_neuron, checked_events


@arrays_checked
def count_covariance(counts: ArrayLike) -> Float64[np.ndarray, "n n"]:
    """Covariance of the spike counts of all pairs of neurons.

    `C_ij = sum over bins (c_i - mean c_i) (c_j - mean c_j) / (bins - 1)`, as `numpy.cov` and
    Elephant's `covariance`. `counts` `(n, bins)` as `spike_counts` gives them.

    Raises:
        InvalidValueError: for counts that are not a finite array of two dimensions with at least 2
            bins.

    Reference:
        Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    centred = _centred(counts)
    return centred @ centred.T / (centred.shape[1] - 1)


@arrays_checked
def count_correlation(counts: ArrayLike) -> tuple[float, Float64[np.ndarray, "n n"]]:
    """Correlation of spike counts: its mean over all pairs, and of each pair.

    Pearson's `r_ij = C_ij / sqrt(C_ii C_jj)` of `count_covariance`, as `numpy.corrcoef` and
    Elephant's `correlation_coefficient`. The mean is over the pairs `i < j`. A neuron whose
    count never changes has no correlation: it is nan in the matrix and left out of the mean, which
    is nan if no pair is left. `counts` `(n, bins)` as `spike_counts` gives them.

    Raises:
        InvalidValueError: for counts that are not a finite array of two dimensions with at least 2
            bins.

    Reference:
        Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    centred = _centred(counts)
    # From the counts, not from their spread: the mean of equal numbers may be rounded.
    changes = np.ptp(np.asarray(counts), axis=1) > 0
    m = int(changes.sum())
    scaled = centred[changes]
    scaled = scaled / np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    known = np.clip(scaled @ scaled.T, -1.0, 1.0)
    np.fill_diagonal(known, 1.0)
    matrix = np.full((centred.shape[0],) * 2, np.nan)
    matrix[np.ix_(changes, changes)] = known
    mean = (known.sum() - m) / (m * (m - 1)) if m > 1 else float("nan")
    return float(mean), matrix


def _centred(counts: ArrayLike) -> Float64[np.ndarray, "n bins"]:
    values = array_of("counts", counts).astype(np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise InvalidValueError(
            "",
            "counts",
            "an array (neurons, bins) with at least 2 bins, as spike_counts gives it",
            f"shape {values.shape}",
        )
    spec.check("", "counts", spec.Numbers(), values)
    return values - values.mean(axis=1, keepdims=True)


@arrays_checked
def cross_correlogram(
    times: ArrayLike,
    others: ArrayLike,
    stop: float,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: float | None = None,
) -> tuple[Float64[np.ndarray, " lags"], Int64[np.ndarray, " lags"]]:
    """Pairs of spikes of two neurons or populations by lag: (lags [ms], pairs).

    `pairs(k) = sum over bins b of x(b) y(b + k)` for the counts `x` of `times` and `y` of
    `others` in the bins `(t, t + bin_ms]` from `start` [ms] (default 0) to `stop`: at a positive
    lag, `others` is later. Lags are the multiples of `bin_ms` from `-max_lag` to `max_lag`, both
    arrays `(2 max_lag / bin_ms + 1,)`. These are raw counts, as
    in Elephant's `cross_correlation_histogram`, without a correction at the borders: independent
    Poisson trains of `a` and `b` spikes in `B` bins give `a b (B - |k|) / B^2`. The time to compute
    them does not depend on the number of spikes.

    Raises:
        InvalidValueError: for times that are not finite, a bin that is not above 0, `stop` before
            `start`, or a `max_lag` below 0.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86597-4.
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
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    stop: float,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: float | None = None,
) -> tuple[Float64[np.ndarray, " lags"], Int64[np.ndarray, " lags"]]:
    """Pairs of spikes of the same neuron by lag, over all neurons: (lags [ms], pairs).

    `pairs(k) = sum over neurons i and bins b of c_i(b) c_i(b + k)`, less the pairs of a spike
    with itself at lag 0; `c` the counts in the bins `(t, t + bin_ms]` from `start` to `stop`
    [ms]. Lags are the multiples of `bin_ms` from `-max_lag` to `max_lag`, both arrays
    `(2 max_lag / bin_ms + 1,)`. For one neuron pass its spikes alone. `neurons` indices below
    `n`.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, a bin that is not above 0, `stop` before `start`, or a `max_lag`
            below 0.

    Note:
        Elephant keeps the pairs of a spike with itself.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86596-2.
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
    spec.check("", "bin_ms", spec.Numbers("ms", above=0.0, least=0.0), bin_ms)
    spec.check("", "max_lag", spec.Numbers("ms", at_least=0.0, least=0.0), max_lag)
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
_SHORTEST = 0.001  # ms: a shorter step is one in seconds


@arrays_checked
@spec.arguments(
    dt=spec.Number("ms", above=0.0, least=0.0), segment_ms=spec.Number("ms", above=0.0, least=0.0)
)
def power_spectrum(
    trace: ArrayLike, dt: float, segment_ms: float = 1000.0, axis: int = 0
) -> tuple[Float64[np.ndarray, " frequencies"], Float64[np.ndarray, "..."]]:
    """Power spectral density of traces: (frequencies [Hz], density [unit^2 / Hz]).

    Welch's method: the mean periodogram of segments that overlap by half, each less its mean
    and under a Hann window. One-sided: the density integrates to the variance. This is
    `scipy.signal.welch(trace, 1000 / dt, nperseg=segment_ms / dt)`. `trace` holds a population's
    rate or counts per bin, a voltage, or many of them; `axis` is that of time, `dt` [ms] its
    step, `segment_ms` the length of a segment: the resolution is `1000 / segment_ms` Hz. A
    trace that is shorter is one segment; in a longer one, steps at its end that do not fill a
    segment are left out. The density has the shape of the trace with frequencies in place of
    time. A Poisson process of rate r has the density 2 r, in Hz^2 / Hz.

    Raises:
        InvalidValueError: for a trace that is empty or not finite, a `dt` below 0.001 ms, or a
            segment or trace of fewer than 4 steps.

    Reference:
        Welch (1967), doi:10.1109/TAU.1967.1161901.
    """
    from scipy import signal

    if 0.0 < as_number(dt) < _SHORTEST:
        raise InvalidValueError(
            "power_spectrum",
            "dt",
            f"in ms, at least {_SHORTEST} ms (if it is in seconds, give dt={1000.0 * dt:g})",
            f"{dt:g}",
        )
    values = array_of("trace", trace).astype(np.float64)
    if not isinstance(axis, int | np.integer):
        raise InvalidValueError(
            "power_spectrum", "axis", "a whole number, that of time", repr(axis)
        )
    if not -values.ndim <= axis < values.ndim:
        raise InvalidValueError(
            "power_spectrum", "trace", f"one with the axis {axis} of time", f"shape {values.shape}"
        )
    spec.check("power_spectrum", "trace", spec.Numbers(), values)
    segment = min(int(segment_ms / dt + 1e-6), values.shape[axis])
    if segment < _FEWEST or values.size == 0:
        raise InvalidValueError(
            "power_spectrum",
            "a segment",
            f"one with at least {_FEWEST} steps (use a longer segment_ms or trace)",
            f"{segment} of {dt} ms in a trace of shape {values.shape}",
        )
    return signal.welch(values, fs=1e3 / dt, nperseg=segment, axis=axis)


@arrays_checked
def voltage_synchrony(v: ArrayLike) -> float:
    """Synchrony chi of a population from its membrane potentials.

    `chi^2 = Var_t(mean over neurons of v) / (mean over neurons of Var_t(v))`; returns chi: 1 if all
    neurons move together, about `1 / sqrt(n)` if they are independent, nan if none moves. `v` [mV]
    `(steps, n)`.

    Raises:
        InvalidValueError: unless `v` is a finite array of two dimensions with at least 2 steps and
            a neuron.

    Reference:
        Golomb and Rinzel (1994), doi:10.1016/0167-2789(94)90214-3.
    """
    values = array_of("v", v).astype(np.float64)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 1:
        raise InvalidValueError(
            "voltage_synchrony",
            "v",
            "an array (steps, n) of at least 2 steps and a neuron",
            f"shape {values.shape}",
        )
    spec.check("voltage_synchrony", "v", spec.Numbers("mV", least=0.0), values)
    if not np.ptp(values, axis=0).any():
        return float("nan")
    return float(np.sqrt(values.mean(axis=1).var() / values.var(axis=0).mean()))


@arrays_checked
def count_synchrony(
    times: ArrayLike, stop: float, bin_ms: float = 3.0, start: float | None = None
) -> float:
    """Synchrony of a population from the histogram of its spikes.

    `variance / mean` over the bins `(t, t + bin_ms]` of the number of spikes of all neurons: 1 for
    independent Poisson processes; if neurons are correlated, it grows with their number, so that
    only equal numbers of neurons can be compared. nan without spikes. `times`, `stop`, `bin_ms`,
    `start` (default 0) [ms].

    Raises:
        InvalidValueError: for times that are not finite, a bin that is not above 0, or fewer than 2
            bins.

    Reference:
        Potjans and Diesmann (2014), doi:10.1093/cercor/bhs358.
    """
    start = begin_of(start, stop, times)
    counts = binned(times, stop, bin_ms, start)
    if counts.size < 2:
        raise InvalidValueError(
            "count_synchrony",
            f"at least 2 bins of {bin_ms} ms",
            f"inside {start} to {stop} ms",
            str(counts.size),
        )
    mean = counts.mean()
    return float(counts.var() / mean) if mean else float("nan")


@arrays_checked
def excitation_inhibition(
    excitatory: ArrayLike, inhibitory: ArrayLike
) -> tuple[Float64[Any, "*n"], Float64[Any, "*n"]]:
    """Balance of excitatory and inhibitory currents: (ratio, correlation) of each neuron.

    `ratio = -mean(I_E) / mean(I_I)` over time, and Pearson's correlation of `I_E` and `-I_I` at
    lag 0: 1 if inhibition follows excitation at once (tight balance). Both currents [pA] as
    they flow into the neuron, excitation positive and inhibition negative, of one shape
    `(steps, n)`, or `(steps,)` for one neuron, which gives numbers. The ratio is inf without
    inhibition, and nan without any current; the correlation is nan where a current is constant.

    Raises:
        InvalidValueError: for shapes that differ or have fewer than 2 steps, currents that are not
            finite, or a mean of the wrong sign.

    Reference:
        Okun and Lampl (2008), doi:10.1038/nn.2105.
    """
    plus = array_of("excitatory", excitatory).astype(np.float64)
    minus = -array_of("inhibitory", inhibitory).astype(np.float64)
    if plus.shape != minus.shape or plus.ndim not in (1, 2) or plus.shape[0] < 2:
        raise InvalidValueError(
            "excitation_inhibition",
            "excitatory and inhibitory",
            "one with one shape (steps, n) or (steps,), of at least 2 steps",
            f"{plus.shape} and {minus.shape}",
        )
    spec.check("excitation_inhibition", "excitatory", spec.Numbers("pA", least=0.0), plus)
    spec.check("excitation_inhibition", "inhibitory", spec.Numbers("pA", least=0.0), minus)
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
