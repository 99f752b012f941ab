"""Distribution of the rates of neurons."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_count, names_checked
from ..analysis import neuron_rates
from ._histogram import population_histograms
from ._panels import empty_figure, nothing
from ._select import chosen, spikes_between, window
from ._style import COLUMN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@names_checked()
def rate_histogram(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    bins: int = 30,
    size: Sequence[float] | None = None,
) -> "Figure":
    """Distribution of the mean rates of the neurons of each population, with their mean.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    counted; at most `bins` bins; `size` (width, height) [inches]; by default more than 4
    populations have a panel each in a higher figure. A rate is a whole number of spikes over the
    time, so each bin contains equally many such numbers. The first starts at 0 Hz.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a part empty or outside the run,
    `bins` below 1, or spikes that were not recorded; `ImportError` without matplotlib.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    check_count("rate_histogram: bins", bins, at_least=1)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size or COLUMN)
    values = {}
    for name in names:
        times, neurons = spikes_between(result, name, first, last)
        values[name] = neuron_rates(times, neurons, result.populations[name], last, first)
    edges = _edges(values, (last - first) * 1e-3, bins)
    labels = "Hz", "neurons", "rate of a neuron (Hz)"
    return population_histograms(values, edges, labels, size, "no neurons")


def _edges(values: dict[str, np.ndarray], seconds: float, bins: int) -> np.ndarray:
    """Edges between whole numbers of spikes, the same number of them in every bin."""
    # The axis of a silent network reaches one spike too, else its only bin would fill the figure.
    most = max((round(x.max() * seconds) for x in values.values() if x.size), default=0) or 1
    per_bin = -(-(most + 1) // bins)
    count = -(-(most + 1) // per_bin)
    return np.maximum(per_bin * np.arange(count + 1) - 0.5, 0.0) / seconds
