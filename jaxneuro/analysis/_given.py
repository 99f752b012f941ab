"""What functions of `analysis` are given: arrays. A result, or a pair, says which to take."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._checks import names_checked

F = TypeVar("F", bound=Callable)
_COUNTED = {"times", "neurons", "n", "start", "stop", "bin_ms"}  # what spike_counts takes


def arrays_checked(function: F) -> F:
    """Makes a result or a pair in place of arrays, and unknown or missing arguments,
    a `ValueError`.
    """
    inner, how = names_checked()(function), _how(function)
    takes = inspect.signature(function).parameters
    events = not {"counts", "v"} & set(takes)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        for value in (*args, *named.values()):
            if hasattr(value, "events") and hasattr(value, "populations"):
                raise ValueError(f"{function.__name__} takes arrays, no result of a run. {how}")
            if events and _is_pair(value):
                raise ValueError(
                    f"{function.__name__} takes times and neurons as two arguments, or times "
                    f"alone; got both as a pair. {how}"
                )
        if "counts" in takes and (len(args) > len(takes) or (_COUNTED & set(named)) - set(takes)):
            raise ValueError(
                f"{function.__name__} takes the counts that spike_counts gives, no times: "
                f"jn.analysis.{function.__name__}(jn.analysis.spike_counts(times, neurons, n, "
                "stop=..., bin_ms=...))"
            )
        return inner(*args, **named)

    return cast(F, call)


def _is_pair(value: Any) -> bool:
    """Whether it is what `result.events(name)` returns: times and neurons."""
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    times, neurons = (getattr(x, "dtype", None) for x in value)
    return getattr(times, "kind", "") == "f" and getattr(neurons, "kind", "") in tuple("iu")


def _how(function: Callable) -> str:
    """Which arrays of a result a function takes."""
    names = inspect.signature(function).parameters
    if "counts" in names:
        return "Count its spikes first: jn.analysis.spike_counts(*result.events(name), ...)"
    if "stop" not in names:
        return "Its samples are result.traces[name][variable], at result.sample_times"
    given = ["*result.events(name)" if "neurons" in names else "result.events(name)[0]"]
    given += ["result.events(other)[0]"] * ("others" in names)
    given += ["result.populations[name]"] * ("n" in names)
    window = "start=result.start, stop=result.stop"
    return f"Give jn.analysis.{function.__name__}({', '.join(given)}, {window})"
