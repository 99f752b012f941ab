"""Estimates the synapses and the memory of a description, before anything is drawn."""

import dataclasses
from collections.abc import Iterable

from .._text import megabytes
from ..kernels import BLOCK_TARGETS
from ..numerics import QUANTILES
from ._projection import is_individual
from ._resolve import ResolvedProjection

_LISTED = 40  # bytes of a pair while it is sorted
_GAP_BYTES = 12 * 2**16  # of a table of gaps, at most


@dataclasses.dataclass(frozen=True)
class ProjectionEstimate:
    """Expected size of one projection.

    **Fields** `name`; `synapses` expected number; `bytes` of its columns and row pointers;
    `stored` whether its synapses are stored, or drawn again with every spike; `building` bytes
    that are needed in addition while they are drawn.
    """

    name: str
    synapses: int
    bytes: int
    stored: bool = True
    building: int = 0


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Expected sizes of all projections of a description.

    **Fields** `projections` a tuple of `ProjectionEstimate`; `neurons` their number.
    """

    projections: tuple[ProjectionEstimate, ...]
    neurons: int

    @property
    def synapses(self) -> int:
        """Expected synapses in all."""
        return sum(p.synapses for p in self.projections)

    @property
    def bytes(self) -> int:
        """Expected bytes of the connections in all."""
        return sum(p.bytes for p in self.projections)

    def __repr__(self) -> str:
        shown = sorted(self.projections, key=lambda p: -p.bytes)[:30]
        width = max([len(p.name) for p in shown] + [5])
        lines = [f"{'':{width}}  {'synapses':>15}  {'memory':>10}"]
        lines += [f"{p.name:{width}}  {p.synapses:>15,}  {megabytes(p.bytes):>10}" for p in shown]
        if len(self.projections) > len(shown):
            lines.append(f"... and {len(self.projections) - len(shown)} smaller projections")
        lines.append(f"{'total':{width}}  {self.synapses:>15,}  {megabytes(self.bytes):>10}")
        return "\n".join(lines)


def estimate(
    resolved: Iterable[ResolvedProjection],
    neurons: int,
    weight_bytes: int = 4,
    couplings: Iterable[ResolvedProjection] = (),
) -> Estimate:
    """The estimate of some projections and couplings; see `Description.estimate`."""
    rows = []
    for r in resolved:
        p, (pre, post) = r.projection, r.sizes
        synapses = round(r.expected)
        own_weights = is_individual(p.weight) or p.plasticity is not None
        column = 2 + weight_bytes * own_weights + is_individual(p.delay)
        blocks = -(-post // BLOCK_TARGETS)
        stored = r.rule.stored
        size = synapses * column + 4 * pre * blocks if stored else _redrawn_bytes(r, weight_bytes)
        held = 12 * pre + (round(r.rule.held_bytes(synapses, *r.sizes, r.same)) if stored else 0)
        rows.append(ProjectionEstimate(p.name, synapses, size, stored, held))
    rows += [_coupling(r, weight_bytes) for r in couplings]
    return Estimate(tuple(rows), neurons)


def _coupling(r: ResolvedProjection, weight_bytes: int) -> ProjectionEstimate:
    """A coupling: its sources, and its weights if they differ, by target."""
    synapses = round(r.expected) * (1 if r.same else 2)  # of two populations: both directions
    source = 2 if max(r.sizes, default=0) <= BLOCK_TARGETS else 4
    size = synapses * (source + weight_bytes * is_individual(r.projection.weight))
    return ProjectionEstimate(r.projection.name, synapses, size, True, _LISTED * synapses)


def _redrawn_bytes(r: ResolvedProjection, weight_bytes: int) -> int:
    """Bytes of what is drawn again: tables of quantiles and gaps, at most a number per source."""
    p = r.projection
    own = weight_bytes * is_individual(p.weight) + 2 * is_individual(p.delay)
    return QUANTILES * own + (4 * r.sizes[0] if r.rule.redraws_from_counts else _GAP_BYTES)
