"""In-degrees and out-degrees of a projection."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_count, names_checked
from ._given import check_given
from ._histogram import draw_histograms
from ._panels import say
from ._style import PAGE, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_BESIDE = 5.0  # inches of width needed for two panels side by side


@names_checked()
def degrees(
    connections: Any, *, bins: int = 40, size: Sequence[float] = (PAGE[0], 2.4)
) -> "Figure":
    """In-degrees of the target neurons (first) and out-degrees of the source neurons (second).

    `connections` of `net.connections(name)`; at most `bins` bins, each of equally many whole
    numbers; `size` (width, height) [inches], two columns of a paper by default;
    `size=(3.3, 4.0)` gives one column, with one panel above the other. A pair that is connected
    twice counts twice.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for what are no connections, `bins` below 1; `ImportError` without
    matplotlib.
    """
    check_given("connections", connections)
    check_count("degrees: bins", bins, at_least=1)
    figure = new_figure(size)
    out, into = getattr(connections, "places", (0, 1))
    sides = (
        ("in-degree", connections.post, connections.shape[1], connections.target, "target", into),
        ("out-degree", connections.pre, connections.shape[0], connections.source, "source", out),
    )
    # Two panels side by side in one column have no room for their labels.
    shape = (1, 2) if size[0] >= _BESIDE else (2, 1)
    for axis, side in zip(figure.subplots(*shape), sides):
        what, who, n, name, per, number = side
        degree = np.bincount(who, minlength=n)
        low, high = (int(degree.min()), int(degree.max())) if n else (0, 0)
        per_bin = -(-(high - low + 1) // bins)
        count = -(-(high - low + 1) // per_bin)
        edges = low - 0.5 + per_bin * np.arange(count + 1)
        draw_histograms(axis, {name: degree}, edges, "", "neurons", first_colour=number)
        axis.set_xlabel(f"{what} (synapses per {per})")
        if not n:
            say(axis, "no neurons")
            axis.set_ylim(0.0, 1.0)
    return finish(figure)
