"""Raster of spikes over the rates of the populations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_count, names_checked
from ._panels import MOST, empty_figure, nothing, say, short_name
from ._rates import draw_rates, rates_between, why_no_rate
from ._select import chosen, spikes_between, window
from ._style import (
    PAGE,
    SEQUENTIAL,
    SMALL,
    colour,
    colour_bar,
    finish,
    legend,
    new_figure,
    open_box,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST = 24  # letters of a label that also says how many neurons are shown
_FEW = 3000  # spikes of a raster below which their marks grow
_DOTS = 600  # rows of a raster from which spikes are dots instead of ticks


@names_checked()
def raster(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    neurons: int | None = 400,
    bin_ms: float = 2.0,
    size: Sequence[float] = PAGE,
) -> "Figure":
    """Spikes of some neurons of each population, the first on top, over the populations' rates.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    shown; `neurons` the most neurons in all (the first ones of each population, by its size,
    at least a fifth of an equal share), or None for all; `bin_ms` the bin of the rates;
    `size` (width, height) [inches], two columns of a paper by default; `size=(3.3, 3.0)` gives one
    column. The legend with the mean rates is left out if it needs more than two rows. The rates of
    more than 4 populations are colours, a row each. Names of more than 20 letters are shortened.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a part empty or outside the run,
    a bin that is not above 0, `neurons` below 1, or spikes that were not recorded; `ImportError`
    without matplotlib.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    if neurons is not None:
        check_count("raster: neurons", neurons, at_least=1)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size)
    figure = new_figure(size)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 1.0))
    sizes = [result.populations[name] for name in names]
    shown = rows_of(sizes, neurons)
    draw_spikes(top, result, names, shown, (first, last), 0.55 * size[1] * 72)
    if len(names) <= MOST:
        draw_rates([bottom] * len(names), result, names, first, last, bin_ms)
        bottom.set_ylabel("rate (Hz)")
        open_box(bottom)
        # A longer legend would take space from the spikes, where the names are shown already.
        legend(bottom, rows=2)
    else:
        _draw_rate_rows(figure, bottom, result, names, (first, last), bin_ms)
    bottom.set_xlabel("time (ms)")
    figure.align_ylabels()
    finish(figure)
    top.tick_params(axis="y", length=0)
    return figure


def draw_spikes(
    axis: "Axes",
    result: Any,
    names: list[str],
    shown: list[int],
    between: tuple[float, float],
    points: float,
) -> None:
    """Spikes of the first neurons of each population, the first population on top.

    `shown` neurons of each population; `points` the approximate height of the axis.
    """
    total = sum(shown)
    many = total >= _DOTS
    bases = np.cumsum([0, *shown])
    places = []
    for base, name, count in zip(bases, names, shown):
        times, who = spikes_between(result, name, *between)
        mine = who < count
        places.append((times[mine], base + who[mine] + 0.5))
    look = _mark(many, points / max(total, 1), sum(times.size for times, _ in places))
    for number, (times, rows) in enumerate(places):
        axis.plot(
            times,
            rows,
            ls="none",
            color=colour(number),
            rasterized=many,
            **look,
        )
    axis.set(ylim=(max(total, 1), 0), ylabel="neurons")
    if not any(np.size(line.get_xdata()) for line in axis.lines):
        say(axis, "no spikes")
    _name_rows(axis, result, names, bases, max(total, 1) / points)
    open_box(axis)


def _mark(many: bool, row: float, spikes: int) -> dict[str, Any]:
    """Dots, or ticks as high as a row [points]; larger where few spikes are shown."""
    few = max(_FEW / max(spikes, 1), 1.0) ** 0.5
    if many:
        return {"marker": ".", "ms": min(0.8 * few, 4.0), "mew": 0.0}
    return {"marker": "|", "ms": min(max(0.8 * row, 1.8 * few, 1.8), 8.0), "mew": min(0.6 * few, 1)}


def rows_of(sizes: Sequence[int], neurons: int | None) -> list[int]:
    """How many neurons of each population are shown: by size, and at least one.

    A population gets a fifth of an equal share at least, so that a large one leaves it room.
    """
    if neurons is None or neurons >= sum(sizes):
        return list(sizes)
    least = neurons // (5 * len(sizes))
    small = [n * neurons < least * sum(sizes) for n in sizes]
    kept = sum(min(n, least) for n, few in zip(sizes, small) if few)
    share = (neurons - kept) / max(sum(n for n, few in zip(sizes, small) if not few), 1)
    by_size = [min(n, least) if few else round(n * share) for n, few in zip(sizes, small)]
    return [min(n, max(1, k)) for n, k in zip(sizes, by_size)]


def _draw_rate_rows(
    figure: "Figure",
    axis: "Axes",
    result: Any,
    names: list[str],
    between: tuple[float, float],
    bin_ms: float,
) -> None:
    """The rates of many populations as rows of colours, in the order of the spikes above."""
    first, last = between
    rows = []
    for name in names:
        times, _ = spikes_between(result, name, first, last)
        rows.append(rates_between(times, result.populations[name], first, last, bin_ms)[1])
    rates = np.stack(rows)
    edges = first + bin_ms * np.arange(rates.shape[1] + 1)
    look = {"cmap": SEQUENTIAL, "vmin": 0.0, "vmax": max(float(rates.max(initial=0.0)), 1.0)}
    if not rates.any():
        say(axis, why_no_rate(first, last, bin_ms))
    else:
        drawn = axis.pcolormesh(edges, np.arange(len(names) + 1), rates, rasterized=True, **look)
        colour_bar(figure, drawn, axis, "rate (Hz)")
    axis.set(xlim=between, ylim=(len(names), 0), ylabel="population")
    fits = 0.27 * 72 * figure.get_figheight() > 1.1 * SMALL * len(names)
    axis.set_yticks(
        np.arange(len(names)) + 0.5 if fits else [], [short_name(x) for x in names] if fits else []
    )
    axis.tick_params(axis="y", length=0)
    for number, label in enumerate(axis.get_yticklabels()):
        label.set_color(colour(number))


def _name_rows(
    axis: "Axes", result: Any, names: list[str], bases: np.ndarray, rows_per_point: float
) -> None:
    """Names beside the populations in their colours, moved apart if they would overlap."""
    room = 1.3 * SMALL * rows_per_point
    # A second line says how many are shown, if there is room for it at all populations.
    both = np.diff(bases).min() > 2 * room
    at = spread((bases[:-1] + bases[1:]) / 2, room, float(bases[-1]))
    labels = []
    for name, count in zip(names, np.diff(bases)):
        n, named = result.populations[name], short_name(name)
        text = f"{count:,} of {n:,}"
        labels.append(named if count == n else f"{named}\n{text}" if both else f"{named}, {text}")
    if max(map(len, "\n".join(labels).split("\n"))) > _LONGEST:
        labels = [short_name(name) for name in names]
        total = sum(result.populations[name] for name in names)
        axis.set_ylabel(f"{bases[-1]:,} of {total:,} neurons")
    axis.set_yticks(at, labels)
    for number, label in enumerate(axis.get_yticklabels()):
        label.set_color(colour(number))


def spread(at: np.ndarray, gap: float, top: float) -> np.ndarray:
    """Ascending positions, moved to be at least a gap apart and not above `top - gap / 2`."""
    moved = at.astype(np.float64)
    for k in range(1, moved.size):
        moved[k] = max(moved[k], moved[k - 1] + gap)
    limit = top - gap / 2
    for k in range(moved.size - 1, -1, -1):
        moved[k] = min(moved[k], limit)
        limit = moved[k] - gap
    return moved
