"""Runs one neuron model of NEST under given spike trains; started in NEST's own environment.

Reads one JSON object from standard input and writes one to standard output: of each neuron the
numbers of the time steps at whose end it spiked. Trains are whole numbers of 0.1 ms.
"""

import json
import os
import sys

os.environ["PYNEST_QUIET"] = "1"  # no banner on stdout
import nest
import numpy as np


def run(job: dict) -> list[list[int]]:
    """`model` with `params` at `dt` for `ms`; `inputs` by sign: one train and weight a neuron."""
    nest.verbosity = nest.VerbosityLevel.ERROR
    nest.ResetKernel()
    nest.set(resolution=job["dt"])
    n = len(job["inputs"][0]["weights"])
    neurons = nest.Create(job["model"], n, params=job["params"])
    for given in job["inputs"]:
        for neuron, train, weight in zip(neurons, given["trains"], given["weights"]):
            times = np.round(np.asarray(train) * 0.1, 1)
            generator = nest.Create("spike_generator", params={"spike_times": times})
            synapse = {"weight": weight, "delay": job["delay"]}
            nest.Connect(generator, neuron, syn_spec=synapse)
    recorder = nest.Create("spike_recorder")
    nest.Connect(neurons, recorder)
    nest.Simulate(job["ms"])
    events = recorder.events
    steps = np.rint(events["times"] / job["dt"]).astype(int)
    return [np.sort(steps[events["senders"] == i]).tolist() for i in neurons.tolist()]


if __name__ == "__main__":
    json.dump(run(json.load(sys.stdin)), sys.stdout)
