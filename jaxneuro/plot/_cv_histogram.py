"""Distribution of the irregularity of the spikes of neurons."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import check_count, names_checked
from .._text import counted
from ..analysis import interval_cvs
from ._histogram import edges_from_zero, population_histograms
from ._panels import empty_figure, nothing
from ._select import chosen, spikes_between, window
from ._style import COLUMN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROUNDED = 1e-6  # a CV below is rounding of times
_WIDTH = 0.1  # the least that the axis of a CV shows


@names_checked()
def cv_histogram(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    at_least: int = 3,
    bins: int = 30,
    size: Sequence[float] | None = None,
) -> "Figure":
    """Distribution of the CVs of the neurons' inter-spike intervals, with their mean.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    counted; neurons with fewer than `at_least` spikes are left out; `bins` number of bins; `size`
    (width, height) [inches]; by default more than 4 populations have a panel each in a higher
    figure. 0 for a clock, 1 for a Poisson process.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a part empty or outside the run,
    `at_least` below 2, `bins` below 1, or spikes that were not recorded; `ImportError` without
    matplotlib.

    **Source** Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    check_count("cv_histogram: bins", bins, at_least=1)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size or COLUMN)
    values = {}
    for name in names:
        times, neurons = spikes_between(result, name, first, last)
        cvs = shown_cvs(times, neurons, result.populations[name], at_least)
        values[name] = cvs[~np.isnan(cvs)]
    labels = "", "neurons", "CV of inter-spike intervals"
    empty = f"no neuron with {counted(at_least, 'spike')}"
    edges = edges_from_zero(values, bins, None, _WIDTH)
    return population_histograms(values, edges, labels, size, empty)


def shown_cvs(times: np.ndarray, neurons: np.ndarray, n: int, at_least: int = 3) -> np.ndarray:
    """CVs of the intervals, 0 where they come from the rounding of times only."""
    cvs = interval_cvs(times, neurons, n, at_least)
    return np.where(cvs < _ROUNDED, 0.0, cvs)
