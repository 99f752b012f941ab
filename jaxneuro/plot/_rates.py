"""Rates of the populations over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..analysis import population_rate
from ._select import chosen, spikes_between, window
from ._style import COLUMN, colour, finish, legend, new_figure, open_box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def rates(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    bin_ms: float = 5.0,
    size: Sequence[float] = COLUMN,
) -> "Figure":
    """Rates of the populations in bins of `bin_ms`, over time, with their means.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    shown; `size` (width, height) [inches]. A bin is `(t, t + bin_ms]` and drawn at its middle.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, `stop` that is not after `start`,
    a bin that is not above 0, or spikes that were not recorded; `ImportError` without matplotlib.

    **Source** Gerstner et al. (2014), eq. 7.11, doi:10.1017/CBO9781107447615.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    figure = new_figure(size)
    axis = figure.subplots()
    draw_rates(axis, result, names, first, last, bin_ms)
    return finish(figure)


def draw_rates(
    axis: "Axes",
    result: Any,
    names: list[str],
    first: float,
    last: float,
    bin_ms: float,
    rows: int | None = None,
) -> None:
    """Draws one line per population and a legend above the axis, unless it exceeds `rows`."""
    for number, name in enumerate(names):
        n = result.populations[name]
        times, _ = spikes_between(result, name, first, last)
        at, rate = population_rate(times, n, last, bin_ms, first)
        mean = times.size / max(n, 1) / (last - first) * 1e3
        label = f"{name}, {mean:.1f} Hz"
        axis.plot(at + bin_ms / 2, rate, color=colour(number), lw=0.9, label=label)
    axis.set(xlim=(first, last), xlabel="time (ms)", ylabel="rate (Hz)")
    axis.set_ylim(bottom=0)
    open_box(axis)
    legend(axis, rows)
