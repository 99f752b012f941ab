"""Which populations, which time window and which spikes a figure shows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import check_bounds, unknown

_NEAR = 1e-6  # ms: k * dt is rounded


def chosen(result: Any, populations: Sequence[str] | str | None) -> list[str]:
    """The names of the populations shown, all by default, or `ValueError`."""
    known = result.populations
    if populations is None:
        names = list(known)
    else:
        names = [populations] if isinstance(populations, str) else list(populations)
    for name in names:
        if name not in known:
            raise unknown("population", name, known)
    if not names:
        listed = ", ".join(repr(n) for n in known) or "none"
        raise ValueError(f"populations must name at least one; the known ones: {listed}")
    return names


def window(result: Any, start: float | None, stop: float | None) -> tuple[float, float]:
    """First and last time shown [ms]: those of the run by default, or `ValueError`."""
    first = result.start if start is None else start
    last = result.start + result.duration if stop is None else stop
    check_bounds("start", first, "ms")
    check_bounds("stop", last, "ms")
    if not last > first:
        raise ValueError(f"stop must be after start; got {last:g} and {first:g} ms")
    return float(first), float(last)


def spikes_between(
    result: Any, name: str, first: float, last: float
) -> tuple[np.ndarray, np.ndarray]:
    """Times and neurons of the spikes of a population in `(first, last]`."""
    times, neurons = (np.asarray(x) for x in result.events(name))
    inside = (times > first + _NEAR) & (times <= last + _NEAR)
    return times[inside], neurons[inside]
