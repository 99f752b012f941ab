"""Distribution of the inter-spike intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._checks import check_bounds, check_count, names_checked
from ..analysis import intervals
from ._histogram import edges_from_zero, population_histograms
from ._panels import empty_figure, nothing
from ._select import chosen, spikes_between, window
from ._style import COLUMN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@names_checked()
def interval_histogram(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    longest: float | None = None,
    bins: int = 50,
    size: Sequence[float] | None = None,
) -> "Figure":
    """Distribution of the inter-spike intervals of all neurons, on a logarithmic axis.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    counted; `longest` [ms] end of the axis (default: the longest interval); `bins` number of bins;
    `size` (width, height) [inches]; by default more than 4 populations have a panel each in a
    higher figure. The dashed line is the mean. Intervals longer than `longest` still count for the
    mean and for the total of the shares.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a part empty or outside the run,
    `longest` that is not above 0, `bins` below 1, or spikes that were not recorded;
    `ImportError` without matplotlib.

    **Source** Perkel, Gerstein and Moore (1967), doi:10.1016/S0006-3495(67)86596-2.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    check_count("interval_histogram: bins", bins, at_least=1)
    if longest is not None:
        check_bounds("longest", longest, "ms", above=0.0)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size or COLUMN)
    values = {}
    for name in names:
        times, neurons = spikes_between(result, name, first, last)
        values[name] = intervals(times, neurons, result.populations[name])[0]
    edges = edges_from_zero(values, bins, longest)
    labels = "ms", "intervals", "inter-spike interval (ms)"
    # On a logarithmic axis an exponential distribution is a straight line.
    return population_histograms(values, edges, labels, size, "no intervals", logarithmic=True)
