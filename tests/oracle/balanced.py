"""Two balanced networks of Brette et al. 2007 (J Comput Neurosci 23:349), as Brian2 writes them.

80 % excitatory and 20 % inhibitory LIF neurons; every ordered pair is connected with probability
p = 80 / n, so the mean in-degree is 80 at every size.  c_m 200 pF, g_l 10 nS (tau_m 20 ms),
v_th -50, v_reset -60 mV, t_ref 5 ms, delay 0.1 ms, dt 0.1 ms, v0 uniform(-60, -50) mV,
tau_syn 5 ms (excitatory) and 10 ms (inhibitory).

coba:  c_m dv/dt = g_l (e_l - v) + g_e (0 - v) + g_i (-80 - v) + 200 pA,  e_l -60 mV,
       g_e += 6 nS and g_i += 67 nS per spike; conductances start at 0.
cuba:  c_m dv/dt = g_l (e_l - v) + i_e + i_i,  e_l -49 mV,
       i_e += 16.2 pA and i_i += -90 pA per spike (1.62 and -9 mV times g_l).

Other simulators over 1 s: coba 20 to 22.5 Hz (single seeds 19.5 to 24), cuba 5.3 to 5.75 Hz.
Measured with this file, n = 4000, 1 s: coba, seeds 0 to 9: mean 21.4, single seeds 19.6 to 23.3;
cuba, seeds 0 to 19: mean 5.61, sd 0.26, single seeds 5.26 to 6.10 (so hold a mean over seeds,
not a single seed, to the cuba range).
"""

import numpy as np

from .network import run
from .synapses import exponential, exponential_conductance

DT = 0.1
IN_DEGREE = 80
LIF = {"c_m": 200.0, "tau_m": 20.0, "v_th": -50.0, "v_reset": -60.0, "t_ref": 5.0}
COBA_RECEPTORS = [
    {"kind": exponential_conductance, "params": {"tau_syn": 5.0, "e_rev": 0.0}},
    {"kind": exponential_conductance, "params": {"tau_syn": 10.0, "e_rev": -80.0}},
]
CUBA_RECEPTORS = [
    {"kind": exponential, "params": {"tau_syn": 5.0}},
    {"kind": exponential, "params": {"tau_syn": 10.0}},
]


def draw_projection(rng, sources, n, weight, receptor):
    """Connect every source to each of the n neurons with probability IN_DEGREE / n."""
    pre, post = [], []
    for source in sources:
        targets = np.flatnonzero(rng.random(n) < IN_DEGREE / n)
        pre.append(np.full(targets.size, source))
        post.append(targets)
    pre, post = np.concatenate(pre), np.concatenate(post)
    return {
        "pre": pre,
        "post": post,
        "weight": np.full(pre.size, weight),
        "delay_steps": np.ones(pre.size, dtype=np.int64),
        "receptor": receptor,
    }


def mean_rate(spikes, n, seconds):
    """Spikes per neuron and second, Hz."""
    return len(spikes) / (n * seconds)


def interval_cv(spikes, n):
    """Mean over the neurons with at least 3 spikes of sd / mean of their inter-spike intervals."""
    times = [[] for _ in range(n)]
    for step, neuron in spikes:
        times[neuron].append(step)
    cvs = []
    for steps in times:
        if len(steps) >= 3:
            intervals = np.diff(steps)
            cvs.append(np.std(intervals) / np.mean(intervals))
    return float(np.mean(cvs)) if cvs else float("nan")


def balanced(seed, n, seconds, e_l, current, weights, receptors):
    """Draw and run one network; weights are (excitatory, inhibitory)."""
    rng = np.random.default_rng(seed)
    n_excitatory = (4 * n) // 5
    projections = [
        draw_projection(rng, range(n_excitatory), n, weights[0], 0),
        draw_projection(rng, range(n_excitatory, n), n, weights[1], 1),
    ]
    v0 = rng.uniform(-60.0, -50.0, n)
    populations = [
        {"n": n_excitatory, "e_l": e_l, "current": current, **LIF},
        {"n": n - n_excitatory, "e_l": e_l, "current": current, **LIF},
    ]
    n_steps = round(seconds * 1000.0 / DT)
    spikes, _ = run(populations, projections, n_steps, DT, v0, receptors)
    return mean_rate(spikes, n, seconds), interval_cv(spikes, n)


def coba(seed, n=4000, seconds=1.0):
    """COBA with constant drive; returns (mean rate in Hz, CV of the inter-spike intervals)."""
    return balanced(seed, n, seconds, -60.0, 200.0, (6.0, 67.0), COBA_RECEPTORS)


def cuba(seed, n=4000, seconds=1.0):
    """CUBA; returns (mean rate in Hz, CV of the inter-spike intervals)."""
    return balanced(seed, n, seconds, -49.0, 0.0, (16.2, -90.0), CUBA_RECEPTORS)
