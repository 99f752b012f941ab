"""Inter-spike intervals and their irregularity."""

import numpy as np
from jaxtyping import Float64, Int64
from numpy.typing import ArrayLike

from .. import spec
from ..spec import InvalidValueError
from ._spikes import arrays_checked, by_neuron, events_between


@arrays_checked
def intervals(
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> tuple[Float64[np.ndarray, " intervals"], Int64[np.ndarray, " intervals"]]:
    """Inter-spike intervals of all neurons: (interval [ms], owner).

    `interval = t_(k+1) - t_k` of the spikes of one neuron, in the order of the neurons, then of
    time; `owner` is the neuron of each. `times` [ms] in any order, `neurons` indices below `n`.
    A neuron with fewer than 2 spikes has none. With `start` or `stop` [ms], only the spikes in
    `(start, stop]` count.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, or `stop` before `start`.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86596-2.
    """
    owner, ordered = by_neuron(*events_between(times, neurons, n, start, stop))
    same = owner[1:] == owner[:-1]
    return np.diff(ordered)[same], owner[1:][same]


@arrays_checked
def interval_cvs(
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    at_least: int = 3,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> Float64[np.ndarray, " {n}"]:
    """Coefficient of variation (CV) of the intervals of each neuron.

    `CV = sd / mean` of the intervals of one neuron, the sd over all of them (as
    `scipy.stats.variation`); nan for neurons with fewer than `at_least` spikes. 0 for a clock,
    1 for a Poisson process. `times` [ms], `neurons` indices below `n`. With `start` or `stop` [ms],
    only the spikes in `(start, stop]` count.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, an `at_least` below 2 (there is no interval), a neuron whose
            intervals are all 0, or `stop` before `start`.

    Reference:
        Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    if spec.check("interval_cvs", "at_least", spec.Whole(), at_least) < 2:
        raise InvalidValueError("interval_cvs", "at_least", "at least 2 spikes", str(at_least))
    gaps, owner = intervals(times, neurons, n, start=start, stop=stop)
    count = np.bincount(owner, minlength=n)
    enough = count >= at_least - 1
    mean = np.bincount(owner, gaps, minlength=n) / np.maximum(count, 1)
    if not (mean[enough] > 0).all():
        raise ValueError(
            "interval_cv: a neuron must spike once at a time; all spikes of neuron "
            f"{np.flatnonzero(enough & (mean <= 0))[0]} have one time. Remove the repeated spikes"
        )
    squares = np.bincount(owner, (gaps - mean[owner]) ** 2, minlength=n)
    out = np.full(n, np.nan)
    out[enough] = np.sqrt(squares[enough] / count[enough]) / mean[enough]
    return out


@arrays_checked
def interval_cv(
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    at_least: int = 3,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> float:
    """Mean over neurons of the CV of their inter-spike intervals.

    `CV = sd / mean` of the intervals of one neuron; neurons with fewer than `at_least`
    spikes are left out; nan where none is left. `times` [ms], `neurons` indices below `n`. With
    `start` or `stop` [ms], only the spikes in `(start, stop]` count.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, an
            `at_least` below 2 (there is no interval), a neuron whose intervals are all 0, or `stop`
            before `start`.

    Reference:
        Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    cvs = interval_cvs(times, neurons, n, at_least, start=start, stop=stop)
    known = cvs[~np.isnan(cvs)]
    return float(np.mean(known)) if known.size else float("nan")


@arrays_checked
def cv2(
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> Float64[np.ndarray, " {n}"]:
    """Local coefficient of variation CV2 of each neuron.

    `CV2 = mean over k of 2 |I_(k+1) - I_k| / (I_(k+1) + I_k)` of the intervals `I` of one
    neuron; nan for neurons with fewer than 3 spikes. 0 for a clock, 1 for a Poisson process;
    slow changes of the rate do not raise it. `times` [ms], `neurons` indices below `n`. With
    `start` or `stop` [ms], only the spikes in `(start, stop]` count.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, three spikes of a neuron at one time, or `stop` before `start`.

    Reference:
        Holt et al. (1996), doi:10.1152/jn.1996.75.5.1806.
    """
    gaps, both, owner = _pairs(intervals(times, neurons, n, start=start, stop=stop))
    return _mean_by_neuron(2.0 * np.abs(gaps) / both, owner, n)


@arrays_checked
@spec.arguments(t_ref=spec.Number("ms", at_least=0.0, least=0.0))
def local_variation(
    times: ArrayLike,
    neurons: ArrayLike,
    n: int,
    t_ref: float = 0.0,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> Float64[np.ndarray, " {n}"]:
    """Local variation LV of the intervals of each neuron.

    `LV = 3 mean over k of ((I_(k+1) - I_k) / (I_(k+1) + I_k))^2`; with a refractory time
    `t_ref` [ms] each term is multiplied by `1 + 4 t_ref / (I_(k+1) + I_k)`, which makes it the
    revised LvR. nan for neurons with fewer than 3 spikes. 0 for a clock, 1 for a Poisson
    process. `times` [ms], `neurons` indices below `n`. With `start` or `stop` [ms], only the spikes
    in `(start, stop]` count.

    Raises:
        InvalidValueError: for arrays of different lengths, indices outside `0 ... n - 1`, times
            that are not finite, three spikes of a neuron at one time, a `t_ref` below 0, or `stop`
            before `start`.

    Reference:
        Shinomoto, Shima and Tanji (2003), doi:10.1162/089976603322518759; LvR: Shinomoto et al.
        (2009), doi:10.1371/journal.pcbi.1000433.
    """
    gaps, both, owner = _pairs(intervals(times, neurons, n, start=start, stop=stop))
    return _mean_by_neuron(3.0 * (gaps / both) ** 2 * (1.0 + 4.0 * t_ref / both), owner, n)


def _pairs(
    found: tuple[Float64[np.ndarray, " intervals"], Int64[np.ndarray, " intervals"]],
) -> tuple[
    Float64[np.ndarray, " pairs"], Float64[np.ndarray, " pairs"], Int64[np.ndarray, " pairs"]
]:
    """Difference, sum and owner of each two successive intervals of one neuron."""
    gaps, owner = found
    same = owner[1:] == owner[:-1]
    both, owner = (gaps[1:] + gaps[:-1])[same], owner[1:][same]
    if both.size and not both.min() > 0:
        raise InvalidValueError(
            "",
            "a neuron",
            "one that spikes once at a time (remove the repeated spikes)",
            f"three spikes at one time of neuron {owner[np.argmin(both)]}",
        )
    return np.diff(gaps)[same], both, owner


def _mean_by_neuron(
    values: Float64[np.ndarray, " values"], owner: Int64[np.ndarray, " values"], n: int
) -> Float64[np.ndarray, " {n}"]:
    """Mean of the values of each owner, nan if there is none."""
    count = np.bincount(owner, minlength=n)
    total = np.bincount(owner, values, minlength=n)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
