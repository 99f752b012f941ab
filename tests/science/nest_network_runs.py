"""Runs a network of NEST neurons, given connection by connection; started in NEST's environment.

Reads the name of an npz file: `models` are JSON, `[name, number, parameters]` of each group of
neurons, whose numbers go on from group to group; `pre`, `post`, `weight`, `delay` connect them;
`in_pre` and so on come from generators that spike at `times` of the generators `ids`. Writes one
JSON object: numbers of neurons and of time steps at whose end they spiked.
"""

import json
import os
import sys

os.environ["PYNEST_QUIET"] = "1"  # no banner on stdout
import nest
import numpy as np


def run(job: dict) -> dict[str, list[int]]:
    nest.verbosity = nest.VerbosityLevel.ERROR
    nest.ResetKernel()
    nest.set(resolution=float(job["dt"]))
    groups = [nest.Create(*group) for group in json.loads(str(job["models"]))]
    neurons = np.concatenate([np.array(group.tolist()) for group in groups])
    generators = []
    for k in range(int(job["generators"])):
        times = np.sort(job["times"][job["ids"] == k])
        given = {"spike_times": times, "allow_offgrid_times": True}
        generators += nest.Create("spike_generator", params=given).tolist()
    for at, sources in (("", neurons), ("in_", np.array(generators))):
        ends = sources[job[f"{at}pre"]], neurons[job[f"{at}post"]]
        synapse = {"weight": job[f"{at}weight"], "delay": job[f"{at}delay"]}
        nest.Connect(*ends, "one_to_one", {"synapse_model": "static_synapse", **synapse})
    recorder = nest.Create("spike_recorder")
    for group in groups:
        nest.Connect(group, recorder)
    nest.Simulate(float(job["ms"]))
    events = recorder.events
    steps = np.rint(events["times"] / float(job["dt"])).astype(int)
    senders = np.searchsorted(neurons, events["senders"])
    return {"steps": steps.tolist(), "neurons": senders.tolist()}


if __name__ == "__main__":
    json.dump(run(dict(np.load(sys.argv[1]))), sys.stdout)
