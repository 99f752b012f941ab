"""Distribution of the irregularity of the spikes of neurons."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_count
from ..analysis import interval_cvs
from ._histogram import draw_histograms, edges_from_zero
from ._select import chosen, spikes_between, window
from ._style import COLUMN, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cv_histogram(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    at_least: int = 3,
    bins: int = 30,
    size: Sequence[float] = COLUMN,
) -> "Figure":
    """Distribution of the CVs of the neurons' inter-spike intervals, with their mean.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    counted; neurons with fewer than `at_least` spikes are left out; `bins` number of bins; `size`
    (width, height) [inches]. 0 for a clock, 1 for a Poisson process.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, `stop` that is not after `start`,
    `at_least` below 2, `bins` below 1, or spikes that were not recorded; `ImportError` without
    matplotlib.

    **Source** Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    check_count("cv_histogram: bins", bins, at_least=1)
    values = {}
    for name in names:
        times, neurons = spikes_between(result, name, first, last)
        cvs = interval_cvs(times, neurons, result.populations[name], at_least)
        values[name] = cvs[~np.isnan(cvs)]
    figure = new_figure(size)
    axis = figure.subplots()
    draw_histograms(axis, values, edges_from_zero(values, bins, None), "", "neurons")
    axis.set_xlabel("CV of inter-spike intervals")
    return finish(figure)
