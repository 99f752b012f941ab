"""Random edges of the size of a fly's brain: the same for all simulators, from a seed."""

from __future__ import annotations

import numpy as np

NEURONS, EDGES = 138_639, 15_091_983  # FlyWire 783, as in Shiu et al. (2024)
DRIVEN, RATE_HZ = 20, 200.0
WEIGHT_MV, DELAY_MS, DRIVE_MV = 0.275, 1.8, 68.75


def random_edges(neurons: int, edges: int, seed: int) -> dict[str, np.ndarray]:
    """Source, target and signed number of synapses of each edge.

    Ends are uniform, half of the edges are one synapse, 70 % of the sources are excitatory.
    """
    rng = np.random.default_rng(seed)
    pre, post = (rng.integers(0, neurons, edges, dtype=np.int32) for _ in range(2))
    count = np.where(rng.random(edges) < 0.5, 1, rng.geometric(0.15, edges))
    sign = np.where(rng.random(neurons) < 0.7, 1, -1)
    return {"pre": pre, "post": post, "weight": count * sign[pre]}
