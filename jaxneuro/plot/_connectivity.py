"""Connectivity matrix of a projection."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._checks import check_count, check_known, names_checked
from ._given import check_given
from ._panels import say
from ._style import (
    ABSENT,
    COLUMN,
    DIVERGING,
    SEQUENTIAL,
    colour,
    colour_bar,
    finish,
    limits,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_VALUES = ("synapses", "weight", "delay")


@names_checked()
def connectivity(
    connections: Any,
    values: str = "synapses",
    *,
    unit: str = "",
    dots: int = 200,
    bins: int = 100,
    size: Sequence[float] = (COLUMN[0], 2.7),
) -> "Figure":
    """Connectivity matrix: sources from top to bottom, targets from left to right.

    `connections` of `net.connections(name)`; `values` what is shown: "synapses" (how many),
    "weight" (in `unit`, red above 0 and blue below) or "delay" [ms]. With up to `dots` neurons a
    side, every connected pair is shown: as a dot if all pairs have one synapse and `values` is
    "synapses", else as a colour. The weights of a pair are added, its delays averaged. With more
    neurons, they are grouped into at most `bins` bins a side; the colour is the mean over the
    synapses of a bin (weight, delay) or over all its pairs (synapses). Neuron 0 of both is at the
    upper left, as in a matrix; on a lattice, neurons are numbered from its origin with the last
    coordinate fastest. `size` (width, height) [inches]. Pairs and bins without a weight or delay,
    and pairs without a synapse, are grey.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for what are no connections, unknown `values`, `dots` or `bins`
    below 1; `ImportError` without matplotlib.
    """
    check_given("connections", connections)
    check_known("value of connections", values, _VALUES)
    check_count("connectivity: dots", dots, at_least=1)
    check_count("connectivity: bins", bins, at_least=1)
    figure = new_figure(size)
    from matplotlib.ticker import MaxNLocator

    axis = figure.subplots()
    rows, columns = connections.shape
    each = max(rows, columns) <= dots
    binned = _binned(connections, values, max(rows, columns, 1) if each else bins)
    if each and values == "synapses" and not (binned.values > 1).any():
        # As wide as a neuron is on the axis, within limits.
        points = min(max(45.0 * min(size) / max(rows, columns, 1), 0.8), 6.0)
        axis.plot(connections.post, connections.pre, "s", color=colour(0), ms=points, mew=0)
    elif binned.values.size:
        single = np.diff(binned.rows).max() == np.diff(binned.columns).max() == 1
        _draw_colours(figure, axis, binned, values, _label(values, unit, single))
    if not len(connections.pre):
        say(axis, "no synapses")
    axis.set(xlim=(-0.5, max(columns, 1) - 0.5), ylim=(max(rows, 1) - 0.5, -0.5))
    whole = {"steps": [1, 2, 5, 10], "integer": True, "min_n_ticks": 1}
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(MaxNLocator("auto", **whole))
    axis.set_xlabel(f"target neuron ({connections.target})")
    axis.set_ylabel(f"source neuron ({connections.source})")
    return finish(figure)


class _Binned(NamedTuple):
    """Values of bins of neurons (rows, columns), nan if there is none, and their edges."""

    values: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


def _binned(c: Any, values: str, bins: int) -> _Binned:
    """Bins with equally many neurons, except that the last one may be smaller."""
    edges = [np.append(np.arange(0, n, max(1, -(-n // bins))), n) for n in c.shape]
    rows, columns = (np.diff(e) for e in edges)
    shape = rows.size, columns.size
    if 0 in c.shape:
        return _Binned(np.zeros(shape), *edges)
    block = (c.pre // rows[0]) * columns.size + c.post // columns[0]
    count = np.bincount(block, minlength=rows.size * columns.size).reshape(shape)
    if values == "synapses":
        total = count.astype(np.float64)
    else:
        weights = np.asarray(getattr(c, values), np.float64)
        total = np.bincount(block, weights, minlength=count.size).reshape(shape)
    pairs = np.outer(rows, columns)
    single = pairs.max() == 1
    mean = values == "delay" or (values == "weight" and not single)
    total = total / (np.maximum(count, 1) if mean else pairs)
    absent = (count == 0) & (mean or single)
    return _Binned(np.where(absent, np.nan, total), *edges)


def _draw_colours(figure: "Figure", axis: "Axes", binned: _Binned, values: str, label: str) -> None:
    """A colour per bin and a colour bar: symmetric for weights, from 0 for synapses."""
    signed = values == "weight"
    low, high = limits(binned.values, None, signed)
    axis.set_facecolor(ABSENT)
    drawn = axis.pcolormesh(
        binned.columns - 0.5,
        binned.rows - 0.5,
        binned.values,
        cmap=DIVERGING if signed else SEQUENTIAL,
        vmin=0.0 if values == "synapses" else low,
        vmax=high,
        rasterized=True,
    )
    colour_bar(figure, drawn, axis, label)


def _label(values: str, unit: str, single: bool) -> str:
    if values == "synapses":
        return "synapses per pair"
    unit = "ms" if values == "delay" else unit or "unit of the synapse"
    return f"{'' if single else 'mean '}{values} ({unit})"
