"""Synchrony of a population, from voltages or from spikes."""

import numpy as np

from .._checks import check_bounds
from ._given import arrays_checked
from ._spikes import array_of, begin_of, binned


@arrays_checked
def voltage_synchrony(v: np.ndarray) -> float:
    """Synchrony chi of a population from its membrane potentials.

    `chi^2 = Var_t(mean over neurons of v) / (mean over neurons of Var_t(v))`; returns chi: 1 if all
    neurons move together, about `1 / sqrt(n)` if they are independent, nan if none moves. `v` [mV]
    `(steps, n)`.

    **Raises** `ValueError` unless `v` is a finite array of two dimensions with at least 2 steps
    and a neuron.

    **Source** Golomb and Rinzel (1994), doi:10.1016/0167-2789(94)90214-3.
    """
    values = array_of("v", v).astype(np.float64)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 1:
        raise ValueError(
            "v must be an array (steps, n) of at least 2 steps and a neuron; "
            f"got shape {values.shape}"
        )
    check_bounds("v", values, "mV")
    if not np.ptp(values, axis=0).any():
        return float("nan")
    return float(np.sqrt(values.mean(axis=1).var() / values.var(axis=0).mean()))


@arrays_checked
def count_synchrony(
    times: np.ndarray, stop: float, bin_ms: float = 3.0, start: float | None = None
) -> float:
    """Synchrony of a population from the histogram of its spikes.

    `variance / mean` over the bins `(t, t + bin_ms]` of the number of spikes of all neurons: 1 for
    independent Poisson processes; if neurons are correlated, it grows with their number, so that
    only equal numbers of neurons can be compared. nan without spikes. `times`, `stop`, `bin_ms`,
    `start` (default 0) [ms].

    **Raises** `ValueError` for times that are not finite, a bin that is not above 0, or fewer
    than 2 bins.

    **Source** Potjans and Diesmann (2014), doi:10.1093/cercor/bhs358.
    """
    start = begin_of(start, stop, times)
    counts = binned(times, stop, bin_ms, start)
    if counts.size < 2:
        raise ValueError(
            f"at least 2 bins of {bin_ms} ms must fit from {start} to {stop} ms; got {counts.size}"
        )
    mean = counts.mean()
    return float(counts.var() / mean) if mean else float("nan")
