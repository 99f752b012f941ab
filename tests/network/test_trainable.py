"""`trainable`: named parameters without bounds, and the networks that they make."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxneuro as jn
from tests.parallel.networks import mesh
from tests.refusing import assert_refused

SLOPE = jn.surrogates.FastSigmoid(0.2)
SYNAPSE = jn.synapses.Exponential(5.0)


def description(**more):
    lif = jn.neurons.LIF(surrogate=SLOPE)
    rule, wire = jn.connectivity.AllToAll(), {"delay": 1.0, "synapse": SYNAPSE}
    populations = [
        jn.Population("in", 6, jn.neurons.Relay()),
        jn.Population("hid", 5, lif),
        jn.Population("out", 4, jn.neurons.LIF(tau_m=12.0, surrogate=SLOPE)),
    ]
    inhibition = jn.synapses.ExponentialConductance(5.0, -80.0)
    projections = [
        jn.Projection("in", "hid", rule, weight=jn.Normal(300.0, 50.0), **wire),
        jn.Projection("hid", "out", rule, weight=jn.Normal(200.0, 90.0), **wire),
        jn.Projection("hid", "hid", rule, weight=-20.0, **wire),
        jn.Projection(
            "out", "hid", rule, weight=jn.Uniform(0.0, 2.0), delay=1.0, synapse=inhibition
        ),
    ]
    stimuli = [jn.Stimulation("hid", jn.stimuli.Current(400.0), name="bias")]
    wave = jn.stimuli.Current(jn.stimuli.Sinusoid(10.0, 2.0, 8.0))
    stimuli.append(jn.Stimulation("out", wave, name="wave"))
    return jn.Description(populations, projections, stimuli, **more)


WHAT = {
    "in->hid": "weight",
    "hid->out": "weight",
    "hid->hid": "gain",
    "out->hid": "weight",
    "hid": jn.each("tau_m"),
    "out": ["tau_m", "v_th"],
}


@pytest.fixture(scope="module")
def net():
    return jn.build(description(), 3, 0.5)


def test_the_start_is_the_network(net):
    params, rebuild = jn.trainable(net, WHAT)
    got = rebuild.values(params)
    for name, values in got.items():
        for key, value in values.items():
            want = net.get(name, key)
            np.testing.assert_allclose(value, np.broadcast_to(want, value.shape), rtol=2e-6)
    assert got["hid"]["tau_m"].shape == (5,)
    assert got["in->hid"]["weight"].shape == (30,)
    made = rebuild(params, net)
    assert np.array_equal(made.get("in->hid", "weight"), net.get("in->hid", "weight"))
    np.testing.assert_allclose(made.get("hid", "tau_m"), 10.0, rtol=1e-6)


def test_any_change_keeps_the_ranges(net):
    params, rebuild = jn.trainable(net, WHAT)
    rng = np.random.default_rng(0)
    wild = jax.tree.map(lambda x: x + 3.0 * rng.normal(size=x.shape).astype(np.float32), params)
    made = rebuild(wild, net)
    assert (made.get("hid", "tau_m") > 0.0).all()
    assert (made.get("out->hid", "weight") >= 0.0).all()
    assert made.get("hid->hid", "gain") >= 0.0
    free = np.asarray(wild["in->hid"]["weight"])
    assert np.array_equal(made.get("in->hid", "weight"), free)
    assert made.get("hid->hid", "weight") == -20.0


def test_a_weight_on_its_bound_starts_inside():
    wire = jn.synapses.ExponentialConductance(5.0, 0.0)
    rule = jn.connectivity.OneToOne()
    link = jn.Projection("A", "A", rule, weight=np.array([0.0, 2.0]), delay=1.0, synapse=wire)
    cells = jn.Population("A", 2, jn.neurons.LIF())
    net = jn.build(jn.Description([cells], [link]), 0, 0.1)
    params, rebuild = jn.trainable(net, {"A->A": "weight"})
    np.testing.assert_allclose(rebuild.values(params)["A->A"]["weight"], [0.001, 2.0], rtol=1e-5)


@pytest.mark.parametrize("bounds", [(0.0, None), (None, 0.0), (0.0, 1.0), (None, None)])
@pytest.mark.parametrize("strict", [False, True])
def test_a_transform_is_its_own_inverse(bounds, strict, x64):
    from jaxneuro._network.trainable import Bounds

    low, high = bounds
    if strict and (low is None or high is not None):
        pytest.skip("a range that is open below has no other end")
    x = np.linspace(0.01, 0.99, 50) * (-1.0 if low is None and high is not None else 1.0)
    b = Bounds(low, high, strict).around(x)
    np.testing.assert_allclose(b.value(jnp.asarray(b.free(x))), x, rtol=1e-12)


def test_projections_of_one_pathway_have_their_own_weights():
    """Two projections between the same populations, whose synapses stand in one table."""
    lif, rule = jn.neurons.LIF(), jn.connectivity.FixedProbability(0.5)
    wire = {"delay": 1.0, "synapse": SYNAPSE}
    links = [
        jn.Projection("A", "A", rule, weight=jn.Normal(5.0, 1.0), name=name, **wire)
        for name in ("first", "second")
    ]
    net = jn.build(jn.Description([jn.Population("A", 20, lif)], links), 0, 0.1)
    assert len(net.pathways) == 1
    params, rebuild = jn.trainable(net, {"second": "weight"})
    twice = jax.tree.map(lambda x: 2 * x, params)
    made = jax.jit(rebuild)(twice, net)
    assert np.array_equal(made.get("first", "weight"), net.get("first", "weight"))
    assert np.array_equal(made.get("second", "weight"), 2 * net.get("second", "weight"))


def loss_of(rebuild):
    def loss(params, net, trains):
        made = rebuild(params, net)
        record = jn.Record(spikes=False, rates=True)
        counts = jn.scan(made, made.init(0), 60, {"in": trains}, record)[1].counts["out"]
        return (counts.sum() - 20.0) ** 2

    return loss


def test_an_optimiser_trains_it_under_jit_vmap_and_grad(net):
    params, rebuild = jn.trainable(net, WHAT)
    trains = np.random.default_rng(1).random((4, 60, 6)) < 0.1
    adam, loss = optax.adam(0.1), loss_of(rebuild)

    def mean(params, net, trains):
        return jax.vmap(loss, (None, None, 0))(params, net, trains).mean()

    @jax.jit
    def step(params, held, net, trains):
        value, slope = jax.value_and_grad(mean)(params, net, trains)
        change, held = adam.update(slope, held)
        return optax.apply_updates(params, change), held, value, slope

    first = jax.jit(jax.grad(mean))(params, net, trains)
    for name, key in (("in->hid", "weight"), ("hid", "tau_m"), ("out->hid", "weight")):
        assert np.abs(first[name][key]).max() > 0
    held, values = adam.init(params), []
    with jax.numpy_dtype_promotion("standard"):  # optax mixes types
        for _ in range(25):
            params, held, value, slope = step(params, held, net, trains)
            values.append(float(value))
    assert values[-1] < 0.5 * values[0]
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(slope))
    trained = rebuild(params, net)
    assert np.ptp(trained.get("hid", "tau_m")) > 0
    result = jn.simulate(trained, 20.0, progress=False)
    assert len(result.events("hid")[0]) > 0


def test_parameters_go_through_a_file(net, tmp_path):
    params, rebuild = jn.trainable(net, WHAT)
    moved = jax.tree.map(lambda x: x + 0.25, params)
    jn.checkpoint.save(tmp_path / "params.npz", moved)
    made = rebuild(jn.checkpoint.load(tmp_path / "params.npz", params), net)
    assert not rebuild(moved, net).changes(made)
    assert {c.name for c in made.changes(net)} == set(WHAT)


def test_it_trains_over_a_mesh(net):
    """The gradient over two devices is that of one."""
    params, rebuild = jn.trainable(net, WHAT)
    laid = jn.parallel.shard(net, mesh(2))
    own, made = jn.trainable(laid, WHAT)
    trains = np.random.default_rng(1).random((60, 6)) < 0.1
    want = jax.jit(jax.grad(loss_of(rebuild)))(params, net, trains)
    got = jax.jit(jax.grad(loss_of(made)))(own, laid, trains)
    for a, b, x, y in zip(*map(jax.tree.leaves, (got, want, own, params))):
        np.testing.assert_allclose(x, y, rtol=1e-6)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max() + 1e-9)


def test_plastic_weights_start_with_what_is_trained():
    rule = jn.plasticity.PairSTDP(w_max=3.0)
    link = jn.Projection(
        *("A", "A", jn.connectivity.AllToAll()),
        **{"weight": 1.0, "delay": 1.0, "synapse": SYNAPSE, "plasticity": rule},
    )
    net = jn.build(jn.Description([jn.Population("A", 3, jn.neurons.LIF())], [link]), 0, 0.1)
    params, rebuild = jn.trainable(net, {"A->A": "weight"})
    higher = jax.tree.map(lambda x: x + 100.0, params)
    made = rebuild(higher, net)
    np.testing.assert_allclose(made.weights(made.init(0), "A->A"), 3.0, rtol=1e-6)


BAD = {
    "no mapping": ("hid", "trainable", "what"),
    "nothing": ({}, "trainable", "what"),
    "t_ref": ({"hid": "t_ref"}, "population 'hid'", "t_ref"),
    "no parameter": ({"hid": 3}, "trainable", "what['hid']"),
    "both": ({"in->hid": ["weight", "gain"]}, "projection 'in->hid'", "gain"),
    "twice": ({"hid": ["tau_m", "tau_m"]}, "population 'hid'", "tau_m"),
    "each weight": ({"hid->hid": jn.each("weight")}, "projection 'hid->hid'", "weight"),
    "too few groups": (
        {"in->hid": jn.shared("weight", np.zeros(29, int))},
        "projection 'in->hid'",
        "weight",
    ),
    "weights of a group that differ": (
        {"in->hid": jn.shared("weight", np.zeros(30, int))},
        "projection 'in->hid'",
        "weight",
    ),
    "one weight": (
        {"hid->hid": jn.shared("weight", np.arange(25))},
        "projection 'hid->hid'",
        "weight",
    ),
    "a shared receptor": ({"in->hid": "tau_syn"}, "projection 'in->hid'", "tau_syn"),
    "a signal": ({"wave": "amplitude"}, "stimulation 'wave'", "amplitude"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_trained_is_refused(net, case):
    what, owner, field = BAD[case]
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.trainable(net, what)
    assert (caught.value.owner, caught.value.field) == (owner, field)


def test_bad_groups_are_refused():
    for groups, got in (([0, 2], "no 1"), ([0, -1], "-1"), ([], "no synapses"), ([0.5], "float")):
        assert_refused(lambda x=groups: jn.shared("weight", x), "shared", "groups", got)
    assert_refused(lambda: jn.shared("weight", [0, 1, 0], (3,)), "shared", "shape", "(3,)")
    assert_refused(lambda: jn.shared("tau_m", [0]), "shared", "parameter", "tau_m")


def test_synapses_of_a_group_share_a_weight_that_keeps_its_sign():
    """Every target has its own conductance, shared by its sources."""
    synapse = jn.synapses.ExponentialConductance(5.0, 0.0)
    start, targets = np.array([0.5, 2.0, 1.0]), np.tile(np.arange(3), 4)
    cells = [jn.Population(name, n, jn.neurons.LIF()) for name, n in (("A", 4), ("B", 3))]
    rule = jn.connectivity.AllToAll()
    link = jn.Projection("A", "B", rule, weight=start[targets], delay=1.0, synapse=synapse)
    net = jn.build(jn.Description(cells, [link]), 0, 0.1)
    params, rebuild = jn.trainable(net, {"A->B": jn.shared("weight", targets)})
    np.testing.assert_allclose(rebuild.values(params)["A->B"]["weight"], start, rtol=1e-6)
    moved = jax.tree.map(lambda x: x - 5.0, params)
    weights = rebuild(moved, net).get("A->B", "weight")
    np.testing.assert_array_equal(weights, rebuild.values(moved)["A->B"]["weight"][targets])
    assert (weights >= 0.0).all()


def test_unknown_names_and_a_delay(net):
    for what, word in (({"hidden": "tau_m"}, "hidden"), ({"in->hid": "delay"}, "delay")):
        with pytest.raises(ValueError, match=word):
            jn.trainable(net, what)


def test_params_of_another_network_are_refused(net):
    params, rebuild = jn.trainable(net, {"hid": "tau_m"})
    for bad in ({"out": params["hid"]}, {"hid": {"tau_m": np.zeros(3)}}, 1.0):
        assert_refused(lambda bad=bad: rebuild(bad, net), "rebuild", "params", "")


def test_deterministic_and_traced_networks_are_refused(net):
    whole = jn.build(description(), 3, 0.5, deterministic=True)
    assert_refused(lambda: jn.trainable(whole, {"hid": "tau_m"}), "trainable", "net", "")
    with pytest.raises(ValueError, match="traced"):
        jax.jit(lambda net: jn.trainable(net, {"hid": "tau_m"})[0])(net)
