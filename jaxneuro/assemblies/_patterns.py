"""Patterns of firing neurons: given as sets, compared as caps."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import check_count, concrete, is_traced, names_checked
from .._kernels import k_cap
from .._warn import warn
from ._brain import Brain


@names_checked()
def patterns(fires: Any, size: int | None = None) -> np.ndarray:
    """Which neurons fire, as `Brain.with_cap` takes them: int32 (..., size), from bool (..., n).

    The neurons ascend; the rest of a row is -1, nobody. `size` is that of the largest pattern if
    it is not given. On the host.

    **Raises** `ValueError` for an array that is not bool, and a `size` below that of a pattern.
    """
    fires = np.asarray(fires)
    if fires.dtype != bool or fires.ndim < 1:
        raise ValueError(f"fires must be bool (..., n); got {fires.dtype} {fires.shape}")
    most = int(fires.sum(-1).max(initial=0))
    size = max(most, 1) if size is None else check_count("patterns: size", size, at_least=1)
    if most > size:
        raise ValueError(f"size must be at least {most}, that of the largest pattern; got {size}")
    order = np.argsort(~fires, axis=-1, kind="stable")[..., :size].astype(np.int32)
    there = np.take_along_axis(fires, order, -1)
    out = np.full((*fires.shape[:-1], size), -1, np.int32)
    out[..., : order.shape[-1]] = np.where(there, order, -1)
    return out


@names_checked()
def common_neurons(caps: Any, k: int, n: int) -> Any:
    """The k of n neurons that are in the most of some caps, ascending; of equal ones the lower.

    **Step** `caps` int32 (count, k') as `Brain.cap` returns them: -1 is nobody. Returns int32 (k,).
    """
    caps = jnp.asarray(caps, jnp.int32)
    times = jnp.zeros(n, jnp.int32).at[_counted(caps, n)].add(1, mode="drop")
    return k_cap(times, k)


@names_checked()
def overlaps(caps: Any, assemblies: Any, n: int) -> Any:
    """The fraction of each assembly that is in each cap: float32 (..., classes).

    **Step** `caps` int32 (..., k) and `assemblies` int32 (classes, k') of an area of n neurons, as
    `Brain.cap` returns them: each neuron once, -1 nobody. Warns where an assembly, or every cap, is
    nobody, outside of `jit`.
    """
    _warn_of_nobody(concrete(caps), concrete(assemblies))
    caps, assemblies = jnp.asarray(caps, jnp.int32), jnp.asarray(assemblies, jnp.int32)
    member = jax.vmap(lambda one: jnp.zeros(n, jnp.int32).at[_counted(one, n)].set(1, mode="drop"))
    shared = member(assemblies).T.at[_counted(caps, n)].get(mode="fill", fill_value=0)
    return jnp.sum(shared, axis=-2).astype(jnp.float32) / jnp.float32(assemblies.shape[-1])


def _warn_of_nobody(caps: np.ndarray | None, assemblies: np.ndarray | None) -> None:
    none = [] if assemblies is None else np.flatnonzero((assemblies < 0).all(-1)).tolist()
    if none:
        warn(f"overlaps: nobody fires in assembly {none[0]} (all -1), so that no cap shares any")
    elif caps is not None and caps.size and (caps < 0).all():
        warn("overlaps: nobody fires in any cap (all -1), so that all overlaps are 0")


def _counted(neurons: jax.Array, n: int) -> jax.Array:
    return jnp.where(neurons < 0, n, neurons)


def checked_patterns(what: str, brain: Brain, source: str, given: Any, axes: str) -> Any:
    """The patterns as int32, or `ValueError` unless they may be caps of an area.

    `axes` are the names of the axes, separated by commas.
    """
    area = brain.areas[brain.number(source)]
    if not is_traced(given):
        given = np.asarray(given)
    shape, rank = given.shape, len(axes.split(","))
    if not jnp.issubdtype(given.dtype, jnp.integer) or len(shape) != rank or shape[-1] > area.k:
        raise ValueError(
            f"{what} must be whole numbers ({axes}), the firing neurons of area {source!r}, at "
            f"most its k = {area.k} (-1: nobody); got {given.dtype} {shape}. See patterns(...)"
        )
    if 0 in shape:
        raise ValueError(f"{what} must not be empty; got shape {shape}")
    if isinstance(given, np.ndarray):
        _check_neurons(what, given, area.n)
        given = given.astype(np.int32)
    return jnp.asarray(given, jnp.int32)


def _check_neurons(what: str, given: np.ndarray, n: int) -> None:
    if given.min() < -1 or given.max() >= n:
        raise ValueError(
            f"{what} must be neurons from 0 to {n - 1:,}, or -1 for nobody; got {given.min()} to "
            f"{given.max()}"
        )
    ordered = np.sort(given, axis=-1)
    if ((ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)).any():
        raise ValueError(f"{what}: a neuron must stand once in a pattern; one has it twice")
