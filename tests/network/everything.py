"""A small network that has something of all that can be set, and one of the models of the zoo."""

import numpy as np

import jaxneuro as jn
from tests import zoo

syn, ALL, SOME = jn.synapses, jn.connectivity.AllToAll(), jn.connectivity.FixedProbability(0.5)


def everything(n=6, weight=16.0, tau=10.0):
    """A description: populations of one group, two of them with numbers per neuron."""
    lif, exponential = jn.neurons.LIF, syn.Exponential(5.0)
    cells = [
        jn.Population("E", n, lif(tau_m=tau), initial={"v": jn.Uniform(-65.0, -55.0)}),
        jn.Population("I", 4, lif(tau_m=np.linspace(15.0, 20.0, 4), c_m=150.0)),
        jn.Population("H", 1, lif(tau_m=12.0)),
    ]
    both = syn.Several((syn.AMPA(), syn.NMDA()), (1.0, 0.4))
    gate = syn.LigandGated.ampa(syn.DestexheKinetics(1.1, 0.19))
    graded, depressing = jn.release.VoltageRelease(v_half=-60.0), jn.release.TsodyksMarkram()
    stdp = jn.plasticity.PairSTDP(w_max=3.0)
    wires = [
        ("E", "E", SOME, weight, exponential, {}),
        ("E", "I", SOME, jn.Normal(5.0, 1.0), exponential, {"gain": 2.0}),
        ("H", "E", ALL, 1.0, exponential, {"release": depressing}),
        ("I", "E", ALL, 0.5, both, {"name": "both"}),
        ("I", "H", ALL, 0.01, gate, {"name": "gate", "release": graded}),
        ("E", "H", ALL, 1.0, syn.Exponential(3.0), {"name": "plastic", "plasticity": stdp}),
    ]
    projections = [
        jn.Projection(source, target, rule, weight=w, synapse=synapse, delay=1.0, **more)
        for source, target, rule, w, synapse, more in wires
    ]
    rates, fast = np.linspace(5.0, 9.0, 4), syn.Exponential(2.0)
    steps = jn.stimuli.Steps([1.0, 2.0], [3.0, 4.0])
    drives = [
        jn.Stimulation("E", jn.stimuli.Current(steps), name="steps"),
        jn.Stimulation("I", jn.stimuli.Poisson(rates), weight=rates, synapse=fast, name="noise"),
        jn.Stimulation("H", jn.stimuli.Poisson(7.0), weight=1.5, synapse=fast, name="noise H"),
    ]
    couplings = [
        jn.Coupling("E", "E", SOME, weight=0.5, name="gap"),
        jn.Coupling("I", "I", SOME, weight=lambda i, j: 0.1 + 0.01 * i, name="gap of each"),
    ]
    modulators = [jn.Modulator("m", 100.0, {"E->E": {"gain": 0.5}}, start=0.1)]
    return jn.Description(cells, projections, drives, couplings=couplings, modulators=modulators)


def of_the_zoo():
    """A description with every model of the zoo that a population of LIF takes, by its name."""
    exponential, target = syn.Exponential(2.0), "target"
    cells, wires, drives = [jn.Population(target, 3, jn.neurons.LIF())], [], []
    for name, case in zoo.CASES.items():
        model, onto = case.model, (target, target, ALL)
        if isinstance(model, jn.Neuron):
            cells.append(jn.Population(name, 2, model))
        elif isinstance(model, jn.Synapse) and not isinstance(model, syn.Direct):
            sign = model.weight_sign or 1
            synapse = syn.Into(model, model.ports[0]) if model.ports else model
            wires.append(
                jn.Projection(*onto, weight=0.5 * sign, delay=1.0, synapse=synapse, name=name)
            )
        elif isinstance(model, jn.Release):
            more = {"synapse": exponential, "release": model, "name": name}
            wires.append(jn.Projection(*onto, weight=0.5, delay=1.0, **more))
        elif isinstance(model, jn.Stimulus):
            spikes = {"weight": 0.5, "synapse": exponential}
            more = spikes if isinstance(model, jn.SpikeStimulus) else {}
            drives.append(jn.Stimulation(target, model, name=name, **more))
    return jn.Description(cells, wires, drives)
