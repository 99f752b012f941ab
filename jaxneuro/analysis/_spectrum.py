"""Power spectra."""

import numpy as np

from .._checks import as_number, check_bounds
from ._given import arrays_checked
from ._spikes import array_of

# The main lobe of a Hann window at frequency 0, where the mean is removed, is 2 frequencies wide.
# With fewer steps than these it covers all frequencies.
_FEWEST = 4
_SHORTEST = 0.001  # ms: a shorter step is one in seconds


@arrays_checked
def power_spectrum(
    trace: np.ndarray, dt: float, segment_ms: float = 1000.0, axis: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Power spectral density of traces: (frequencies [Hz], density [unit^2 / Hz]).

    Welch's method: the mean periodogram of segments that overlap by half, each less its mean
    and under a Hann window. One-sided: the density integrates to the variance. This is
    `scipy.signal.welch(trace, 1000 / dt, nperseg=segment_ms / dt)`. `trace` holds a population's
    rate or counts per bin, a voltage, or many of them; `axis` is that of time, `dt` [ms] its
    step, `segment_ms` the length of a segment: the resolution is `1000 / segment_ms` Hz. A
    trace that is shorter is one segment; in a longer one, steps at its end that do not fill a
    segment are left out. The density has the shape of the trace with frequencies in place of
    time. A Poisson process of rate r has the density 2 r, in Hz^2 / Hz.

    **Raises** `ValueError` for a trace that is empty or not finite, a `dt` below 0.001 ms, or a
    segment or trace of fewer than 4 steps.

    **Source** Welch (1967), doi:10.1109/TAU.1967.1161901.
    """
    from scipy import signal

    check_bounds("dt", dt, "ms", above=0.0)
    if 0.0 < as_number(dt) < _SHORTEST:
        raise ValueError(
            f"dt must be in ms, at least {_SHORTEST} ms; got {dt:g}. If it is in seconds, give "
            f"dt={1e3 * dt:g}"
        )
    check_bounds("segment_ms", segment_ms, "ms", above=0.0)
    values = array_of("trace", trace).astype(np.float64)
    if not isinstance(axis, int | np.integer):
        raise ValueError(f"axis must be a whole number, that of time; got {axis!r}")
    if not -values.ndim <= axis < values.ndim:
        raise ValueError(f"trace must have the axis {axis} of time; got shape {values.shape}")
    check_bounds("trace", values)
    segment = min(int(segment_ms / dt + 1e-6), values.shape[axis])
    if segment < _FEWEST or values.size == 0:
        raise ValueError(
            f"a segment must have at least {_FEWEST} steps; got {segment} of {dt} ms in a trace "
            f"of shape {values.shape}. Use a longer segment_ms or trace"
        )
    return signal.welch(values, fs=1e3 / dt, nperseg=segment, axis=axis)
