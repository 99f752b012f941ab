"""Spikes: raster, rates of populations, and both beside statistics."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import spec
from .._run.spike_trains import SpikeTrains
from ..analysis import count_correlation, count_synchrony, neuron_rates, population_rate
from ..analysis._bins import BIN
from ..analysis._source import check_known, each_run, pooled_of, run_of
from ..spec import InvalidValueError
from ._histograms import shown_cvs
from ._style import (
    COLUMN,
    MOST,
    PAGE,
    SEQUENTIAL,
    SMALL,
    axes_for,
    colour,
    colour_bar,
    empty_figure,
    finish,
    finish_panels,
    inches_of,
    legend,
    new_figure,
    nothing,
    open_box,
    population_panels,
    say,
    short_name,
    shown_trains,
    spread,
    three_digits,
    widened,
    window_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LONGEST = 24  # letters of a label that also says how many neurons are shown
_FEW = 3000  # spikes of a raster below which their marks grow
_DOTS = 600  # rows of a raster from which spikes are dots instead of ticks


@spec.arguments(bin_ms=spec.Maybe(BIN), neurons=spec.Maybe(spec.Whole(at_least=1)))
def raster(
    source: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    neurons: int | None = 400,
    bin_ms: float | None = None,
    size: Sequence[float] = PAGE,
    ax: "Axes | None" = None,
) -> "Figure":
    """Spikes of some neurons of each population, the first on top, over the populations' rates.

    `source` a run; `populations` names (default all); `start`, `stop` [ms] the part shown;
    `neurons` the most neurons in all (the first ones of each population, by its size, at least a
    fifth of an equal share), or None for all; `bin_ms` the bin of the rates, 2 ms by default,
    longer of more than a second; `size` (width, height) [inches], two columns of a paper by
    default; `size=(3.3, 3.0)` gives one column. The legend with the mean rates is left out if it
    needs more than two rows. The rates of more than 4 populations are colours, a row each. Names of
    more than 20 letters are shortened. Axes `ax` get the spikes alone.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population or none, a part empty or outside the run, a bin
            that is not above 0, `neurons` below 1, or spikes that were not recorded; `ImportError`
            without matplotlib.
    """
    trains = shown_trains(source, populations, start, stop)
    if why := nothing(trains):
        return empty_figure(why, size, ax)
    shown = rows_of([x.n for x in trains.values()], neurons)
    if ax is not None:
        axis = axes_for(ax, size)
        draw_spikes(axis, trains, shown, 72 * inches_of(axis)[1])
        axis.set(xlim=window_of(trains), xlabel="time (ms)")
        return _without_marks(finish(axis.figure, ax), axis)
    bin_ms = _bin_of(trains, 2.0) if bin_ms is None else bin_ms
    figure = new_figure(size)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 1.0))
    draw_spikes(top, trains, shown, 0.55 * size[1] * 72)
    if len(trains) <= MOST:
        draw_rates([bottom] * len(trains), trains, bin_ms)
        bottom.set_ylabel("rate (Hz)")
        open_box(bottom)
        # A longer legend would take space from the spikes, where the names are shown already.
        legend(bottom, rows=2)
    else:
        _draw_rate_rows(figure, bottom, trains, bin_ms)
    bottom.set_xlabel("time (ms)")
    figure.align_ylabels()
    return _without_marks(finish(figure), top)


def _without_marks(figure: "Figure", axis: "Axes") -> "Figure":
    """The figure, without marks at the names of populations."""
    axis.tick_params(axis="y", length=0)
    return figure


def draw_spikes(
    axis: "Axes", trains: Mapping[str, SpikeTrains], shown: list[int], points: float
) -> None:
    """Spikes of the first neurons of each population, the first population on top.

    `shown` neurons of each population; `points` the approximate height of the axis.
    """
    total = sum(shown)
    many = total >= _DOTS
    bases = np.cumsum([0, *shown])
    places = []
    for base, one, count in zip(bases, trains.values(), shown):
        few = one.first(count)
        places.append((few.times, base + few.neurons + 0.5))
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
    _name_rows(axis, trains, bases, max(total, 1) / points)
    open_box(axis)


def _mark(many: bool, row: float, spikes: int) -> dict[str, Any]:
    """Dots, or ticks as high as a row [points]; larger where few spikes are shown.

    Ticks are thinner where there are many, else they would be one area.
    """
    share = _FEW / max(spikes, 1)
    few, thin = max(share, 1.0) ** 0.5, max(share, 0.15) ** 0.5
    if many:
        return {"marker": ".", "ms": min(0.8 * few, 4.0), "mew": 0.0}
    return {
        "marker": "|",
        "ms": min(max(0.8 * row, 1.8 * few, 1.8), 8.0),
        "mew": min(0.6 * thin, 1),
    }


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
    figure: "Figure", axis: "Axes", trains: Mapping[str, SpikeTrains], bin_ms: float
) -> None:
    """The rates of many populations as rows of colours, in the order of the spikes above."""
    names, (first, last) = [*trains], window_of(trains)
    rates = np.stack([_binned_rate(x, bin_ms)[1] for x in trains.values()])
    edges = first + bin_ms * np.arange(rates.shape[1] + 1)
    look = {"cmap": SEQUENTIAL, "vmin": 0.0, "vmax": max(float(rates.max(initial=0.0)), 1.0)}
    if not rates.any():
        say(axis, why_no_rate(last - first, bin_ms))
    else:
        drawn = axis.pcolormesh(edges, np.arange(len(names) + 1), rates, rasterized=True, **look)
        colour_bar(drawn, axis, "rate (Hz)")
    axis.set(xlim=(first, last), ylim=(len(names), 0), ylabel="population")
    fits = 0.27 * 72 * figure.get_figheight() > 1.1 * SMALL * len(names)
    axis.set_yticks(
        np.arange(len(names)) + 0.5 if fits else [], [short_name(x) for x in names] if fits else []
    )
    axis.tick_params(axis="y", length=0)
    for number, label in enumerate(axis.get_yticklabels()):
        label.set_color(colour(number))


def _name_rows(
    axis: "Axes", trains: Mapping[str, SpikeTrains], bases: np.ndarray, rows_per_point: float
) -> None:
    """Names beside the populations in their colours, moved apart if they would overlap."""
    room = 1.3 * SMALL * rows_per_point
    # A second line says how many are shown, if there is room for it at all populations.
    both = np.diff(bases).min() > 2 * room
    at = spread((bases[:-1] + bases[1:]) / 2, room, float(bases[-1]))
    labels = []
    for (name, one), count in zip(trains.items(), np.diff(bases)):
        named, text = short_name(name), f"{count:,} of {one.n:,}"
        labels.append(
            named if count == one.n else f"{named}\n{text}" if both else f"{named}, {text}"
        )
    if max(map(len, "\n".join(labels).split("\n"))) > _LONGEST:
        labels = [short_name(name) for name in trains]
        total = sum(x.n for x in trains.values())
        axis.set_ylabel(f"{bases[-1]:,} of {total:,} neurons")
    axis.set_yticks(at, labels)
    for number, label in enumerate(axis.get_yticklabels()):
        label.set_color(colour(number))


@spec.arguments(bin_ms=spec.Maybe(BIN))
def rates(
    source: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    bin_ms: float | None = None,
    size: Sequence[float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Rates of the populations in bins, over time, with their means.

    `source` a run, `SpikeTrains` or a batch of runs; `populations` names (default all); `start`,
    `stop` [ms] the part shown; `size` (width, height) [inches]; by default more than 4 populations
    have a panel each in a higher figure. A bin is `(t, t + bin_ms]` and drawn at its middle; it is
    5 ms long by default, longer of more than 3 seconds. Of a batch, a line is the median over the
    runs, the dark shade their middle half, and the light one their range. It is known from
    `Record(rates=True)`, too.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for an unknown population or none, a part empty or outside the run, a bin
            that is not above 0, runs that began at different times, or spikes that were not
            recorded; `ImportError` without matplotlib.

    Reference:
        Gerstner et al. (2014), Neuronal Dynamics, eq. 7.11, doi:10.1017/CBO9781107447615.
    """
    run = run_of(source)
    check_known("jn.plot.rates", run)
    runs = [shown_trains(x, populations, start, stop, pooled_of) for x in each_run(run)]
    if len({window_of(x) for x in runs}) > 1:
        raise InvalidValueError("rates", "the runs", "of one time", "several; draw one, batch[k]")
    if why := nothing(runs[0]):
        return empty_figure(why, size or COLUMN, ax)
    bin_ms = _bin_of(runs[0], 5.0) if bin_ms is None else bin_ms
    axes = population_panels([*runs[0]], size, ax)
    labels = draw_rates(axes, runs[0], bin_ms, runs)
    return finish_panels(axes, labels, "time (ms)", "rate (Hz)", ax)


