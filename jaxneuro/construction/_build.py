"""Builds a network from a description: groups, receptors, pathways, drawn connections."""

import dataclasses
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import as_array
from .._checks import is_traced
from .._progress import Progress
from ..description import Description, Resolver, estimate
from ..network import Network, check_gap_junctions, find_quanta
from ..numerics import check_dt, check_grid, check_stable, seed_of
from ._build_coupling import build_coupling, check_coupling
from ._build_group import build_group
from ._build_modulator import check_constant_gains, with_modulators
from ._build_pathway import build_pathway
from ._build_plastic import check_plastic
from ._check_names import check_names
from ._check_neuron import check_neuron, gap_coupled
from ._check_release import check_releases
from ._check_signs import check_signs
from ._delays import longest_delay
from ._grouping import Grouping, synapse_of
from ._memory import check_fits, state_bytes
from ._procedural import check_unstored
from ._stimuli import prepare_stimuli

_SHOWN = 10_000_000  # synapses from which the progress of a build is shown


def build(
    description: Description,
    key: Any,
    dt: float,
    dtype: Any = jnp.float32,
    *,
    weights: Any = None,
    deterministic: bool = False,
    progress: bool | None = None,
) -> Network:
    """Builds a network: draws the connections of a description and arranges them for speed.

    `key` an integer or a JAX key (the same key gives the same network, whatever else the
    description holds and in whatever order); `dt` [ms] the time step; `dtype` float32, or
    float64 with `jax_enable_x64`. `weights` is how individual weights are stored: as `dtype`
    (None), or as bfloat16, rounded to the nearest, in half the memory. `deterministic` counts
    arrivals in whole quanta (see `FixedPoint`): then runs on a GPU repeat bit for bit, which
    sums of floats do not there, and the network has no gradient. `progress` shows a bar (default:
    for more than 10 million synapses, if stderr is a terminal).

    Connections are drawn on all cores that the process may use; their bits do not depend on
    it. Ctrl-C stops a build and leaves nothing behind.

    **Raises** `ValueError`, before anything is drawn, for a key, dt or dtype of the wrong kind, a
    dt above the largest at which a neuron model is known to be stable, a duration or delay that is
    not a whole number of steps, an unknown state variable among the initial values, or numbers that
    one of a receptor or a release never has, a neuron model that ignores a part of its drive, a
    release of spikes from one that never spikes, or a network that does not fit in memory (with the
    estimate per projection).
    """
    if not isinstance(description, Description):
        raise ValueError(f"build needs a Description; got {description!r}")
    dt, dtype, seed = check_dt(dt), _check_dtype(dtype), _concrete_seed(key)
    weights = _check_weights(weights, dtype)
    _check_deterministic(description, deterministic)
    _check_models(description, dt)
    check_plastic(description, dt, dtype, weights, deterministic)
    resolver = Resolver(description, seed)
    grouping = Grouping(description, {p.name: resolver.resolve(p) for p in description.projections})
    drawn = {c.name: resolver.resolve(c.drawn()) for c in description.couplings}
    longest = {name: longest_delay(r, dt) for name, r in grouping.resolved.items()}
    _check_parts(grouping)
    expected = estimate(
        grouping.resolved.values(), grouping.neurons, weights.itemsize, drawn.values()
    )
    check_fits(expected, state_bytes(grouping, longest, dtype))
    stimulations = prepare_stimuli(grouping, resolver, seed, dt)
    numbers = range(len(grouping.groups))
    groups = [build_group(grouping, stimulations, number, dtype) for number in numbers]
    _check_groups(grouping, groups, dt, dtype)
    couplings = _build_couplings(grouping, groups, drawn, (seed, dt, dtype))
    pathways, groups = _build_pathways(
        grouping, groups, (seed, dt, dtype, weights), expected.synapses, progress
    )
    net = Network(
        groups=tuple(groups),
        pathways=tuple(pathways),
        couplings=tuple(couplings),
        modulators=(),
        points=_points(description, resolver, dtype),
        fixed_point=find_quanta(tuple(groups), tuple(pathways), dtype) if deterministic else None,
        dt=dt,
        order=tuple(p.name for p in description.populations),
        dtype=np.dtype(dtype),
    )
    return with_modulators(net, description.modulators, resolver)


