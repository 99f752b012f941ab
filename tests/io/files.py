"""Networks for the tests of files: one of each model, and small ones as text."""

import inspect

import numpy as np

import jaxneuro as jn
from jaxneuro.io._models import keys, known
from tests.zoo import CASES

GRID = jn.space.Grid((4, 5), 20.0, origin=(-3.5, 0.1), periodic=(True, False))
DELTA = jn.synapses.Delta()
ROLES = {
    "neuron": jn.Neuron,
    "synapse": jn.Synapse,
    "release": jn.Release,
    "plasticity": jn.Plasticity,
    "stimulus": jn.Stimulus,
    "signal": jn.stimuli.Signal,
    "rule": jn.connectivity.Rule,
    "layout": jn.space.Layout,
    "profile": jn.space.Profile,
    "by distance": jn.space.SpatialValue,
    "distribution": jn.Distribution,
    "surrogate": jn.surrogates.Surrogate,
    "channel": jn.channels.Channel,
    "integrator": jn.integrators.Integrator,
}
# Where 1 for every number is no value of the model, or says little.
GIVEN = {
    "AllToAll": jn.connectivity.AllToAll(autapses=False),
    "BlockProbability": jn.connectivity.BlockProbability((40.0, 50.0), 0.3, max_outdegree=4),
    "Convolution": jn.connectivity.Convolution((5, 4), (2, 3), (3, 2), (0, 1), channels=(1, 5)),
    "DistanceProbability": jn.connectivity.DistanceProbability(jn.space.Disc(41.0, 0.7), 39.9),
    "Explicit": jn.connectivity.Explicit([3, 0, 3], [0, 19, 0]),
    "FixedIndegree": jn.connectivity.FixedIndegree(3, multapses=False),
    "FixedProbability": jn.connectivity.FixedProbability(1 / 3),
    "OneToOne": jn.connectivity.OneToOne(),
    "Into": jn.synapses.Into(jn.synapses.DopaGluGABA(), "dopamine"),
    "ByDistance": jn.space.ByDistance(jn.space.Linear(55.0, -2.5)),
    "ConductionDelay": jn.space.ConductionDelay(300.0, 0.2),
    "Grid": GRID,
    "UniformBox": jn.space.UniformBox((0.1, -5.0), (1e3, 7.0), (False, True)),
    "Free": jn.space.Free(np.random.default_rng(1).normal(size=(20, 3)), (0.0, np.inf, 9.9)),
    "HomeostaticScaling": jn.plasticity.HomeostaticScaling(
        jn.plasticity.TraceSTDP(), target_rate=1 / 3
    ),
    "Normalized": jn.plasticity.Normalized(jn.plasticity.PairSTDP.additive(), total=0.7),
    "LogNormal": jn.LogNormal(0.1, 0.4, high=3.0),
    "Normal": jn.Normal(-55.0, 2.0, low=-60.0),
    "Uniform": jn.Uniform(-60, -50.5),
    "Gamma": jn.stimuli.Gamma(jn.stimuli.Ramp(0.0, 9.0, 1.0, 20.5), order=3),
    "PulsePackets": jn.stimuli.PulsePackets([10.0, 30.7], 5, np.linspace(0.1, 2, 20)),
    "Pulses": jn.stimuli.Pulses(30.0, 1.1, 5.3, baseline=np.linspace(0, 1, 20)),
    "Ramp": jn.stimuli.Ramp(0.1, 1 / 3, 0.0, 7.7),
    "Several": jn.synapses.Several((jn.synapses.AMPA(), jn.synapses.NMDA(mg=0.7)), (1.0, 1 / 3)),
    "SpikeTimes": jn.stimuli.SpikeTimes([1.0, 2.5, 2.5], [0, 7, 19]),
    "Steps": jn.stimuli.Steps([0.5, 3.3], [10.1, -0.7]),
}


def instances() -> dict:
    """One value of every model that a file can name, by role and name."""
    out = {}
    for role, base in ROLES.items():
        for name, cls in known(base).items():
            if name not in ("TimeFunction", "ByPositions"):  # Python functions: refused
                out[f"{role} {name}"] = _instance(name, cls)
    out |= {f"zoo {name}": case.model for name, case in CASES.items() if _is_plain(case.model)}
    return out


def _is_plain(model) -> bool:
    return not any(
        isinstance(getattr(model, name), jn.stimuli.TimeFunction) for name in keys(type(model))
    )


