"""Correlogram of the spikes of a population, or of two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_bounds, check_known, names_checked
from ..analysis import autocorrelogram, cross_correlogram
from ._panels import empty_figure, nothing, say
from ._select import spikes_between, window
from ._style import COLUMN, LINE, colour, finish, legend, new_figure, open_box, three_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LONG = 18  # letters of two names that a legend has in one line


@names_checked()
def correlogram(
    result: Any,
    source: str,
    target: str | None = None,
    *,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: float | None = None,
    stop: float | None = None,
    size: Sequence[float] = COLUMN,
) -> "Figure":
    """The rate of a target neuron before and after a spike of the source.

    With a `target`, it shows the mean rate of a neuron of `target` at some lag from a spike of
    `source`; the same name twice gives the population with itself. Without `target`, it shows the
    rate of a neuron around its own spikes, over all spikes of `source`. Pairs of a spike with
    itself are left out. The dashed line is the rate expected if spike times were independent.
    `result` of `simulate`; `bin_ms`, `max_lag` [ms]; `start`, `stop` [ms] the part counted;
    `size` (width, height) [inches].

    `rate(k) = pairs(k) / (spikes of the source * neurons * bin_ms * (1 - |k| / bins))` with the
    pairs of `jn.analysis.cross_correlogram` or `autocorrelogram`; the last factor corrects for
    spikes outside the part counted.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population, a part empty or outside the run, a bin
    that is not above 0, lags as long as the part counted, or spikes that were not recorded;
    `ImportError` without matplotlib.

    **Source** Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86597-4.
    """
    first, last = window(result, start, stop)
    name, other = source, source if target is None else target
    check_known("population", name, result.populations)
    check_known("population", other, result.populations)
    check_bounds("max_lag", max_lag, "ms", at_least=0.0)
    if why := nothing(result, [name, other], first, last):
        return empty_figure(why, size)
    if not max_lag < (length := last - first):
        raise ValueError(f"max_lag must be below the {length:g} ms that are counted; got {max_lag}")
    times, neurons = spikes_between(result, name, first, last)
    (others, _), n = spikes_between(result, other, first, last), result.populations[other]
    if target is None:
        lags, pairs = autocorrelogram(times, neurons, n, last, bin_ms, max_lag, first)
        own = np.bincount(neurons, minlength=n)
        pieces, label = times.size, f"{name}, a neuron with itself"
        level = (own * (own - 1)).sum() / max(times.size, 1) / (last - first) * 1e3
    else:
        lags, pairs = cross_correlogram(times, others, last, bin_ms, max_lag, first)
        pairs[lags.size // 2] -= times.size if name == other else 0
        label = f"{other}{_between(name, other)}around spikes of {name}"
        pieces = times.size * n
        level = others.size / max(n, 1) / (last - first) * 1e3
    seen = 1e-3 * bin_ms * (1.0 - np.abs(lags) / (last - first))
    rate = pairs / np.maximum(pieces * seen, 1e-12)
    axis = (figure := new_figure(size)).subplots()
    edges = np.append(lags, lags[-1] + bin_ms) - bin_ms / 2
    axis.stairs(rate, edges, baseline=None, color=colour(0), lw=0.9, label=label)
    look = {"color": "black", "lw": LINE, "ls": (0, (4, 2))}
    axis.axhline(level, label=f"by chance, {three_digits(level)} Hz", **look)
    axis.set(xlabel="lag (ms)", ylabel="rate (Hz)", xlim=(edges[0], edges[-1]))
    axis.set_ylim(bottom=None if rate.min(initial=np.inf) > 0.5 * rate.max(initial=0.0) > 0 else 0)
    if not (times.size and others.size):
        say(axis, "no spikes")
        axis.set_ylim(0.0, 1.0)
    open_box(axis)
    legend(axis)
    return finish(figure)


def _between(name: str, other: str) -> str:
    """A new line between the names of a legend, if they are long."""
    return "\n" if len(name) + len(other) > _LONG else " "
