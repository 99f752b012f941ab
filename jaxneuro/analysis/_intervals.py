"""Inter-spike intervals and their irregularity."""

from typing import Any

import numpy as np
from jaxtyping import Float, Float64, Int64

from .. import spec
from .._run.statistics import cvs_of_sums
from ..spec import InvalidValueError
from ._formulas import as_number, mean_of_known, quotient
from ._source import Name, Time, of_runs, sums_kept, trains_of
from ._spikes import by_neuron
from ._traced import TracedTrains


@spec.arguments()
@of_runs(listed=True)
def intervals(
    source: Any, population: Name = None, *, start: Time = None, stop: Time = None
) -> tuple[Float64[np.ndarray, " intervals"], Int64[np.ndarray, " intervals"]]:
    """Inter-spike intervals of all neurons: (interval [ms], owner); of a batch a list of these.

    `interval = t_(k+1) - t_k` of the spikes of one neuron, in the order of the neurons, then of
    time; `owner` is the neuron of each. A neuron with fewer than 2 spikes has none.

    Raises:
        InvalidValueError: for an unknown population, or a part outside the run.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86596-2.
    """
    return _intervals(trains_of(source, population, start, stop))


def _intervals(
    trains: Any,
) -> tuple[Float64[np.ndarray, " intervals"], Int64[np.ndarray, " intervals"]]:
    owner, ordered = by_neuron(trains.times, trains.neurons)
    same = owner[1:] == owner[:-1]
    return np.diff(ordered)[same], owner[1:][same]


@spec.arguments(at_least=spec.Whole(at_least=2))
@of_runs(traceable=True)
def interval_cvs(
    source: Any,
    population: Name = None,
    *,
    at_least: int = 3,
    start: Time = None,
    stop: Time = None,
) -> Float[Any, " n"]:
    """Coefficient of variation (CV) of the intervals of each neuron, (n,).

    `CV = sd / mean` of the intervals of one neuron, the sd over all of them (as
    `scipy.stats.variation`); nan for neurons with fewer than `at_least` spikes. 0 for a clock,
    1 for a Poisson process. Of a whole run it is known from `Record(statistics=...)`, too.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, an `at_least` below 2
            (there is no interval), or a neuron whose intervals are all 0.

    Reference:
        Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    sums = sums_kept(source, population, start, stop)
    if sums is not None:
        return cvs_of_sums(sums, at_least)
    trains = trains_of(source, population, start, stop)
    if isinstance(trains, TracedTrains):
        return cvs_of_sums(trains.sums(), at_least)
    n, (gaps, owner) = trains.n, _intervals(trains)
    count = np.bincount(owner, minlength=n)
    enough = count >= at_least - 1
    mean = np.bincount(owner, gaps, minlength=n) / np.maximum(count, 1)
    if not (mean[enough] > 0).all():
        found = np.flatnonzero(enough & (mean <= 0))[0]
        _refuse_repeated(f"all spikes of neuron {found} at one time")
    squares = np.bincount(owner, (gaps - mean[owner]) ** 2, minlength=n)
    out = np.full(n, np.nan)
    out[enough] = np.sqrt(squares[enough] / count[enough]) / mean[enough]
    return out


def _refuse_repeated(got: str) -> None:
    must = "one that spikes once at a time (remove the repeated spikes)"
    raise InvalidValueError("", "a neuron", must, got)


@spec.arguments(at_least=spec.Whole(at_least=2))
@of_runs(traceable=True)
def interval_cv(
    source: Any,
    population: Name = None,
    *,
    at_least: int = 3,
    start: Time = None,
    stop: Time = None,
) -> float:
    """Mean over neurons of the CV of their inter-spike intervals.

    `CV = sd / mean` of the intervals of one neuron; neurons with fewer than `at_least`
    spikes are left out; nan where none is left. Of a whole run it is known from
    `Record(statistics=...)`, too.

    Raises:
        InvalidValueError: for what `interval_cvs` refuses.

    Reference:
        Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    cvs = interval_cvs(source, population, at_least=at_least, start=start, stop=stop)
    return as_number(mean_of_known(cvs, cvs == cvs))  # not nan


@spec.arguments()
@of_runs()
def cv2(
    source: Any, population: Name = None, *, start: Time = None, stop: Time = None
) -> Float64[np.ndarray, " n"]:
    """Local coefficient of variation CV2 of each neuron, (n,).

    `CV2 = mean over k of 2 |I_(k+1) - I_k| / (I_(k+1) + I_k)` of the intervals `I` of one
    neuron; nan for neurons with fewer than 3 spikes. 0 for a clock, 1 for a Poisson process;
    slow changes of the rate do not raise it.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, or three spikes of a
            neuron at one time.

    Reference:
        Holt et al. (1996), doi:10.1152/jn.1996.75.5.1806.
    """
    trains = trains_of(source, population, start, stop)
    gaps, both, owner = _pairs(*_intervals(trains))
    return _mean_by_neuron(2.0 * np.abs(gaps) / both, owner, trains.n)


@spec.arguments(t_ref=spec.Number("ms", at_least=0.0))
@of_runs()
def local_variation(
    source: Any,
    population: Name = None,
    *,
    t_ref: float = 0.0,
    start: Time = None,
    stop: Time = None,
) -> Float64[np.ndarray, " n"]:
    """Local variation LV of the intervals of each neuron, (n,).

    `LV = 3 mean over k of ((I_(k+1) - I_k) / (I_(k+1) + I_k))^2`; with a refractory time
    `t_ref` [ms] each term is multiplied by `1 + 4 t_ref / (I_(k+1) + I_k)`, which makes it the
    revised LvR. nan for neurons with fewer than 3 spikes. 0 for a clock, 1 for a Poisson
    process.

    Raises:
        InvalidValueError: for an unknown population, a part outside the run, three spikes of a
            neuron at one time, or a `t_ref` below 0.

    Reference:
        Shinomoto, Shima and Tanji (2003), doi:10.1162/089976603322518759; LvR: Shinomoto et al.
        (2009), doi:10.1371/journal.pcbi.1000433.
    """
    trains = trains_of(source, population, start, stop)
    gaps, both, owner = _pairs(*_intervals(trains))
    terms = 3.0 * (gaps / both) ** 2 * (1.0 + 4.0 * t_ref / both)
    return _mean_by_neuron(terms, owner, trains.n)


def _pairs(
    gaps: Float64[np.ndarray, " intervals"], owner: Int64[np.ndarray, " intervals"]
) -> tuple[
    Float64[np.ndarray, " pairs"], Float64[np.ndarray, " pairs"], Int64[np.ndarray, " pairs"]
]:
    """Difference, sum and owner of each two successive intervals of one neuron."""
    same = owner[1:] == owner[:-1]
    both, owner = (gaps[1:] + gaps[:-1])[same], owner[1:][same]
    if both.size and not both.min() > 0:
        _refuse_repeated(f"three spikes at one time of neuron {owner[np.argmin(both)]}")
    return np.diff(gaps)[same], both, owner


def _mean_by_neuron(
    values: Float64[np.ndarray, " values"], owner: Int64[np.ndarray, " values"], n: int
) -> Float64[np.ndarray, " {n}"]:
    """Mean of the values of each owner, nan if there is none."""
    return quotient(np.bincount(owner, values, minlength=n), np.bincount(owner, minlength=n))
