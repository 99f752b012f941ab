"""Power spectra of the populations' rates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import analysis
from .._checks import names_checked
from ._panels import empty_figure, finish_panels, nothing, population_panels, say
from ._select import chosen, spikes_between, window
from ._style import COLUMN, colour, few_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@names_checked()
def power_spectrum(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    bin_ms: float = 1.0,
    segment_ms: float = 1000.0,
    start: float | None = None,
    stop: float | None = None,
    size: Sequence[float] | None = None,
) -> "Figure":
    """Power spectral density of the populations' rates, on logarithmic axes.

    `result` of `simulate`; `populations` names (default all); `bin_ms` the bin of the rates, so
    that frequencies go up to `500 / bin_ms` Hz; `segment_ms` the length of the segments whose
    spectra are averaged, so that they are `1000 / segment_ms` Hz apart; `start`, `stop` [ms] the
    part counted, without the last bins that do not fill a segment; `size` (width, height)
    [inches]; by default more than 4 populations have a panel each in a higher figure. Frequency 0
    is not shown.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a part empty or outside the run,
    a bin that is not above 0, fewer than 4 bins in a segment or in all, or spikes that were
    not recorded; `ImportError` without matplotlib.

    **Source** Welch (1967), doi:10.1109/TAU.1967.1161901.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size or COLUMN)
    figure, axes = population_panels(names, size)
    found = np.zeros(len(names), bool)
    for number, (axis, name) in enumerate(zip(axes, names)):
        times, _ = spikes_between(result, name, first, last)
        n = result.populations[name]
        _, rate = analysis.population_rate(times, n, last, bin_ms, first)
        at, density = analysis.power_spectrum(rate, bin_ms, segment_ms)
        axis.plot(at[1:], density[1:], color=colour(number), lw=0.9, label=name)
        axis.set_xlim(at[1], max(at[-1], 2 * at[1]))
        found[number] = (density[1:] > 0).any()
    for axis in dict.fromkeys(axes):
        axis.set(xscale="log", yscale="log" if found.any() else "linear")
        few_ticks(axis.xaxis)
        if not any(seen for mine, seen in zip(axes, found) if mine is axis):
            say(axis, "no spikes")
        if not found.any():
            axis.set_ylim(0.0, 1.0)
    power = "power of the rate (Hz\u00b2/Hz)"
    return finish_panels(figure, axes, names, "frequency (Hz)", power)
