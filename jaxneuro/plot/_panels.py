"""One panel for all populations, or one each where they are many; and what is empty says so."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._style import COLUMN, SMALL, TEXT, finish, legend, new_figure, open_box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def population_panels(
    names: Sequence[str], size: Sequence[float] | None
) -> tuple["Figure", list["Axes"]]:
    """A figure and the panel of each population: all in one, or below each other if they are many.

    The first population is on top.
    """
    if len(names) <= MOST:
        figure = new_figure(COLUMN if size is None else size)
        return figure, [figure.subplots()] * len(names)
    figure = new_figure((COLUMN[0], 0.6 + _ROW * len(names)) if size is None else size)
    axes = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)
    return figure, list(axes[:, 0])


def finish_panels(
    figure: "Figure", axes: list["Axes"], labels: Sequence[str], xlabel: str, ylabel: str
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
        figure.supylabel(ylabel, fontsize=TEXT)
    return finish(figure)


def nothing(result: Any, names: Sequence[str], first: float, last: float) -> str:
    """Why a figure of a run has nothing to show, "" if it may have something."""
    if not last > first:
        return "no time steps were run"
    if not any(result.populations[name] for name in names):
        return "no neurons"
    return ""


def empty_figure(why: str, size: Sequence[float]) -> "Figure":
    """A figure that only says why it is empty."""
    figure = new_figure(size)
    axis = figure.subplots()
    axis.set(xticks=[], yticks=[])
    say(axis, why)
    return finish(figure)


def say(axis: "Axes", text: str) -> None:
    """A text in the middle of a panel that is empty."""
    middle = {"ha": "center", "va": "center", "transform": axis.transAxes}
    axis.text(0.5, 0.5, text, fontsize=TEXT, **middle)
