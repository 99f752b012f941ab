"""Rates, counts and CVs of a run inside `jit`, `vmap` and `grad`: JAX arrays, in float32.

They mean what the functions of the same names mean. A part of a run is from one known time to
another, while the step at which the run began may be traced.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32, Num

from .._numerics.windows import NEAR_MS, check_time
from .._run.recording import Recording
from .._run.statistics import cvs_of_sums, sums_of
from ..spec import InvalidValueError
from ._source import check_whole, only
from ._spikes import check_bins, number_of_bins

Window = tuple[float | None, float | None]


def neuron_rates(
    run: Recording,
    population: str | None = None,
    *,
    start: float | None = None,
    stop: float | None = None,
) -> Float[Array, " n"]:
    name = _name(run, population)
    if run.spikes is None and name in run.statistics:
        check_whole(start, stop)
        count = run.statistics[name].count
    else:
        count = _inside(run, name, (start, stop)).sum(axis=0)
    return _float(count) / (1e-3 * _length(run, (start, stop)))


def interval_cvs(
    run: Recording,
    population: str | None = None,
    *,
    at_least: int = 3,
    start: float | None = None,
    stop: float | None = None,
) -> Float[Array, " n"]:
    name = _name(run, population)
    if run.spikes is None and name in run.statistics:
        check_whole(start, stop)
        return cvs_of_sums(run.statistics[name], at_least)
    return cvs_of_sums(sums_of(_inside(run, name, (start, stop)), run.first_step), at_least)


def interval_cv(
    run: Recording,
    population: str | None = None,
    *,
    at_least: int = 3,
    start: float | None = None,
    stop: float | None = None,
) -> Float[Array, ""]:
    cvs = interval_cvs(run, population, at_least=at_least, start=start, stop=stop)
    return _mean(cvs, ~jnp.isnan(cvs))


def population_rate(
    run: Recording,
    population: str | None = None,
    *,
    bin_ms: float = 1.0,
    start: float | None = None,
    stop: float | None = None,
) -> tuple[Float[Array, " bins"], Float[Array, " bins"]]:
    name = _name(run, population)
    (n,) = (last - first for known, _, first, last in run.info.layout if known == name)
    counts = _binned(run, _counts(run, name), bin_ms, (start, stop))
    begin = _float(run.first_step) * run.info.dt if start is None else start
    begins = begin + bin_ms * jnp.arange(len(counts), dtype=jnp.float32)
    return begins, _float(counts) / (max(n, 1) * bin_ms * 1e-3)


def spike_counts(
    run: Recording,
    population: str | None = None,
    *,
    bin_ms: float = 1.0,
    start: float | None = None,
    stop: float | None = None,
) -> Int32[Array, "n bins"]:
    dense = _dense(run, _name(run, population)).astype(jnp.int32)
    return _binned(run, dense, bin_ms, (start, stop)).T


def fano_factor(
    run: Recording,
    population: str | None = None,
    *,
    bin_ms: float = 100.0,
    start: float | None = None,
    stop: float | None = None,
) -> tuple[Float[Array, " n"], Float[Array, ""]]:
    counts = _float(spike_counts(run, population, bin_ms=bin_ms, start=start, stop=stop))
    check_bins("fano_factor", counts.shape[1], bin_ms, 2)
    mean = counts.mean(axis=1)
    factors = jnp.where(mean > 0, counts.var(axis=1) / jnp.where(mean > 0, mean, 1.0), jnp.nan)
    return factors, _mean(factors, mean > 0)


def count_synchrony(
    run: Recording,
    population: str | None = None,
    *,
    bin_ms: float = 3.0,
    start: float | None = None,
    stop: float | None = None,
) -> Float[Array, ""]:
    counts = _float(_binned(run, _counts(run, _name(run, population)), bin_ms, (start, stop)))
    check_bins("count_synchrony", len(counts), bin_ms, 2)
    mean = counts.mean()
    return jnp.where(mean > 0, counts.var() / jnp.where(mean > 0, mean, 1.0), jnp.nan)


def count_covariance(
    run: Recording,
    population: str | None = None,
    *,
    bin_ms: float,
    start: float | None = None,
    stop: float | None = None,
) -> Float[Array, "n n"]:
    counts = spike_counts(run, population, bin_ms=bin_ms, start=start, stop=stop)
    centred = _centred("count_covariance", counts, bin_ms)
    return centred @ centred.T / (counts.shape[1] - 1)


def count_correlation(
    run: Recording,
    population: str | None = None,
    *,
    bin_ms: float,
    start: float | None = None,
    stop: float | None = None,
) -> tuple[Float[Array, ""], Float[Array, "n n"]]:
    counts = spike_counts(run, population, bin_ms=bin_ms, start=start, stop=stop)
    centred = _centred("count_correlation", counts, bin_ms)
    changes = counts.max(axis=1) > counts.min(axis=1)
    norm = jnp.sqrt(jnp.where(changes, (centred**2).sum(axis=1), 1.0))
    scaled = centred / norm[:, None]
    both, same = changes[:, None] & changes, jnp.eye(len(counts), dtype=bool)
    matrix = jnp.where(same, 1.0, jnp.clip(scaled @ scaled.T, -1.0, 1.0))
    return _mean(matrix, both & ~same), jnp.where(both, matrix, jnp.nan)


def _centred(owner: str, counts: Int32[Array, "n bins"], bin_ms: float) -> Float[Array, "n bins"]:
    check_bins(owner, counts.shape[1], bin_ms, 2)
    return _float(counts) - _float(counts).mean(axis=1, keepdims=True)


def _mean(values: Float[Array, "..."], known: Bool[Array, "..."]) -> Float[Array, ""]:
    """The mean of those that are known, nan of none."""
    return jnp.where(known, values, 0.0).sum() / _float(known.sum())


def _float(x: Num[Array, "..."]) -> Float[Array, "..."]:
    """Numbers as float32, or as the floats that they are."""
    return x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(jnp.float32)


def _name(run: Recording, population: str | None) -> str:
    return only("population", population, [name for name, *_ in run.info.layout])


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


def _ends(run: Recording, window: Window) -> tuple[int | None, int | None]:
    """How many steps of the network end at or before the begin and the end of a part."""
    for name, x in zip(("start", "stop"), window):
        if x is not None:
            check_time(name, x)
    first, last = (None if x is None else int((x + NEAR_MS) // run.info.dt) for x in window)
    if first is not None and last is not None and not first < last:
        raise InvalidValueError("", "stop", f"after start ({window[0]:g} ms)", f"{window[1]:g} ms")
    return first, last


def _inside(run: Recording, name: str, window: Window) -> Bool[Array, "steps n"]:
    """The spikes of a part of the run, and none in its other steps."""
    dense, (first, last) = _dense(run, name), _ends(run, window)
    number = run.first_step + 1 + jnp.arange(dense.shape[0], dtype=jnp.int32)
    for holds in (
        None if first is None else number > first,
        None if last is None else number <= last,
    ):
        dense = dense if holds is None else dense & holds[:, None]
    return dense


def _length(run: Recording, window: Window) -> float | Float[Array, ""]:
    start, stop = window
    dt, steps = run.info.dt, run.info.n_steps
    if start is None and stop is None:
        return steps * dt
    begin = _float(run.first_step) * dt
    return (begin + steps * dt if stop is None else stop) - (begin if start is None else start)


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
        first, last = _ends(run, window)
        number = np.arange(first, last, dtype=np.int32)
        length, ends = stop - start, dt * (number + 1) - start
        place = number - run.first_step
        known = ((place >= 0) & (place < steps)).reshape(-1, *[1] * (values.ndim - 1))
        values = jnp.where(known, values[jnp.clip(place, 0, steps - 1)], 0)
    bins = number_of_bins(length, bin_ms)
    index = np.ceil(ends / bin_ms - 1e-6).astype(np.int64) - 1
    kept = (index >= 0) & (index < bins)
    return jax.ops.segment_sum(values[kept], index[kept], bins, indices_are_sorted=True)
