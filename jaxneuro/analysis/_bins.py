"""Bins of a window of time."""

import numpy as np
from jaxtyping import Bool, Float, Int64

from .. import spec
from .._numerics.grid import spacing_above_half, step_counts
from .._numerics.windows import NEAR_MS
from .._warn import warn
from ..spec import InvalidValueError

BIN = spec.Number("ms", above=0.0)


def number_of_bins(length: float, bin_ms: float) -> int:
    """How many whole bins there are in a window [ms]; raises where it is shorter than one."""
    bins = int(length / bin_ms + 1e-6)
    if bins == 0 and length > 0.0:
        must = f"at most {length:g} ms, the time from start to stop"
        raise InvalidValueError("", "bin_ms", must, f"{bin_ms:g} ms")
    return bins


def bin_of(
    elapsed: Float[np.ndarray, " times"],
    length: float,
    bin_ms: float,
    tolerance: float | Float[np.ndarray, " times"] = NEAR_MS,
) -> tuple[Int64[np.ndarray, " times"], Bool[np.ndarray, " times"], int]:
    """The bin of each time, whether it is one of the whole bins of the window, and their number.

    Times [ms] are from the start of the window on. One belongs to the bin `(t, t + bin_ms]`. A
    time within its tolerance [ms] of the end of a bin is at the end.
    """
    bins = number_of_bins(length, bin_ms)
    if gap := spacing_above_half(tolerance, bin_ms):
        warn(
            f"times came in float32 or shorter, whose numbers are {gap:.4g} ms apart here: more "
            f"than half a bin of {bin_ms:g} ms, so that spikes may be counted in the bin beside "
            "theirs. Give the times in float64, or take longer bins"
        )
    index = step_counts(elapsed, bin_ms, tolerance) - 1
    return index, (index >= 0) & (index < bins), bins


def check_bins(owner: str, bins: int, bin_ms: float, at_least: int) -> None:
    """Raises unless so many bins fit into the window."""
    if bins < at_least:
        must = f"so short that at least {at_least} fit from start to stop"
        raise InvalidValueError(owner, "bin_ms", must, f"{bin_ms:g} ms, {bins} of them")
