"""The connections of a projection: matrix, degrees, weights and delays, fibres."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import spec
from ..spec import InvalidValueError, check_known
from ._histograms import draw_histograms
from ._style import (
    ABSENT,
    COLUMN,
    DIVERGING,
    PAGE,
    SEQUENTIAL,
    SMALL,
    axes_for,
    check_given,
    colour,
    colour_bar,
    finish,
    inches_of,
    limits,
    new_figure,
    say,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_VALUES = ("synapses", "weight", "delay")


@spec.arguments(dots=spec.Whole(at_least=1), bins=spec.Whole(at_least=1))
def connectivity(
    connections: Any,
    values: str = "synapses",
    *,
    unit: str = "",
    dots: int = 200,
    bins: int = 100,
    size: Sequence[float] = (COLUMN[0], 2.7),
    ax: "Axes | None" = None,
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

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for what are no connections, unknown `values`, `dots` or `bins` below 1;
            `ImportError` without matplotlib.
    """
    check_given("connections", connections)
    check_known("value of connections", values, _VALUES)
    axis = axes_for(ax, size)
    from matplotlib.ticker import MaxNLocator

    rows, columns = connections.shape
    each = max(rows, columns) <= dots
    binned = _binned(connections, values, max(rows, columns, 1) if each else bins)
    if each and values == "synapses" and not (binned.values > 1).any():
        # As wide as a neuron is on the axis, within limits.
        points = min(max(58.0 * min(inches_of(axis)) / max(rows, columns, 1), 0.8), 6.0)
        axis.plot(connections.post, connections.pre, "s", color=colour(0), ms=points, mew=0)
    elif binned.values.size:
        single = np.diff(binned.rows).max() == np.diff(binned.columns).max() == 1
        _draw_colours(axis, binned, values, _label(values, unit, single))
    if not len(connections.pre):
        say(axis, "no synapses")
    axis.set(xlim=(-0.5, max(columns, 1) - 0.5), ylim=(max(rows, 1) - 0.5, -0.5))
    whole = {"steps": [1, 2, 5, 10], "integer": True, "min_n_ticks": 1}
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(MaxNLocator("auto", **whole))
    axis.set_xlabel(f"target neuron ({connections.target})")
    axis.set_ylabel(f"source neuron ({connections.source})")
    return finish(axis.figure, ax)


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


def _draw_colours(axis: "Axes", binned: _Binned, values: str, label: str) -> None:
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
    colour_bar(drawn, axis, label)


def _label(values: str, unit: str, single: bool) -> str:
    if values == "synapses":
        return "synapses per pair"
    unit = "ms" if values == "delay" else unit or "unit of the synapse"
    return f"{'' if single else 'mean '}{values} ({unit})"


_BESIDE = 5.0  # inches of width needed for two panels side by side


@spec.arguments(bins=spec.Whole(at_least=1))
def degrees(
    connections: Any, *, bins: int = 40, size: Sequence[float] = (PAGE[0], 2.4)
) -> "Figure":
    """In-degrees of the target neurons (first) and out-degrees of the source neurons (second).

    `connections` of `net.connections(name)`; at most `bins` bins, each of equally many whole
    numbers; `size` (width, height) [inches], two columns of a paper by default;
    `size=(3.3, 4.0)` gives one column, with one panel above the other. A pair that is connected
    twice counts twice.

    Returns:
        a matplotlib `Figure`, which a notebook shows.

    Raises:
        InvalidValueError: for what are no connections, `bins` below 1; `ImportError` without
            matplotlib.
    """
    check_given("connections", connections)
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


