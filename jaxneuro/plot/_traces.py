"""State variables of some neurons over time, with their spikes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import spec
from .._numerics.windows import NEAR_MS, run_window
from .._run.result import Result
from ..analysis._source import only
from ..spec import InvalidValueError
from ._style import (
    COLUMN,
    PAGE,
    SMALL,
    TEXT,
    axes_for,
    colour,
    empty_figure,
    finish,
    legend,
    new_figure,
    one_run,
    open_box,
    say,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LABELS = {
    "v": "membrane potential (mV)",
    "v_th": "threshold (mV)",
    "theta": "threshold (mV)",
    "w": "adaptation current (pA)",
    "g": "conductance (nS)",
    "current": "current (pA)",
    "spikes": "spike",
}


class RecordedTraces(NamedTuple):
    """Traces of some neurons.

    Attributes:
        times: (samples,) [ms].
        values: (samples, k).
        neurons: their k numbers.
    """

    times: np.ndarray
    values: np.ndarray
    neurons: list[int]


def label_of(variable: str) -> str:
    """A variable with its unit, if its name is known."""
    return _LABELS.get(variable, f"{variable} (unit of the model)")


def recorded_traces(
    result: Result,
    name: str,
    variable: str,
    neurons: int | Sequence[int],
    first: float,
    last: float,
) -> RecordedTraces:
    """Traces of the wanted neurons between two times, or `ValueError`."""
    values = result.traces[name][variable]  # of a run on disk not yet read
    known = np.asarray(result.neurons.get(name, np.arange(values.shape[1])))
    if isinstance(neurons, int | np.integer):
        wanted = known[: spec.check("traces", "neurons", spec.Whole(at_least=1), neurons)]
    else:
        wanted = spec.array_of(neurons)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise InvalidValueError(
                "traces",
                "neurons",
                "how many, or the whole numbers of some, such as [0, 3]",
                repr(neurons),
            )
    if wanted.size == 0:
        must = f"at least one of the {known.size} that were recorded"
        raise InvalidValueError("traces", "neurons", must, "none")
    column = {int(number): k for k, number in enumerate(known)}
    for number in wanted:
        if int(number) not in column:
            raise InvalidValueError(
                "traces",
                "neurons",
                f"one of the {known.size} of {name!r} that were recorded",
                str(number),
            )
    times = np.asarray(result.sample_times)
    ends = np.searchsorted(times, [first - NEAR_MS, last + NEAR_MS])
    rows = slice(int(ends[0]), int(ends[1]))
    columns = [column[int(number)] for number in wanted]
    return RecordedTraces(times[rows], values[rows, columns], [int(k) for k in wanted])


_ABOVE = 0.6  # height of a spike's tick above the highest value, relative to the range


@spec.arguments()
def traces(
    source: Any,
    name: str | None = None,
    variable: str = "v",
    *,
    neurons: int | Sequence[int] = 5,
    spikes: bool = True,
    peak: float | None = None,
    overlay: bool = False,
    start: float | None = None,
    stop: float | None = None,
    label: str | None = None,
    size: Sequence[float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """A recorded variable of some neurons over time, one panel each or all in one.

    `source` a run with `record=Record(variables={name: variable})`; `name` the
    population, or the projection whose receptor was recorded; `neurons` which ones, or how many
    of the first that were recorded. `spikes` draws, if v of a population is shown, a tick at each
    spike from v (recorded before the reset) up to `peak` [mV], by default well above the highest v
    shown. `overlay` draws all into one panel, as `ax` needs for several neurons; `start`, `stop`
    [ms] the part shown; `label` of the axis with its unit, by default from the name of the
    variable; `size` (width, height) [inches], by default two columns of a paper wide and as high as
    needed; `size=(3.3, 1 + 0.7 * panels)` gives one column.

    Returns:
        a matplotlib `Figure`, which a notebook shows: a new one, or that of the axes `ax`.

    Raises:
        InvalidValueError: for a name, variable or neuron that was not recorded, no neuron, a part
            empty or outside the run, a peak that is not finite, or, with `spikes`, spikes that were
            not recorded; `ImportError` without matplotlib.
    """
    result = spec.check("traces", "the source", spec.Of(Result), one_run(source))
    name = only("recorded population or projection", name, result.traces)
    first, last = run_window(result.start, result.stop, start, stop)
    if not result.n_steps or not any(result.populations.values()):
        why = "no neurons" if result.n_steps else "no time steps were run"
        return empty_figure(why, COLUMN if size is None else size, ax)
    shown = recorded_traces(result, name, variable, neurons, first, last)
    if peak is not None:
        spec.check("traces", "peak", spec.Numbers("mV"), peak)
    ticked = spikes and variable == "v" and name in result.populations
    rows = 1 if overlay else len(shown.neurons)
    if ax is not None and rows > 1:
        must = "left out for several neurons, which have a panel each (or give overlay=True)"
        raise InvalidValueError("traces", "ax", must, f"axes for {rows} neurons")
    size = (PAGE[0], 1.0 + 0.7 * max(rows, 2)) if size is None else size
    if ax is not None:
        axes = np.array([axes_for(ax, size)])
    else:
        axes = new_figure(size).subplots(rows, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    panels = np.broadcast_to(axes, len(shown.neurons))
    for number, (axis, neuron) in enumerate(zip(panels, shown.neurons)):
        look = {"color": colour(number if overlay else 0), "lw": 0.8}
        axis.plot(shown.times, shown.values[:, number], label=f"{name}, neuron {neuron}", **look)
        if not overlay:
            axis.set_title(f"{name}, neuron {neuron}", loc="right", fontsize=SMALL, pad=2.0)
    if ticked:
        _draw_spikes(panels, shown, result.events(name, start, stop), peak, overlay)
    for axis in axes:
        open_box(axis)
        if not shown.times.size:
            say(axis, "no samples")
    if overlay:
        legend(axes[0])
    axes[-1].set(xlim=(first, last), xlabel="time (ms)")
    ylabel = label or label_of(variable)
    if ax is None:
        axes[0].figure.supylabel(ylabel, fontsize=TEXT)
    else:
        ax.set_ylabel(ylabel)
    return finish(axes[0].figure, ax)


def _draw_spikes(
    panels: np.ndarray,
    shown: RecordedTraces,
    events: tuple[np.ndarray, np.ndarray],
    peak: float | None,
    overlay: bool,
) -> None:
    """A tick at each spike, from v to the peak."""
    known = shown.values[np.isfinite(shown.values)]
    if not known.size:
        return
    top = float(known.max() + _ABOVE * max(np.ptp(known), 1.0)) if peak is None else peak
    times, who = events
    for number, (axis, neuron) in enumerate(zip(panels, shown.neurons)):
        at = times[who == neuron]
        if at.size:
            v = np.interp(at, shown.times, shown.values[:, number])
            tint = colour(number if overlay else 0)
            axis.vlines(at, v, np.maximum(v, top), color=tint, lw=0.8)
