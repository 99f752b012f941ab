"""Projections that are matrix products: the same network as by events, up to rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.parallel.networks import mesh

SLOPE = jn.surrogates.FastSigmoid(0.2)
OFTEN, NEVER = 1e4, 0.0


def network(rate, dtype=jnp.float64, surrogate=SLOPE, delay=1.0, **more):
    """Two populations of one group: the first onto a part of the second, and back."""
    lif = jn.neurons.LIF(t_ref=0.0, surrogate=surrogate)
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(5.0)
    wire = {"delay": delay, "expected_rate": rate, **more}
    cells = [
        jn.Population("in", 40, jn.neurons.Relay()),
        jn.Population("A", 60, lif, {"v": jn.Uniform(-70.0, -54.0)}),
        jn.Population("B", 50, lif, {"v": jn.Uniform(-70.0, -54.0)}),
    ]
    slow = jn.synapses.ExponentialConductance(8.0, -75.0)
    links = [
        jn.Projection("in", "A", rule, weight=jn.Normal(30.0, 20.0), synapse=synapse, **wire),
        jn.Projection(
            "A",
            jn.Part("B", slice(10, 40)),
            rule,
            weight=jn.Normal(9.0, 9.0),
            synapse=synapse,
            **wire,
        ),
        jn.Projection("B", "A", rule, weight=0.05, synapse=slow, gain=2.0, **wire),
        jn.Projection(  # by events in either case
            *("B", "A", jn.connectivity.FixedProbability(0.3)),
            **{"weight": 4.0, "delay": 2.0, "synapse": synapse, "name": "sparse"},
        ),
    ]
    drive = [jn.Stimulation(name, jn.stimuli.Current(250.0)) for name in "AB"]
    return jn.build(jn.Description(cells, links, drive), 4, 0.5, dtype)


TRAINS = np.random.default_rng(0).random((80, 40)) < 0.1


def run(net, state=None, trains=TRAINS):
    record = jn.Record(rates=True, variables={"A": "v", "B": "v"}, interval=0.5)
    state = net.init(2) if state is None else state
    return jn.scan(net, state, len(trains), {"in": trains}, record)


@pytest.mark.parametrize("delay", [0.5, 1.5])
@pytest.mark.parametrize("surrogate", [None, SLOPE], ids=["bits", "values"])
def test_it_is_the_network_by_events(delay, surrogate, x64):
    nets = [network(rate, delay=delay, surrogate=surrogate) for rate in (OFTEN, NEVER)]
    assert [sum(p.dense is not None for p in net.pathways) for net in nets] == [3, 0]
    (state, got), (other, want) = (jax.jit(run)(net) for net in nets)
    assert np.asarray(want.counts["B"]).sum() > 20
    for name in "AB":
        np.testing.assert_allclose(got.traces[name]["v"], want.traces[name]["v"], rtol=1e-12)
    for a, b in zip(state.groups, other.groups):
        np.testing.assert_allclose(a.ring, b.ring, atol=1e-10)
    _, late = run(nets[0], run(nets[0], trains=TRAINS[:30])[0], TRAINS[30:])
    np.testing.assert_array_equal(late.traces["A"]["v"], got.traces["A"]["v"][30:])


def loss_of(rebuild):
    def loss(params, net, trains):
        made = rebuild(params, net)
        state, recording = run(made, trains=trains)
        waiting = sum(jnp.sum(jnp.sin(1.0 + g.ring)) for g in state.groups)
        return (
            jnp.sum(recording.counts["B"] * jnp.linspace(1.0, 2.0, len(trains), dtype=made.dtype))
            + waiting
        )

    return loss


@pytest.mark.parametrize("delay", [0.5, pytest.param(1.5, marks=pytest.mark.slow)])
def test_its_gradient_is_that_of_events(delay, x64):
    found = []
    for rate in (OFTEN, NEVER):
        net = network(rate, delay=delay)
        params, rebuild = jn.trainable(net, {"in->A": "weight", "A->B": "weight", "B->A": "gain"})
        trials = jax.vmap(loss_of(rebuild), (None, None, 0))
        both = jnp.stack([TRAINS, TRAINS[::-1]])
        mean = lambda params, net, both=both: trials(params, net, both).mean()  # noqa: B023, E731
        found.append(jax.jit(jax.grad(mean))(params, net))
    for a, b in zip(*map(jax.tree.leaves, found)):
        assert np.abs(b).max() > 0
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * np.abs(b).max())


def test_trials_that_share_a_matrix_are_one_product():
    net = network(OFTEN, jnp.float32)
    params, rebuild = jn.trainable(net, {"in->A": "weight"})
    trials = jax.vmap(loss_of(rebuild), (None, None, 0))
    both = jnp.stack([TRAINS] * 7)
    text = jax.jit(jax.grad(lambda p, n: trials(p, n, both).sum())).lower(params, net).as_text()
    assert "tensor<7x40x60x" not in text
    assert "tensor<40x60x" in text


def test_over_a_mesh_it_is_events():
    net = network(OFTEN, jnp.float32)
    laid = jn.parallel.shard(net, mesh(2))
    want = run(network(NEVER, jnp.float32))[1].traces["A"]["v"]
    np.testing.assert_array_equal(run(laid)[1].traces["A"]["v"], want)
    assert "matrix" not in repr(laid)


def dense(description, dt=1.0, **more):
    net = jn.build(description, 0, dt, **more)
    return [name for p in net.pathways if p.dense is not None for name in p.projections]


def one(model=None, n=40, rule=None, modulators=(), **more):
    model = jn.neurons.LIF(t_ref=0.0) if model is None else model
    wire = {"weight": 1.0, "delay": 1.0, "synapse": jn.synapses.Delta(), **more}
    rule = jn.connectivity.AllToAll() if rule is None else rule
    cells = [jn.Population("A", n, model)]
    return jn.Description(cells, [jn.Projection("A", "A", rule, **wire)], modulators=modulators)


def test_shapes_and_rates_decide():
    assert dense(one()) == ["A->A"]
    assert "matrix products: 'A->A'" in repr(jn.build(one(), 0, 1.0))
    assert dense(one(expected_rate=20.0)) == []
    assert dense(one(jn.neurons.LIF(t_ref=5.0))) == []
    assert dense(one(jn.neurons.LIF(t_ref=5.0), expected_rate=400.0)) == ["A->A"]
    assert dense(one(n=20)) == []


def test_what_must_be_events_is():
    part = jn.Projection(
        *(jn.Part("A", slice(0, 35)), "A", jn.connectivity.AllToAll()),
        **{"weight": 1.0, "delay": 1.0, "synapse": jn.synapses.Delta()},
    )
    cells = [jn.Population("A", 40, jn.neurons.LIF(t_ref=0.0))]
    assert dense(jn.Description(cells, [part])) == []
    assert dense(one(rule=jn.connectivity.AllToAll(autapses=False))) == []
    assert dense(one(rule=jn.connectivity.FixedProbability(0.9))) == []
    assert dense(one(delay=jn.Uniform(1.0, 3.0))) == []
    assert dense(one(plasticity=jn.plasticity.PairSTDP())) == []
    assert dense(one(), deterministic=True) == []
    assert dense(one(), mesh=mesh(2)) == []
    level = jn.Modulator("m", tau=20.0, scales={"A->A": {"gain": 0.5}}, source="A")
    assert dense(one(modulators=[level])) == []


def test_weights_are_set_and_read_as_ever():
    net = jn.build(one(weight=jn.Normal(1.0, 0.1)), 0, 1.0)
    w = np.arange(1600.0).reshape(40, 40)
    changed = net.set("A->A", weight=w)
    np.testing.assert_array_equal(changed.expand().pathways[0].matrix, w)
    np.testing.assert_array_equal(changed.get("A->A", "weight"), w.ravel())


def test_bad_rates_are_refused():
    with pytest.raises(jn.InvalidValueError, match="expected_rate"):
        one(expected_rate=-1.0)
