"""Draws distributions over neurons, one per population, with their means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._panels import finish_panels, population_panels, say
from ._style import LINE, colour, legend, open_box, three_digits

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
    size: Sequence[float] | None,
    empty: str,
    logarithmic: bool = False,
) -> "Figure":
    """The distributions of populations in one panel, or below each other if they are many.

    `labels` the unit of the mean, what is counted, and the label of the axis; `empty` what an empty
    panel says; `logarithmic`: shares are.
    """
    unit, of, xlabel = labels
    figure, axes = population_panels(list(values), size)
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
    return finish_panels(figure, axes, names, xlabel, f"share of {of} (%)")


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
