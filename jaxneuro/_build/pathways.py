"""Builds a pathway from its projections, whose connections are drawn some rows at a time.

The rows of a projection that is not stored are drawn again by the kernels with every spike.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int64, Integer, Num, UInt32
from numpy.typing import DTypeLike

from .._arrays import AnyArray, as_array
from .._describe.projection import Projection
from .._describe.resolve import ResolvedProjection
from .._describe.values import is_individual
from .._kernels.redraw import GAPS, UNIFORM, Draw
from .._kernels.table import BLOCK_TARGETS, Table
from .._mesh.lay import LaidTable, lay_table
from .._network.dense import Dense
from .._network.layout import MeshLayout
from .._network.members import Seed
from .._network.pathway import Pathway, ProjectionMember
from .._numerics.distributions import Distribution
from .._numerics.draws import quantile_table
from .._numerics.streams import stream_key
from .._tables.bundles import DrawTables, Piece, Placement, RedrawnBundle, StoredBundle
from .._tables.lay_out import lay_out
from ..connectivity._rule import Chunk, RowDraws, RowLaw, ranges
from ..spec import InvalidValueError
from .grouping import Grouping, PathwayKey, Settings
from .groups import release_initial
from .merge import merge_at
from .plastic import build_plastic, check_start
from .values import (
    SynapseValues,
    behind_synapse,
    calls_a_function,
    delay_steps,
    longest_delay,
    round_delays,
)
from .weights import warn_of_none, warn_of_volts

# Share of the time of a build for counting connections, before they are written.
_COUNTING = 0.25


def build_pathway(
    grouping: Grouping,
    key: PathwayKey,
    settings: Settings,
    progress: Callable[[float], None],
    layout: MeshLayout | None,
) -> tuple[Pathway, LaidTable]:
    """A pathway, and its table with what is known of it.

    Args:
        grouping: the groups and pathways of the network.
        key: the pathway.
        settings: what the network is built with.
        progress: gets the millions of synapses done.
        layout: who has which neurons of a mesh; None for a network on one device.
    """
    projections, dtype, weights = grouping.pathways[key], settings.dtype, settings.weights
    placements = []
    for number, p in enumerate(projections):
        placement = _place(grouping, number, p, settings)
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
        initial=release_initial(grouping, projections, firsts, dtype),
        plastic=build_plastic(grouping, key, projections[0], laid.longest, settings),
        source=key.source,
        target=key.target,
        members=tuple(
            ProjectionMember(p.name, p.pre.population, p.post.population, *grouping.input_of(p), i)
            for p, i in zip(projections, own)
        ),
        dense=_dense(grouping, projections[0], laid.table),
    )
    return pathway, laid


def _dense(grouping: Grouping, p: Projection, table: Table) -> Dense | None:
    """How a projection is a matrix product."""
    if p.name not in grouping.dense:
        return None
    return Dense.of(table, p.pre.population if grouping.dense[p.name] else None)


def _real_weights(laid: LaidTable) -> Float[AnyArray, "..."]:
    """The individual weights; over a mesh, whose processes see their own, the two extremes."""
    if laid.numbers is None or not laid.weights.size:
        return laid.weights
    known = laid.numbers < laid.synapses  # the others fill up a device's
    least = jnp.min(laid.weights, where=known, initial=jnp.inf)
    return jnp.stack([least, jnp.max(laid.weights, where=known, initial=-jnp.inf)])


def _place(grouping: Grouping, number: int, p: Projection, settings: Settings) -> Placement:
    """The connections of a projection, and their offset among the neurons of its pathway."""
    seed, dt = settings.seed, settings.dt
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


class ProjectionBundle(StoredBundle):
    """The connections of a projection between two whole populations of `n_pre` and `n_post`.

    Connections are counted first and drawn when they are written. A rule that cannot
    count its rows without drawing them draws twice, which is cheaper than holding the draws beside
    the finished columns. Only draws that fit in one chunk are kept, and those of rules that search
    in space, which are slow.
    """

    def __init__(
        self, resolved: ResolvedProjection, seed: Seed, n_pre: int, n_post: int, dt: float
    ):
        p = resolved.projection
        self._resolved, self._dt, self._seed = resolved, dt, seed
        self._key = stream_key(seed, p.name, "targets")
        self.n_sources, self.n_targets = n_pre, n_post
        self.own_weights, self.own_delays = own_weights(p), is_individual(p.delay)
        delay = 0 if self.own_delays else delay_steps(p.name, p.delay, dt)
        self.delay = 0 if self.own_delays else int(behind_synapse(p, delay, dt))
        self.longest_delay = longest_delay(resolved, dt)
        self.serial = calls_a_function(p)
        self._kept: list[Chunk] | None = []
        drawing = 0 not in resolved.sizes
        rule, sizes = resolved.rule, resolved.sizes
        self._rows = rule.rows(self._key, *sizes, resolved.same) if drawing else None
        counts = self._count() if self._rows is None else self._rows.counts
        self.counts = np.zeros(n_pre, np.uint32)
        self.counts[resolved.pre] = counts
        self.size = int(counts.sum(dtype=np.int64))

    def _count(self) -> Int64[np.ndarray, " sources"]:
        """Draws all chunks for their numbers of connections per row."""
        counts, kept = np.zeros(self._resolved.sizes[0], np.int64), []
        for chunk in self._draw():
            counts[chunk.first_row : chunk.first_row + chunk.counts.size] += chunk.counts
            if kept is not None:
                narrow = np.uint16 if self.n_targets <= BLOCK_TARGETS else np.uint32
                kept.append(chunk._replace(targets=chunk.targets.astype(narrow)))
                if len(kept) > 1 and not self._resolved.rule.spatial:
                    kept = None
        self._kept = kept
        return counts

    def _draw(self) -> Iterator[Chunk]:
        r = self._resolved
        if 0 not in r.sizes:
            yield from r.rule.draw(self._key, *r.sizes, r.same)

    def pieces(
        self, weights: DTypeLike | None, delays: DTypeLike | None
    ) -> Iterator[Callable[[], Piece]]:
        values = None
        if self.own_weights or self.own_delays:
            dtypes, order = (weights, delays), None if self._rows is None else self._rows.order
            values = SynapseValues(self._resolved, self._seed, self._dt, dtypes, self.counts, order)
        for connected in self._connected():
            yield connected if values is None else partial(_with_values, values, connected)

    def _connected(self) -> Iterator[Callable[[], Piece]]:
        """Functions that return all connections without their values."""
        rows = self._rows
        if rows is not None:
            for first, stop, begin, end in ranges(rows.counts):
                if end > begin:
                    yield partial(self._of_rows, rows, first, stop)
            return
        used = np.zeros(self._resolved.sizes[0], np.uint32)
        for chunk in self._draw() if self._kept is None else self._kept:
            mine = slice(chunk.first_row, chunk.first_row + chunk.counts.size)
            before = used[mine].copy()
            used[mine] += chunk.counts.astype(np.uint32)
            if chunk.targets.size:
                yield partial(self._piece, *chunk, before)

    def forget(self) -> None:
        self._rows, self._kept = None, []

    def _of_rows(self, rows: RowDraws, first: int, stop: int) -> Piece:
        counts, targets = rows.counts[first:stop], rows.targets(first, stop)
        return self._piece(first, counts, targets, np.zeros(stop - first, np.uint32))

    def _piece(
        self,
        first: int,
        counts: Integer[np.ndarray, " rows"],
        targets: Integer[np.ndarray, " synapses"],
        used: UInt32[np.ndarray, " rows"],
    ) -> Piece:
        """What a rule drew among the chosen neurons, numbered in the populations."""
        pre, post = self._resolved.pre, self._resolved.post
        stop = first + counts.size
        rows = np.arange(first, stop) + pre.start if isinstance(pre, slice) else pre[first:stop]
        targets = targets.astype(np.int32)
        if not isinstance(post, slice):
            targets = post[targets].astype(np.int32)
        elif post.start:
            targets += np.int32(post.start)
        return Piece(rows, counts, used, targets)


def own_weights(p: Projection) -> bool:
    """Whether each connection has a weight of its own: if they differ, or will."""
    return is_individual(p.weight) or p.plasticity is not None


def _with_values(values: SynapseValues, connected: Callable[[], Piece]) -> Piece:
    piece = connected()
    weights, delays = values.of(piece)
    return piece._replace(weights=weights, delays=delays)


_LONGEST_ROW = 2**28  # 1 GB of targets while it is drawn


class ProceduralBundle(RedrawnBundle):
    """The connections of a projection that is not stored, between two whole populations."""

    def __init__(
        self,
        resolved: ResolvedProjection,
        law: RowLaw,
        seed: Seed,
        sizes: tuple[int, int],
        dt: float,
    ):
        p = resolved.projection
        self._resolved, self._law, self._dt = resolved, law, dt
        self._values_key = stream_key(seed, p.name, "values")
        self.n_sources, self.n_targets = sizes
        self.size = law.size
        self.own_weights, self.own_delays = is_individual(p.weight), is_individual(p.delay)
        self.delay = 0 if self.own_delays else int(delay_steps(p.name, p.delay, dt))
        self.longest_delay = longest_delay(resolved, dt)

    def weights(self) -> Float[np.ndarray, " quantiles"]:
        return quantile_table(self._resolved.projection.weight)

    def delays(self) -> Num[np.ndarray, " quantiles"]:
        p = self._resolved.projection
        return round_delays(p.name, quantile_table(p.delay), self._dt)

    def draw(self, tables: DrawTables, weights: int, delays: int) -> Draw:
        law, pre, post = self._law, self._resolved.pre, self._resolved.post
        assert isinstance(pre, slice)
        assert isinstance(post, slice)
        gaps = {"gaps": 0, "gap_size": 0, "gap_shift": 0, "hint": 0}
        own_counts = 0
        if law.p is not None:
            gaps = tables.gaps(law.p, law.n)
        elif law.counts is not None:
            own_counts = 1 + tables.keep(law.counts)
        return Draw(
            rule=UNIFORM if law.p is None else GAPS,
            key_high=law.key[0],
            key_low=law.key[1],
            n=law.n,
            skip_own=law.skip_own,
            first_row=pre.start,
            rows=pre.stop - pre.start,
            shift=post.start,
            mean=law.mean,
            own_counts=own_counts,
            **gaps,
            values_high=self._values_key[0],
            values_low=self._values_key[1],
            weights=weights,
            delays=delays,
        )


def row_law(resolved: ResolvedProjection, seed: Seed) -> RowLaw | None:
    """How the rows of a projection are drawn again; None if they are stored."""
    key = stream_key(seed, resolved.projection.name, "targets")
    return None if 0 in resolved.sizes else resolved.rule.law(key, *resolved.sizes, resolved.same)


def check_unstored(resolved: ResolvedProjection) -> None:
    """Raises `InvalidValueError` for values that only a stored projection can have."""
    p = resolved.projection
    if p.rule.stored:
        return
    per_row = resolved.expected / max(resolved.sizes[0], 1)
    if per_row > _LONGEST_ROW:
        must = f"one of at most {_LONGEST_ROW:,} synapses of a source with stored=False"
        raise InvalidValueError(p.label, "rule", must, f"{per_row:,.0f}")
    for what in ("weight", "delay"):
        value = getattr(p, what)
        if isinstance(value, float):
            continue
        if not isinstance(value, Distribution):
            must = "a number with stored=False, or a distribution with FixedProbability"
            raise InvalidValueError(p.label, what, must, _kind(value))
        if not p.rule.redraws_in_order:
            must = f"a number with stored=False and {type(p.rule).__name__}"
            raise InvalidValueError(p.label, what, must, repr(value))
    for side, neurons in (("source", resolved.pre), ("target", resolved.post)):
        if not isinstance(neurons, slice):
            must = "a population, or a slice of one, with stored=False"
            raise InvalidValueError(p.label, side, must, "indices that are not consecutive")


def _kind(value: Any) -> str:
    return f"an array {np.shape(value)}" if isinstance(value, np.ndarray) else repr(value)
