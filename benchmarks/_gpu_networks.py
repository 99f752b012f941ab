"""Every kind of network, at a size at which a GPU's launches are its time."""

import argparse
import functools
from collections.abc import Callable
from typing import Any

import jax

import jaxneuro as jn

from . import gradient, lattices
from ._balanced import coba
from ._gpu_assemblies import brain_of, looped, synaptic_input
from ._run import DT

N, STEPS = 4000, 1000
P = jn.plasticity
_OWN = jn.Normal(1.5, 0.75, low=DT, high=5.0)
_POISSON = jn.Stimulation(
    "E", jn.stimuli.Poisson(8000.0), weight=0.1, synapse=jn.synapses.Exponential(2.0)
)


def one(neuron: Any = None, stimulus: Any = None, stored: bool = True, **wire: Any) -> jn.Network:
    """One population onto itself, 80 synapses per neuron."""
    wire = {"weight": 1.0, "delay": 1.5, "synapse": jn.synapses.Exponential()} | wire
    rule = jn.connectivity.FixedProbability(0.02, stored=stored)
    cells = jn.Population("E", N, jn.neurons.LIF() if neuron is None else neuron)
    stimuli = [] if stimulus is None else [stimulus]
    return built(jn.Description([cells], [jn.Projection("E", "E", rule, **wire)], stimuli=stimuli))


def built(description: jn.Description, dt: float = DT) -> jn.Network:
    return jn.build(description, key=1, dt=dt)


def onto(stimulus: jn.Stimulus) -> jn.Stimulation:
    return jn.Stimulation("E", stimulus)


def microcircuit() -> jn.Network:
    from examples.cortical_microcircuit import description

    return built(description(0.1, "poisson"))


def squids() -> jn.Network:
    return built(jn.Description([jn.Population("E", N, jn.neurons.HodgkinHuxley())]), 0.01)


NETWORKS: dict[str, Callable[[], jn.Network]] = {
    "one delay": one,
    "many delays": lambda: one(delay=_OWN),
    "drawn, one delay": lambda: one(stored=False),
    "drawn, many delays": lambda: one(stored=False, delay=_OWN),
    "NMDA": lambda: one(synapse=jn.synapses.NMDA()),
    "short-term plasticity": lambda: one(release=jn.release.TsodyksMarkram()),
    "constant current": lambda: one(stimulus=onto(jn.stimuli.Current(300.0))),
    "noise": lambda: one(stimulus=onto(jn.stimuli.WhiteNoise(0.0, 100.0))),
    "Poisson input": lambda: one(stimulus=_POISSON),
    "COBA (one slot)": lambda: built(coba(N)),
    "microcircuit, a tenth": microcircuit,
    "gap junctions": lambda: built(lattices.description(64)),
    "pair STDP": lambda: one(plasticity=P.PairSTDP()),
    "Vogels' rule": lambda: one(plasticity=P.VogelsSTDP()),
    "triplet rule": lambda: one(plasticity=P.TripletSTDP()),
    "Clopath's rule": lambda: one(jn.neurons.AdEx(), plasticity=P.ClopathSTDP()),
    "BCM (ticks)": lambda: one(plasticity=P.BCM(eta=1e-4, target=10.0, interval=1.0)),
    "Normalized (sums)": lambda: one(plasticity=P.Normalized(P.PairSTDP(), 10.0)),
    "reward (shared numbers)": lambda: one(plasticity=P.RewardModulatedSTDP()),
    "squid axons, unconnected": squids,
}


def scan_of(net: jn.Network) -> tuple[Callable, tuple]:
    """A loop that records spikes, and its arguments."""
    inputs = dict.fromkeys(net.signals, 0.0)
    return lambda net, state: jn.scan(net, state, STEPS, inputs), (net, net.init(1))


def _network(name: str) -> tuple[Callable, tuple, int]:
    net = NETWORKS[name]()
    return *scan_of(net), net.n_neurons


def _rounds() -> tuple[Callable, tuple, int]:
    """A hundred rounds of an assembly over hashed synapses."""
    n = 10_000
    brain = brain_of(n, 100, 0.05)
    return looped(brain, 100, synaptic_input), (brain.init(jax.random.key(0)),), n


def _gradient(by: str) -> tuple[Callable, tuple, int]:
    """The derivative of COBA, every spike of which has one: of a single piece of the loop."""
    parser = argparse.ArgumentParser()
    gradient.add_options(parser)
    options = parser.parse_args(["--surrogate", "--by", by, "--steps", "15"])
    net = built(gradient.description(options))
    loss, x = gradient.loss_of(net, options, by)
    return jax.grad(loss), (x, net), net.n_neurons


# Each returns a function, its arguments, and how many neurons there are.
PROGRAMS: dict[str, Callable[[], tuple[Callable, tuple, int]]] = {
    **{name: functools.partial(_network, name) for name in NETWORKS},
    "assembly": _rounds,
    "gradient by gains": lambda: _gradient("gains"),
    "gradient by weights": lambda: _gradient("weights"),
}
