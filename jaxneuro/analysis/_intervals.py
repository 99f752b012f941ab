"""Statistics of inter-spike intervals and rates."""

import numpy as np


def interval_cv(times: np.ndarray, neurons: np.ndarray, n: int, at_least: int = 3) -> float:
    """Mean over neurons of the CV of their inter-spike intervals.

    `CV = sd / mean` of the intervals of one neuron; neurons with fewer than `at_least`
    spikes are left out; nan where none is left. `times` [ms], `neurons` indices below `n`.

    **Raises** `ValueError` for arrays of different lengths, indices outside `0 ... n - 1`, an
    `at_least` below 2 (there is no interval), or a neuron whose intervals are all 0.

    **Source** Softky and Koch (1993), doi:10.1523/JNEUROSCI.13-01-00334.1993.
    """
    times, neurons = _events(times, neurons, n)
    if at_least < 2:
        raise ValueError(f"interval_cv: at_least must be at least 2 spikes; got {at_least}")
    order = np.lexsort((times, neurons))
    owner, ordered = neurons[order], times[order]
    same = owner[1:] == owner[:-1]
    gaps, owner = np.diff(ordered)[same], owner[1:][same]
    count = np.bincount(owner, minlength=n)
    enough = count >= at_least - 1
    if not enough.any():
        return float("nan")
    mean = np.bincount(owner, gaps, minlength=n)[enough] / count[enough]
    if not (mean > 0).all():
        raise ValueError(
            "interval_cv: a neuron spikes once at a time; got a neuron whose spikes all have one "
            f"time: neuron {np.flatnonzero(enough)[mean <= 0][0]}"
        )
    spread = np.zeros(n)
    spread[enough] = mean
    variance = np.bincount(owner, (gaps - spread[owner]) ** 2, minlength=n)[enough]
    return float(np.mean(np.sqrt(variance / count[enough]) / mean))


def population_rate(
    times: np.ndarray, n: int, stop: float, bin_ms: float = 1.0, start: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Rate of a population in bins: (bin starts [ms], rate [Hz]).

    `rate = spikes in the bin / (n bin)`. Bins are `(t, t + bin_ms]`, so that a spike at the
    end of a time step counts in the bin of that step. Only whole bins up to `stop` are given.

    **Raises** `ValueError` for a bin that is not above 0, or `stop` before `start`.

    **Source** Gerstner et al. (2014), eq. 7.11, doi:10.1017/CBO9781107447615.
    """
    if not bin_ms > 0:
        raise ValueError(f"population_rate: bin_ms must be above 0 ms; got {bin_ms}")
    if stop < start:
        raise ValueError(f"population_rate: stop must not be before start; got {stop} < {start}")
    bins = int((stop - start) / bin_ms + 1e-6)
    index = np.ceil((np.asarray(times) - start) / bin_ms - 1e-6).astype(np.int64) - 1
    index = index[(index >= 0) & (index < bins)]
    counts = np.bincount(index, minlength=bins)
    return start + bin_ms * np.arange(bins), counts / max(n, 1) / (bin_ms * 1e-3)


def _events(times: np.ndarray, neurons: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    times, neurons = np.asarray(times, np.float64), np.asarray(neurons)
    if times.shape != neurons.shape or times.ndim != 1:
        raise ValueError(
            "spike times and neurons must be two arrays of one length; "
            f"got shapes {times.shape} and {neurons.shape}"
        )
    neurons = neurons.astype(np.int64) if neurons.size == 0 else neurons
    if neurons.size and not (neurons.min() >= 0 and neurons.max() < n):
        raise ValueError(
            f"neurons must be indices from 0 to {n - 1}; got {neurons.min()} to {neurons.max()}"
        )
    return times, neurons
