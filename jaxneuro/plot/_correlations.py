"""Correlograms, correlations of pairs, and power spectra."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import analysis, spec
from .._run.spike_trains import SpikeTrains
from ..analysis import autocorrelogram, count_correlation, cross_correlogram
from ..analysis._bins import BIN
from ..analysis._source import only, pooled_of
from ..spec import InvalidValueError
from ._style import (
    ABSENT,
    COLUMN,
    DIVERGING,
    LINE,
    SMALL,
    axes_for,
    colour,
    colour_bar,
    empty_figure,
    few_ticks,
    finish,
    finish_panels,
    inches_of,
    legend,
    limits,
    nothing,
    open_box,
    population_panels,
    say,
    shown_trains,
    spread,
    three_digits,
    widened,
    window_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LONG = 18  # letters of two names that a legend has in one line


@spec.arguments(max_lag=spec.Number("ms", at_least=0.0), bin_ms=BIN)
def correlogram(
    source: Any,
    population: str | None = None,
    other: str | None = None,
    *,
    bin_ms: float = 1.0,
    max_lag: float = 100.0,
    start: float | None = None,
    stop: float | None = None,
    size: Sequence[float] = COLUMN,
    ax: "Axes | None" = None,
) -> "Figure":
    """The rate of a neuron before and after its own spikes, or those of another population.

    With an `other` population, it shows the mean rate of a neuron of `other` at some lag from a
    spike of `population`; the same name twice gives the population with itself. Without, it shows
    the rate of a neuron around its own spikes, over all spikes of `population`. Pairs of a spike
    with itself are left out. The dashed line is the rate expected if spike times were independent.
    `source` a run; `bin_ms`, `max_lag` [ms]; `start`, `stop` [ms] the part counted;
    `size` (width, height) [inches].

    `rate(k) = pairs(k) / (spikes of the population * neurons * bin_ms * (1 - |k| / bins))` with the
    pairs of `jn.analysis.cross_correlogram` or `autocorrelogram`; the last factor corrects for
    spikes outside the part counted.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population, a part empty or outside the run, a bin that is
            not above 0, lags as long as the part counted, or spikes that were not recorded;
            `ImportError` without matplotlib.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86597-4.
    """
    named = None if population is None else [population, *([] if other is None else [other])]
    trains = shown_trains(source, named, start, stop)
    if why := nothing(trains):
        return empty_figure(why, size, ax)
    name = only("population", population, trains)
    only("population", name if other is None else other, trains)
    first, last = window_of(trains)
    if not max_lag < (length := last - first):
        raise InvalidValueError(
            "correlogram", "max_lag", f"below the {length:g} ms that are counted", str(max_lag)
        )
    x, y = trains[name], trains[name if other is None else other]
    if other is None:
        lags, pairs = autocorrelogram(x, bin_ms=bin_ms, max_lag=max_lag)
        own = np.bincount(x.neurons, minlength=x.n)
        pieces, label = len(x), f"{name}, a neuron with itself"
        level = (own * (own - 1)).sum() / max(len(x), 1) / length * 1e3
    else:
        lags, pairs = cross_correlogram(x, other=y, bin_ms=bin_ms, max_lag=max_lag)
        pairs[lags.size // 2] -= len(x) if name == other else 0
        label = f"{other}{_between(name, other)}around spikes of {name}"
        pieces = len(x) * y.n
        level = len(y) / max(y.n, 1) / length * 1e3
    seen = 1e-3 * bin_ms * (1.0 - np.abs(lags) / length)
    rate = pairs / np.maximum(pieces * seen, 1e-12)
    axis = axes_for(ax, size)
    edges = np.append(lags, lags[-1] + bin_ms) - bin_ms / 2
    axis.stairs(rate, edges, baseline=None, color=colour(0), lw=0.9, label=label)
    look = {"color": "black", "lw": LINE, "ls": (0, (4, 2))}
    axis.axhline(level, label=f"by chance, {three_digits(level)} Hz", **look)
    axis.set(xlabel="lag (ms)", ylabel="rate (Hz)", xlim=(edges[0], edges[-1]))
    axis.set_ylim(bottom=None if rate.min(initial=np.inf) > 0.5 * rate.max(initial=0.0) > 0 else 0)
    if not (len(x) and len(y)):
        say(axis, "no spikes")
        axis.set_ylim(0.0, 1.0)
    open_box(axis)
    legend(axis)
    return finish(axis.figure, ax)


def _between(name: str, other: str) -> str:
    """A new line between the names of a legend, if they are long."""
    return "\n" if len(name) + len(other) > _LONG else " "


_SIZE = (COLUMN[0], 2.9)
_SHOWN = 0.99  # share of the pairs inside the default scale of the colours


@spec.arguments(neurons=spec.Whole(at_least=2), at_least=spec.Whole(at_least=1), bin_ms=BIN)
def correlation_matrix(
    source: Any,
    populations: Sequence[str] | str | None = None,
    *,
    neurons: int = 100,
    at_least: int = 5,
    bin_ms: float = 10.0,
    start: float | None = None,
    stop: float | None = None,
    scale: Sequence[float] | None = None,
    size: Sequence[float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Correlation of the spike counts of all pairs of some neurons, with its mean above.

    `source` a run; `populations` names (default all); at most `neurons` in all, divided
    among the populations by size: the first ones with at least `at_least` spikes (the title says
    how many have fewer and are left out); `bin_ms` the bin of the counts; `start`, `stop` [ms] the
    part counted; `scale` (low, high) of the colours, by default symmetric about 0 with 99 % of the
    pairs inside; `size` (width, height) [inches]. Lines separate the populations. The diagonal and
    pairs without a correlation are grey.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population or none, a part empty or outside the run, fewer
            than 2 bins between them, `neurons` below 2, `at_least` below 1, or spikes that were not
            recorded; `ImportError` without matplotlib.

    Reference:
        Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    trains = shown_trains(source, populations, start, stop)
    first, last = window_of(trains)
    if why := nothing(trains):
        return empty_figure(why, size or _SIZE, ax)
    if start is None and stop is None and last - first < 2 * bin_ms:
        why = (
            f"a run of {last - first:g} ms is too short:\nit needs at least 2 bins of {bin_ms:g} ms"
        )
        return empty_figure(why, size or _SIZE, ax)
    total, names, sizes = sum(x.n for x in trains.values()), [*trains], []
    times, rows, quiet = [], [], 0
    for x in trains.values():
        active = np.bincount(x.neurons, minlength=x.n) >= at_least
        quiet += int(x.n - active.sum())
        few = min(int(active.sum()), max(1, round(x.n * neurons / max(total, 1))))
        place = np.where(active, np.cumsum(active) - 1, few)[x.neurons]
        mine = place < few
        times.append(x.times[mine])
        rows.append(sum(sizes) + place[mine])
        sizes.append(few)
    all_of = np.concatenate(times), np.concatenate(rows), sum(sizes), first, last
    mean, matrix = count_correlation(SpikeTrains.known(*all_of), bin_ms=bin_ms)
    np.fill_diagonal(matrix, np.nan)
    found = "no pair" if np.isnan(mean) else f"mean {three_digits(mean)}"
    title = f"{bin_ms:g} ms bins, {found}"
    if quiet:
        title += f"\nleft out: {quiet:,} of {total:,} neurons, below {at_least} spikes"
    axis = axes_for(ax, widened(size, _SIZE, names))
    _draw(axis, matrix, title, names, sizes, scale)
    return finish(axis.figure, ax)


def _draw(
    axis: "Axes",
    matrix: np.ndarray,
    title: str,
    names: list[str],
    sizes: list[int],
    scale: Sequence[float] | None,
) -> None:
    import matplotlib

    known = np.abs(matrix[np.isfinite(matrix)])
    most = float(np.quantile(known, _SHOWN)) if known.size else 0.0
    low, high = (-most, most) if scale is None and most > 0 else limits(matrix, scale, signed=True)
    colour_map = matplotlib.colormaps[DIVERGING].with_extremes(bad=ABSENT)
    shown = matrix if matrix.size else np.full((1, 1), np.nan)
    image = axis.imshow(shown, colour_map, vmin=low, vmax=high, interpolation="nearest")
    borders = np.cumsum([0, *sizes])
    for border in borders[1:-1] - 0.5:
        axis.axhline(border, color="black", lw=LINE)
        axis.axvline(border, color="black", lw=LINE)
    some = [k for k, n in enumerate(sizes) if n]
    middle = [(borders[k] + borders[k + 1] - 1) / 2 for k in some]
    labels = [f"{names[k]} ({sizes[k]})" for k in some]
    room = 1.3 * SMALL * max(sum(sizes), 1) / (0.78 * 72 * min(inches_of(axis)))
    # Both axes are the same: the names stand once.
    axis.set_yticks(spread(np.array(middle), room, float(borders[-1])), labels)
    axis.set_xticks([])
    if not known.size:
        say(axis, "no pair")
    axis.set(xlabel="neuron", ylabel="neuron")
    axis.set_title(title)
    axis.tick_params(axis="y", length=0)
    colour_bar(image, axis, "count correlation", known.size > 0 and known.max() > high)


@spec.arguments()
def power_spectrum(
    source: Any,
    populations: Sequence[str] | str | None = None,
    *,
    bin_ms: float = 1.0,
    segment_ms: float = 1000.0,
    start: float | None = None,
    stop: float | None = None,
    size: Sequence[float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Power spectral density of the populations' rates, on logarithmic axes.

    `source` a run; `populations` names (default all); `bin_ms` the bin of the rates, so
    that frequencies go up to `500 / bin_ms` Hz; `segment_ms` the length of the segments whose
    spectra are averaged, so that they are `1000 / segment_ms` Hz apart; `start`, `stop` [ms] the
    part counted, without the last bins that do not fill a segment; `size` (width, height)
    [inches]; by default more than 4 populations have a panel each in a higher figure. Frequency 0
    is not shown.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population or none, a part empty or outside the run, a bin
            that is not above 0, fewer than 4 bins in a segment or in all, or spikes that were not
            recorded; `ImportError` without matplotlib.

    Reference:
        Welch (1967), doi:10.1109/TAU.1967.1161901.
    """
    trains = shown_trains(source, populations, start, stop, pooled_of)
    if why := nothing(trains):
        return empty_figure(why, size or COLUMN, ax)
    names = [*trains]
    axes = population_panels(names, size, ax)
    found = np.zeros(len(names), bool)
    for number, (axis, name) in enumerate(zip(axes, names)):
        at, density = analysis.power_spectrum(trains[name], bin_ms=bin_ms, segment_ms=segment_ms)
        axis.plot(at[1:], density[1:], color=colour(number), lw=0.9, label=name)
        axis.set_xlim(at[1], max(at[-1], 2 * at[1]))
        found[number] = (density[1:] > 0).any()
    for axis in dict.fromkeys(axes):
        axis.set(xscale="log", yscale="log" if found.any() else "linear")
        few_ticks(axis.xaxis)
        if not any(seen for mine, seen in zip(axes, found) if mine is axis):
            say(axis, "no spikes")
        if not found.any():
            axis.set_ylim(0.0, 1.0)
    power = "power of the rate (Hz\u00b2/Hz)"
    return finish_panels(axes, names, "frequency (Hz)", power, ax)
