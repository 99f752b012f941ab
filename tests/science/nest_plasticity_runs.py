"""Runs plastic synapses of NEST under given spike trains; started in NEST's own environment.

Reads one JSON object from standard input: `dt`, `ms` and `cases`. Writes one to standard output: of
each case the weight at each presynaptic spike, and the steps in which the two neurons spiked, or,
of a rule that follows the voltage, the voltage of the postsynaptic neuron step by step.

Both neurons are parrots, each driven by a spike_generator that is early by its delay of `slice`
steps, so that they spike in the steps of the trains. NEST goes forward by the shortest delay that
there is: this one. The plastic synapse ends at port 1 of the postsynaptic parrot, which is deaf.
Where the rule follows the voltage the postsynaptic neuron is a `driven` one instead.
"""

import json
import os
import sys

os.environ["PYNEST_QUIET"] = "1"  # no banner on stdout
import nest
import numpy as np


def times_of(steps: list[int], dt: float) -> np.ndarray:
    return np.round(np.asarray(steps) * dt, 6)


def parrot(steps: list[int], dt: float, early: int, params: dict):
    """A neuron that spikes in these steps."""
    neuron = nest.Create("parrot_neuron", params=params)
    times = times_of([step - early for step in steps], dt)
    generator = nest.Create("spike_generator", params={"spike_times": times})
    nest.Connect(generator, neuron, syn_spec={"delay": early * dt})
    return neuron


def transmitter(rewards: list[int], dt: float, early: int):
    """A volume transmitter that gets a spike in each of these steps."""
    source = parrot([step - early for step in rewards], dt, early, {})
    volume = nest.Create("volume_transmitter")
    nest.Connect(source, volume, syn_spec={"delay": early * dt})
    return volume


def run(case: dict, dt: float, ms: float) -> dict:
    nest.ResetKernel()
    nest.set(resolution=dt)
    pre = parrot(case["pre"], dt, case["slice"], {})
    post = parrot(case["post"], dt, case["slice"], case["neuron"])
    weights = nest.Create("weight_recorder")
    shared = dict(case["synapse"], weight_recorder=weights)
    if case["rewards"]:
        shared["volume_transmitter"] = transmitter(case["rewards"], dt, case["slice"])
    nest.CopyModel(case["model"], "plastic", shared)
    nest.Connect(
        pre,
        post,
        syn_spec={
            "synapse_model": "plastic",
            "weight": case["weight"],
            "delay": case["delay"],
            "receptor_type": 1,
        },
    )
    spikes = nest.Create("spike_recorder")
    nest.Connect(pre + post, spikes)
    nest.Simulate(ms)
    found = spikes.events
    steps = np.rint(found["times"] / dt).astype(int)
    return {
        "pre": np.sort(steps[found["senders"] == pre.global_id]).tolist(),
        "post": np.sort(steps[found["senders"] == post.global_id]).tolist(),
        "steps": np.rint(weights.events["times"] / dt).astype(int).tolist(),
        "weights": weights.events["weights"].tolist(),
    }


def run_voltage(case: dict, dt: float, ms: float) -> dict:
    """A synapse that follows the voltage and its low-passed values; the neuron gets both trains."""
    nest.ResetKernel()
    nest.set(resolution=dt)
    pre = parrot(case["pre"], dt, 1, {})
    post = nest.Create(case["driven"], params=case["neuron"])
    push = parrot(case["post"], dt, 1, {})
    nest.Connect(push, post, syn_spec={"weight": case["push"], "delay": dt})
    weights = nest.Create("weight_recorder")
    nest.CopyModel(case["model"], "plastic", dict(case["synapse"], weight_recorder=weights))
    plastic = {"synapse_model": "plastic", "weight": case["weight"], "delay": case["delay"]}
    nest.Connect(pre, post, syn_spec=plastic)
    names = {"v": "V_m", "u_plus": "u_bar_plus", "u_minus": "u_bar_minus"}
    meter = nest.Create("multimeter", params={"record_from": [*names.values()], "interval": dt})
    nest.Connect(meter, post)
    nest.Simulate(ms)
    return {
        "first": round(meter.events["times"][0] / dt),
        "steps": np.rint(weights.events["times"] / dt).astype(int).tolist(),
        "weights": weights.events["weights"].tolist(),
        **{ours: meter.events[theirs].tolist() for ours, theirs in names.items()},
    }


if __name__ == "__main__":
    nest.verbosity = nest.VerbosityLevel.ERROR
    job = json.load(sys.stdin)
    kinds = [run_voltage if "driven" in case else run for case in job["cases"]]
    answers = [run(case, job["dt"], job["ms"]) for run, case in zip(kinds, job["cases"])]
    json.dump(answers, sys.stdout)
