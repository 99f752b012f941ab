"""LIF neurons that see each other in every step, in float64: gap junctions and graded coupling.

Step k leads from t_k to t_k+1. With v the voltages at t_k (v_reset of a neuron that spiked in the
step before), and pairs (pre, post, weight):

    electrical  current_i = sum w (v_pre - v_i): a current sum w v_pre and a conductance sum w into
                the exact membrane of `lif`; with `average` both over the number of pairs of i
    graded      r(v) of the sources at the end of the last step (0 before the first) arrives at the
                end of this step, sum w r: at a receptor of `synapses`

The receptor is that of one current or conductance; its drive is that of the start of the step.
"""

import numpy as np

from .lif import lif_step


def pulled(pairs, v, n, average):
    """Current and conductance of gap junctions, (n,) each."""
    pre, post, weight = pairs
    current, total, count = np.zeros(n), np.zeros(n), np.zeros(n)
    for i, j, w in zip(pre, post, weight):
        current[j] += w * v[i]
        total[j] += w
        count[j] += 1
    scale = 1.0 / np.maximum(count, 1) if average else np.ones(n)
    return current * scale, total * scale


def run(params, v0, injected, pairs, n_steps, dt, average=False, graded=None):
    """v (n_steps, n) at the ends of steps, before a reset; `injected` (n,) in pA.

    `graded`: None for gap junctions, else a function v -> r, and a receptor of `synapses` with its
    parameters.
    """
    n = len(v0)
    v, left, fired = np.array(v0, np.float64), np.zeros(n, np.int64), np.zeros(n, bool)
    released, state, out = np.zeros(n), np.zeros(n), []
    for _ in range(n_steps):
        seen = np.where(fired, params["v_reset"], v)
        slopes = (0.0, 0.0)
        if graded is None:
            current, conductance = pulled(pairs, seen, n, average)
        else:
            release, receptor, of_receptor = graded
            arriving = np.zeros(n)
            for i, j, w in zip(*pairs):
                arriving[j] += w * released[i]
            state, current, conductance, _, *slopes = receptor(state, arriving, of_receptor, dt)
            slopes = [0.0 if x is None else x for x in slopes]
            current = 0.0 if current is None else current
        v, left, fired = lif_step(
            v, left, fired, current + injected, conductance, None, params, dt, slopes
        )
        if graded is not None:
            released = release(np.where(fired, params["v_reset"], v))
        out.append(v)
    return np.array(out)
