"""Checks that a network fits in memory, before anything is drawn."""

import os
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .._describe.estimate import Estimate
from .._describe.projection import Projection
from .._kernels.table import ring_slots
from .._kernels.threads import threads
from .._network.group import count_fed, initial_state
from .._text import megabytes
from ..connectivity._rule import CHUNK
from ..spec import InvalidValueError
from .grouping import Grouping, synapse_of
from .merge import alone

_CHUNK_BYTES = 64  # per synapse that is being drawn


def available_memory() -> int | None:
    """Bytes of memory that are available, or None if the system does not say."""
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


def check_fits(expected: Estimate, state_bytes: int, share: float = 1.0) -> None:
    """Raises `InvalidValueError` if the connections and the state exceed the memory.

    Building takes chunks of temporary memory beside the finished columns, for each thread; a
    run holds a state twice. The state's arrivals in flight grow with the longest delay. `share` is
    that of the neurons which are on devices of this process.
    """
    largest = max((p.synapses for p in expected.projections if p.stored), default=0)
    chunks = _CHUNK_BYTES * min(largest, CHUNK) * (threads() + 2)
    building = chunks + sum(p.building for p in expected.projections)
    needed = share * (expected.bytes + 2 * state_bytes) + building
    free = available_memory()
    for p in expected.projections:
        if p.stored and p.synapses >= 2**31:
            # Split its target into several populations, or take a rule with stored=False.
            must = "one of fewer than 2^31 synapses, or one with stored=False"
            got = f"about {p.synapses:,}"
            raise InvalidValueError(f"projection {p.name!r}", "rule", must, got, f"\n{expected!r}")
    if free is not None and needed > free:
        got = (
            f"one that needs about {megabytes(needed)}: connections {megabytes(expected.bytes)} "
            "(one weight and one delay per projection instead of individual ones: 2 bytes per "
            f"synapse; a rule with stored=False: nothing), the state {megabytes(state_bytes)} "
            "(neurons, and arrivals in flight: neurons times receptors times the longest delay in "
            "steps)"
        )
        must = f"a network that fits in memory, of which {megabytes(free)} are free"
        raise InvalidValueError("build", "description", must, got, f"\n{expected!r}")


def state_bytes(grouping: Grouping, longest: dict[str, int | None], dtype: np.dtype) -> int:
    """Bytes of a network's state: neurons, receptors, and the ring of arrivals in flight."""
    total = 0
    for number, members in enumerate(grouping.groups):
        synapses = [synapse_of(p) for p in grouping.receptors[number].values()]
        n, inputs = grouping.size(number), count_fed(synapses, grouping.fed(number))
        if n * max(inputs, 1) >= 2**31:
            must = "of fewer than 2^31 neurons times receptors in all populations of its model"
            got = f"{n:,} neurons and {inputs} inputs of receptors"
            raise InvalidValueError(members[0].label, "n", must, got)
        names = {p.name for p in members}
        onto = [p for p in grouping.description.projections if p.post.population in names]
        # A computed delay is not known yet; it counts as one that fits a byte.
        steps = [255 if longest[p.name] is None else longest[p.name] for p in onto]
        most = max((s for s in steps if s is not None), default=0)
        per_neuron = _per_unit(initial_state, members[0].model)
        per_neuron += sum(_per_unit(lambda m, k: m.init(k), synapse) for synapse in synapses)
        size = np.dtype(dtype).itemsize
        total += n * (per_neuron + inputs * size * ring_slots(most))
        total += sum(_plastic_bytes(grouping, p, most + 1, size) for p in onto if p.plasticity)
    return total


def _plastic_bytes(grouping: Grouping, p: Projection, slots: int, size: int) -> int:
    """Bytes of plastic weights, of further variables, and of the events that synapses wait for."""
    assert p.plasticity is not None
    targets = grouping.description.population(p.post.population).n
    per_synapse = size * (1 + len(p.plasticity.variables()))
    log = 4 * max(slots, 32) * targets * 12
    return round(grouping.resolved[p.name].expected) * per_synapse + log


def _per_unit(init: Callable[[Any, int], Any], model: Any) -> int:
    """Bytes of the state of a model per unit."""
    state = jax.eval_shape(lambda m: init(m, 2), alone(model))
    return sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(state)) // 2
