"""Colours, sizes, axes and panels that the figures share, and checks of what is drawn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .. import spec
from .._html import COLOURS
from .._numerics.windows import run_window
from .._run.recording import Recording
from .._run.result import Result
from .._run.spike_trains import SpikeTrains
from .._text import brief
from ..analysis._source import check_known, run_of, trains_of
from ..spec import InvalidValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


SEQUENTIAL = "viridis"
DIVERGING = "RdBu_r"
ABSENT = "#D9D9D9"  # colour in a heat map where there is no value

COLUMN = (3.3, 2.4)  # inches: one column of a paper; PAGE is the whole width
PAGE = (7.0, 4.6)
TEXT = 8.0  # points
SMALL = 7.0
LINE = 0.6
_ROUNDS = 6  # of the layout; each reduces the error to a quarter


def new_figure(size: Sequence[float]) -> "Figure":
    """An empty figure of a (width, height) [inches], which no window shows."""
    wanted = numbers("size", size, "(width, height) in inches")
    if wanted.shape != (2,):
        raise InvalidValueError("", "size", "(width, height) in inches", repr(size))
    spec.check("", "size", spec.Numbers("inches", above=0.0), wanted)
    try:
        from ._figure import NotebookFigure
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib; install it (pip install matplotlib, or the extra `plot`)"
        ) from error
    inches = float(wanted[0]), float(wanted[1])
    return NotebookFigure(figsize=inches, layout="constrained")


def axes_for(ax: "Axes | None", size: Sequence[float]) -> "Axes":
    """The axes to draw into: `ax`, or those of a new figure of a (width, height) [inches].

    Raises:
        InvalidValueError: for an `ax` that is no axes, and a bad size.
    """
    if ax is None:
        return new_figure(size).subplots()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        must = "one matplotlib Axes, such as axes[0] of figure, axes = plt.subplots(2)"
        raise InvalidValueError("", "ax", must, brief(ax))
    return ax


def inches_of(axis: "Axes") -> tuple[float, float]:
    """Width and height of axes [inches], in a new figure before its layout."""
    box, dpi = axis.get_window_extent(), axis.figure.dpi
    return box.width / dpi, box.height / dpi


def colour(number: int) -> str:
    """The colour of the population with this number."""
    return COLOURS[number % len(COLOURS)]


def finish(figure: "Figure | SubFigure", ax: "Axes | None" = None) -> "Figure":
    """Sets text, ticks and spines of every panel; every figure calls this last.

    With the `ax` that a caller gave, only of these axes: the figure belongs to the caller.
    """
    root = cast("Figure", figure.figure)
    for axis in root.axes if ax is None else [ax]:
        for panel in (axis, *cast("list[Axes]", axis.child_axes)):
            _finish_panel(panel)
    if ax is None and any(axis.get_aspect() != "auto" for axis in root.axes):
        settle(root)
    return root


def settle(figure: "Figure") -> None:
    """Finds the layout of a picture with a fixed shape, which needs several rounds."""
    for _ in range(_ROUNDS):
        figure.draw_without_rendering()


def _finish_panel(axis: "Axes") -> None:
    # Set on the axes, not as defaults, because ticks are made when the figure is drawn.
    axis.tick_params(which="both", labelsize=SMALL, width=LINE)
    axis.tick_params(which="major", length=2.5)
    axis.tick_params(which="minor", length=1.5)
    for text in (axis.xaxis.label, axis.yaxis.label, axis.title):
        text.set_fontsize(TEXT)
    for text in (axis.xaxis.get_offset_text(), axis.yaxis.get_offset_text()):
        text.set_fontsize(SMALL)
    for spine in axis.spines.values():
        spine.set_linewidth(LINE)
    _thin_out(axis)


def _thin_out(axis: "Axes") -> None:
    """Fewer ticks along x where their labels are long: matplotlib has room for four letters."""
    from matplotlib.ticker import AutoLocator

    locator = axis.xaxis.get_major_locator()
    if not isinstance(locator, AutoLocator):
        return
    ticks = list(locator.tick_values(*axis.get_xlim()))
    letters = max(map(len, axis.xaxis.get_major_formatter().format_ticks(ticks)))
    if letters > 4:
        points = axis.get_window_extent().width * 72 / axis.figure.dpi
        locator.set_params(nbins=max(int(points / (0.6 * SMALL * (letters + 1))), 2))


def open_box(axis: "Axes") -> None:
    """Shows only the left and the lower spine."""
    axis.spines[["top", "right"]].set_visible(False)


def few_ticks(axis: Any) -> None:
    """Ticks of a logarithmic axis: 1, 2 and 5 of each decade, or 1 where there are many."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    parts = (1.0, 2.0, 5.0) if high < 300.0 * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=parts, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def three_digits(x: float) -> str:
    """A number with at least three digits: 1.60, 20.8, 1,234, 0.00535, 2.1e-07."""
    size = int(f"{x:.2e}".split("e")[1])
    return f"{x:,.{max(2 - size, 0)}f}" if size > -5 else f"{x:.1e}"


