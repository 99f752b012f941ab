"""What does not change a bit: order, other populations; what does: another key."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import LIF, RUN, balanced

STEPS = 250


def drawn():
    """All is drawn that can be; projections share a receptor, so their sums have an order."""
    made = balanced(weight=jn.Normal(6.0, 2.0, low=0.0), delay=jn.Uniform(0.1, 1.5))
    dense = {"rule": jn.connectivity.AllToAll(), "weight": jn.LogNormal(-2.0, 0.5), "delay": 0.5}
    more = [
        dataclasses.replace(p, name=f"{p.name} {k}", **dense)
        for p in made.projections[:2]
        for k in range(2)
    ]
    return dataclasses.replace(made, projections=[*more, *made.projections[::-1]])


def recorded(net):
    record = jn.Record(variables={"E": "v", "I": "v"})
    return RUN(net, net.init(0), STEPS, None, record)[1]


def parts(recording):
    """v of E and I in every step, and the spikes."""
    dense = {k: np.asarray(recording.spikes.dense(k)) for k in "EI"}
    return {k: np.asarray(recording.traces[k]["v"]) for k in "EI"}, dense


def traces(net):
    return parts(recorded(net))


def same_bits(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        np.testing.assert_array_equal(x, y)


BASE = traces(jn.build(drawn(), 5, 0.1))


@pytest.mark.slow
def test_the_network_is_alive():
    assert BASE[1]["E"].sum() > 100
    assert BASE[1]["I"].sum() > 20


@pytest.mark.slow
def test_the_order_of_the_description():
    made = drawn()
    backwards = jn.Description(made.populations[::-1], made.projections[::-1], made.stimuli[::-1])
    net = jn.build(backwards, 5, 0.1)
    assert list(net.populations) == ["I", "E"]
    same_bits(traces(net), BASE)


@pytest.mark.slow(but=["A-True"])
@pytest.mark.parametrize(
    ("name", "same_model"),
    [
        pytest.param(k, same, marks=[pytest.mark.science] * (not same and k != "F"))
        for k in "AFZ"
        for same in (True, False)
    ],
)
def test_an_unconnected_population(name, same_model):
    """Before, between and after the others; in their group or in one of its own."""
    made = drawn()
    own = jn.neurons.LIF(**LIF, surrogate=None if same_model else jn.surrogates.FastSigmoid())
    added = jn.Population(name, 37, own, initial={"v": jn.Uniform(-60.0, -40.0)})
    drive = jn.Stimulation(name, jn.stimuli.Current(400.0))
    net = jn.build(
        jn.Description([*made.populations, added], made.projections, [*made.stimuli, drive]),
        5,
        0.1,
    )
    assert len(net.groups) == (1 if same_model else 2)
    recording = recorded(net)
    same_bits(parts(recording), BASE)
    assert recording.spikes.events(name)[0].size > 0


def test_another_projection_onto_others():
    made = drawn()
    more = [jn.Population(k, 20, jn.neurons.LIF(**LIF)) for k in ("F", "G")]
    rule = jn.connectivity.FixedIndegree(5)
    synapse = jn.synapses.Exponential()
    extra = jn.Projection("F", "G", rule, weight=3.0, delay=2.5, synapse=synapse)
    net = jn.build(
        jn.Description([*made.populations, *more], [*made.projections, extra], made.stimuli),
        5,
        0.1,
    )
    same_bits(traces(net), BASE)


def test_a_second_key_gives_another_network():
    one, other = jn.build(drawn(), 5, 0.1), jn.build(drawn(), 6, 0.1)
    a, b = one.pathways[0], other.pathways[0]
    assert (
        a.table.targets.shape != b.table.targets.shape
        or (np.asarray(a.table.targets) != np.asarray(b.table.targets)).any()
    )
    assert (traces(other)[1]["E"] != BASE[1]["E"]).any()


def test_the_key_of_a_run_draws_the_start():
    net = jn.build(drawn(), 5, 0.1)
    v = [np.asarray(net.read(net.init(k), "E", "v")) for k in (0, 0, 1, jax.random.key(0))]
    np.testing.assert_array_equal(v[0], v[1])
    assert (v[0] != v[2]).mean() > 0.9
    assert (v[0] != v[3]).mean() > 0.9
    assert all(((x >= -60.0) & (x <= -50.0)).all() for x in v)
    assert abs(v[0].mean() + 55.0) < 4 * 2.9 / np.sqrt(160)


def test_a_jax_key_and_the_same_key_again():
    key = jax.random.key(7)
    a, b = jn.build(drawn(), key, 0.1), jn.build(drawn(), key, 0.1)
    same_bits(a, b)


def test_init_under_vmap_equals_single_ones():
    net = jn.build(drawn(), 5, 0.1)
    words = np.random.default_rng(3).integers(0, 2**32, (4, 2), dtype=np.uint32)
    many = jax.jit(jax.vmap(net.init))(jax.random.wrap_key_data(words))
    many = jax.tree.map(np.asarray, many)
    for k in range(4):
        one = net.init(jax.random.wrap_key_data(words[k]))
        same_bits(jax.tree.map(lambda x, k=k: x[k], many), one)
