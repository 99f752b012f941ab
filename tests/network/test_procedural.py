"""Projections that are not stored: the same network, bit for bit, as the stored one."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.threads import threads
from jaxneuro.connectivity import FixedIndegree, FixedOutdegree, FixedProbability, FixedTotal
from tests.kernels.delivering import deliver, deliver_reference
from tests.network.networks import SCAN
from tests.refusing import assert_refused

SYNAPSE = jn.synapses.Exponential(2.0)
RULES = {
    "probability": lambda stored: FixedProbability(0.2, stored=stored),
    "sparse": lambda stored: FixedProbability(0.001, stored=stored),
    "certain": lambda stored: FixedProbability(1.0, autapses=False, stored=stored),
    "outdegree": lambda stored: FixedOutdegree(300, autapses=False, stored=stored),
    "odd outdegree": lambda stored: FixedOutdegree(7, stored=stored),
    "total": lambda stored: FixedTotal(5_000, stored=stored),
    "nothing": lambda stored: FixedOutdegree(0, stored=stored),
}
SOME = ("probability", "odd outdegree")  # of which parts are tried in every run, too


def network(rule, stored, dtype=jnp.float32, weight=20.0, delay=0.5, parts=False, **build):
    neuron = jn.neurons.LIF()
    populations = [jn.Population("A", 150, neuron), jn.Population("B", 400, neuron)]
    source = jn.Part("A", slice(20, 130)) if parts else "A"
    target = jn.Part("B", slice(100, 350)) if parts else "B"
    one = jn.Projection(
        source, target, RULES[rule](stored), weight=weight, delay=delay, synapse=SYNAPSE, name="1"
    )
    back = jn.Projection(
        "B", "B", RULES[rule](stored), weight=-3.0, delay=1.0, synapse=SYNAPSE, name="2"
    )
    drive = jn.stimuli.Poisson(9_000.0)
    stimuli = [jn.Stimulation(k, drive, weight=40.0, synapse=SYNAPSE) for k in "AB"]
    description = jn.Description(populations, [one, back], stimuli)
    return jn.build(description, 4, 0.1, dtype=dtype, **build)


def assert_same_run(a, b, ms=30.0):
    a, b = (jn.simulate(net, ms, key=2, progress=False) for net in (a, b))
    assert a.events("B")[0].size > 50
    for x, y in zip(jax.tree.leaves(a.state), jax.tree.leaves(b.state)):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow(but=["probability-False"])
@pytest.mark.parametrize(
    ("rule", "parts"),
    [
        pytest.param(rule, parts, marks=[pytest.mark.science] * (parts and rule not in SOME))
        for rule in RULES
        for parts in (False, True)
    ],
)
def test_equals_the_stored_network_bit_for_bit(rule, parts):
    stored, drawn = (network(rule, s, parts=parts) for s in (True, False))
    assert_same_run(stored, drawn)
    for name in "12":
        a, b = (net.connections(name) for net in (stored, drawn))
        for field in ("pre", "post", "weight", "delay"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    if rule not in ("nothing", "odd outdegree", "sparse"):
        assert drawn.connection_bytes < stored.connection_bytes / 4 + 600_000


@pytest.mark.slow(but=["float32"])
@pytest.mark.parametrize("weights", [None, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_drawn_weights_and_delays_equal_the_stored_ones(weights):
    values = {"weight": jn.Normal(20.0, 5.0), "delay": jn.Uniform(0.1, 4.0), "weights": weights}
    stored, drawn = (network("probability", s, **values) for s in (True, False))
    assert_same_run(stored, drawn)
    a, b = (net.connections("1") for net in (stored, drawn))
    for field in ("pre", "post", "weight", "delay"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


def kernel_arguments(net, seed, some=0.3, dtype=np.float32):
    rng = np.random.default_rng(seed)
    (p,) = net.pathways
    group = net.groups[0]
    ring = rng.normal(size=(net.groups[0].slots, len(group.receptors), group.n)).astype(dtype)
    values = np.where(rng.random(group.n) < some, rng.normal(size=group.n), 0.0)
    scale = rng.normal(size=p.table.block_offset.shape[0]).astype(dtype)
    return ring, values.astype(dtype), np.int32(5), scale, p.weights, p.table


@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@pytest.mark.parametrize("rule", ["certain", "odd outdegree", "total"])
def test_the_kernels_agree_bit_for_bit(rule):
    args = kernel_arguments(network(rule, False), 1)
    native = jax.jit(deliver, static_argnums=6)(*args, True)
    reference = jax.jit(deliver_reference, static_argnums=6)(*args, True)
    np.testing.assert_array_equal(native, reference)


@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_the_kernels_agree_on_drawn_values():
    net = network("probability", False, weight=jn.Normal(20.0, 5.0), delay=jn.Uniform(0.1, 4.0))
    args = kernel_arguments(net, 2)
    native = jax.jit(deliver, static_argnums=6)(*args, True)
    reference = jax.jit(deliver_reference, static_argnums=6)(*args, True)
    np.testing.assert_array_equal(native, reference)


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@pytest.mark.parametrize("rule", ["probability", "outdegree", "total"])
@pytest.mark.parametrize("individual", [False, True], ids=["one value", "drawn values"])
def test_bits_do_not_depend_on_the_number_of_threads(rule, individual):
    values = {}
    if individual and rule == "probability":
        values = {"weight": jn.Normal(20.0, 5.0), "delay": jn.Uniform(0.1, 4.0)}
    args = kernel_arguments(network(rule, False, **values), 3, some=1.1)
    run = jax.jit(deliver, static_argnums=6)
    before, results = threads(), []
    try:
        for n in (1, 2, 3, 7):
            assert threads(n) == n
            results.append(np.asarray(run(*args, True)))
    finally:
        threads(before)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["probability", "total"])
def test_gradients_equal_those_of_the_stored_network(x64, rule):
    def gradients(net):
        ring, values, step, scale, weights, table = kernel_arguments(net, 4, dtype=np.float64)

        def loss(ring, values, scale):
            out = deliver(ring, values, step, scale, weights, table, True)
            return jnp.sum(jnp.sin(out))

        return jax.jit(jax.grad(loss, (0, 1, 2)))(ring, values, scale)

    stored, drawn = (network(rule, s, jnp.float64) for s in (True, False))
    for a, b in zip(gradients(stored), gradients(drawn)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        assert np.abs(a).max() > 0


@pytest.mark.slow
def test_gradients_of_drawn_weights_are_those_of_their_quantiles(x64):
    values = {"weight": jn.Normal(20.0, 5.0), "delay": jn.Uniform(0.1, 4.0)}
    net = network("probability", False, jnp.float64, **values)
    ring, values, step, scale, weights, table = kernel_arguments(net, 4, dtype=np.float64)

    @jax.jit
    def loss(weights):
        return jnp.sum(jnp.sin(deliver(ring, values, step, scale, weights, table, True)))

    slope = jax.jit(jax.grad(loss))(weights)
    assert np.count_nonzero(slope) > 1000
    direction, weights = np.random.default_rng(0).normal(size=weights.shape), np.asarray(weights)
    h = 1e-6
    numeric = (loss(weights + h * direction) - loss(weights - h * direction)) / (2 * h)
    np.testing.assert_allclose(np.sum(slope * direction), numeric, rtol=1e-6)


def test_a_stored_and_a_drawn_projection_in_one_pathway():
    both = network("outdegree", False)
    rules = {"1": RULES["total"](True), "2": RULES["outdegree"](False)}
    neuron = jn.neurons.LIF()
    populations = [jn.Population("A", 150, neuron), jn.Population("B", 400, neuron)]
    ends = {"1": ("A", "B"), "2": ("B", "B")}
    projections = [
        jn.Projection(*ends[k], rules[k], weight=5.0, delay=0.5, synapse=SYNAPSE, name=k)
        for k in "12"
    ]
    drive = jn.stimuli.Poisson(9_000.0)
    stimuli = [jn.Stimulation(k, drive, weight=40.0, synapse=SYNAPSE) for k in "AB"]
    mixed = jn.build(jn.Description(populations, projections, stimuli), 4, 0.1)
    whole = [dataclasses.replace(p, rule=dataclasses.replace(p.rule)) for p in projections]
    whole[1] = dataclasses.replace(projections[1], rule=RULES["outdegree"](True))
    assert_same_run(mixed, jn.build(jn.Description(populations, whole, stimuli), 4, 0.1))
    assert both.n_synapses == 300 * 550
    assert mixed.n_synapses == 5_000 + 300 * 400


@pytest.mark.slow
def test_more_targets_than_a_stored_block_has():
    neuron = jn.neurons.LIF()

    def net(stored):
        rule = FixedOutdegree(50, stored=stored)
        p = jn.Projection("A", "B", rule, weight=2.0, delay=0.1, synapse=SYNAPSE)
        populations = [jn.Population("A", 20, neuron), jn.Population("B", 150_000, neuron)]
        drive = jn.Stimulation("A", jn.stimuli.Current(600.0))
        return jn.build(jn.Description(populations, [p], [drive]), 1, 0.1)

    stored, drawn = (SCAN(n, n.init(0), 200)[0] for n in map(net, (True, False)))
    stored, drawn = (s.groups[0].receptors[0].current for s in (stored, drawn))
    np.testing.assert_array_equal(stored, drawn)
    assert np.count_nonzero(stored) > 500


@pytest.mark.slow
def test_a_projection_that_expects_less_than_one_synapse():
    neuron = jn.neurons.LIF()

    def synapses(stored, key):
        rule = FixedProbability(5e-6, stored=stored)
        p = jn.Projection("A", "A", rule, weight=1.0, delay=0.1, synapse=SYNAPSE)
        net = jn.build(jn.Description([jn.Population("A", 300, neuron)], [p]), key, 0.1)
        return net.connections("A->A").post.tolist()

    found = [(synapses(True, key), synapses(False, key)) for key in range(12)]
    assert all(a == b for a, b in found)
    assert any(a for a, _ in found)


def test_nothing_is_stored_and_the_estimate_says_so():
    net = network("total", False)
    assert net.pathways[0].table.targets.size == 0
    rule = FixedProbability(0.5, stored=False)
    neuron = jn.neurons.LIF()
    big = jn.Projection("A", "A", rule, weight=1.0, delay=0.1, synapse=SYNAPSE)
    d = jn.Description([jn.Population("A", 10**6, neuron)], [big])
    assert d.estimate().bytes < 10**7
    assert d.estimate().synapses == 5 * 10**11


@pytest.mark.parametrize(
    ("change", "owner", "field", "got"),
    [
        ({"weight": np.ones((150, 400))}, "projection '1'", "weight", "an array (150, 400)"),
        ({"delay": lambda i, j: 0.1 + 0.0 * i}, "projection '1'", "delay", ""),
    ],
    ids=["array", "function"],
)
def test_per_synapse_arrays_are_refused(change, owner, field, got):
    assert_refused(lambda: network("probability", False, **change), owner, field, got)


def test_what_a_rule_cannot_draw_again_is_refused():
    assert_refused(
        lambda: network("outdegree", False, weight=jn.Normal(1.0, 0.1)),
        "projection '1'",
        "weight",
        "Normal(mean=1.0, sd=0.1)",
    )
    refused = [
        lambda: FixedIndegree(5, stored=False),  # targets draw their sources
        lambda: jn.connectivity.DistanceProbability(jn.space.Gaussian(50.0), stored=False),
        lambda: jn.connectivity.BlockProbability(50.0, stored=False),  # a search in space
        lambda: FixedOutdegree(5, multapses=False, stored=False),
        lambda: FixedTotal(5, multapses=False, stored=False),
        lambda: FixedProbability(0.1, stored=None),
    ]
    for make in refused:
        with pytest.raises(jn.InvalidValueError) as caught:
            make()
        assert caught.value.field in ("stored", "multapses")


@pytest.mark.parametrize("rule", [FixedOutdegree, FixedTotal])
def test_rows_that_no_memory_holds_are_refused(rule):
    p = jn.Projection("A", "A", rule(2**40, stored=False), weight=1.0, delay=0.1, synapse=SYNAPSE)
    with pytest.raises(ValueError, match="at most 268,435,456 synapses"):
        jn.build(jn.Description([jn.Population("A", 10, jn.neurons.LIF())], [p]), 1, 0.1)


def test_a_list_of_neurons_is_refused():
    neuron, rule = jn.neurons.LIF(), FixedOutdegree(3, stored=False)
    some = jn.Part("A", [1, 5, 7])
    p = jn.Projection(some, "A", rule, weight=1.0, delay=0.1, synapse=SYNAPSE)
    assert_refused(
        lambda: jn.build(jn.Description([jn.Population("A", 10, neuron)], [p]), 1, 0.1),
        "projection 'A->A'",
        "source",
        "indices that are not consecutive",
    )
