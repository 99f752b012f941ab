"""Spikes of the populations beside their rates, irregularity, correlation and synchrony."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_bounds, check_count, check_known, names_checked
from ..analysis import (
    count_correlation,
    count_synchrony,
    neuron_rates,
    spike_counts,
)
from ._cv_histogram import shown_cvs
from ._panels import empty_figure, nothing, say, short_name, widened
from ._raster import draw_spikes, rows_of
from ._select import chosen, spikes_between, window
from ._style import PAGE, colour, finish, new_figure, open_box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAIRED = 200  # neurons of a population for whose pairs correlations are computed
_TOGETHER = 1000  # neurons of a population whose spikes are counted together
_COUNT_MS, _TOGETHER_MS = 5.0, 3.0  # bins of the two


@names_checked()
def activity(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    reference: Mapping[str, float] | None = None,
    start: float | None = None,
    stop: float | None = None,
    raster_ms: float = 400.0,
    neurons: int = 2000,
    size: Sequence[float] | None = None,
) -> "Figure":
    """Spikes, and how rates, CVs and correlations are distributed in each population.

    The left panel shows the first `raster_ms` of at most `neurons` neurons in all. The right
    panels are for the whole part from `start` to `stop` [ms]: the rates of the neurons; the CVs of
    the inter-spike intervals of those with at least 3 spikes; the correlations of the spike counts
    (5 ms bins) of all pairs of the first 200 neurons; the synchrony of the first 1,000 neurons,
    variance over mean of the number of their spikes in bins of 3 ms. A box contains the middle
    half of the values, the line in it is their median, the dot their mean; whiskers contain nine
    tenths.

    `result` of `simulate`; `populations` names (default all), the first one on top; `reference`
    mean rates [Hz] by name from elsewhere, drawn as diamonds; `size` (width, height) [inches],
    by default two columns of a paper, wider for long names.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a reference that is no population,
    a part empty or outside the run or less than 10 ms after it, `raster_ms` not above 0,
    `neurons` below 1, or spikes that were not recorded; `ImportError` without matplotlib.

    **Source** Potjans and Diesmann (2014), fig. 6, doi:10.1093/cercor/bhs358.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size or PAGE)
    if last - first < 2 * _COUNT_MS and start is None and stop is None:
        why = f"a run of {last - first:g} ms is too short:\nit needs at least {2 * _COUNT_MS:g} ms"
        return empty_figure(why, size or PAGE)
    if last - first < 2 * _COUNT_MS:
        raise ValueError(f"stop must be at least {2 * _COUNT_MS:g} ms after start; got {last:g} ms")
    check_bounds("activity: raster_ms", raster_ms, "ms", above=0.0)
    check_count("activity: neurons", neurons, at_least=1)
    _check_reference(reference, names)
    figure = new_figure(widened(size, PAGE, names, 2))
    layout: Any = [["spikes", "rate", "cv"], ["spikes", "correlation", "synchrony"]]
    axes = figure.subplot_mosaic(layout, width_ratios=(1.7, 1.0, 1.0))
    sizes = [result.populations[name] for name in names]
    shown = rows_of(sizes, neurons)
    end = min(first + raster_ms, last)
    _draw_raster(
        axes["spikes"], result, names, shown, (first, end), 0.8 * 72 * figure.get_figheight()
    )
    drawn: set[str] = set()
    for row, name in enumerate(names):
        spikes = spikes_between(result, name, first, last)
        drawn |= _draw_population(axes, row, spikes, result.populations[name], first, last)
        if reference and name in reference:
            look = {"ms": 5.0, "mew": 0.8, "mfc": "none", "color": "black", "zorder": 4}
            axes["rate"].plot(reference[name], row, "D", **look)
    _label(axes, names)
    _say_where_empty(axes, drawn)
    axes["rate"].set_xlabel("rate; reference \N{WHITE DIAMOND} (Hz)" if reference else "rate (Hz)")
    finish(figure)
    axes["spikes"].tick_params(axis="y", length=0)
    return figure


def _check_reference(reference: Mapping[str, float] | None, names: list[str]) -> None:
    """Raises `ValueError` unless it has rates by the names of populations."""
    if reference is not None and not isinstance(reference, Mapping):
        raise ValueError(
            f"activity: reference must be rates [Hz] by name, such as {{{names[0]!r}: 5.0}}; got "
            f"{reference!r}"
        )
    for name, rate in (reference or {}).items():
        check_known("population", name, names)
        check_bounds(f"activity: reference of {name!r}", rate, "Hz")


