"""Estimates the synapses and the memory of a description, before anything is drawn."""

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from .._html import page, table
from .._kernels.gather import LANES, RUN
from .._kernels.table import BLOCK_TARGETS
from .._numerics.draws import QUANTILES
from .._text import counted, megabytes
from .coupling import DrawnCoupling
from .resolve import ResolvedProjection
from .values import is_individual

_LISTED = 40  # bytes of a pair while it is sorted
_LONGEST_OF_16 = 1.77  # standard deviations above the mean: the largest of 16 normal numbers
_GAP_BYTES = 12 * 2**16  # of a table of gaps, at most


@dataclasses.dataclass(frozen=True)
class ProjectionEstimate:
    """Expected size of one projection.

    Attributes:
        name: its name.
        synapses: expected number.
        bytes: bytes of its columns and row pointers.
        stored: whether its synapses are stored, or drawn again with every spike.
        building: bytes that are needed in addition while they are drawn.
        coupled: whether it is a coupling, whose connections are counted in both directions.
    """

    name: str
    synapses: int
    bytes: int
    stored: bool = True
    building: int = 0
    coupled: bool = False


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Expected sizes of all projections of a description.

    Attributes:
        projections: estimates, those of couplings at the end.
        neurons: number of neurons.
    """

    projections: tuple[ProjectionEstimate, ...]
    neurons: int

    @property
    def synapses(self) -> int:
        """Expected synapses in all, without connections of couplings."""
        return sum(p.synapses for p in self.projections if not p.coupled)

    @property
    def neighbours(self) -> int:
        """Expected connections of couplings in all."""
        return sum(p.synapses for p in self.projections if p.coupled)

    @property
    def bytes(self) -> int:
        """Expected bytes of the connections in all."""
        return sum(p.bytes for p in self.projections)

    def _repr_html_(self) -> str:
        """What notebooks show: the projections, the largest first."""
        order = sorted(self.projections, key=lambda p: -p.bytes)
        rows = [(p.name, f"{p.synapses:,}", megabytes(p.bytes)) for p in order]
        total = self.synapses + self.neighbours
        title = f"Estimate: {counted(self.neurons, 'neuron')}, {counted(total, 'connection')}"
        head = ("projection", "synapses", "memory")
        return page(f"{title}, {megabytes(self.bytes)}", [table(head, rows)])

    def __repr__(self) -> str:
        shown = sorted(self.projections, key=lambda p: -p.bytes)[:30]
        width = max([len(p.name) for p in shown] + [5])
        lines = [f"{'':{width}}  {'synapses':>15}  {'memory':>10}"]
        lines += [f"{p.name:{width}}  {p.synapses:>15,}  {megabytes(p.bytes):>10}" for p in shown]
        if len(self.projections) > len(shown):
            lines.append(f"... and {len(self.projections) - len(shown)} smaller projections")
        total = self.synapses + self.neighbours
        lines.append(f"{'total':{width}}  {total:>15,}  {megabytes(self.bytes):>10}")
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
    """A coupling, whose connections are stored by target, and both ways if it is symmetric."""
    p = r.projection
    symmetric = isinstance(p, DrawnCoupling) and p.symmetric
    two = symmetric and p.pre.population != p.post.population
    expected = _pairs_in_both(r) if symmetric else r.expected
    weight = weight_bytes * is_individual(p.weight)
    random = r.rule.pairs != "given"  # the rows of a list are taken as equally long
    sides = [r.sizes, r.sizes[::-1]] if two else [r.sizes]
    size = sum(_side(expected / len(sides), pre, post, weight, random) for pre, post in sides)
    synapses = round(expected)
    return ProjectionEstimate(p.name, synapses, round(size), True, _LISTED * synapses, True)


def _pairs_in_both(r: ResolvedProjection) -> float:
    """The entries of a symmetric coupling: a pair is listed in both directions."""
    if not r.same:
        return 2 * r.expected
    if r.rule.pairs == "drawn":
        return r.expected
    pre, post = getattr(r.rule, "pre", None), getattr(r.rule, "post", None)
    if pre is None or post is None:
        return r.expected
    pairs = np.unique(np.stack([np.minimum(pre, post), np.maximum(pre, post)]), axis=1)
    return 2.0 * np.count_nonzero(pairs[0] != pairs[1]) + np.count_nonzero(pairs[0] == pairs[1])


def _side(entries: float, sources: int, rows: int, weight_bytes: int, random: bool) -> float:
    """Bytes of a table by target, as long in 16 rows as the longest of them is likely to be."""
    if not rows or not entries:
        return 4 * (rows + 1)
    mean = entries / rows
    spread = math.sqrt(mean * max(1 - mean / sources, 0)) if random else 0
    width = min(mean + _LONGEST_OF_16 * spread, max(mean, sources))
    slices = -(-rows // LANES)
    source = 2 if sources <= BLOCK_TARGETS else 4
    return slices * LANES * width * (source + 4 / RUN + weight_bytes) + 4 * (slices + 1 + rows)


def _redrawn_bytes(r: ResolvedProjection, weight_bytes: int) -> int:
    """Bytes of what is drawn again: tables of quantiles and gaps, at most a number per source."""
    p = r.projection
    own = weight_bytes * is_individual(p.weight) + 2 * is_individual(p.delay)
    return QUANTILES * own + (4 * r.sizes[0] if r.rule.redraws_from_counts else _GAP_BYTES)
