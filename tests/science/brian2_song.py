"""Song, Miller and Abbott (2000) in Brian2: run by Brian2's python, not by ours.

Reads a JSON job (seeds, seconds) from its input; prints by seed the weights at the end, in parts
of the largest, and the number of spikes of the neuron.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile

import brian2 as b


def run(seed: int, seconds: float) -> tuple[list[float], int]:
    b.device.reinit()
    b.device.activate(build_on_run=False)
    b.seed(seed)
    b.defaultclock.dt = 0.1 * b.ms
    g_max = 0.01
    constants = {
        **{"tau_m": 10 * b.ms, "tau_e": 5 * b.ms, "tau_stdp": 20 * b.ms, "g_max": g_max},
        **{"e_rev": 0 * b.mV, "e_l": -74 * b.mV, "v_th": -54 * b.mV, "v_reset": -60 * b.mV},
        **{"a_plus": 0.01 * g_max, "a_minus": 0.0105 * g_max},
    }
    inputs = b.PoissonGroup(1000, rates=15 * b.Hz)
    neuron = b.NeuronGroup(
        1,
        """dv/dt = (g * (e_rev - v) + e_l - v) / tau_m : volt
        dg/dt = -g / tau_e : 1""",
        threshold="v > v_th",
        reset="v = v_reset",
        method="exponential_euler",
        namespace=constants,
    )
    neuron.v = -74 * b.mV
    synapses = b.Synapses(
        inputs,
        neuron,
        """w : 1
        dx/dt = -x / tau_stdp : 1 (event-driven)
        dy/dt = -y / tau_stdp : 1 (event-driven)""",
        on_pre="""g_post += w
        x += 1
        w = clip(w - a_minus * y, 0, g_max)""",
        on_post="""y += 1
        w = clip(w + a_plus * x, 0, g_max)""",
        namespace=constants,
    )
    synapses.connect()
    synapses.w = "rand() * g_max"
    spikes = b.SpikeMonitor(neuron, record=False)
    network = b.Network(inputs, neuron, synapses, spikes)
    network.run(seconds * b.second)
    folder = tempfile.mkdtemp()
    try:
        b.device.build(directory=folder, compile=True, run=True, with_output=False)
        return (synapses.w[:] / g_max).tolist(), int(spikes.num_spikes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    job = json.load(sys.stdin)
    b.set_device("cpp_standalone", build_on_run=False)
    json.dump([run(seed, job["seconds"]) for seed in job["seeds"]], sys.stdout)


if __name__ == "__main__":
    main()