def _say_where_empty(axes: Mapping[str, "Axes"], drawn: set[str]) -> None:
    """What is missing, in each panel on the right that shows nothing."""
    for panel, why in (
        ("rate", "no spikes"),
        ("cv", "no neuron with\n3 spikes"),
        ("correlation", "no pair"),
        ("synchrony", "no spikes"),
    ):
        if panel not in drawn:
            say(axes[panel], why)
            axes[panel].set_xlim(0.0, 1.0)


def _draw_raster(
    axis: "Axes",
    result: Any,
    names: list[str],
    shown: list[int],
    between: tuple[float, float],
    points: float,
) -> None:
    """Spikes, the first population on top; the label says how many neurons are shown."""
    draw_spikes(axis, result, names, shown, between, points)
    for line in axis.lines:
        if line.get_marker() == ".":
            line.set_markersize(
                max(1.5, line.get_markersize())
            )  # few neurons fire in so short a time
    axis.set_yticks(axis.get_yticks(), [short_name(name) for name in names])
    total = sum(result.populations[name] for name in names)
    label = f"{sum(shown):,} of {total:,} neurons"
    axis.set(xlim=between, xlabel="time (ms)", ylabel="neurons" if total == sum(shown) else label)


def _draw_population(
    axes: Mapping[str, "Axes"],
    row: int,
    spikes: tuple[np.ndarray, np.ndarray],
    n: int,
    first: float,
    last: float,
) -> set[str]:
    """The three boxes and the bar of a population; returns the panels that show a value of it."""
    times, who = spikes
    some, few = min(n, _PAIRED), who < _PAIRED
    counts = spike_counts(times[few], who[few], some, last, _COUNT_MS, first)
    pairs = count_correlation(counts)[1][np.triu_indices(some, 1)]
    rates = neuron_rates(times, who, n, last, first)
    boxes = {"rate": rates, "cv": shown_cvs(times, who, n), "correlation": pairs}
    drawn = {panel for panel, values in boxes.items() if _draw_box(axes[panel], row, values)}
    synchrony = count_synchrony(times[who < _TOGETHER], last, _TOGETHER_MS, first)
    axes["synchrony"].barh(row, np.nan_to_num(synchrony), 0.6, color=colour(row))
    # A silent population has rates of 0 and no synchrony.
    known = np.isfinite(synchrony)
    return drawn - (set() if times.size else {"rate"}) | ({"synchrony"} if known else set())


def _draw_box(axis: "Axes", row: int, values: np.ndarray) -> bool:
    """Quartiles as a box, 5 and 95 % as whiskers, the median as a line, the mean as a dot.

    Returns whether there are values.
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return False
    from matplotlib.colors import to_rgba

    least, low, middle, high, most = np.quantile(known, (0.05, 0.25, 0.5, 0.75, 0.95))
    tint = colour(row)
    axis.hlines([row, row], [least, high], [low, most], color=tint, lw=0.8, zorder=1)
    box = {"left": low, "color": to_rgba(tint, 0.35), "edgecolor": tint, "lw": 0.8, "zorder": 2}
    axis.barh(row, high - low, 0.6, **box)
    axis.vlines(middle, row - 0.3, row + 0.3, color=tint, lw=1.6, zorder=3)
    axis.plot(known.mean(), row, "o", ms=2.5, mew=0.0, color="black", zorder=3)
    return True


def _label(axes: Mapping[str, "Axes"], names: list[str]) -> None:
    axes["cv"].set_xlabel("CV of intervals")
    axes["correlation"].set_xlabel("count correlation")
    axes["synchrony"].set_xlabel("synchrony (var/mean)")
    blank = [""] * len(names)
    for name in ("rate", "cv", "correlation", "synchrony"):
        outer = name in ("rate", "correlation")
        axes[name].set_yticks(range(len(names)), [*map(short_name, names)] if outer else blank)
        axes[name].set_ylim(len(names) - 0.5, -0.5)
        open_box(axes[name])
    axes["rate"].set_xlim(left=0.0)
    axes["cv"].set_xlim(0.0, max(axes["cv"].get_xlim()[1], 0.1))
