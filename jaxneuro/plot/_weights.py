"""Distributions of the weights and of the delays of a projection."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_count, names_checked
from ._given import check_given
from ._histogram import draw_histograms
from ._panels import say
from ._style import COLUMN, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@names_checked()
def weight_histogram(
    connections: Any, *, unit: str = "", bins: int = 40, size: Sequence[float] = COLUMN
) -> "Figure":
    """Distribution of the weights of the synapses, with their mean.

    `connections` of `net.connections(name)`; `unit` of the weight ("pA", "nS", "mV"); `bins`
    number of bins; `size` (width, height) [inches].

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for what are no connections, `bins` below 1; `ImportError` without
    matplotlib.
    """
    check_given("connections", connections)
    check_count("bins", bins, at_least=1)
    weights = np.asarray(connections.weight, np.float64)
    label = f"weight ({unit or 'unit of the synapse'})"
    return _synapses(connections, weights, label, unit, bins, size)


@names_checked()
def delay_histogram(
    connections: Any, *, bins: int = 40, size: Sequence[float] = COLUMN
) -> "Figure":
    """Distribution of the delays of the synapses [ms], with their mean.

    `connections` of `net.connections(name)`; `bins` number of bins; `size` (width, height)
    [inches].

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for what are no connections, `bins` below 1; `ImportError` without
    matplotlib.
    """
    check_given("connections", connections)
    delays = np.asarray(connections.delay, np.float64)
    return _synapses(connections, delays, "delay (ms)", "ms", _grid_edges(delays, bins), size)


def _grid_edges(delays: np.ndarray, bins: int) -> np.ndarray | int:
    """Edges between time steps, with equally many steps in every bin."""
    check_count("bins", bins, at_least=1)
    different = np.unique(np.round(delays, 6))
    if different.size < 2:
        return bins
    step = float(np.diff(different).min())
    steps = round((different[-1] - different[0]) / step) + 1
    per_bin = -(-steps // bins)
    return different[0] + step * (per_bin * np.arange(-(-steps // per_bin) + 1) - 0.5)


def _synapses(
    connections: Any,
    values: np.ndarray,
    label: str,
    unit: str,
    bins: np.ndarray | int,
    size: Sequence[float],
) -> "Figure":
    figure = new_figure(size)
    axis = figure.subplots()
    name = f"{connections.source} to {connections.target}"
    edges = np.histogram_bin_edges(values, bins)
    draw_histograms(axis, {name: values}, edges, unit, "synapses")
    axis.set_xlabel(label)
    if not values.size:
        say(axis, "no synapses")
        axis.set_ylim(0.0, 1.0)
    return finish(figure)
