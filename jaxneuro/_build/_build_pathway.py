"""Builds a pathway from its projections; draws their connections."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from .._arrays import as_array
from .._describe import Projection
from .._mesh import LaidTable, lay_table
from .._network import Layout, Pathway, ProjectionSpan
from .._tables import Placement, lay_out
from ._build_plastic import build_plastic, check_start
from ._check_plausible import warn_of_none, warn_of_volts
from ._drawing import ProjectionBundle, own_weights
from ._grouping import Grouping, PathwayKey
from ._merge import merge_at
from ._procedural import ProceduralBundle, row_law
from ._starts import release_starts

# Share of the time of a build for counting connections, before they are written.
_COUNTING = 0.25


def build_pathway(
    grouping: Grouping,
    key: PathwayKey,
    seed: Any,
    dt: float,
    dtype: Any,
    weights: Any,
    progress: Callable[[float], None],
    layout: Layout | None,
) -> tuple[Pathway, LaidTable]:
    """A pathway, and its table with what is known of it.

    `weights` is the dtype of individual weights; `progress` gets the millions of synapses done;
    `layout` says who has which neurons of a mesh, None for a network on one device.
    """
    projections = grouping.pathways[key]
    placements = []
    for number, p in enumerate(projections):
        placement = _place(grouping, key, number, p, seed, dt)
        placements.append(placement)
        progress(1e-6 * _COUNTING * placement.bundle.size)
    written = lambda synapses: progress(1e-6 * (1 - _COUNTING) * synapses)  # noqa: E731
    if layout is None:
        table, stored, longest = lay_out(placements, grouping.size(key.target), weights, written)
        laid = LaidTable(table, stored, None, table.n_synapses, 0, longest)
    else:
        plastic = projections[0].plasticity is not None
        laid = lay_table(placements, key.target, layout, weights, plastic, written)
    own = [own_weights(p) for p in projections]
    release, at = projections[0].release, projections[0].pre.population
    sources = grouping.groups[key.source]
    names, sizes = [p.name for p in sources], [p.n for p in sources]
    check_start(projections[0], _real_weights(laid))
    firsts = [grouping.seats[p.pre.population].first for p in projections]
    pathway = Pathway(
        table=laid.table,
        weights=laid.weights,
        weight=as_array([1.0 if i else p.weight for p, i in zip(projections, own)], dtype),
        gain=as_array([p.gain for p in projections], dtype),
        release=merge_at(at, release, names, sizes, dtype),
        starts=release_starts(grouping, projections, firsts, dtype),
        plastic=build_plastic(grouping, key, projections[0], laid.longest, dt, dtype),
        source=key.source,
        target=key.target,
        members=tuple(
            ProjectionSpan(p.name, p.pre.population, p.post.population, *grouping.input_of(p), i)
            for p, i in zip(projections, own)
        ),
    )
    return pathway, laid


def _real_weights(laid: LaidTable) -> Any:
    """The individual weights; over a mesh, what fills up a device's is another one of them."""
    if laid.numbers is None:
        return laid.weights
    known = laid.numbers < laid.synapses
    return jnp.where(known, laid.weights, jnp.max(jnp.where(known, laid.weights, -jnp.inf)))


def _place(
    grouping: Grouping, key: PathwayKey, number: int, p: Projection, seed: Any, dt: float
) -> Placement:
    """The connections of a projection, and their offset among the neurons of its pathway."""
    ends = p.pre.population, p.post.population
    n_pre, n_post = (grouping.description.population(name).n for name in ends)
    resolved = grouping.resolved[p.name]
    law = row_law(resolved, seed)
    if law is None:
        bundle = ProjectionBundle(resolved, seed, n_pre, n_post, dt)
    else:
        bundle = ProceduralBundle(resolved, law, seed, (n_pre, n_post), dt)
    warn_of_none(resolved, bundle.size)
    warn_of_volts(resolved, bundle.size)
    first_source, first_target = (grouping.seats[name].first for name in ends)
    return Placement(bundle, number, first_source, first_target, grouping.input_of(p)[1])
