"""Rates, counts and CVs of a run inside `jit`, `vmap` and `grad`: JAX arrays, in float32.

They mean what the functions of the same names mean. A part of a run is from one known time to
another, while the step at which the run began may be traced.
"""

from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32, Num

from .._numerics.windows import NEAR_MS
from .._run.recording import Recording
from .._run.statistics import SpikeSums, cvs_of_sums, sums_of
from ..spec import InvalidValueError
from ._formulas import correlation, covariance, mean_of_known, quotient
from ._source import Time, check_whole
from ._spikes import bin_of, check_bins

Window: TypeAlias = tuple[Time, Time]


def neuron_rates(run: Recording, name: str, window: Window) -> Float[Array, " n"]:
    sums = _sums_kept(run, name, window)
    count = _inside(run, name, window).sum(axis=0) if sums is None else jnp.asarray(sums.count)
    return _float(count) / (1e-3 * _length(run, window))


def interval_cvs(run: Recording, name: str, window: Window, at_least: int) -> Float[Array, " n"]:
    sums = _sums_kept(run, name, window)
    sums = sums_of(_inside(run, name, window), run.first_step) if sums is None else sums
    return jnp.asarray(cvs_of_sums(sums, at_least))


def interval_cv(run: Recording, name: str, window: Window, at_least: int) -> Float[Array, ""]:
    cvs = interval_cvs(run, name, window, at_least)
    return mean_of_known(cvs, ~jnp.isnan(cvs))


def population_rate(
    run: Recording, name: str, window: Window, bin_ms: float
) -> tuple[Float[Array, " bins"], Float[Array, " bins"]]:
    (n,) = (last - first for known, _, first, last in run.info.layout if known == name)
    counts = _binned(run, _counts(run, name), bin_ms, window)
    begin = _float(run.first_step) * run.info.dt if window[0] is None else window[0]
    begins = begin + bin_ms * jnp.arange(len(counts), dtype=jnp.float32)
    return begins, _float(counts) / (max(n, 1) * bin_ms * 1e-3)


def spike_counts(
    run: Recording, name: str, window: Window, bin_ms: float
) -> Int32[Array, "n bins"]:
    return _binned(run, _dense(run, name).astype(jnp.int32), bin_ms, window).T


def fano_factor(
    run: Recording, name: str, window: Window, bin_ms: float
) -> tuple[Float[Array, " n"], Float[Array, ""]]:
    counts = _enough("fano_factor", run, name, window, bin_ms)
    factors = quotient(counts.var(axis=1), counts.mean(axis=1))
    return factors, mean_of_known(factors, ~jnp.isnan(factors))


def count_synchrony(run: Recording, name: str, window: Window, bin_ms: float) -> Float[Array, ""]:
    counts = _float(_binned(run, _counts(run, name), bin_ms, window))
    check_bins("count_synchrony", len(counts), bin_ms, 2)
    return quotient(counts.var(), counts.mean())


def count_covariance(
    run: Recording, name: str, window: Window, bin_ms: float
) -> Float[Array, "n n"]:
    return covariance(_enough("count_covariance", run, name, window, bin_ms))


def count_correlation(
    run: Recording, name: str, window: Window, bin_ms: float
) -> tuple[Float[Array, ""], Float[Array, "n n"]]:
    return correlation(_enough("count_correlation", run, name, window, bin_ms))


def _enough(
    owner: str, run: Recording, name: str, window: Window, bin_ms: float
) -> Float[Array, "n bins"]:
    """Counts of two bins or more."""
    counts = _float(spike_counts(run, name, window, bin_ms))
    check_bins(owner, counts.shape[1], bin_ms, 2)
    return counts


def _float(x: Num[Array, "..."]) -> Float[Array, "..."]:
    """Numbers as float32, or as the floats that they are."""
    return x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(jnp.float32)


def _sums_kept(run: Recording, name: str, window: Window) -> SpikeSums | None:
    """The running sums of a run whose spikes are not kept; else None."""
    if run.spikes is not None or name not in run.statistics:
        return None
    check_whole(*window)
    return run.statistics[name]


def _dense(run: Recording, name: str) -> Bool[Array, "steps n"]:
    if run.spikes is None:
        must = "recorded for this: scan(..., record=jn.Record(spikes=True))"
        raise InvalidValueError("", f"spikes of {name!r}", must, "none")
    return run.spikes.dense(name)


def _counts(run: Recording, name: str) -> Num[Array, " steps"]:
    """Spikes per step; those of a record of rates have a gradient."""
    if name in run.counts:
        return run.counts[name]
    return _dense(run, name).sum(axis=1) if run.spikes is None else run.spikes.counts(name)


def _until(run: Recording, ms: float) -> int:
    """How many steps of the network end at or before a time [ms]."""
    return int((ms + NEAR_MS) // run.info.dt)


def _inside(run: Recording, name: str, window: Window) -> Bool[Array, "steps n"]:
    """The spikes of a part of the run, and none in its other steps."""
    dense, (start, stop) = _dense(run, name), window
    number = run.first_step + 1 + jnp.arange(dense.shape[0], dtype=jnp.int32)
    if start is not None:
        dense = dense & (number > _until(run, start))[:, None]
    if stop is not None:
        dense = dense & (number <= _until(run, stop))[:, None]
    return dense


def _length(run: Recording, window: Window) -> float | Float[Array, ""]:
    start, stop = window
    dt, first, last = run.info.dt, run.first_step, run.first_step + run.info.n_steps
    if start is not None and stop is not None:
        return stop - start
    # In whole steps: float32 would lose what is small beside the time since the network's start.
    if start is not None:
        return _float(last - int(start // dt)) * dt - start % dt
    if stop is not None:
        return _float(int(stop // dt) - first) * dt + stop % dt
    if not run.info.n_steps:
        raise InvalidValueError("neuron_rates", "the run", "of some time", "0 ms")
    return run.info.n_steps * dt


def _binned(
    run: Recording, values: Num[Array, "steps ..."], bin_ms: float, window: Window
) -> Num[Array, "bins ..."]:
    """Sums of what each step has, in whole bins."""
    dt, steps, (start, stop) = run.info.dt, run.info.n_steps, window
    if (start is None) != (stop is None):
        must = "both given or both left out: when the run begins is traced here"
        raise InvalidValueError("", "start and stop", must, f"start={start}, stop={stop}")
    if start is None or stop is None:
        length, ends = steps * dt, dt * np.arange(1, steps + 1)
    else:
        first, last = _until(run, start), _until(run, stop)
        number = np.arange(first, last, dtype=np.int32)
        length, ends = stop - start, dt * (number + 1) - start
        place = number - run.first_step
        known = ((place >= 0) & (place < steps)).reshape(-1, *[1] * (values.ndim - 1))
        values = jnp.where(known, values[jnp.clip(place, 0, steps - 1)], 0)
    index, kept, bins = bin_of(ends, length, bin_ms)
    return jax.ops.segment_sum(values[kept], index[kept], bins, indices_are_sorted=True)