_SHADES = ((0.25, 0.75, 0.35), (0.0, 1.0, 0.15))  # quantiles over runs, and how dark they are


def draw_rates(
    axes: Sequence["Axes"],
    trains: Mapping[str, SpikeTrains],
    bin_ms: float,
    runs: Sequence[Mapping[str, SpikeTrains]] = (),
) -> list[str]:
    """Draws the rate of each population into its panel; returns their labels.

    Of several `runs` the median over them, and how they differ as shades.
    """
    labels, most, (first, last) = [], 0.0, window_of(trains)
    for number, (axis, name) in enumerate(zip(axes, trains)):
        each = [x[name] for x in runs or [trains]]
        at = _binned_rate(each[0], bin_ms)[0] + bin_ms / 2
        rate = np.stack([_binned_rate(x, bin_ms)[1] for x in each])
        spikes = sum(map(len, each)) / len(each)
        mean = spikes / max(each[0].n, 1) / (last - first) * 1e3
        labels.append(f"{name}, {three_digits(mean)} Hz")
        tint = colour(number)
        for low, high, alpha in _SHADES if len(each) > 1 else ():
            ends = np.quantile(rate, (low, high), axis=0)
            axis.fill_between(at, *ends, color=tint, alpha=alpha, lw=0)
        axis.plot(at, np.median(rate, axis=0), color=tint, lw=0.9, label=labels[-1])
        most = max(most, float(rate.max(initial=0.0)))
    # All at once: panels that share an axis would keep the range of the first.
    for axis in dict.fromkeys(axes):
        axis.set(xlim=(first, last), ylim=(0.0, 1.05 * most or 1.0))
        if not most:
            say(axis, why_no_rate(last - first, bin_ms))
    return labels