def _instance(name, cls):
    if name in GIVEN and type(GIVEN[name]) is cls:
        return GIVEN[name]
    needed = [p for p in inspect.signature(cls).parameters.values() if p.default is p.empty]
    return cls(**{p.name: 1 for p in needed})


def holding(model) -> jn.Description:
    """A description that holds a model of any role, between two populations of 20."""
    neuron, rule, synapse, more = jn.neurons.LIF(), GIVEN["FixedProbability"], DELTA, {}
    positions, weight, initial, stimuli = GRID, 0.1, {}, []
    if isinstance(model, jn.surrogates.Surrogate):
        model = jn.neurons.LIF(surrogate=model)
    if isinstance(model, jn.channels.Channel):
        model = jn.neurons.HodgkinHuxley((model, jn.channels.Leak()))
    if isinstance(model, jn.integrators.Integrator):
        model = jn.neurons.HodgkinHuxley(method=model)
    if isinstance(model, jn.stimuli.Signal):
        model = jn.stimuli.Current(model)
    if isinstance(model, jn.space.Profile):
        model = jn.space.ByDistance(model)
    if isinstance(model, jn.Neuron):
        neuron = model
    elif isinstance(model, jn.connectivity.Rule):
        rule = model
    elif isinstance(model, jn.Synapse):
        synapse = jn.synapses.Into(model, model.ports[0]) if model.ports else model
    elif isinstance(model, jn.Release):
        more = {"release": model}
    elif isinstance(model, jn.Plasticity):
        more = {"plasticity": model, "axonal": 0.2}
    elif isinstance(model, jn.space.Layout):
        positions = model
    elif isinstance(model, jn.space.SpatialValue):
        weight = model
    elif isinstance(model, jn.Distribution):
        initial = {"v": model}
    elif isinstance(model, jn.SpikeStimulus):
        stimuli = [jn.Stimulation("B", model, weight=1.5, synapse=DELTA, delay=0.3)]
    else:
        assert isinstance(model, jn.Stimulus)
        stimuli = [jn.Stimulation("B", model, start=1.0, stop=7.5)]
    return jn.Description(
        [
            jn.Population("A", 20, neuron, initial, positions=positions),
            jn.Population("B", 20, jn.neurons.LIF(), positions=positions),
        ],
        [jn.Projection("A", "A", rule, weight=weight, delay=0.4, synapse=synapse, **more)],
        stimuli,
    )


def held(description, like):
    """The model that `holding(like)` put into a description."""
    if isinstance(like, jn.surrogates.Surrogate):
        return description.populations[0].model.surrogate
    if isinstance(like, jn.channels.Channel):
        return description.populations[0].model.channels[0]
    if isinstance(like, jn.integrators.Integrator):
        return description.populations[0].model.method
    if isinstance(like, jn.stimuli.Signal):
        return description.stimuli[0].stimulus.amplitude
    if isinstance(like, jn.space.Profile):
        return description.projections[0].weight.function
    places = {
        jn.Neuron: lambda d: d.populations[0].model,
        jn.connectivity.Rule: lambda d: d.projections[0].rule,
        jn.Synapse: lambda d: d.projections[0].synapse,
        jn.Release: lambda d: d.projections[0].release,
        jn.Plasticity: lambda d: d.projections[0].plasticity,
        jn.space.Layout: lambda d: d.populations[0].positions,
        jn.space.SpatialValue: lambda d: d.projections[0].weight,
        jn.Distribution: lambda d: d.populations[0].initial["v"],
        jn.Stimulus: lambda d: d.stimuli[0].stimulus,
    }
    if isinstance(like, jn.Synapse) and like.ports:
        return description.projections[0].synapse.receptor
    return next(get(description) for base, get in places.items() if isinstance(like, base))


