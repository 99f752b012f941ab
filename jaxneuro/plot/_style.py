"""The style of all figures: legible in a paper column, with colours for the colour-blind."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._checks import check_bounds
from .._html import COLOURS
from ._given import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    """An empty figure of a (width, height) [inches] that is not displayed."""
    wanted = numbers("size", size, "(width, height) in inches")
    if wanted.shape != (2,):
        raise ValueError(f"size must be (width, height) in inches; got {size!r}")
    check_bounds("size", wanted, "inches", above=0.0)
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib; install it (pip install matplotlib, or the extra `plot`)"
        ) from error
    return Figure(figsize=(float(wanted[0]), float(wanted[1])), layout="constrained")


def colour(number: int) -> str:
    """The colour of the population with this number."""
    return COLOURS[number % len(COLOURS)]


def finish(figure: "Figure") -> "Figure":
    """Sets text, ticks and spines of every panel; every figure calls this last."""
    for axis in figure.axes:
        for panel in (axis, *cast("list[Axes]", axis.child_axes)):
            _finish_panel(panel)
    if any(axis.get_aspect() != "auto" for axis in figure.axes):
        settle(figure)
    return figure


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


def colour_bar(
    figure: "Figure", drawn: Any, axis: "Axes", label: str, beyond: bool = False
) -> None:
    """A thin colour bar beside an axis, as high as the picture.

    `beyond`: there are values outside of the scale, so the bar gets pointed ends.
    """
    place = axis.inset_axes((1.03, 0.0, 0.04, 1.0))
    bar = figure.colorbar(drawn, cax=place, label=label, extend="both" if beyond else "neither")
    bar.outline.set_linewidth(LINE)  # type: ignore[operator]


def limits(values: np.ndarray, given: Sequence[float] | None, signed: bool = False) -> Any:
    """The ends of a colour scale: the given ones, or those of the finite values.

    `signed`: symmetric about 0. Two equal ends are moved apart.
    """
    if given is not None:
        ends = numbers("scale", given, "two numbers, the lower first")
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise ValueError(f"scale must be two numbers, the lower first; got {given!r}")
        return float(ends[0]), float(ends[1])
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if signed:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    if low == high:
        low, high = (low, low + 1.0) if low == 0 and not signed else (low - 1.0, low + 1.0)
    return low, high
