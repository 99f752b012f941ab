"""Draws distributions over neurons, one per population, with their means."""

from typing import TYPE_CHECKING

import numpy as np

from ._style import LINE, colour, legend, open_box, three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def edges_from_zero(values: dict[str, np.ndarray], bins: int, end: float | None) -> np.ndarray:
    """Equal bins from 0 to `end`, by default the highest value of all, or 1 where that is 0."""
    most = max((float(x.max()) for x in values.values() if x.size), default=0.0)
    return np.linspace(0.0, (most or 1.0) if end is None else end, bins + 1)


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
        count = np.histogram(x, edges)[0]
        share = 100.0 * count / max(x.size, 1)
        if len(values) <= 3:
            axis.stairs(share, edges, fill=True, color=colour(number), alpha=0.2, lw=0)
        mean = three_digits(float(x.mean())) if x.size else "none"
        label = f"{name}, mean {mean}{f' {unit}' if unit and x.size else ''}"
        axis.stairs(share, edges, color=colour(number), lw=1.0, label=label)
        if x.size:
            axis.axvline(x.mean(), color=colour(number), lw=LINE + 0.2, ls=(0, (4, 2)))
    axis.set(ylabel=f"share of {of} (%)", xlim=(edges[0], edges[-1]))
    axis.set_ylim(bottom=0)
    open_box(axis)
    legend(axis)
