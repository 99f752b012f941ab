"""Windows of time: which part of a run is meant [ms], and which spikes are in it."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from .. import spec
from .._warn import warn

# A time of any size, 0 included.
TIME = spec.Number(unit="ms")

# Times are on a grid and rounded; times nearer than this [ms] count as equal.
NEAR_MS = 1e-6
_SHORT = 10.0  # ms: a longer window at the start of a long run is looked at on purpose
_LONG, _EARLY = 100.0, 2.0  # ms: a long run, and its start


def check_time(name: str, value: Any) -> float:
    """The time [ms]; raises `InvalidValueError` unless `value` is one finite number."""
    return spec.check("", name, TIME, value)


def run_window(
    begin: float, end: float, start: float | None, stop: float | None
) -> tuple[float, float]:
    """First and last time of a part of a run; see `part_of_run`. Warns if it looks like seconds."""
    first, last = part_of_run(begin, end, start, stop)
    if start is not None or stop is not None:
        what = f"the run is from {begin:.10g} to {end:.10g} ms"
        warn_of_seconds(first, last, begin, end, what)
    return first, last


def part_of_run(
    begin: float, end: float, start: float | None, stop: float | None
) -> tuple[float, float]:
    """First and last time of a part of the run from `begin` to `end` [ms].

    Args:
        begin: start of the run.
        end: its end.
        start: start of the part; None for that of the run.
        stop: end of the part; None for that of the run.

    Raises:
        InvalidValueError: for times that are not finite, not within the run, or a `stop` that is
            not after `start`.
    """
    first = begin if start is None else check_time("start", start)
    last = end if stop is None else check_time("stop", stop)
    slack = NEAR_MS + 1e-9 * abs(end)
    run = f"from {begin:.10g} to {end:.10g} ms"
    for name, x in (("start", first), ("stop", last)):
        if not begin - slack <= x <= end + slack:
            hint = _in_ms(first, last) if _fits_in_seconds(first, last, begin, end) else ""
            raise spec.InvalidValueError("", name, f"within the run, {run}", f"{x:.10g} ms", hint)
    if start is None and stop is None:
        return float(first), float(last)
    if not last > first:
        must = f"after start ({first:.10g} ms)"
        raise spec.InvalidValueError("", "stop", must, f"{last:.10g} ms")
    return float(first), float(last)


def in_window(
    times: Float64[np.ndarray, " spikes"],
    first: float,
    last: float,
    tolerance: float | Float64[np.ndarray, " spikes"] = NEAR_MS,
) -> Bool[np.ndarray, " spikes"]:
    """Which times [ms] are in `(first, last]`: a spike at the end of a step belongs to the step.

    `tolerance` is how near [ms] times count as equal.
    """
    return (times > first + tolerance) & (times <= last + tolerance)


def _fits_in_seconds(first: float, last: float, begin: float, end: float) -> bool:
    slack = 1e-9 * abs(end)
    return begin - slack <= 1e3 * first < 1e3 * last <= end + slack


def _in_ms(first: float, last: float) -> str:
    return (
        f". Times are in ms, and these look like seconds: start={1e3 * first:.10g}, "
        f"stop={1e3 * last:.10g} would fit"
    )


def warn_of_seconds(first: float, last: float, begin: float, end: float, what: str) -> None:
    """Warns of a short window that would fit from `begin` to `end` if it were in seconds."""
    if last - first < _SHORT and _fits_in_seconds(first, last, begin, end):
        warn(f"a window from {first:.10g} to {last:.10g} ms, where {what}{_in_ms(first, last)}")


def warn_of_early_times(times: Float64[np.ndarray, " _"], end: float, what: str) -> None:
    """Warns of times [ms] that are all at the start of a long run from 0 to `end`, as seconds are.

    One time, or whole ms, are a start that somebody has chosen.
    """
    later = np.unique(times[times > 0.0])
    if later.size < 2 or end < _LONG or later[-1] > _EARLY or 1e3 * later[-1] > end * (1 + 1e-9):
        return
    first, last = later[0], later[-1]
    if (np.abs(later - np.rint(later)) > NEAR_MS).mean() >= 0.5:
        warn(
            f"{what}: its times are from {first:.10g} to {last:.10g} ms, where the run is from 0 "
            f"to {end:.10g} ms. Times are in ms, and these look like seconds: from "
            f"{1e3 * first:.10g} to {1e3 * last:.10g} would fit"
        )