@spec.arguments(bins=spec.Whole(at_least=1))
def weight_histogram(
    connections: Any,
    *,
    unit: str = "",
    bins: int = 40,
    size: Sequence[float] = COLUMN,
    ax: "Axes | None" = None,
) -> "Figure":
    """Distribution of the weights of the synapses, with their mean.

    `connections` of `net.connections(name)`; `unit` of the weight ("pA", "nS", "mV"); `bins`
    number of bins; `size` (width, height) [inches].

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for what are no connections, `bins` below 1; `ImportError` without
            matplotlib.
    """
    check_given("connections", connections)
    weights = np.asarray(connections.weight, np.float64)
    label = f"weight ({unit or 'unit of the synapse'})"
    return _synapses(connections, weights, label, unit, bins, size, ax)


@spec.arguments()
def delay_histogram(
    connections: Any,
    *,
    bins: int = 40,
    size: Sequence[float] = COLUMN,
    ax: "Axes | None" = None,
) -> "Figure":
    """Distribution of the delays of the synapses [ms], with their mean.

    `connections` of `net.connections(name)`; `bins` number of bins; `size` (width, height)
    [inches].

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for what are no connections, `bins` below 1; `ImportError` without
            matplotlib.
    """
    check_given("connections", connections)
    delays = np.asarray(connections.delay, np.float64)
    edges = _grid_edges(delays, bins)
    return _synapses(connections, delays, "delay (ms)", "ms", edges, size, ax)


def _grid_edges(delays: np.ndarray, bins: int) -> np.ndarray | int:
    """Edges between time steps, with equally many steps in every bin."""
    spec.check("", "bins", spec.Whole(at_least=1), bins)
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
    ax: "Axes | None",
) -> "Figure":
    axis = axes_for(ax, size)
    name = f"{connections.source} to {connections.target}"
    edges = _edges(values, bins)
    draw_histograms(axis, {name: values}, edges, unit, "synapses")
    axis.set_xlabel(label)
    if not values.size:
        say(axis, "no synapses")
        axis.set_ylim(0.0, 1.0)
    return finish(axis.figure, ax)


def _edges(values: np.ndarray, bins: np.ndarray | int) -> np.ndarray:
    """Edges over the range of the values; of equal ones half as much on each side of a bin."""
    if isinstance(bins, int) and values.size and not np.ptp(values):
        half = 0.5 * abs(values[0]) or 0.5
        return np.linspace(values[0] - half, values[0] + half, (bins | 1) + 1)
    return np.histogram_bin_edges(values, bins)


_NODE = 0.17  # radius of an area; the ring of areas has radius 1
_IDLE = "#CFCFCF"


@spec.arguments()
def fibres(
    brain: Any, active: Any = None, *, size: Sequence[float] = (4.2, 4.2), ax: "Axes | None" = None
) -> "Figure":
    """Areas as discs, stimuli as squares, and fibres as arrows between them.

    `brain` a `jn.assemblies.Brain`; `active` bool (F,) of `brain.active`, or (rounds, F): the more
    rounds a fibre is active in, the thicker its arrow, and one that never is stays grey (default:
    all are equal); `size` (width, height) [inches]. An area with fibres from or to most others
    stands in the middle.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for what is no brain, an `active` of another shape; `ImportError` without
            matplotlib.
    """
    check_given("brain", brain)
    share = _share(brain, active)
    axis = axes_for(ax, size)
    names = [*(x.name for x in brain.areas), *(x.name for x in brain.stimuli)]
    ends = [(fibre.source, fibre.target) for fibre in brain.fibres]
    places = _places(names, ends)
    # The thick ones on top.
    for number in np.argsort(share, kind="stable"):
        source, target = ends[number]
        shade = colour(0) if share[number] > 0 else _IDLE
        width = 0.9 if active is None else 0.6 + 1.4 * float(share[number])
        if source == target:
            _loop(axis, places[source], shade, width)
        else:
            curved = (target, source) in ends
            _arrow(axis, places[source], places[target], shade, width, curved)
    stimuli = {x.name for x in brain.stimuli}
    for name, place in places.items():
        _node(axis, name, place, name in stimuli)
    axis.set(xlim=(-1.36, 1.36), ylim=(-1.36, 1.36), aspect="equal")
    axis.set_axis_off()
    return finish(axis.figure, ax)