def _check_parts(grouping: Grouping) -> None:
    """Raises `ValueError` for projections and couplings that cannot be."""
    for r in grouping.resolved.values():
        check_unstored(r)
    check_signs(grouping.description)
    for c in grouping.description.couplings:
        check_coupling(grouping, c)


def _check_groups(grouping: Grouping, groups: list, dt: float, dtype: Any) -> None:
    """Raises `ValueError` for neurons and releases that do not do what the network needs."""
    for group in groups:
        coupled = gap_coupled(grouping.description, group)
        check_neuron(group, dt, dtype, coupled=coupled)
    check_releases(grouping, dt, dtype)


def _build_couplings(
    grouping: Grouping, groups: list, drawn: dict[str, Any], how: tuple[Any, float, Any]
) -> list:
    """All couplings, in the order of their names; `how` is seed, dt and dtype."""
    ordered = sorted(grouping.description.couplings, key=lambda c: c.name)
    couplings = [build_coupling(grouping, c, drawn[c.name], how) for c in ordered]
    check_gap_junctions(couplings, groups, how[1])
    return couplings


def _build_pathways(
    grouping: Grouping,
    groups: list,
    how: tuple[Any, float, Any, Any],
    synapses: float,
    progress: bool | None,
) -> tuple[list, list]:
    """All pathways, and the groups with the slots that their delays need.

    `how` is seed, dt, dtype and the dtype of weights.
    """
    pathways, groups = [], list(groups)
    show = synapses > _SHOWN and sys.stderr.isatty() if progress is None else progress
    with Progress("building", synapses / 1e6, "million synapses", show) as bar:
        for ends in grouping.pathways:
            pathway, steps = build_pathway(grouping, ends, *how, bar.advance)
            pathways.append(pathway)
            target = groups[ends.target]
            slots = max(target.slots, steps + 1)
            groups[ends.target] = dataclasses.replace(target, slots=slots)
    return pathways, groups


def _check_models(description: Description, dt: float) -> None:
    """Raises `ValueError` for models that do not fit the time step."""
    for p in description.populations:
        check_grid(f"population {p.name!r}", p.model, dt)
        check_stable(f"population {p.name!r}", p.model, dt)
    for p in (*description.projections, *description.couplings):
        if p.synapse is not None and p.release is not None:
            check_grid(f"{p.label}: synapse", synapse_of(p), dt)
            check_grid(f"{p.label}: release", p.release, dt)
            check_names(p)


def _points(description: Description, resolver: Resolver, dtype: Any) -> dict[str, jax.Array]:
    points = {p.name: resolver.points(p.name) for p in description.populations}
    return {name: as_array(x, dtype) for name, x in points.items() if x is not None}


def _check_dtype(dtype: Any) -> Any:
    try:
        d = np.dtype(dtype)
    except TypeError:
        d = None
    if d not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64; got {dtype!r}")
    if jax.dtypes.canonicalize_dtype(d) != d:
        raise ValueError(
            "dtype float64 needs 64-bit JAX; call jax.config.update('jax_enable_x64', True) first"
        )
    return d


def _check_deterministic(description: Description, deterministic: Any) -> None:
    if not isinstance(deterministic, bool):
        raise ValueError(f"deterministic must be True or False; got {deterministic!r}")
    graded = [p for p in description.projections if not p.release.plain]
    if deterministic and graded:
        raise ValueError(
            "deterministic=True needs spikes: what arrives is counted in quanta that are found "
            f"for releases of 0 and 1; projection {graded[0].name!r} has {graded[0].release!r}"
        )
    if deterministic:
        check_constant_gains(description.modulators)


def _check_weights(weights: Any, dtype: np.dtype) -> np.dtype:
    try:
        d = dtype if weights is None else np.dtype(weights)
    except TypeError:
        d = None
    if d is None or d not in (dtype, np.dtype(jnp.bfloat16)):
        raise ValueError(
            f"weights must be None (individual weights in the network's {dtype}) or bfloat16; "
            f"got {weights!r}"
        )
    return d


def _concrete_seed(key: Any) -> np.ndarray:
    seed = seed_of(key)
    if is_traced(seed):
        raise ValueError("build draws outside jit and vmap: the key must be a known value")
    return np.asarray(seed)