def legend(axis: "Axes", rows: int | None = None) -> None:
    """A small legend above an axis, in as many columns as fit its width.

    `rows`: there is no legend if it would need more.
    """
    labels = axis.get_legend_handles_labels()[1]
    if not labels:
        return
    letters = max(len(label) for label in labels) + 6  # with the line and the space around it
    points = axis.get_window_extent().width * 72 / axis.figure.dpi
    columns = min(max(int(points / (0.5 * SMALL * letters)), 1), len(labels))
    if rows is not None and len(labels) > rows * columns:
        return
    axis.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        handlelength=1.2,
        handletextpad=0.5,
        labelspacing=0.3,
        borderaxespad=0.2,
        columnspacing=1.2,
    )


def colour_bar(drawn: Any, axis: "Axes", label: str, beyond: bool = False) -> None:
    """A thin colour bar beside an axis, as high as the picture.

    `beyond`: there are values outside of the scale, so the bar gets pointed ends.
    """
    place = axis.inset_axes((1.03, 0.0, 0.04, 1.0))
    bar = axis.figure.colorbar(
        drawn, cax=place, label=label, extend="both" if beyond else "neither"
    )
    bar.outline.set_linewidth(LINE)  # type: ignore[operator]


def limits(values: np.ndarray, given: Sequence[float] | None, signed: bool = False) -> Any:
    """The ends of a colour scale: the given ones, or those of the finite values.

    `signed`: symmetric about 0. Two equal ends are moved apart.
    """
    if given is not None:
        ends = numbers("scale", given, "two numbers, the lower first")
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise InvalidValueError("", "scale", "two numbers, the lower first", repr(given))
        return float(ends[0]), float(ends[1])
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if signed:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    if low == high:
        low, high = (low, low + 1.0) if low == 0 and not signed else (low - 1.0, low + 1.0)
    return low, high


MOST = 4  # populations in one panel; more hide each other
_ROW = 0.62  # inches: height of a panel of its own
_LETTERS = 10  # of a name that a figure has room for
_LONG = 20  # letters of a name that are shown beside a panel
_LETTER = 0.055  # inches


def widened(size: Sequence[float] | None, usual: Sequence[float], names: Sequence[str], times=1):
    """The size given, or the usual one with room for long names, which stand `times` abreast."""
    if size is not None:
        return size
    longest = max((len(short_name(name)) for name in names), default=0)
    return usual[0] + times * _LETTER * max(longest - _LETTERS, 0), usual[1]


def short_name(name: str) -> str:
    """A name beside a panel: the begin and the end of a long one."""
    return name if len(name) <= _LONG else f"{name[:11]}\N{HORIZONTAL ELLIPSIS}{name[-8:]}"


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


def population_panels(
    names: Sequence[str], size: Sequence[float] | None, ax: "Axes | None"
) -> list["Axes"]:
    """The panel of each population: all in one, or below each other if they are many.

    The first population is on top.

    Raises:
        InvalidValueError: for an `ax` with so many populations that each has a panel.
    """
    if len(names) <= MOST:
        return [axes_for(ax, COLUMN if size is None else size)] * len(names)
    if ax is not None:
        must = f"left out for more than {MOST} populations, which have a panel each (or name some)"
        raise InvalidValueError("", "ax", must, f"axes for {len(names)} populations")
    figure = new_figure((COLUMN[0], 0.6 + _ROW * len(names)) if size is None else size)
    axes = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)
    return list(axes[:, 0])


def finish_panels(
    axes: list["Axes"], labels: Sequence[str], xlabel: str, ylabel: str, ax: "Axes | None"
) -> "Figure":
    """Names and labels: a legend above one panel, or the name of its population above each."""
    together = len(axes) <= MOST
    for axis, label in zip(axes, labels):
        open_box(axis)
        if not together:
            axis.set_title(label, loc="right", fontsize=SMALL, pad=1.5)
    axes[-1].set_xlabel(xlabel)
    if together:
        axes[0].set_ylabel(ylabel)
        legend(axes[0])
    else:
        axes[0].figure.supylabel(ylabel, fontsize=TEXT)
    return finish(axes[0].figure, ax)


