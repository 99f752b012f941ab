"""Windows of time: which part of a run is meant [ms], and which spikes are in it."""

import warnings

import numpy as np

from .._checks import check_bounds

# Times are on a grid and rounded; times nearer than this [ms] count as equal.
NEAR_MS = 1e-6
_SHORT = 10.0  # ms: a longer window at the start of a long run is looked at on purpose


def run_window(
    begin: float, end: float, start: float | None, stop: float | None
) -> tuple[float, float]:
    """First and last time [ms] of a part of the run from `begin` to `end`, by default all of it.

    **Raises** `ValueError` for times that are not finite, not within the run, or a `stop` that is
    not after `start`. Warns of a window that looks like seconds.
    """
    first, last = begin if start is None else start, end if stop is None else stop
    check_bounds("start", first, "ms")
    check_bounds("stop", last, "ms")
    slack = NEAR_MS + 1e-9 * abs(end)
    if first < begin - slack or last > end + slack:
        hint = _in_ms(first, last) if _fits_in_seconds(first, last, begin, end) else ""
        raise ValueError(
            f"start and stop must be within the run, from {begin:.10g} to {end:.10g} ms; got "
            f"{first:.10g} and {last:.10g} ms{hint}"
        )
    whole = start is None and stop is None
    if not (last > first or whole):
        raise ValueError(f"stop must be after start; got {last:.10g} and {first:.10g} ms")
    if not whole:
        _warn_of_seconds(first, last, begin, end, f"the run is from {begin:.10g} to {end:.10g} ms")
    return float(first), float(last)


def in_window(times: np.ndarray, first: float, last: float) -> np.ndarray:
    """Which times [ms] are in `(first, last]`: a spike at the end of a step belongs to the step."""
    return (times > first + NEAR_MS) & (times <= last + NEAR_MS)


def warn_of_no_spikes(times: np.ndarray, first: float, last: float, found: int) -> None:
    """Warns where no spike is in a window that looks like seconds, and spikes are later."""
    if found == 0 and times.size:
        latest = float(times.max())
        # The run may go on after the last spike: up to twice as long.
        _warn_of_seconds(first, last, 0.0, 2.0 * latest, f"the last spike is at {latest:.10g} ms")


def _fits_in_seconds(first: float, last: float, begin: float, end: float) -> bool:
    slack = 1e-9 * abs(end)
    return begin - slack <= 1e3 * first < 1e3 * last <= end + slack


def _in_ms(first: float, last: float) -> str:
    return (
        f". Times are in ms, and these look like seconds: start={1e3 * first:.10g}, "
        f"stop={1e3 * last:.10g} would fit"
    )


def _warn_of_seconds(first: float, last: float, begin: float, end: float, what: str) -> None:
    if last - first < _SHORT and _fits_in_seconds(first, last, begin, end):
        warnings.warn(
            f"a window from {first:.10g} to {last:.10g} ms, where {what}{_in_ms(first, last)}",
            stacklevel=4,
        )
