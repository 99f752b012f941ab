"""What a description will need, before anything is drawn."""

import dataclasses
import os
from collections.abc import Iterable

from .._text import megabytes
from ..connectivity import CHUNK, FixedTotal
from ..kernels import BLOCK_TARGETS, threads
from ..numerics import QUANTILES
from ._places import Wired
from ._projection import is_individual

_CHUNK_BYTES = 64  # per synapse that is being drawn
_GAP_BYTES = 12 * 2**16  # of a table of gaps, at most


@dataclasses.dataclass(frozen=True)
class ProjectionEstimate:
    """Expected size of one projection.

    **Fields** `name`; `synapses` expected number; `bytes` of its columns and row pointers;
    `stored` whether its synapses are, or are drawn again with every spike; `building` bytes
    that are needed beside them while they are drawn.

    **Source** the house's own: design section 5, storage.
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

    **Source** the house's own: design section 5, storage.
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


def estimate(wired: Iterable[Wired], neurons: int, weight_bytes: int = 4) -> Estimate:
    """The estimate of some projections; see `Description.estimate`."""
    rows = []
    for w in wired:
        p, (pre, post) = w.projection, w.sizes
        synapses = round(w.expected)
        column = 2 + weight_bytes * is_individual(p.weight) + is_individual(p.delay)
        blocks = -(-post // BLOCK_TARGETS)
        stored = getattr(w.rule, "stored", True)
        size = synapses * column + 4 * pre * blocks if stored else _again_bytes(w, weight_bytes)
        held = 12 * pre + (round(w.rule.held_bytes(synapses, *w.sizes, w.same)) if stored else 0)
        rows.append(ProjectionEstimate(p.name, synapses, size, stored, held))
    return Estimate(tuple(rows), neurons)


def _again_bytes(w: Wired, weight_bytes: int) -> int:
    """Of what is drawn again: tables of quantiles, of gaps, and at most a number per source."""
    p = w.projection
    own = weight_bytes * is_individual(p.weight) + 2 * is_individual(p.delay)
    return QUANTILES * own + (4 * w.sizes[0] if isinstance(w.rule, FixedTotal) else _GAP_BYTES)


def available_memory() -> int | None:
    """Bytes of memory that can still be taken, or None where the system does not tell."""
    limits = []
    try:
        with open("/proc/meminfo") as f:
            fields = dict(line.split(":", 1) for line in f)
        limits.append(int(fields["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError, ValueError):
        try:
            limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (AttributeError, OSError, ValueError):
            return None
    try:
        with open("/sys/fs/cgroup/memory.max") as f, open("/sys/fs/cgroup/memory.current") as g:
            limits.append(int(f.read()) - int(g.read()))
    except (OSError, ValueError):
        pass  # no limit on this group
    return min(limits)


def check_fits(expected: Estimate, state_bytes: int) -> None:
    """Raises `ValueError` where the connections and the state exceed the memory.

    Building takes chunks of temporary memory beside the finished columns, for each thread; a
    run holds a state twice. The state's arrivals in flight grow with the longest delay.
    """
    largest = max((p.synapses for p in expected.projections if p.stored), default=0)
    chunks = _CHUNK_BYTES * min(largest, CHUNK) * (threads() + 2)
    building = chunks + sum(p.building for p in expected.projections)
    needed = expected.bytes + building + 2 * state_bytes
    free = available_memory()
    for p in expected.projections:
        if p.stored and p.synapses >= 2**31:
            raise ValueError(
                f"projection {p.name!r} must have fewer than 2^31 synapses; it would have about "
                f"{p.synapses:,}. Split its target into several populations, or take a rule with "
                f"stored=False\n{expected!r}"
            )
    if free is not None and needed > free:
        raise ValueError(
            f"the network does not fit in memory: it needs about {megabytes(needed)}, "
            f"{megabytes(free)} are free. Connections take {megabytes(expected.bytes)} (one weight "
            "and one delay per projection instead of individual ones: 2 bytes per synapse; a rule "
            f"with stored=False: nothing), the state {megabytes(state_bytes)} (neurons, and "
            "arrivals in flight: neurons times receptors times the longest delay in steps)\n"
            f"{expected!r}"
        )