def nothing(trains: Mapping[str, SpikeTrains]) -> str:
    """Why a figure of spikes has nothing to show, "" if it may have something."""
    first, last = window_of(trains)
    if not last > first:
        return "no time steps were run"
    return "" if any(x.n for x in trains.values()) else "no neurons"


def empty_figure(why: str, size: Sequence[float], ax: "Axes | None" = None) -> "Figure":
    """A figure that only says why it is empty."""
    axis = axes_for(ax, size)
    axis.set(xticks=[], yticks=[])
    say(axis, why)
    return finish(axis.figure, ax)


def say(axis: "Axes", text: str) -> None:
    """A text in the middle of a panel that is empty."""
    middle = {"ha": "center", "va": "center", "transform": axis.transAxes}
    axis.text(0.5, 0.5, text, fontsize=TEXT, **middle)


def one_run(source: Any) -> Any:
    """The run or the arrays that a figure is of; raises for a batch, and inside `jit`."""
    run = run_of(source)
    if isinstance(run, Recording):
        check_known("jn.plot", run)
        return run.result()
    return run


def shown_names(source: Any, populations: Any) -> tuple[Any, list[Any]]:
    """One run and the names of the populations shown, all by default; [None] of arrays."""
    run = one_run(source)
    if not isinstance(run, Result):
        return run, [populations]
    known = run.populations
    names: list[Any] = [*known]
    if populations is not None:
        one = isinstance(populations, str) or not isinstance(populations, Iterable)
        one = one or getattr(populations, "ndim", 1) == 0
        names = [populations] if one else list(populations)
    for name in names:
        spec.check_known("population", name, known)
    if not names:
        listed = ", ".join(repr(n) for n in known) or "none"
        must = f"at least one of the known ones: {listed}"
        raise InvalidValueError("", "populations", must, repr(populations))
    return run, names


def shown_trains(
    source: Any,
    populations: Any,
    start: float | None,
    stop: float | None,
    find: Callable[..., SpikeTrains] = trains_of,
) -> dict[str, SpikeTrains]:
    """The spikes in `(start, stop]` [ms] of the populations shown, by name.

    `find` is `pooled_of` where it does not matter whose they are: counts are enough.
    """
    run, names = shown_names(source, populations)
    return {name or "neurons": find(run, name, start, stop) for name in names}


def shown_values(
    source: Any, populations: Any, window: tuple[float | None, float | None], value: Callable
) -> tuple[dict[str, np.ndarray], tuple[float, float], str]:
    """A number per neuron of the populations shown, the window [ms], and why there is none.

    `value` of a run, a name and a window is from running sums where spikes are not kept.
    """
    run, names = shown_names(source, populations)
    first, last = run_window(run.start, run.stop, *window)
    if not last > first:
        return {}, (first, last), "no time steps were run"
    start, stop = window
    values = {name or "neurons": value(run, name, start=start, stop=stop) for name in names}
    some = any(x.size for x in values.values())
    return values, (first, last), "" if some else "no neurons"


def window_of(trains: Mapping[str, SpikeTrains]) -> tuple[float, float]:
    """First and last time [ms]."""
    one = next(iter(trains.values()))
    return one.start, one.stop


_KINDS = {
    "connections": (
        ("source", "target", "shape", "pre", "post", "weight", "delay"),
        "the connections of one projection, net.connections(name)",
    ),
    "brain": (("areas", "stimuli", "fibres"), "a jn.assemblies.Brain"),
    "parse": (("words", "arcs"), "what jn.assemblies.parser.parse(sentence, ...) returns"),
}


def check_given(kind: str, value: Any) -> None:
    """Raises `InvalidValueError` unless `value` is what a figure is drawn from."""
    attributes, what = _KINDS[kind]
    if not all(hasattr(value, name) for name in attributes):
        raise InvalidValueError("", "what is drawn", what, _short(value))


def numbers(name: str, value: Any, shape: str) -> np.ndarray:
    """`value` as float64, or `ValueError` unless it is numbers; `shape` says which."""
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError("", name, str(shape), str(_short(value))) from None


def lengths(shape: Sequence[int]) -> tuple[int, ...]:
    """The lengths of a lattice, or `ValueError` for one number or none."""
    if spec.array_of(shape).ndim != 1:
        raise InvalidValueError(
            "",
            "shape",
            "the neurons along each axis of the lattice, such as (20, 20)",
            str(_short(shape)),
        )
    return tuple(shape)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
