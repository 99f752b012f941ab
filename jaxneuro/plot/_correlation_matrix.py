"""Correlation of the spike counts of pairs of neurons."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import as_number, check_count, names_checked
from ..analysis import count_correlation, spike_counts
from ._panels import empty_figure, nothing, say, widened
from ._raster import spread
from ._select import chosen, spikes_between, window
from ._style import (
    ABSENT,
    COLUMN,
    DIVERGING,
    LINE,
    SMALL,
    colour_bar,
    finish,
    limits,
    new_figure,
    three_digits,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_SIZE = (COLUMN[0], 2.9)
_SHOWN = 0.99  # share of the pairs inside the default scale of the colours


@names_checked()
def correlation_matrix(
    result: Any,
    populations: Sequence[str] | str | None = None,
    *,
    neurons: int = 100,
    at_least: int = 5,
    bin_ms: float = 10.0,
    start: float | None = None,
    stop: float | None = None,
    scale: Sequence[float] | None = None,
    size: Sequence[float] | None = None,
) -> "Figure":
    """Correlation of the spike counts of all pairs of some neurons, with its mean above.

    `result` of `simulate`; `populations` names (default all); at most `neurons` in all, divided
    among the populations by size: the first ones with at least `at_least` spikes (the title says
    how many have fewer and are left out); `bin_ms` the bin of the counts; `start`, `stop` [ms] the
    part counted; `scale` (low, high) of the colours, by default symmetric about 0 with 99 % of the
    pairs inside; `size` (width, height) [inches]. Lines separate the populations. The diagonal and
    pairs without a correlation are grey.

    **Returns** a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population or none, a part empty or outside the run,
    fewer than 2 bins between them, `neurons` below 2, `at_least` below 1, or spikes that
    were not recorded; `ImportError` without matplotlib.

    **Source** Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    names = chosen(result, populations)
    first, last = window(result, start, stop)
    check_count("correlation_matrix: neurons", neurons, at_least=2)
    check_count("correlation_matrix: at_least", at_least, at_least=1)
    total = sum(result.populations[name] for name in names)
    if why := nothing(result, names, first, last):
        return empty_figure(why, size or _SIZE)
    if start is None and stop is None and last - first < 2 * as_number(bin_ms):
        why = (
            f"a run of {last - first:g} ms is too short:\nit needs at least 2 bins of {bin_ms:g} ms"
        )
        return empty_figure(why, size or _SIZE)
    counts, quiet = [], 0
    for name in names:
        n = result.populations[name]
        times, who = spikes_between(result, name, first, last)
        active = np.bincount(who, minlength=n) >= at_least
        quiet += int(n - active.sum())
        few = min(int(active.sum()), max(1, round(n * neurons / max(total, 1))))
        place = np.where(active, np.cumsum(active) - 1, few)[who]
        mine = place < few
        counts.append(spike_counts(times[mine], place[mine], few, last, bin_ms, first))
    mean, matrix = count_correlation(np.concatenate(counts))
    np.fill_diagonal(matrix, np.nan)
    found = "no pair" if np.isnan(mean) else f"mean {three_digits(mean)}"
    title = f"{bin_ms:g} ms bins, {found}"
    if quiet:
        title += f"\nleft out: {quiet:,} of {total:,} neurons, below {at_least} spikes"
    size = widened(size, _SIZE, names)
    return _draw(matrix, title, names, [c.shape[0] for c in counts], scale, size)


def _draw(
    matrix: np.ndarray,
    title: str,
    names: list[str],
    sizes: list[int],
    scale: Sequence[float] | None,
    size: Sequence[float],
) -> "Figure":
    import matplotlib

    figure = new_figure(size)
    axis = figure.subplots()
    known = np.abs(matrix[np.isfinite(matrix)])
    most = float(np.quantile(known, _SHOWN)) if known.size else 0.0
    low, high = (-most, most) if scale is None and most > 0 else limits(matrix, scale, signed=True)
    colour_map = matplotlib.colormaps[DIVERGING].with_extremes(bad=ABSENT)
    shown = matrix if matrix.size else np.full((1, 1), np.nan)
    image = axis.imshow(shown, colour_map, vmin=low, vmax=high, interpolation="nearest")
    borders = np.cumsum([0, *sizes])
    for border in borders[1:-1] - 0.5:
        axis.axhline(border, color="black", lw=LINE)
        axis.axvline(border, color="black", lw=LINE)
    some = [k for k, n in enumerate(sizes) if n]
    middle = [(borders[k] + borders[k + 1] - 1) / 2 for k in some]
    labels = [f"{names[k]} ({sizes[k]})" for k in some]
    room = 1.3 * SMALL * max(sum(sizes), 1) / (0.6 * 72 * min(size))
    # Both axes are the same: the names stand once.
    axis.set_yticks(spread(np.array(middle), room, float(borders[-1])), labels)
    axis.set_xticks([])
    if not known.size:
        say(axis, "no pair")
    axis.set(xlabel="neuron", ylabel="neuron")
    axis.set_title(title)
    axis.tick_params(axis="y", length=0)
    colour_bar(figure, image, axis, "count correlation", known.size > 0 and known.max() > high)
    return finish(figure)
