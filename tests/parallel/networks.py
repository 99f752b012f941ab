"""Small networks with all that a mesh must carry, and what a run of them gives."""

import functools

import jax
import numpy as np
from jax.sharding import Mesh

import jaxneuro as jn

LIF = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=2.0)
RULE = jn.connectivity.FixedProbability(0.2)
STEPS = 600


def mesh(devices, name="devices"):
    return Mesh(np.array(jax.devices()[:devices]), (name,))


def populations():
    v = {"v": jn.Uniform(-60.0, -50.0)}
    positions = jn.space.UniformBox((0.0, 0.0, 0.0), (100.0, 50.0, 20.0))
    return [
        jn.Population("E", 93, LIF, initial=v, positions=positions),
        jn.Population("I", 30, LIF, initial=v, positions=positions),
        jn.Population("A", 21, jn.neurons.ALIF(), initial={"v": jn.Uniform(-70.0, -55.0)}),
    ]


def projections(**first):
    excite = {
        "weight": jn.Uniform(2.0, 10.0),
        "delay": jn.Uniform(0.5, 3.0),
        "synapse": jn.synapses.ExponentialConductance(5.0),
    }
    inhibit = {
        "weight": 20.0,
        "delay": 1.5,
        "synapse": jn.synapses.ExponentialConductance(10.0, e_rev=-80.0),
    }
    return [
        jn.Projection("E", "E", RULE, **excite | first),
        *(jn.Projection("E", t, RULE, **excite) for t in "IA"),
        *(jn.Projection("I", t, RULE, **inhibit) for t in "EA"),
        jn.Projection("A", "E", RULE, **excite),
    ]


def stimulations():
    poisson = jn.stimuli.Poisson(900.0)
    return [
        jn.Stimulation("E", poisson, weight=6.0, synapse=jn.synapses.ExponentialConductance(5.0)),
        jn.Stimulation(jn.Part("E", slice(10, 40)), jn.stimuli.Current(150.0), name="some"),
        jn.Stimulation("I", jn.stimuli.Current(300.0)),
        jn.Stimulation("A", jn.stimuli.Current(500.0)),
    ]


def delayed_description():
    """No exchange for 5 steps: delays, releases, stimuli of all and of some neurons."""
    more = jn.Projection(
        *("I", "I", RULE),
        weight=20.0,
        delay=0.8,
        synapse=jn.synapses.ExponentialConductance(10.0, e_rev=-80.0),
        release=jn.release.QuantalRelease(),
    )
    return jn.Description(
        populations(),
        [*projections(release=jn.release.TsodyksMarkram()), more],
        stimulations(),
    )


def every_step_description():
    """An exchange in every step: couplings, a modulator, plastic weights."""
    gap = jn.Coupling("I", "I", RULE, weight=jn.Uniform(0.1, 0.5))
    graded = jn.Coupling(
        *("E", "I", RULE),
        weight=0.2,
        release=jn.release.VoltageRelease(),
        synapse=jn.synapses.LigandGated.ampa(),
    )
    level = jn.Modulator(
        *("dopamine", 100.0),
        scales={"E->I": {"gain": 0.5}, "E": {"tau_m": 0.01}},
        source="E",
        per_spike=0.01,
        lowest=0.5,
        highest=2.0,
    )
    plastic = jn.plasticity.PairSTDP(w_max=12.0)
    return jn.Description(
        populations(),
        projections(delay=1.5, plasticity=plastic),
        stimulations(),
        couplings=[gap, graded],
        modulators=[level],
    )


@functools.cache
def delayed():
    return jn.build(delayed_description(), key=1, dt=0.1)


@functools.cache
def every_step():
    return jn.build(every_step_description(), key=1, dt=0.1)


@functools.cache
def alone(make):
    """A run on one device, and its record."""
    weights = {"weights": {"E->E": ...}} if make is every_step else {}
    record = jn.Record(
        variables={"E": "v", "A": "v", "E->I": "g"},
        interval=10.0,
        rates=True,
        means={"I": "v"},
        lfp="E",
        **weights,
    )
    return jn.simulate(make(), 0.1 * STEPS, key=3, record=record), record


def assert_same(one, many):
    """All that two runs recorded, bit for bit."""
    for name in one.populations:
        for a, b in zip(one.events(name), many.events(name)):
            np.testing.assert_array_equal(a, b)
    for field in ("traces", "means", "lfp", "weights", "counts"):
        a, b = getattr(one, field), getattr(many, field)
        assert jax.tree.structure(a) == jax.tree.structure(b)
        jax.tree.map(np.testing.assert_array_equal, a, b)


def driven():
    """30 neurons that a current drives, and that excite each other after five steps."""
    synapse = jn.synapses.ExponentialConductance(5.0)
    d = jn.Description(
        [jn.Population("E", 30, LIF, initial={"v": jn.Uniform(-60.0, -50.0)})],
        [jn.Projection("E", "E", RULE, weight=5.0, delay=0.5, synapse=synapse)],
        [jn.Stimulation("E", jn.stimuli.Current(300.0))],
    )
    return jn.build(d, key=1, dt=0.1)
