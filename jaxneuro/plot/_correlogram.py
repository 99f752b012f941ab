"""Correlogram of the spikes of a population, or of two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis import autocorrelogram, cross_correlogram
from ._panels import empty_figure, nothing, say
from ._select import chosen, spikes_between, window
from ._style import COLUMN, LINE, colour, finish, legend, new_figure, open_box

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LONG = 18  # letters of two names that a legend has in one line


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
    (name,) = chosen(result, source)
    (other,) = chosen(result, source if target is None else target)
    if why := nothing(result, [name, other], first, last):
        return empty_figure(why, size)
    if not max_lag < last - first:
        raise ValueError(
            f"max_lag must be below the {last - first:g} ms that are counted; got {max_lag}"
        )
    times, neurons = spikes_between(result, name, first, last)
    others, n = spikes_between(result, other, first, last)[0], result.populations[other]
    if target is None:
        lags, pairs = autocorrelogram(times, neurons, n, last, bin_ms, max_lag, first)
        own = np.bincount(neurons, minlength=n)
        pieces, label = times.size, f"{name}, a neuron with itself"
        level = (own * (own - 1)).sum() / max(times.size, 1) / (last - first) * 1e3
    else:
        lags, pairs = cross_correlogram(times, others, last, bin_ms, max_lag, first)
        pairs[lags.size // 2] -= times.size if name == other else 0
        line = "\n" if len(name) + len(other) > _LONG else " "
        pieces, label = times.size * n, f"{other}{line}around spikes of {name}"
        level = others.size / max(n, 1) / (last - first) * 1e3
    seen = 1.0 - np.abs(lags) / (last - first)
    rate = pairs / np.maximum(pieces * bin_ms * 1e-3 * seen, 1e-12)
    figure = new_figure(size)
    axis = figure.subplots()
    edges = np.append(lags, lags[-1] + bin_ms) - bin_ms / 2
    axis.stairs(rate, edges, baseline=None, color=colour(0), lw=0.9, label=label)
    chance = f"by chance, {level:.1f} Hz"
    axis.axhline(level, color="black", lw=LINE, ls=(0, (4, 2)), label=chance)
    axis.set(xlabel="lag (ms)", ylabel="rate (Hz)", xlim=(edges[0], edges[-1]))
    axis.set_ylim(bottom=None if rate.min(initial=np.inf) > 0.5 * rate.max(initial=0.0) > 0 else 0)
    if not (times.size and others.size):
        say(axis, "no spikes")
        axis.set_ylim(0.0, 1.0)
    open_box(axis)
    legend(axis)
    return finish(figure)