def everything() -> jn.Description:
    """Areas, parts of every kind, arrays, values by distance, several stimuli."""
    lif = jn.neurons.LIF(tau_m=20.0, v_th=np.linspace(-50.1, -49, 20))
    populations = [
        jn.Population("E", 20, lif, initial={"v": jn.Uniform(-60.0, -50.0)}, positions=GRID),
        jn.Population("I", 7, jn.neurons.LIF(), initial={"v": -61.7, "refractory": 3}),
        jn.Population("none of them", 0, jn.neurons.LIF()),
    ]
    rng = np.random.default_rng(5)
    e = jn.synapses.Exponential(1 / 3)
    parts = {
        "slice": jn.Part("E", slice(2, 9)),
        "rest": jn.Part("E", slice(11, None)),
        "indices": jn.Part("E", [0, 5, 19]),
        "area": jn.Part("E", "left"),
        "box": jn.Part("E", jn.space.Area((0.0, -np.inf), (30.0, 70.0))),
        "all": jn.Part("E"),
    }
    rule = jn.connectivity.FixedProbability(0.4)
    projections = [
        jn.Projection(part, "I", rule, weight=1.1, delay=0.7, synapse=e, gain=0.3, name=name)
        for name, part in parts.items()
    ]
    law = jn.Normal(1.5, 0.7, low=0.1)
    two = rng.normal(size=(7, 20))
    projections += [
        jn.Projection("I", "E", rule, weight=two, delay=law, synapse=DELTA, name="matrix"),
        jn.Projection(
            "E",
            "E",
            GIVEN["Explicit"],
            weight=np.abs(rng.normal(size=3)),
            delay=GIVEN["ConductionDelay"],
            synapse=jn.synapses.ExponentialConductance(e_rev=np.linspace(-80, 0, 20)),
            name="list",
        ),
    ]
    steady = jn.stimuli.Current(np.linspace(1, 2, 3))
    stimuli = [
        jn.Stimulation(parts["indices"], steady, name="steady"),
        jn.Stimulation("I", jn.stimuli.Current(jn.stimuli.Pulses(3.0, 1.1, 5.3))),
    ]
    positive = jn.stimuli.Poisson(jn.stimuli.Steps([0.5, 3.3], [1e3, 7.7]))
    stimuli.append(
        jn.Stimulation(parts["area"], positive, weight=20.2, synapse=e, delay=0.5, stop=9.0)
    )
    areas = {"left": jn.space.Area(-1e9, (40, 60.5))}
    return jn.Description(
        populations, projections, stimuli, areas, couplings=_couplings(parts, law)
    )


def _couplings(parts: dict, law: jn.Distribution) -> list[jn.Coupling]:
    """Gap junctions between two parts, and a graded coupling that starts with a current."""
    rule = jn.connectivity.FixedProbability(0.4)
    how = {"release": jn.release.VoltageRelease(), "synapse": jn.synapses.Exponential(1 / 3)}
    how["receptor_name"] = "slow"
    return [
        jn.Coupling(parts["slice"], parts["rest"], rule, weight=law, average=True),
        jn.Coupling(
            "I", parts["area"], rule, weight=1 / 3, gain=0.7, initial={"current": 0.5}, **how
        ),
    ]


JSON = """{
  "format": "jaxneuro network",
  "version": 1,
  "areas": {"left": {"low": [0, 0], "high": [50, "inf"]}},
  "populations": [
    {"name": "E", "n": 20, "model": {"type": "LIF", "tau_m": 20.0},
     "positions": {"type": "Grid", "shape": [4, 5], "spacing": 20.0}},
    {
      "name": "I",
      "n": 5,
      "model": "LIF",
      "initial": {"v": {"type": "Uniform", "low": -60, "high": -50}}
    }
  ],
  "projections": [
    {
      "source": {"population": "E", "area": "left"},
      "target": "I",
      "rule": {"type": "FixedProbability", "p": 0.5},
      "weight": 6.0,
      "delay": 1.5,
      "synapse": {"type": "Exponential", "tau_syn": 5.0}
    }
  ],
  "stimuli": [
    {"target": "I", "stimulus": {"type": "Current", "amplitude": 200.0}}
  ]
}
"""

TOML = """# A network.
format = "jaxneuro network"
version = 1

[areas]
left = {low = [0, 0], high = [50, inf]}

[[populations]]
name = "E"
n = 20
model = {type = "LIF", tau_m = 20.0}
positions = {type = "Grid", shape = [4, 5], spacing = 20.0}

[[populations]]
name = "I"
n = 5
initial = {v = {type = "Uniform", low = -60, high = -50}}

[populations.model]
type = "LIF"

[[projections]]
source = {population = "E", area = "left"}
target = "I"
rule = {type = "FixedProbability", p = 0.5}
weight = 6.0
delay = 1.5
synapse = {type = "Exponential", tau_syn = 5.0}

[[stimuli]]
target = "I"
stimulus = {type = "Current", amplitude = 200.0}
"""
