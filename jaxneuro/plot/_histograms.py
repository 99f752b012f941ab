"""Distributions over the neurons of populations: rates, intervals, CVs of intervals."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import spec
from .._text import counted
from ..analysis import interval_cvs, intervals, neuron_rates
from ._style import (
    COLUMN,
    LINE,
    colour,
    empty_figure,
    finish_panels,
    legend,
    nothing,
    open_box,
    population_panels,
    say,
    shown_trains,
    shown_values,
    three_digits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def edges_from_zero(
    values: dict[str, np.ndarray], bins: int, end: float | None, least: float = 0.0
) -> np.ndarray:
    """Equal bins from 0 to `end`, by default the highest value of all, or 1 where that is 0.

    It is at least `least`.
    """
    most = max((float(x.max()) for x in values.values() if x.size), default=0.0)
    return np.linspace(0.0, (max(most, least) or 1.0) if end is None else end, bins + 1)


def draw_histograms(
    axis: "Axes",
    values: dict[str, np.ndarray],
    edges: np.ndarray,
    unit: str,
    of: str,
    first_colour: int = 0,
) -> None:
    """The share of each population's values per bin [%], with a dashed line at its mean.

    `of` what is counted, for the label of the axis; `unit` that of the mean in the legend.
    """
    for number, (name, x) in enumerate(values.items(), start=first_colour):
        _draw(axis, name, x, edges, unit, number, len(values) <= 3)
    axis.set(ylabel=f"share of {of} (%)")
    axis.set_ylim(bottom=0)
    open_box(axis)
    legend(axis)


def population_histograms(
    values: dict[str, np.ndarray],
    edges: np.ndarray,
    labels: tuple[str, str, str],
    place: tuple[Sequence[float] | None, "Axes | None"],
    empty: str,
    logarithmic: bool = False,
) -> "Figure":
    """The distributions of populations in one panel, or below each other if they are many.

    `labels` the unit of the mean, what is counted, and the label of the axis; `place` the size of
    a new figure, and the axes to draw into instead; `empty` what an empty panel says;
    `logarithmic`: shares are.
    """
    unit, of, xlabel = labels
    axes = population_panels(list(values), *place)
    few = len(values) <= 3 or axes[0] is not axes[-1]
    names = [
        _draw(axis, name, x, edges, unit, number, few)
        for number, (axis, (name, x)) in enumerate(zip(axes, values.items()))
    ]
    shares = [np.histogram(x, edges)[0] * 100.0 / max(x.size, 1) for x in values.values()]
    drawn = np.concatenate(shares)
    # All at once: panels that share an axis would keep the range of the first.
    ends = (0.0, 1.05 * drawn.max() if drawn.any() else 1.0)
    if logarithmic and drawn.any():
        ends = drawn[drawn > 0].min() / 2, drawn.max() * 2
        axes[0].set_yscale("log")
    for axis in dict.fromkeys(axes):
        axis.set_ylim(*ends)
        if not any(x.size for a, x in zip(axes, values.values()) if a is axis):
            say(axis, empty)
    return finish_panels(axes, names, xlabel, f"share of {of} (%)", place[1])


def _draw(
    axis: "Axes", name: str, x: np.ndarray, edges: np.ndarray, unit: str, number: int, filled: bool
) -> str:
    """One distribution with a dashed line at its mean; returns its label."""
    count = np.histogram(x, edges)[0]
    share = 100.0 * count / max(x.size, 1)
    if filled:
        axis.stairs(share, edges, fill=True, color=colour(number), alpha=0.2, lw=0)
    mean = three_digits(float(x.mean())) if x.size else "none"
    label = f"{name}, mean {mean}{f' {unit}' if unit and x.size else ''}"
    axis.stairs(share, edges, color=colour(number), lw=1.0, label=label)
    if x.size:
        axis.axvline(float(x.mean()), color=colour(number), lw=LINE + 0.2, ls=(0, (4, 2)))
    axis.set_xlim(edges[0], edges[-1])
    return label


@spec.arguments(bins=spec.Whole(at_least=1))
def rate_histogram(
    source: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    bins: int = 30,
    size: Sequence[float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Distribution of the mean rates of the neurons of each population, with their mean.

    `source` a run; `populations` names (default all); `start`, `stop` [ms] the part
    counted; at most `bins` bins; `size` (width, height) [inches]; by default more than 4
    populations have a panel each in a higher figure. A rate is a whole number of spikes over the
    time, so each bin contains equally many such numbers. The first starts at 0 Hz.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population or none, a part empty or outside the run,
            `bins` below 1, or spikes that were not recorded; `ImportError` without matplotlib.
    """
    window = start, stop
    values, (first, last), why = shown_values(source, populations, window, neuron_rates)
    if why:
        return empty_figure(why, size or COLUMN, ax)
    edges = _edges(values, (last - first) * 1e-3, bins)
    labels = "Hz", "neurons", "rate of a neuron (Hz)"
    return population_histograms(values, edges, labels, (size, ax), "no neurons")


