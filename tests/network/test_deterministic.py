"""Arrivals in whole quanta: what rounding costs, that nothing overflows, that order is free."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.deliver import deliver
from jaxneuro._kernels.spike_output import SpikeOutput
from tests.network.networks import SCAN
from tests.refusing import assert_refused

RULE = jn.connectivity.FixedProbability(0.3)
FAST, SLOW = jn.synapses.Exponential(2.0), jn.synapses.Exponential(8.0)


def description(neuron=None, release=None):
    neuron = jn.neurons.LIF() if neuron is None else neuron
    extra = {} if release is None else {"release": release}
    populations = [jn.Population("E", 200, neuron), jn.Population("I", 50, neuron)]
    weights = {"E": jn.Normal(30.0, 5.0, low=0.0), "I": -120.0}
    projections = [
        jn.Projection(
            source,
            target,
            RULE,
            weight=weights[source],
            delay=jn.Uniform(0.1, 3.0),
            synapse=FAST if source == "E" else SLOW,
            **extra,
        )
        for source in "EI"
        for target in "EI"
    ]
    drive = jn.stimuli.Poisson(12_000.0)
    stimuli = [jn.Stimulation(k, drive, weight=30.0, synapse=FAST) for k in "EI"]
    return jn.Description(populations, projections, stimuli)


def receptor_of(net, name):
    (pathway,) = net.pathways
    return pathway.members[pathway.projections.index(name)].receptor


def quantum_of(net, name):
    return float(net.fixed_point.quanta[0][receptor_of(net, name)])


def at_receptor(state, receptor):
    ring = np.asarray(state.groups[0].ring)
    return ring.reshape(ring.shape[0], 2, -1)[:, receptor]


@pytest.mark.slow
def test_what_a_synapse_adds_is_wrong_by_at_most_half_a_quantum(x64):
    plain = jn.build(description(), 1, 0.1, dtype=jnp.float64)
    counted = jn.build(description(), 1, 0.1, dtype=jnp.float64, deterministic=True)
    assert counted.init(0).groups[0].ring.dtype == jnp.int32
    a, b = plain.init(3), counted.init(3)
    a, b = (SCAN(net, s, 30)[0] for net, s in ((plain, a), (counted, b)))
    # The drive is the same and nothing recurrent has come back yet: the same spikes.
    np.testing.assert_array_equal(a.groups[0].released.bits, b.groups[0].released.bits)
    in_degree = np.bincount(plain.connections("E->E").post, minlength=200).max()
    for projection, receptor in (("E->E", 0), ("I->E", 1)):
        assert receptor_of(plain, projection) == receptor
        quantum = quantum_of(counted, projection)
        difference = np.abs(at_receptor(a, receptor) - at_receptor(b, receptor) * quantum)
        # Two roundings of a product to 24 bits, one to a whole quantum.
        largest = {"E->E": 60.0, "I->E": 120.0}[projection]
        assert difference.max() <= in_degree * (quantum / 2 + largest * 2.0**-23)
        assert quantum < 1e-4  # of weights of 30 and 120 pA


@pytest.mark.slow
def test_nothing_overflows_when_everybody_fires_at_once():
    net = jn.build(description(), 1, 0.1, deterministic=True)
    every = SpikeOutput(np.full(32, 255, np.uint8))
    ring = net.init(0).groups[0].ring

    @jax.jit
    def delivered(net, ring):
        (p,) = net.pathways
        fixed = net.fixed_point.now(net.pathways)
        scale = fixed.scale(p.weight * p.gain, p.target, p.inputs)
        of_blocks = scale[p.table.block_projection]
        return deliver(ring, every, np.int32(0), of_blocks, p.weights, p.table, False)

    # All delays made equal by adding up all slots, in 64 bits.
    out = delivered(net, ring)
    total = np.asarray(out, np.int64).sum(axis=0)
    assert np.abs(total).max() < 2**31
    assert np.abs(total).reshape(2, -1).max(axis=1).min() > 2**30  # and the range is used


def test_a_larger_gain_takes_larger_quanta():
    net = jn.build(description(), 1, 0.1, deterministic=True)
    grown = net.set("E->I", gain=4.0)
    quanta = jax.jit(lambda net: net.fixed_point.now(net.pathways).quanta[0])
    before, after = (np.asarray(quanta(n)) for n in (net, grown))
    np.testing.assert_allclose(after, before * np.array([4.0, 1.0]))
    np.testing.assert_array_equal(quanta(net.set("E->I", gain=0.5)), before)


@pytest.mark.slow
def test_a_network_runs_as_without_up_to_rounding():
    plain, counted = (jn.build(description(), 1, 0.1, deterministic=d) for d in (False, True))
    a, b = (jn.simulate(net, 300.0, key=5, progress=False) for net in (plain, counted))
    rates = [sum(r.events(k)[0].size for k in "EI") / 250 / 0.3 for r in (a, b)]
    assert rates[0] > 3.0
    assert abs(rates[0] - rates[1]) < 0.05 * rates[0]
    chunked = jn.simulate(counted, 150.0, key=5, progress=False)
    chunked = jn.simulate(counted, 150.0, state=chunked.state, progress=False)
    for x, y in zip(jax.tree.leaves(chunked.state), jax.tree.leaves(b.state)):
        np.testing.assert_array_equal(x, y)


def test_it_has_no_gradient_and_says_so():
    surrogate = jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid())
    net = jn.build(description(surrogate), 1, 0.1, deterministic=True)

    def loss(gain):
        changed = net.set("E->E", gain=gain)
        return jnp.sum(jn.scan(changed, changed.init(0), 5)[0].groups[0].neurons.v)

    with pytest.raises(ValueError, match="no gradient"):
        jax.jit(jax.grad(loss))(1.0)


class Half(jn.Release):
    """Releases half a unit per spike."""

    def init(self, n):
        return ()

    def step(self, state, spikes, v, dt):
        return state, 0.5 * spikes


def test_bad_input():
    assert_refused(
        lambda: jn.build(description(), 1, 0.1, deterministic=1), "build", "deterministic", "1"
    )
    assert_refused(
        lambda: jn.build(description(release=Half()), 1, 0.1, deterministic=True),
        "build",
        "deterministic",
        "True, and projection 'E->E' has Half()",
    )
