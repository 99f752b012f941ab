"""Which populations, which time window and which spikes a figure shows."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._checks import check_known
from .._numerics import in_window, run_window
from ._given import check_given


def chosen(result: Any, populations: Sequence[str] | str | None) -> list[str]:
    """The names of the populations shown, all by default, or `ValueError`."""
    check_given("result", result)
    known = result.populations
    names: list[Any] = list(known)
    if populations is not None:
        several = isinstance(populations, Iterable) and not isinstance(populations, str)
        names = list(populations) if several else [populations]
    for name in names:
        check_known("population", name, known)
    if not names:
        listed = ", ".join(repr(n) for n in known) or "none"
        raise ValueError(f"populations must name at least one; the known ones: {listed}")
    return names


def check_recorded(kind: str, name: Any, values: Any) -> None:
    """Raises `ValueError` for a name of which nothing was recorded, saying how to record it."""
    if isinstance(name, str) and hasattr(values, "how"):
        values[name]
    else:
        check_known(kind, name, values)


def window(result: Any, start: float | None, stop: float | None) -> tuple[float, float]:
    """First and last time shown [ms]: those of the run by default, or `ValueError`."""
    check_given("result", result)
    return run_window(result.start, result.stop, start, stop)


def spikes_between(
    result: Any, name: str, first: float, last: float
) -> tuple[np.ndarray, np.ndarray]:
    """Times and neurons of the spikes of a population in `(first, last]`."""
    times, neurons = (np.asarray(x) for x in result.events(name))
    inside = in_window(times, first, last)
    return times[inside], neurons[inside]
