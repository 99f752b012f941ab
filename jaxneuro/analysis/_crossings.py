"""Spike times from sampled voltages, finer than the time step."""

from typing import Any

import numpy as np

from .._checks import check_bounds
from .._units import UNITS
from .._warn import warn
from ._given import arrays_checked
from ._spikes import array_of

_MILLIVOLTS = 10.0  # some voltage of a neuron is at least so large [mV]


@arrays_checked
def crossing_times(times: Any, v: Any, level: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """When sampled voltages cross a level upwards: (times [ms], neurons), in order of time.

    `t = t_k + (level - v_k) / (v_(k+1) - v_k) (t_(k+1) - t_k)` between two samples with
    `v_k < level <= v_(k+1)`: by linear interpolation, to second order in the distance of the
    samples. `times` [ms] `(samples,)` ascending, as `result.sample_times`; `v` [mV] `(samples,)`
    or `(samples, n)`, as `result.traces[name]["v"]`. Pass the result to `intervals`,
    `interval_cv` and similar functions. Warns where nothing crosses a level that looks like volts.

    **Raises** `ValueError` for arrays that do not match, times that do not ascend, or a level,
    times or voltages that are not finite.

    **Source** Hansel et al. (1998), doi:10.1162/089976698300017845.
    """
    times, v = array_of("times", times).astype(np.float64), array_of("v", v)
    v = v[:, None] if v.ndim == 1 else v
    if times.ndim != 1 or v.ndim != 2 or len(v) != len(times):
        raise ValueError(
            "crossing_times: v must have one row per time, shape (samples,) or (samples, n); got "
            f"times of shape {times.shape}, v of shape {v.shape}"
        )
    for name, x, unit in (("times", times, "ms"), ("v", v, "mV"), ("level", level, "mV")):
        check_bounds(f"crossing_times: {name}", x, unit)
    if (np.diff(times) <= 0).any():
        raise ValueError("crossing_times: times must ascend")
    k, neurons = np.nonzero((v[:-1] < level) & (v[1:] >= level))
    before, after = (v[at, neurons].astype(np.float64) for at in (k, k + 1))
    found = times[k] + (level - before) / (after - before) * (times[k + 1] - times[k])
    if not found.size:
        _warn_of_volts(v, float(level))
    order = np.lexsort((neurons, found))
    return found[order], neurons[order]


def _warn_of_volts(v: np.ndarray, level: float) -> None:
    """Warns of a level that would be among the voltages if it were in V, or they were."""
    if not v.size or level == 0.0:
        return
    low, high, small = float(v.min()), float(v.max()), UNITS["mV"].least
    most, factor = max(abs(low), abs(high)), 0.0
    if abs(level) < small and most >= _MILLIVOLTS:
        factor = 1e3
    elif abs(level) >= _MILLIVOLTS and low <= -1e-3 * _MILLIVOLTS and most < small:
        factor = 1e-3
    room = 0.25 * most
    if factor and low - room <= factor * level <= high + room:
        unit = "v is in mV, and level in V" if factor > 1.0 else "v is in V, and level in mV"
        warn(
            f"crossing_times: nothing crosses level={level:g}, where v is from {low:.4g} to "
            f"{high:.4g}: it looks as if {unit}. Did you mean level={factor * level:.4g}?"
        )
