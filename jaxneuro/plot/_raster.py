"""Raster of spikes over the rates of the populations."""

from collections.abc import Sequence
from typing import Any

from ..analysis import population_rate

_COLOURS = ("#1f4e9c", "#b5312a", "#2e7d4f", "#8a5a00", "#6a3d9a", "#3f3f3f")


def raster(
    result: Any,
    populations: Sequence[str] | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
    neurons: int = 400,
    bin_ms: float = 2.0,
) -> Any:
    """Spikes of some neurons of each population, over the populations' rates.

    `populations` names (default all); `start`, `stop` [ms] the part shown; `neurons` at most
    so many in all, spread over the populations by size; `bin_ms` the bin of the rates.
    Returns a matplotlib `Figure`; it is not shown.

    **Raises** `ValueError` for an unknown population, or `ImportError` without matplotlib.

    **Source** the house's own.
    """
    from matplotlib.figure import Figure

    net = result.network
    names = list(net.populations) if populations is None else list(populations)
    first = result.start if start is None else start
    last = result.start + result.duration if stop is None else stop
    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 1.0))
    total = sum(net.population(name)[1].stop - net.population(name)[1].start for name in names)
    base, ticks = 0.0, []
    for number, name in enumerate(names):
        n = net.populations[name]
        shown = min(n, max(1, round(neurons * n / max(total, 1)))) if n else 0
        colour = _COLOURS[number % len(_COLOURS)]
        times, who = result.events(name)
        inside = (times > first) & (times <= last)
        times, who = times[inside], who[inside]
        dots = who < shown
        top.plot(times[dots], base + who[dots] + 0.5, "|", ms=1.8, mew=0.6, color=colour)
        ticks.append((base + shown / 2, f"{name}\n{shown} of {n:,}"))
        base += shown
        at, rate = population_rate(times, n, last, bin_ms, first)
        mean = times.size / max(n, 1) / max(last - first, 1e-9) * 1e3
        bottom.plot(at + bin_ms / 2, rate, color=colour, lw=0.9, label=f"{name}, {mean:.1f} Hz")
    top.set(ylim=(0, max(base, 1)), ylabel="neurons")
    top.set_yticks([t for t, _ in ticks], [label for _, label in ticks])
    bottom.set(xlim=(first, last), xlabel="time (ms)", ylabel="rate (Hz)")
    bottom.set_ylim(bottom=0)
    if names:
        bottom.legend(frameon=False, ncols=min(4, len(names)), fontsize=8, loc="upper right")
    for axis in (top, bottom):
        axis.spines[["top", "right"]].set_visible(False)
    return figure
