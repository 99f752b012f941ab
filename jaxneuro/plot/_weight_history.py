"""How the weights of a plastic projection are distributed over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_bounds, names_checked
from .._numerics import NEAR_MS
from ._given import check_given, numbers
from ._panels import empty_figure, say
from ._select import check_recorded, window
from ._style import (
    COLUMN,
    SEQUENTIAL,
    colour,
    colour_bar,
    finish,
    legend,
    limits,
    new_figure,
    open_box,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@names_checked()
def weight_history(
    result: Any,
    name: str,
    *,
    times: Sequence[float] | None = None,
    start: float | None = None,
    stop: float | None = None,
    scale: Sequence[float] | None = None,
    unit: str = "",
    size: Sequence[float] = COLUMN,
) -> "Figure":
    """Distribution of the weights of a plastic projection: over time, or at some times.

    `result` of `simulate` with `record=Record(weight_histograms={name: ...})`; `times` [ms] None
    for an image, time from left to right and weights upwards, or the times of which the nearest
    samples are shown as lines; `start`, `stop` [ms] the part shown; `scale` (low, high) share [%]
    at the ends of the colours, by default from 0 to the highest; `unit` of the weight ("pA", "nS",
    "mV"); `size` (width, height) [inches]. Shares are of all synapses, per bin. A column of
    the image reaches halfway to the samples before and after it. The outermost bins hold what is
    outside too; a figure in which one of them has all weights says so.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for a projection without histograms, no sample between `start` and
    `stop`, `times` that are none or not finite, a scale that is not (low, high), or a part
    empty or outside the run; `ImportError` without matplotlib.
    """
    check_given("result", result)
    check_recorded("projection with recorded histograms", name, result.weight_histograms)
    first, last = window(result, start, stop)
    if not last > first:
        return empty_figure("no time steps were run", size)
    at = np.asarray(result.sample_times)
    inside = (at >= first - NEAR_MS) & (at <= last + NEAR_MS)
    if not inside.any():
        raise ValueError(
            f"weight_history: a sample of {name!r} must be between {first:g} and {last:g} ms; "
            "there is none. Record more often (every=) or run for longer"
        )
    counts = np.asarray(result.weight_histograms[name])[inside]
    # Projections without a synapse have shares of 0.
    share = 100.0 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    edges = np.asarray(result.weight_edges[name], np.float64)
    figure = new_figure(size)
    axis = figure.subplots()
    label = f"weight ({unit or 'unit of the synapse'})"
    if times is None:
        ends = limits(np.array([0.0, share.max()]), scale)
        _draw_image(axis, at[inside], edges, share, ends)
        axis.set(xlim=(first, last), xlabel="time (ms)", ylabel=label)
    else:
        _draw_lines(axis, at[inside], edges, share, times)
        axis.set(xlim=(edges[0], edges[-1]), xlabel=label, ylabel="share of synapses (%)")
    if not counts.any():
        say(axis, "no synapses")
    elif counts.shape[1] > 2 and not counts[:, 1:-1].any():
        ends = [end for end, x in (("lowest", counts[:, 0]), ("highest", counts[:, -1])) if x.any()]
        if len(ends) == 1:
            beyond = f"below {edges[1]:g}" if ends[0] == "lowest" else f"from {edges[-2]:g} on"
            say(axis, f"all weights are in the {ends[0]} bin: {beyond}")
    return finish(figure)


def _draw_image(
    axis: "Axes", at: np.ndarray, edges: np.ndarray, share: np.ndarray, ends: tuple[float, float]
) -> None:
    middles = (at[1:] + at[:-1]) / 2
    half = (at[1] - at[0]) / 2 if at.size > 1 else 0.5
    columns = np.concatenate([[at[0] - half], middles, [at[-1] + half]])
    look = {"cmap": SEQUENTIAL, "vmin": ends[0], "vmax": ends[1]}
    mesh = axis.pcolormesh(columns, edges, share.T, **look)
    mesh.set_rasterized(True)  # a vector of each cell would show gaps
    beyond = bool(share.max() > ends[1] or share.min() < ends[0])
    colour_bar(axis.figure, mesh, axis, "share of synapses (%)", beyond)  # type: ignore[arg-type]


def _draw_lines(
    axis: "Axes", at: np.ndarray, edges: np.ndarray, share: np.ndarray, times: Sequence[float]
) -> None:
    wanted = np.atleast_1d(numbers("weight_history: times", times, "times in ms"))
    check_bounds("weight_history: times", wanted, "ms")
    if wanted.size == 0:
        raise ValueError("weight_history: times must be at least one, or None for an image")
    for number, time in enumerate(wanted):
        row = int(np.abs(at - time).argmin())
        axis.stairs(share[row], edges, color=colour(number), lw=1.0, label=f"{at[row]:g} ms")
    axis.set_ylim(bottom=0)
    open_box(axis)
    legend(axis)