_BINS = 600  # that a figure shows at most, if nobody says how long one is


def _bin_of(trains: Mapping[str, SpikeTrains], least: float) -> float:
    """A bin of 1, 2 or 5 times a power of ten [ms], at least so long, so that lines stay lines."""
    first, last = window_of(trains)
    wanted = (last - first) / _BINS
    if wanted <= least:
        return least
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= wanted))


def _binned_rate(trains: SpikeTrains, bin_ms: float) -> tuple[np.ndarray, np.ndarray]:
    """Bins and rates, none of a time that is shorter than a bin."""
    if bin_ms > trains.duration:
        return np.zeros(0), np.zeros(0)
    return population_rate(trains, bin_ms=bin_ms)


def why_no_rate(duration: float, bin_ms: float) -> str:
    """What an empty panel of rates says."""
    return "no spikes" if bin_ms <= duration else f"shorter than a bin of {bin_ms:g} ms"


_PAIRED = 200  # neurons of a population for whose pairs correlations are computed
_TOGETHER = 1000  # neurons of a population whose spikes are counted together
_COUNT_MS, _TOGETHER_MS = 5.0, 3.0  # bins of the two


@spec.arguments(raster_ms=spec.Number("ms", above=0.0), neurons=spec.Whole(at_least=1))
def activity(
    source: Any,
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

    `source` a run; `populations` names (default all), the first one on top; `reference`
    mean rates [Hz] by name from elsewhere, drawn as diamonds; `size` (width, height) [inches],
    by default two columns of a paper, wider for long names.

    Returns:
        a matplotlib `Figure`, which a notebook shows.

    Raises:
        InvalidValueError: for an unknown population or none, a reference that is no population, a
            part empty or outside the run or less than 10 ms after it, `raster_ms` not above 0,
            `neurons` below 1, or spikes that were not recorded; `ImportError` without matplotlib.

    Reference:
        Potjans and Diesmann (2014), fig. 6, doi:10.1093/cercor/bhs358.
    """
    trains = shown_trains(source, populations, start, stop)
    names, (first, last) = [*trains], window_of(trains)
    if why := nothing(trains):
        return empty_figure(why, size or PAGE)
    if last - first < 2 * _COUNT_MS and start is None and stop is None:
        why = f"a run of {last - first:g} ms is too short:\nit needs at least {2 * _COUNT_MS:g} ms"
        return empty_figure(why, size or PAGE)
    if last - first < 2 * _COUNT_MS:
        raise InvalidValueError(
            "activity", "stop", f"at least {2 * _COUNT_MS:g} ms after start", f"{last:g} ms"
        )
    _check_reference(reference, names)
    figure = new_figure(widened(size, PAGE, names, 2))
    layout: Any = [["spikes", "rate", "cv"], ["spikes", "correlation", "synchrony"]]
    axes = figure.subplot_mosaic(layout, width_ratios=(1.7, 1.0, 1.0))
    begin = {name: x.between(first, min(first + raster_ms, last)) for name, x in trains.items()}
    _draw_raster(axes["spikes"], begin, neurons, 0.8 * 72 * figure.get_figheight())
    drawn: set[str] = set()
    for row, (name, one) in enumerate(trains.items()):
        drawn |= _draw_population(axes, row, one)
        if reference and name in reference:
            look = {"ms": 5.0, "mew": 0.8, "mfc": "none", "color": "black", "zorder": 4}
            axes["rate"].plot(reference[name], row, "D", **look)
    _label(axes, names)
    _say_where_empty(axes, drawn)
    axes["rate"].set_xlabel("rate; reference \N{WHITE DIAMOND} (Hz)" if reference else "rate (Hz)")
    return _without_marks(finish(figure), axes["spikes"])


def _check_reference(reference: Mapping[str, float] | None, names: list[str]) -> None:
    """Raises `ValueError` unless it has rates by the names of populations."""
    if reference is not None and not isinstance(reference, Mapping):
        raise InvalidValueError(
            "activity",
            "reference",
            f"rates [Hz] by name, such as {{{names[0]!r}: 5.0}}",
            repr(reference),
        )
    for name, rate in (reference or {}).items():
        spec.check_known("population", name, names)
        spec.check("activity", f"reference of {name!r}", spec.Number("Hz"), rate)


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
    axis: "Axes", trains: Mapping[str, SpikeTrains], neurons: int, points: float
) -> None:
    """Spikes, the first population on top; the label says how many neurons are shown."""
    sizes = [x.n for x in trains.values()]
    shown = rows_of(sizes, neurons)
    draw_spikes(axis, trains, shown, points)
    for line in axis.lines:
        if line.get_marker() == ".":
            line.set_markersize(
                max(1.5, line.get_markersize())
            )  # few neurons fire in so short a time
    axis.set_yticks(axis.get_yticks(), [short_name(name) for name in trains])
    label = f"{sum(shown):,} of {sum(sizes):,} neurons"
    axis.set(
        xlim=window_of(trains),
        xlabel="time (ms)",
        ylabel="neurons" if sum(sizes) == sum(shown) else label,
    )


def _draw_population(axes: Mapping[str, "Axes"], row: int, trains: SpikeTrains) -> set[str]:
    """The three boxes and the bar of a population; returns the panels that show a value of it."""
    matrix = count_correlation(trains.first(_PAIRED), bin_ms=_COUNT_MS)[1]
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    boxes = {"rate": neuron_rates(trains), "cv": shown_cvs(trains), "correlation": pairs}
    drawn = {panel for panel, values in boxes.items() if _draw_box(axes[panel], row, values)}
    synchrony = count_synchrony(trains.first(_TOGETHER), bin_ms=_TOGETHER_MS)
    axes["synchrony"].barh(row, np.nan_to_num(synchrony), 0.6, color=colour(row))
    # A silent population has rates of 0 and no synchrony.
    known = np.isfinite(synchrony)
    return drawn - (set() if len(trains) else {"rate"}) | ({"synchrony"} if known else set())


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
