"""Stimuli: what they give in a time step, in plain numbers, and their statistics.

Every function of time takes the number of the step, k; the step leads from k dt to (k+1) dt.

sinusoid      mean + amplitude sin(2 pi f k dt + phase), the phase from exact fractions
steps         the value of the last of the times k0 dt that is <= k dt, 0 before the first
ramp          linear from (t0, a) to (t1, b) at t = k dt, constant outside
pulses        a in the steps t0 + i period <= k dt < t0 + i period + width, i = 0, 1, ...
function      gain f((k + 1/2) dt)
spike_counts  a spike at t = m dt belongs to step m - 1

Intervals of renewal processes, in the same units as their mean:

gamma of order a                cv = 1 / sqrt(a)
dead time of D steps, then p    mean = D + 1/p steps,  variance = (1 - p) / p^2
Ornstein-Uhlenbeck              correlation exp(-lag / tau)

Units: ms, Hz, rad.
"""

import math
from fractions import Fraction

import numpy as np


def sinusoid(k, mean, amplitude, frequency, phase, dt):
    """One value at step k; all arguments are exact floats."""
    turns = Fraction(frequency) * Fraction(dt) / 1000 * k
    part = float(turns - round(turns))
    return mean + amplitude * math.sin(2 * math.pi * part + phase)


def steps(k, first_steps, values):
    """One value at step k; the times are given as whole steps."""
    begun = [value for first, value in zip(first_steps, values) if first <= k]
    return begun[-1] if begun else np.zeros_like(values[0])


def ramp(k, a, b, first, last):
    """One value at step k; the times are given as whole steps."""
    if k <= first:
        return a
    return b if k >= last else a + (b - a) * (k - first) / (last - first)


def pulses(k, amplitude, width, period, first, baseline):
    """One value at step k; the durations are given as whole steps."""
    return amplitude if k >= first and (k - first) % period < width else baseline


def spike_counts(n_steps, n, ends, neurons):
    """Counts (n_steps, n) of spikes that end their step at `ends` steps; neurons None: all."""
    counts = np.zeros((n_steps, n))
    for number, end in enumerate(ends):
        if end <= n_steps:
            counts[end - 1, slice(None) if neurons is None else neurons[number]] += 1
    return counts


def dead_time_intervals(rate, dead_steps, dt):
    """Mean [ms] and coefficient of variation of the intervals."""
    p = 1 / (1000 / (rate * dt) - dead_steps)
    mean = dead_steps + 1 / p
    return mean * dt, math.sqrt(1 - p) / p / mean


def value_at(value, k, dt):
    """A number as it is, or the value of a signal (a dict of its fields) at step k."""
    if not isinstance(value, dict):
        return value
    p, whole = value, lambda name: np.rint(value[name] / dt).astype(int)
    if p["kind"] == "Sinusoid":
        # No fractions: of the first thousands of steps float64 keeps 1e-12 of a cycle.
        turned = p["frequency"] * (k * dt / 1000)
        return p["mean"] + p["amplitude"] * np.sin(2 * np.pi * turned + p["phase"])
    if p["kind"] == "Steps":
        return steps(k, whole("times"), p["values"])
    if p["kind"] == "Ramp":
        return ramp(k, p["start_value"], p["stop_value"], whole("t_start"), whole("t_stop"))
    if p["kind"] == "Pulses":
        width, period, first = (whole(name) for name in ("width", "period", "t_first"))
        return pulses(k, p["amplitude"], width, period, first, p["baseline"])
    return p["gain"] * p["function"]((k + 0.5) * dt)
