"""The recorded traces of some neurons, and the label of a variable on an axis."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._checks import check_count
from .._numerics import NEAR_MS
from ._select import check_recorded

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

    **Fields** `times` (samples,) [ms]; `values` (samples, k); `neurons` their k numbers.
    """

    times: np.ndarray
    values: np.ndarray
    neurons: list[int]


def label_of(variable: str) -> str:
    """A variable with its unit, if its name is known."""
    return _LABELS.get(variable, f"{variable} (unit of the model)")


def recorded_traces(
    result: Any,
    name: str,
    variable: str,
    neurons: int | Sequence[int],
    first: float,
    last: float,
) -> RecordedTraces:
    """Traces of the wanted neurons between two times, or `ValueError`."""
    check_recorded("recorded population or projection", name, result.traces)
    check_recorded(f"recorded variable of {name!r}", variable, result.traces[name])
    values = np.asarray(result.traces[name][variable])
    known = np.asarray(result.neurons.get(name, np.arange(values.shape[1])))
    if isinstance(neurons, int | np.integer):
        wanted = known[: check_count("traces: neurons", neurons, at_least=1)]
    else:
        wanted = np.asarray(neurons)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise ValueError(
                "traces: neurons must be how many, or the whole numbers of some, such as [0, 3]; "
                f"got {neurons!r}"
            )
    if wanted.size == 0:
        raise ValueError(f"traces: at least one neuron must be shown; {known.size} were recorded")
    column = {int(number): k for k, number in enumerate(known)}
    for number in wanted:
        if int(number) not in column:
            raise ValueError(
                f"traces: neurons must have been recorded; got {number}, and of {name!r} there "
                f"are {known.size}: {', '.join(str(k) for k in known[:10])}"
                f"{', ...' if known.size > 10 else ''}"
            )
    times = np.asarray(result.sample_times)
    inside = (times >= first - NEAR_MS) & (times <= last + NEAR_MS)
    columns = [column[int(number)] for number in wanted]
    return RecordedTraces(times[inside], values[inside][:, columns], [int(k) for k in wanted])
