"""Runs synapses, receptors and gap junctions of NEST; started in NEST's own environment.

Reads a JSON list of cases from standard input and writes a list of answers to standard output.
Every case has its `kind` (a function below), `dt` and `ms`; times are in ms. What is sampled every
`every` ms comes back by name of the variable as one list per neuron, from `every` on to `ms`.
"""

import json
import os
import sys

os.environ["PYNEST_QUIET"] = "1"  # no banner on stdout
import nest
import numpy as np

AMPA, GABA, NMDA = 1, 2, 3  # receptors of iaf_bw_2001
KICK = 100_000.0  # nS; with the AMPA time constant of `spiking` a spike in the next step at any dt


def generator(times: list[float], early: float = 0.0):
    """A generator of these times; `early` is what its spikes take to the neuron's spike."""
    return nest.Create(
        "spike_generator", params={"spike_times": np.round(np.add(times, -early), 6)}
    )


def created(model: str, each: list[dict]):
    """One neuron for each set of parameters."""
    neurons = nest.Create(model, len(each))
    for neuron, params in zip(neurons, each):
        neuron.set(**params)
    return neurons


def sampled(neurons, names: list[str], every: float):
    """A multimeter that samples variables of the neurons."""
    meter = nest.Create("multimeter", params={"record_from": names, "interval": every})
    nest.Connect(meter, neurons)
    return meter


def samples(meter, neurons, case: dict) -> dict[str, list]:
    """Of each variable and neuron the samples up to `ms`."""
    events, out = meter.events, {}
    kept = events["times"] <= case["ms"] + 1e-6
    for name in meter.record_from:
        values, senders = events[name][kept], events["senders"][kept]
        out[name] = [values[senders == i].tolist() for i in neurons.tolist()]
    return out


def recorded(neurons):
    """A recorder of the steps in which neurons spike.

    Not of times: it subtracts the offset of a spike from its time, and iaf_bw_2001 keeps there by
    how much s_NMDA grows.
    """
    recorder = nest.Create("spike_recorder", params={"time_in_steps": True})
    nest.Connect(neurons, recorder)
    return recorder


def spikes_of(recorder, neurons, case: dict) -> list[list[int]]:
    """The steps up to `ms` in which each neuron spiked."""
    steps, senders = recorder.events["times"], recorder.events["senders"]
    kept = steps <= case["ms"] / case["dt"] + 0.5
    return [np.sort(steps[kept & (senders == i)]).tolist() for i in neurons.tolist()]


def released(case: dict) -> dict:
    """Each train through a tsodyks2_synapse into a leaky neuron, whose v jumps by what arrives."""
    dt = case["dt"]
    neurons = created("iaf_psc_delta", [case["neuron"]] * len(case["trains"]))
    for neuron, train, synapse in zip(neurons, case["trains"], case["synapses"]):
        source = nest.Create("parrot_neuron")
        nest.Connect(generator(train, dt), source, syn_spec={"delay": dt})
        # NEST does not make u equal to U by itself.
        given = {"synapse_model": "tsodyks2_synapse", **synapse, "u": synapse["U"]}
        nest.Connect(source, neuron, syn_spec={**given, "weight": 1.0, "delay": case["delay"]})
    meter = sampled(neurons, ["V_m"], dt)
    nest.Simulate(case["ms"] + 2.0)
    return samples(meter, neurons, case)


def driven(case: dict) -> dict:
    """Neurons of a model under an excitatory and an inhibitory train, the same for all."""
    neurons = created(case["model"], case["neurons"])
    for given in case["inputs"]:
        synapse = {"weight": given["weight"], "delay": case["delay"]}
        nest.Connect(generator(given["train"]), neurons, syn_spec=synapse)
    meter, recorder = sampled(neurons, ["V_m", "g_ex", "g_in"], case["every"]), recorded(neurons)
    nest.Simulate(case["ms"] + 2.0)
    return {**samples(meter, neurons, case), "spikes": spikes_of(recorder, neurons, case)}


def spiking(model: str, trains: list[list[float]], dt: float):
    """Neurons of `model` that spike at these times, which are apart by more than 1 ms."""
    neurons = nest.Create(model, len(trains), params={"tau_AMPA": 0.05, "t_ref": 1.0})
    for neuron, train in zip(neurons, trains):
        # A kick opens a conductance one step after it was sent; the spike is that of the next.
        synapse = {"weight": KICK, "delay": dt, "receptor_type": AMPA}
        nest.Connect(generator(train, 2 * dt), neuron, syn_spec=synapse)
    return neurons


def nmda(case: dict) -> dict:
    """Targets of all sources through NMDA, and of a train each through AMPA and GABA."""
    dt, model = case["dt"], case["model"]
    sources = spiking(model, case["trains"], dt)
    targets = created(model, case["neurons"])
    for source, weight in zip(sources, case["weights"]):
        synapse = {"weight": weight, "delay": case["delay"], "receptor_type": NMDA}
        nest.Connect(source, targets, syn_spec=synapse)
    for receptor, given in zip((AMPA, GABA), case["inputs"]):
        synapse = {"weight": given["weight"], "delay": case["delay"], "receptor_type": receptor}
        nest.Connect(generator(given["train"]), targets, syn_spec=synapse)
    meter = sampled(targets, ["V_m", "s_NMDA"], case["every"])
    fired, recorder = recorded(sources), recorded(targets)
    nest.Simulate(case["ms"] + 2.0)
    return {
        **samples(meter, targets, case),
        "spikes": spikes_of(recorder, targets, case),
        "sources": spikes_of(fired, sources, case),
    }


def gap(case: dict) -> dict:
    """Pairs of neurons with a gap junction each; currents that begin at `start`."""
    nest.use_wfr = case["wfr"]
    if case["wfr"]:
        nest.set(wfr_comm_interval=case["every"], wfr_tol=1e-10, wfr_max_iterations=100)
    neurons = created("hh_cond_beta_gap_traub", case["neurons"])
    for neuron, amplitude in zip(neurons, case["currents"]):
        # Its delay of a step makes it begin at `start`.
        given = {"amplitude_times": [case["start"] - case["dt"]], "amplitude_values": [amplitude]}
        current = nest.Create("step_current_generator", params=given)
        nest.Connect(current, neuron, syn_spec={"delay": case["dt"]})
    pairs = {"rule": "one_to_one", "make_symmetric": True}
    for k, weight in enumerate(case["weights"]):
        synapse = {"synapse_model": "gap_junction", "weight": weight}
        nest.Connect(neurons[2 * k], neurons[2 * k + 1], pairs, synapse)
    meter = sampled(neurons, ["V_m"], case["every"])
    nest.Simulate(case["ms"] + 2.0)
    return samples(meter, neurons, case)


KINDS = {f.__name__: f for f in (released, driven, nmda, gap)}


def run(case: dict) -> dict:
    nest.ResetKernel()
    nest.set(resolution=case["dt"])
    return KINDS[case["kind"]](case)


if __name__ == "__main__":
    nest.verbosity = nest.VerbosityLevel.ERROR
    json.dump([run(case) for case in json.load(sys.stdin)], sys.stdout)
