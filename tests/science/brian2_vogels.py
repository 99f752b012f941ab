"""Vogels et al. (2011) in Brian2, as in its examples: run by Brian2's python, not by ours.

Reads a JSON job (seed, seconds, eta) from its input; prints the rate of E [Hz] in each second, of
which the first is without plasticity. Differs from the example: v starts at random below the
threshold, where there all neurons start at 0 mV and spike at once; a rate of learning is given.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile

import brian2 as b
import numpy as np

NEURON = """
dv/dt = (-gl * (v - el) - (ge * v + gi * (v - er)) + current) / memc : volt (unless refractory)
dge/dt = -ge / tau_e : siemens
dgi/dt = -gi / tau_i : siemens
"""
SYNAPSE = """
w : 1
dx/dt = -x / tau_stdp : 1 (event-driven)
dy/dt = -y / tau_stdp : 1 (event-driven)
"""


def run(seed: int, seconds: int, eta: float) -> list[float]:
    b.seed(seed)
    b.defaultclock.dt = 0.1 * b.ms
    constants = {
        **{"gl": 10 * b.nS, "el": -60 * b.mV, "er": -80 * b.mV, "memc": 200 * b.pF},
        **{"current": 200 * b.pA, "tau_e": 5 * b.ms, "tau_i": 10 * b.ms, "tau_stdp": 20 * b.ms},
        **{"alpha": 0.12, "eta": eta, "nS": b.nS},
    }
    cells = b.NeuronGroup(
        10_000,
        NEURON,
        threshold="v > -50*mV",
        reset="v = el",
        refractory=5 * b.ms,
        method="exponential_euler",
        namespace=constants,
    )
    cells.v = "el + rand() * 10*mV"
    exc, inh = cells[:8000], cells[8000:]
    wires = [
        b.Synapses(exc, cells, on_pre="ge_post += 0.3*nS", namespace=constants),
        b.Synapses(inh, inh, on_pre="gi_post += 3*nS", namespace=constants),
    ]
    changed = "w = clip(w + learning(t) * (y - alpha), 0, 100)"
    plastic = b.Synapses(
        inh,
        exc,
        SYNAPSE,
        on_pre=f"x += 1\n{changed}\ngi_post += w * nS",
        on_post="y += 1\nw = clip(w + learning(t) * x, 0, 100)",
        namespace=constants | {"learning": b.TimedArray([0.0] + [eta] * seconds, dt=1 * b.second)},
    )
    for synapses in (*wires, plastic):
        synapses.connect(p=0.02)
    plastic.w = 1e-10
    spikes = b.SpikeMonitor(exc)
    network = b.Network(cells, *wires, plastic, spikes)
    network.run(seconds * b.second)
    folder = tempfile.mkdtemp()
    try:
        b.device.build(directory=folder, compile=True, run=True, with_output=False)
        counts, _ = np.histogram(spikes.t / b.second, np.arange(seconds + 1))
        return (counts / 8000).tolist()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    b.set_device("cpp_standalone", build_on_run=False)
    json.dump(run(**json.load(sys.stdin)), sys.stdout)
