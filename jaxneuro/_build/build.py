"""Builds a network from a description: groups, receptors, pathways, drawn connections."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float

from .. import spec
from .._arrays import as_array, is_traced
from .._describe.description import Description
from .._describe.estimate import estimate
from .._describe.resolve import ResolvedProjection, Resolver
from .._fingerprint import fingerprint
from .._kernels.table import ring_slots
from .._mesh.lay import LaidTable, check_mesh, check_rate, placed, plan, with_tables
from .._mesh.partition import Partition
from .._mesh.place import share_here
from .._network.coupling import CouplingLayer
from .._network.described import remember_classes
from .._network.fixed_point import find_quanta
from .._network.gap_stability import check_gap_junctions
from .._network.group import Group
from .._network.html import remember_names
from .._network.layout import MeshLayout
from .._network.names import named
from .._network.network import Network
from .._network.pathway import Pathway
from .._network.slow import warn_of_slow
from .._numerics.grid import check_dt, check_grid, check_stable
from .._numerics.streams import seed_of
from .._progress import Progress, is_shown
from ..spec import InvalidValueError
from .contract import check_roles
from .couplings import build_coupling, check_coupling
from .dense import find_dense
from .drives import check_neuron, gap_coupled
from .grouping import Grouping, Settings, synapse_of
from .groups import build_group
from .memory import check_fits, state_bytes
from .modulators import check_constant_gains, with_modulators
from .pathways import build_pathway, check_unstored
from .plastic import check_plastic
from .releases import check_releases
from .sharing import check_names, shared_models
from .stimuli import prepare_stimuli
from .units import check_units
from .values import longest_delay
from .weights import check_signs, warn_of_speed


def _dtype(given: Any) -> np.dtype:
    try:
        d = np.dtype(given)
    except TypeError:
        d = None
    if d not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise spec.Unfit("float32 or float64")
    if jax.dtypes.canonicalize_dtype(d) != d:
        must = "float32 in 32-bit JAX (call jax.config.update('jax_enable_x64', True) first)"
        raise spec.Unfit(must)
    return np.dtype(d)


_SHOWN = 10_000_000  # synapses from which the progress of a build is shown


@spec.arguments(
    description=spec.Of(Description),
    dtype=spec.Converted(_dtype),
    deterministic=spec.Flag(),
    progress=spec.Maybe(spec.Flag()),
)
def build(
    description: Description,
    key: Any,
    dt: float,
    dtype: Any = jnp.float32,
    *,
    weights: Any = None,
    deterministic: bool = False,
    progress: bool | None = None,
    mesh: Mesh | None = None,
    partition: Partition | None = None,
    axis: str | tuple[str, ...] | None = None,
    rate: float | None = None,
) -> Network:
    """Builds a network: draws the connections of a description and arranges them for speed.

    Connections are drawn on all cores that the process may use; their bits do not depend on it.
    Ctrl-C stops a build and leaves nothing behind.

    Over a mesh the network has the same bits as `shard(build(...), mesh)`, but no process ever
    holds more connections than those onto the neurons of its own devices. Each process draws all of
    them, some rows at a time, and keeps its part.

    Args:
        description: the network.
        key: an integer or a JAX key; the same key gives the same network, whatever else the
            description holds and in whatever order.
        dt: the time step [ms].
        dtype: float32, or float64 with `jax_enable_x64`.
        weights: how individual weights are stored: as `dtype` (None), or as bfloat16, rounded to
            the nearest, in half the memory.
        deterministic: whether arrivals are counted in whole quanta (see `FixedPoint`): then runs
            on a GPU repeat bit for bit, which sums of floats do not there, and the network has no
            gradient.
        progress: whether to show a bar; None: for more than 10 million synapses, if stderr is a
            terminal.
        mesh: a JAX mesh, over the devices of which the network is laid.
        partition, axis, rate: as of `jn.parallel.shard`.

    Raises:
        InvalidValueError: before anything is drawn, for a key, dt or dtype of the wrong kind, a dt
            above the largest at which a neuron model is known to be stable, a duration or delay
            that is not a whole number of steps, a `PoissonSource` of more than one spike per step,
            an unknown state variable among the initial values, or numbers that one of a receptor or
            a release never has, a neuron model that ignores a part of its drive, a release of
            spikes from one that never spikes, a network that does not fit in memory (with the
            estimate per projection), and over a mesh for what `shard` refuses, for a partition that
            needs the connections (Metis), and for `deterministic`.
    """
    _check_known(description, dt, key)
    dt, dtype, seed = check_dt(dt), np.dtype(dtype), np.asarray(seed_of(key))
    weights = _check_weights(weights, dtype)
    _check_deterministic(description, deterministic)
    check_units(description, dt)
    _check_models(description, dt, dtype)
    over = _check_mesh(description, mesh, axis, partition, rate, deterministic)
    rules = check_plastic(description, dt, dtype, weights, deterministic)
    resolver = Resolver(description, seed)
    resolved = {p.name: resolver.resolve(p) for p in description.projections}
    events = deterministic or mesh is not None
    dense = {} if events else find_dense(description, resolved, dt)
    grouping = Grouping(description, resolved, dense)
    drawn = {c.name: resolver.resolve(c.drawn()) for c in description.couplings}
    shared = shared_models(grouping)
    longest = {name: longest_delay(r, dt) for name, r in grouping.resolved.items()}
    _check_parts(grouping, dt)
    expected = estimate(
        grouping.resolved.values(), grouping.neurons, weights.itemsize, drawn.values()
    )
    check_fits(expected, state_bytes(grouping, longest, dtype), share_here(mesh))
    stimulations = prepare_stimuli(grouping, resolver, seed, dt)
    numbers = range(len(grouping.groups))
    groups = [build_group(grouping, stimulations, number, dt, dtype) for number in numbers]
    _check_groups(grouping, groups, dt, dtype, mesh)
    settings = Settings(seed, dt, dtype, weights, rules)
    couplings = _build_couplings(grouping, groups, drawn, settings)
    points = _points(description, resolver, dtype)
    known = fingerprint(description, seed, dt, str(dtype), str(weights), deterministic)
    remember_names(known, groups)
    outline = Network(  # without its connections and modulators
        groups=tuple(groups),
        pathways=(),
        couplings=tuple(couplings),
        modulators=(),
        points=points,
        fixed_point=None,
        dt=dt,
        order=tuple(p.name for p in description.populations),
        dtype=dtype,
        fingerprint=as_array(known),
        shared=shared,
    )
    layout = None if mesh is None else plan(outline, mesh, over, partition, rate)
    pathways, groups, laid = _build_pathways(
        grouping, groups, settings, expected.synapses, progress, layout
    )
    fixed = find_quanta(tuple(groups), tuple(pathways), dtype) if deterministic else None
    net = dataclasses.replace(
        outline, groups=tuple(groups), pathways=tuple(pathways), fixed_point=fixed
    )
    net = with_modulators(net, description.modulators, resolver)
    _warn_of_lost_digits(net)
    remember_classes(known, description, net)
    return net if layout is None else placed(net, with_tables(layout, laid))


def _warn_of_lost_digits(net: Network) -> None:
    """Warns of time constants that are too long for a network in float32."""
    names = [*net.order, *net.projections, *net.stimulations, *net.coupled]
    seen = set()
    for name in (*names, *(m.name for m in net.modulators)):
        for reference in named(net, name).references:
            key = reference.path, reference.member
            if key not in seen:
                seen.add(key)
                warn_of_slow(net, reference)


def _check_parts(grouping: Grouping, dt: float) -> None:
    """Raises `InvalidValueError` for projections and couplings that cannot be."""
    for r in grouping.resolved.values():
        check_unstored(r)
        warn_of_speed(r, dt)
    check_signs(grouping.description)
    for c in grouping.description.couplings:
        check_coupling(grouping, c)


def _check_groups(
    grouping: Grouping, groups: list[Group], dt: float, dtype: np.dtype, mesh: Mesh | None
) -> None:
    """Raises `InvalidValueError` for neurons and releases that do not do what the network needs."""
    facts, laid_by = [], "" if mesh is None else "build"
    for group in groups:
        coupled = gap_coupled(grouping.description, group)
        facts.append(check_neuron(group, dt, dtype, coupled=coupled, laid_by=laid_by))
    check_releases(grouping, facts, dt, dtype, laid_by)


def _build_couplings(
    grouping: Grouping,
    groups: list[Group],
    drawn: dict[str, ResolvedProjection],
    settings: Settings,
) -> list[CouplingLayer]:
    """All couplings, in the order of their names."""
    ordered = sorted(grouping.description.couplings, key=lambda c: c.name)
    couplings = [build_coupling(grouping, c, drawn[c.name], settings) for c in ordered]
    check_gap_junctions(couplings, groups, settings.dt)
    return couplings


def _build_pathways(
    grouping: Grouping,
    groups: list[Group],
    settings: Settings,
    synapses: float,
    progress: bool | None,
    layout: MeshLayout | None,
) -> tuple[list[Pathway], list[Group], list[LaidTable]]:
    """All pathways, the groups with the slots that their delays need, and what tables are laid."""
    pathways, groups, tables = [], list(groups), []
    show = is_shown(False if progress is None and synapses <= _SHOWN else progress)
    with Progress("building", synapses / 1e6, "million synapses", show) as bar:
        for ends in grouping.pathways:
            pathway, laid = build_pathway(grouping, ends, settings, bar.advance, layout)
            pathways.append(pathway)
            tables.append(laid)
            target = groups[ends.target]
            slots = max(target.slots, ring_slots(laid.longest))
            groups[ends.target] = dataclasses.replace(target, slots=slots)
    return pathways, groups, tables


def _check_models(description: Description, dt: float, dtype: np.dtype) -> None:
    """Raises `InvalidValueError` for models that do not fit their role or the time step."""
    check_roles(description, dtype)
    for p in description.populations:
        check_grid(f"population {p.name!r}", p.model, dt)
        check_stable(f"population {p.name!r}", p.model, dt)
    both = (*description.projections, *description.couplings)
    known = [p for p in both if p.synapse is not None and p.release is not None]
    for p in known:
        check_grid(f"{p.label}: synapse", synapse_of(p), dt)
        check_grid(f"{p.label}: release", p.release, dt)
    check_names(known)


def _points(
    description: Description, resolver: Resolver, dtype: np.dtype
) -> dict[str, Float[Array, "_ _"]]:
    points = {p.name: resolver.points(p.name) for p in description.populations}
    return {name: as_array(x, dtype) for name, x in points.items() if x is not None}


def _check_mesh(
    description: Description,
    mesh: Mesh | None,
    axis: str | tuple[str, ...] | None,
    partition: Partition | None,
    rate: float | None,
    deterministic: bool,
) -> Any:
    """The axis of the mesh; raises `InvalidValueError` for what cannot be built over it."""
    if mesh is None:
        if any(x is not None for x in (partition, axis, rate)):
            must = "given with partition=, axis= or rate=, which say how it is used"
            raise InvalidValueError("build", "mesh", must, "None")
        return ""
    check_rate("build", rate)
    axis = check_mesh("build", mesh, axis, sum(p.n for p in description.populations))
    if isinstance(partition, Partition) and partition.reads_connections:
        must = "one that does not look at connections (or jn.parallel.shard(build(...)))"
        raise InvalidValueError("build", "partition", must, type(partition).__name__)
    if deterministic:
        # Quanta are found from all connections in one memory.
        must = "None with deterministic=True (then jn.parallel.shard)"
        raise InvalidValueError("build", "mesh", must, "a mesh")
    for p in description.projections:
        if not p.rule.stored:
            raise InvalidValueError(p.label, "rule", "stored over a mesh", "stored=False")
    return axis


def _check_deterministic(description: Description, deterministic: bool) -> None:
    """Raises `InvalidValueError` where quanta cannot be found for what arrives."""
    graded = [p for p in description.projections if not p.release.plain]
    if deterministic and graded:
        must = "False: quanta are found for releases of 0 and 1"
        got = f"True, and {graded[0].label} has {graded[0].release!r}"
        raise InvalidValueError("build", "deterministic", must, got)
    if deterministic:
        check_constant_gains(description.modulators)


def _check_weights(weights: Any, dtype: np.dtype) -> np.dtype:
    try:
        d = dtype if weights is None else np.dtype(weights)
    except TypeError:
        d = None
    if d is None or d not in (dtype, np.dtype(jnp.bfloat16)):
        must = f"None (individual weights in the network's {dtype}) or bfloat16"
        raise InvalidValueError("build", "weights", must, repr(weights))
    return d


def _check_known(description: Description, *values: Any) -> None:
    """Raises `InvalidValueError` for values that are traced."""
    models = [p.model for p in description.populations]
    if any(map(is_traced, jax.tree.leaves((models, values)))):
        # Connections are drawn: what is varied inside is varied by net.set(name, ...).
        must = "called with known numbers, outside of jit, vmap and grad"
        raise InvalidValueError("build", "description", must, "one that is traced")
