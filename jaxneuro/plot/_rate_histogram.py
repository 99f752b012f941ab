"""Distribution of the rates of neurons."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_count
from ..analysis import neuron_rates
from ._histogram import draw_histograms
from ._select import chosen, spikes_between, window
from ._style import COLUMN, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def rate_histogram(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    bins: int = 30,
    size: Sequence[float] = COLUMN,
) -> "Figure":
    """Distribution of the mean rates of the neurons of each population, with their mean.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    counted; at most `bins` bins; `size` (width, height) [inches]. A rate is a whole number of
    spikes over the time, so each bin contains equally many such numbers. The first starts at 0 Hz.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, `stop` that is not after `start`,
    `bins` below 1, or spikes that were not recorded; `ImportError` without matplotlib.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    check_count("rate_histogram: bins", bins, at_least=1)
    values = {}
    for name in names:
        times, neurons = spikes_between(result, name, first, last)
        values[name] = neuron_rates(times, neurons, result.populations[name], last, first)
    figure = new_figure(size)
    axis = figure.subplots()
    draw_histograms(axis, values, _edges(values, (last - first) * 1e-3, bins), "Hz", "neurons")
    axis.set_xlabel("rate of a neuron (Hz)")
    return finish(figure)


def _edges(values: dict[str, np.ndarray], seconds: float, bins: int) -> np.ndarray:
    """Edges between whole numbers of spikes, the same number of them in every bin."""
    # The axis of a silent network reaches one spike too, else its only bin would fill the figure.
    most = max((round(x.max() * seconds) for x in values.values() if x.size), default=0) or 1
    per_bin = -(-(most + 1) // bins)
    count = -(-(most + 1) // per_bin)
    return np.maximum(per_bin * np.arange(count + 1) - 0.5, 0.0) / seconds
