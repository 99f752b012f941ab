"""Rates of the populations over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import names_checked
from .._numerics import check_time
from ..analysis import population_rate
from ._panels import empty_figure, finish_panels, nothing, population_panels, say
from ._select import chosen, spikes_between, window
from ._style import COLUMN, colour, three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@names_checked()
def rates(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    bin_ms: float = 5.0,
    size: Sequence[float] | None = None,
) -> "Figure":
    """Rates of the populations in bins of `bin_ms`, over time, with their means.

    `result` of `simulate`; `populations` names (default all); `start`, `stop` [ms] the part
    shown; `size` (width, height) [inches]; by default more than 4 populations have a panel each in
    a higher figure. A bin is `(t, t + bin_ms]` and drawn at its middle.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a part empty or outside the run,
    a bin that is not above 0, or spikes that were not recorded; `ImportError` without matplotlib.

    **Source** Gerstner et al. (2014), eq. 7.11, doi:10.1017/CBO9781107447615.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size or COLUMN)
    figure, axes = population_panels(names, size)
    labels = draw_rates(axes, result, names, first, last, bin_ms)
    return finish_panels(figure, axes, labels, "time (ms)", "rate (Hz)")


def draw_rates(
    axes: Sequence["Axes"], result: Any, names: list[str], first: float, last: float, bin_ms: float
) -> list[str]:
    """Draws the rate of each population into its panel; returns their labels."""
    labels, most = [], 0.0
    for number, (axis, name) in enumerate(zip(axes, names)):
        n = result.populations[name]
        times, _ = spikes_between(result, name, first, last)
        at, rate = rates_between(times, n, first, last, bin_ms)
        mean = times.size / max(n, 1) / (last - first) * 1e3
        labels.append(f"{name}, {three_digits(mean)} Hz")
        axis.plot(at + bin_ms / 2, rate, color=colour(number), lw=0.9, label=labels[-1])
        most = max(most, float(rate.max(initial=0.0)))
    # All at once: panels that share an axis would keep the range of the first.
    for axis in dict.fromkeys(axes):
        axis.set(xlim=(first, last), ylim=(0.0, 1.05 * most or 1.0))
        if not most:
            say(axis, why_no_rate(first, last, bin_ms))
    return labels


def rates_between(
    times: np.ndarray, n: int, first: float, last: float, bin_ms: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bins and rates of a part of a run, none where it is shorter than a bin."""
    check_time("bin_ms", bin_ms)
    if bin_ms > last - first:
        return np.zeros(0), np.zeros(0)
    return population_rate(times, n, last, bin_ms, first)


def why_no_rate(first: float, last: float, bin_ms: float) -> str:
    """What an empty panel of rates says."""
    return "no spikes" if bin_ms <= last - first else f"shorter than a bin of {bin_ms:g} ms"