def _share(brain: Any, active: Any) -> np.ndarray:
    """In which share of the rounds each fibre is active: (F,)."""
    count = len(brain.fibres)
    if active is None:
        return np.ones(count)
    given = np.asarray(active)
    if given.dtype != bool or given.ndim not in (1, 2) or given.shape[-1] != count:
        raise InvalidValueError(
            "fibres",
            "active",
            f"bool ({count},) or (rounds, {count}), from brain.active(...)",
            f"{given.dtype} {given.shape}",
        )
    share = given.reshape(-1, count).mean(axis=0)
    return share / max(share.max(), 1e-12)


def _places(names: list[str], ends: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Where each node stands: on a ring, one that is joined to most others in its middle."""
    joined = {name: {x for end in ends if name in end for x in end} - {name} for name in names}
    hub = max(names, key=lambda name: len(joined[name]))
    middle = len(names) > 4 and 3 * len(joined[hub]) >= 2 * (len(names) - 1)
    ring = [name for name in names if not (middle and name == hub)]
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(ring)) / max(len(ring), 1)
    places = {name: np.array([np.cos(a), np.sin(a)]) for name, a in zip(ring, angle)}
    if len(names) == 1:
        return {names[0]: np.zeros(2)}
    return {hub: np.zeros(2), **places} if middle else places


def _node(axis: "Axes", name: str, place: np.ndarray, square: bool) -> None:
    from matplotlib.patches import Circle, Rectangle

    look: dict[str, Any] = {"facecolor": "white", "edgecolor": "black", "lw": 0.8, "zorder": 3}
    corner = (place[0] - _NODE, place[1] - _NODE)
    side = 2 * _NODE
    disc = Circle((place[0], place[1]), _NODE, **look)
    axis.add_patch(Rectangle(corner, side, side, **look) if square else disc)
    text = name.replace("_", "\n") if len(name) > 7 else name
    longest = max(len(line) for line in text.split("\n"))
    axis.text(
        float(place[0]),
        float(place[1]),
        text,
        ha="center",
        va="center",
        fontsize=min(SMALL, 56 / max(longest, 8)),
        linespacing=0.95,
        zorder=4,
    )


def _arrow(
    axis: "Axes", start: np.ndarray, end: np.ndarray, shade: str, width: float, curved: bool
) -> None:
    along = (end - start) / np.linalg.norm(end - start)
    # To the side, so that the two directions of a pair lie beside each other.
    aside = 0.045 * np.array([along[1], -along[0]]) if curved else np.zeros(2)
    start, end = start + _NODE * along + aside, end - (_NODE + 0.01) * along + aside
    _draw(axis, start, end, 0.08 if curved else 0.0, shade, width)


def _loop(axis: "Axes", place: np.ndarray, shade: str, width: float) -> None:
    """The fibre of an area onto itself: outside of the ring."""
    far = np.linalg.norm(place)
    out = place / far if far > 0 else np.array([0.0, -1.0])
    across = np.array([-out[1], out[0]])
    start = place + _NODE * (0.8 * out + 0.6 * across)
    end = place + _NODE * (0.8 * out - 0.6 * across)
    _draw(axis, start, end, -1.6, shade, width)


def _draw(
    axis: "Axes", start: np.ndarray, end: np.ndarray, bend: float, shade: str, width: float
) -> None:
    from matplotlib.patches import FancyArrowPatch

    axis.add_patch(
        FancyArrowPatch(
            (float(start[0]), float(start[1])),
            (float(end[0]), float(end[1])),
            arrowstyle="-|>,head_length=3.4,head_width=1.7",
            connectionstyle=f"arc3,rad={bend}",
            color=shade,
            lw=width,
            mutation_scale=1.0 + 0.25 * width,
            shrinkA=0,
            shrinkB=0,
            zorder=2 if shade != _IDLE else 1,
        )
    )
