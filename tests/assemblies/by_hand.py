"""The brain of the oracle that has the synapses of a brain of the library."""

import numpy as np

from jaxneuro._kernels.redraw import gap_rows
from jaxneuro._numerics.streams import seed_of, stream_key
from tests.oracle import assemblies as oracle


def edges(seed, name, sources, targets, p):
    """Whether there is a synapse: bool (sources, targets)."""
    key = stream_key(seed_of(seed), name, "synapses")
    counts, found = gap_rows(key, 0, sources, targets, p)
    there = np.zeros((sources, targets), bool)
    there[np.repeat(np.arange(sources), counts), found] = True
    return there


def listed(brain, seed):
    """`brain` in the oracle, before the first round."""
    areas = {a.name: oracle.Area(a.n, a.k, a.refraction, a.homeostasis) for a in brain.areas}
    beta = np.asarray(brain.beta)
    fibres = [
        oracle.Fibre(
            w.source.name,
            w.target.name,
            edges(seed, w.name, w.places, w.target.n, w.p),
            beta[i],
        )
        for i, w in enumerate(brain.wires)
    ]
    return oracle.Brain(areas, {s.name: s.size for s in brain.stimuli}, fibres)