def _edges(values: dict[str, np.ndarray], seconds: float, bins: int) -> np.ndarray:
    """Edges between whole numbers of spikes, the same number of them in every bin."""
    # The axis of a silent network reaches one spike too, else its only bin would fill the figure.
    most = max((round(x.max() * seconds) for x in values.values() if x.size), default=0) or 1
    per_bin = -(-(most + 1) // bins)
    count = -(-(most + 1) // per_bin)
    return np.maximum(per_bin * np.arange(count + 1) - 0.5, 0.0) / seconds


@spec.arguments(bins=spec.Whole(at_least=1), longest=spec.Maybe(spec.Number("ms", above=0.0)))
def interval_histogram(
    source: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    longest: float | None = None,
    bins: int = 50,
    size: Sequence[float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Distribution of the inter-spike intervals of all neurons, on a logarithmic axis.

    `source` a run; `populations` names (default all); `start`, `stop` [ms] the part
    counted; `longest` [ms] end of the axis (default: the longest interval); `bins` number of bins;
    `size` (width, height) [inches]; by default more than 4 populations have a panel each in a
    higher figure. The dashed line is the mean. Intervals longer than `longest` still count for the
    mean and for the total of the shares.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population or none, a part empty or outside the run,
            `longest` that is not above 0, `bins` below 1, or spikes that were not recorded;
            `ImportError` without matplotlib.

    Reference:
        Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86596-2.
    """
    trains = shown_trains(source, populations, start, stop)
    if why := nothing(trains):
        return empty_figure(why, size or COLUMN, ax)
    values = {name: intervals(x)[0] for name, x in trains.items()}
    edges = edges_from_zero(values, bins, longest)
    labels = "ms", "intervals", "inter-spike interval (ms)"
    # On a logarithmic axis an exponential distribution is a straight line.
    return population_histograms(
        values, edges, labels, (size, ax), "no intervals", logarithmic=True
    )


_ROUNDED = 1e-6  # a CV below is rounding of times
_WIDTH = 0.1  # the least that the axis of a CV shows


@spec.arguments(bins=spec.Whole(at_least=1))
def cv_histogram(
    source: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    at_least: int = 3,
    bins: int = 30,
    size: Sequence[float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Distribution of the CVs of the neurons' inter-spike intervals, with their mean.

    `source` a run; `populations` names (default all); `start`, `stop` [ms] the part
    counted; neurons with fewer than `at_least` spikes are left out; `bins` number of bins; `size`
    (width, height) [inches]; by default more than 4 populations have a panel each in a higher
    figure. 0 for a clock, 1 for a Poisson process.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population or none, a part empty or outside the run,
            `at_least` below 2, `bins` below 1, or spikes that were not recorded; `ImportError`
            without matplotlib.

    Reference:
        Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    cvs = functools.partial(shown_cvs, at_least=at_least)
    values, _, why = shown_values(source, populations, (start, stop), cvs)
    if why:
        return empty_figure(why, size or COLUMN, ax)
    values = {name: x[~np.isnan(x)] for name, x in values.items()}
    labels = "", "neurons", "CV of inter-spike intervals"
    empty = f"no neuron with {counted(at_least, 'spike')}"
    edges = edges_from_zero(values, bins, None, _WIDTH)
    return population_histograms(values, edges, labels, (size, ax), empty)


def shown_cvs(run: Any, name: str | None = None, *, at_least: int = 3, **window: Any) -> np.ndarray:
    """CVs of the intervals, 0 where they come from the rounding of times only."""
    cvs = interval_cvs(run, name, at_least=at_least, **window)
    return np.where(cvs < _ROUNDED, 0.0, cvs)
