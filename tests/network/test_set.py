"""`Network.set`: new values by name, in a new network."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import LIF, SCAN, SIZES, balanced, description, events
from tests.refusing import assert_refused

NET = jn.build(balanced(), 0, 0.1)


def spikes(net, n_steps=200):
    return SCAN(net, net.init(0), n_steps)[1].spikes


def test_it_returns_a_new_network():
    before = jax.tree.map(np.asarray, jax.tree.leaves(NET))
    changed = NET.set("E", tau_m=12.0)
    for old, new in zip(before, jax.tree.leaves(NET)):
        np.testing.assert_array_equal(old, new)
    assert events(changed, 200) != events(NET, 200)


def test_it_equals_a_network_built_so():
    other = jn.build(balanced(weight=3.0, gain=2.0), 0, 0.1)
    changed = other
    for target in "EI":
        changed = changed.set(f"E->{target}", gain=1.0, weight=6.0)
        changed = changed.set(f"I->{target}", gain=1.0)
    assert events(changed, 200) == events(NET, 200)
    faster = jn.build(balanced(tau_m=15.0), 0, 0.1)
    assert events(NET.set("E", tau_m=15.0).set("I", tau_m=15.0), 200) == events(faster, 200)


@pytest.mark.parametrize("value", [12.0, np.linspace(8.0, 12.0, 160)], ids=["one", "each"])
def test_a_population_alone(value):
    changed = NET.set("E", tau_m=value)
    model = jn.neurons.LIF
    like = {"c_m": 200.0, "e_l": -60.0, "v_th": -50.0, "v_reset": -60.0}
    made = balanced()
    populations = [
        jn.Population(p.name, p.n, model(**like, tau_m=t), initial=p.initial)
        for p, t in zip(made.populations, (value, 20.0))
    ]
    built = jn.build(jn.Description(populations, made.projections, made.stimuli), 0, 0.1)
    assert events(changed, 200) == events(built, 200)


def test_a_stimulus_and_a_synapse():
    silent = NET.set("Current->E", amplitude=0.0).set("Current->I", amplitude=0.0)
    early = {k: [e for e in v if e[0] > 100] for k, v in events(silent, 200).items()}
    assert sum(map(len, early.values())) < 20
    changed = NET.set("E->E", tau_syn=2.0)
    assert changed.groups[0].receptors != NET.groups[0].receptors
    assert events(changed, 200) != events(NET, 200)


ANY_NAME = "population, projection, stimulation, coupling, modulator, shared receptor or release"


@pytest.mark.parametrize(
    ("name", "values", "field", "got"),
    [
        (
            "X",
            {"tau_m": 1.0},
            *(
                ANY_NAME,
                "'X'",
            ),
        ),
        ("E", {"tau": 1.0}, "parameter of population 'E'", "'tau'"),
        ("E->I", {"tau": 1.0}, "parameter of projection 'E->I'", "'tau'"),
        ("Current->E", {"current": 1.0}, "parameter of stimulation 'Current->E'", "'current'"),
    ],
)
def test_unknown_names_list_the_known(name, values, field, got):
    assert_refused(lambda: NET.set(name, **values), "", field, got)


@pytest.mark.parametrize(
    ("name", "values", "owner", "field", "got"),
    [
        ("E", {"tau_m": -1.0}, "population 'E'", "tau_m", "-1.0"),
        ("E", {"v_reset": -40.0}, "population 'E'", "v_th", "-50.0 mV"),
        ("E", {"t_ref": 0.25}, "population 'E'", "t_ref", "0.25 ms, between 0.2 and 0.3 ms"),
        ("E", {"tau_m": np.ones(3)}, "population 'E'", "tau_m", "shape (3,)"),
        ("E->I", {"gain": np.ones(2)}, "projection 'E->I'", "gain", "shape (2,)"),
        ("E->I", {"weight": np.nan}, "projection 'E->I'", "weight", "nan"),
        ("E->I", {"tau_syn": 0.0}, "projection 'E->I'", "tau_syn", "0.0"),
    ],
)
def test_bad_values(name, values, owner, field, got):
    assert_refused(lambda: NET.set(name, **values), owner, field, got)


DRAWN = jn.build(balanced(weight=jn.Normal(6.0, 1.0, low=0.0)), 0, 0.1)


def test_individual_weights():
    """One per synapse in the order of `connections`: as if they had been described so."""
    given = jn.build(balanced(weight=lambda i, j: 2.0 + 0.01 * i + 0.001 * j), 0, 0.1)
    net = DRAWN
    for name in ("E->I", "E->E"):
        net = net.set(name, weight=given.connections(name).weight)
    np.testing.assert_array_equal(net.pathways[0].weights, given.pathways[0].weights)
    read = net.set("E->I", weight=3.0).connections("E->I").weight
    assert set(read) == {3.0}
    one = np.arange(len(DRAWN.connections("E->I")), dtype=np.float32)
    traced = jax.jit(lambda w: DRAWN.set("E->I", weight=w).pathways[0].weights)(one)
    np.testing.assert_array_equal(traced, DRAWN.set("E->I", weight=one).pathways[0].weights)


@pytest.mark.parametrize("part", [None, [1, 3, 4]], ids=["all", "a part"])
@pytest.mark.parametrize("autapses", [True, False])
def test_weights_of_all_to_all_by_pair_and_by_connection(part, autapses):
    """A matrix (n_pre, n_post) and one number per connection are the same, built and set."""
    n = 5 if part is None else 3
    matrix = 1.0 + np.arange(n * n, dtype=np.float64).reshape(n, n)
    pairs = np.ones((n, n), bool) if autapses else ~np.eye(n, dtype=bool)
    flat, end = matrix[pairs], "A" if part is None else jn.Part("A", part)
    rule = jn.connectivity.AllToAll(autapses=autapses)

    def built(weight):
        delta = {"delay": 0.1, "synapse": jn.synapses.Delta()}
        wires = [jn.Projection(end, end, rule, weight=weight, **delta)]
        return jn.build(jn.Description([jn.Population("A", 5, jn.neurons.LIF())], wires), 0, 0.1)

    first = built(flat)
    found = first.connections("A->A").weight
    np.testing.assert_array_equal(found, flat)
    np.testing.assert_array_equal(built(matrix).connections("A->A").weight, flat)
    for values in [2.0 * flat] + [2.0 * matrix] * (autapses or part is None):
        again = first.set("A->A", weight=values)
        np.testing.assert_array_equal(again.connections("A->A").weight, 2.0 * flat)
    scaled = jax.jit(lambda w: first.set("A->A", weight=w).pathways[0].weights)
    if autapses:
        np.testing.assert_array_equal(scaled(3.0 * matrix), scaled(3.0 * flat))
    for shape in ((n, n + 1), (n * n + 1,)):
        assert_refused(lambda s=shape: built(np.ones(s)), "projection 'A->A'", "weight")
        with pytest.raises(jn.InvalidValueError, match=r"or as \(n_pre, n_post\)"):
            first.set("A->A", weight=np.ones(shape))


def test_individual_weights_and_quanta():
    """Larger weights need larger quanta, those of a network that is built with them."""
    nets = [
        jn.build(balanced(weight=lambda i, j, w=w: w + 0.0 * i), 0, 0.1, deterministic=True)
        for w in (1.0, 100.0)
    ]
    raised = nets[0].set("E->E", weight=100.0).set("E->I", weight=100.0)
    jax.tree.map(np.testing.assert_array_equal, raised.fixed_point, nets[1].fixed_point)


@pytest.mark.parametrize(
    ("net", "name", "value", "owner", "field", "got"),
    [
        (DRAWN, "E->I", [1.0, 2.0], "projection 'E->I'", "weight", "shape (2,)"),
        (DRAWN, "E->I", np.nan, "projection 'E->I'", "weight", "nan"),
        (DRAWN, "E->I", -1.0, "projection 'E->I'", "weight", "-1"),
        (DRAWN, "I->E", [1.0, 2.0], "projection 'I->E'", "weight", "one per synapse"),
    ],
)
def test_bad_weights(net, name, value, owner, field, got):
    assert_refused(lambda: net.set(name, weight=value), owner, field, got)


def test_weights_of_a_network_that_is_not_known():
    assert_refused(
        lambda: jax.eval_shape(lambda net: net.set("E->I", weight=1.0), DRAWN),
        "projection 'E->I'",
        "weight",
        "one of a network that is an argument of",
    )


def test_one_retrace_only_where_a_leaf_changes_its_shape():
    traces = []

    @jax.jit
    def program(net, state):
        traces.append(1)
        return jn.scan(net, state, 20)[0].groups[0].neurons.v

    state = NET.init(0)
    program(NET, state)
    program(NET.set("E->E", gain=2.0).set("I->E", weight=9.0), state)
    assert len(traces) == 1
    changed = NET.set("E", tau_m=12.0)  # () becomes (populations,), and nothing else does
    assert changed.groups[0].model.tau_m.shape == (2,)
    assert changed.groups[0].model.v_th.shape == ()
    program(changed, state)
    assert len(traces) == 2
    program(changed.set("E", tau_m=13.0).set("I", tau_m=9.0), state)
    assert len(traces) == 2


def test_inside_jit_other_leaves_keep_their_shape():
    changed = jax.eval_shape(lambda net: net.set("E", tau_m=12.0), NET)
    model = changed.groups[0].model
    assert [x.shape for x in jax.tree.leaves(model)] == [(2,), (), (), (), (), ()]


@pytest.mark.slow
def test_under_vmap():
    taus = np.float32([12.0, 15.0, 20.0])

    def total(tau):
        net = NET.set("E", tau_m=tau).set("E->I", gain=tau / 20.0)
        return jn.scan(net, net.init(0), 150)[1].spikes.counts("E")

    many = np.asarray(jax.jit(jax.vmap(total))(taus))
    for tau, counts in zip(taus, many):
        alone = NET.set("E", tau_m=float(tau)).set("E->I", gain=float(tau) / 20.0)
        np.testing.assert_array_equal(counts, spikes(alone, 150).counts("E"))
    assert len(set(many.sum(axis=1).tolist())) == 3


def test_under_grad(x64):
    made = description(v_th=1e3, v_reset=-62.0)
    net = jn.build(made, 0, 0.1, jnp.float64)

    @jax.jit
    def loss(tau, amplitude):
        changed = net.set("B", tau_m=tau).set("Current->B", amplitude=amplitude)
        state, _ = jn.scan(changed, changed.init(0), 100)
        return jnp.mean(changed.read(state, "B", "v") ** 2)

    point, step = (LIF["tau_m"], 260.0), 1e-4
    slopes = jax.jit(jax.grad(loss, (0, 1)))(*point)
    for k, slope in enumerate(slopes):
        up, down = ([x + s * (i == k) for i, x in enumerate(point)] for s in (step, -step))
        central = (loss(*up) - loss(*down)) / (2 * step)
        np.testing.assert_allclose(slope, central, rtol=1e-6)
        assert slope != 0


@pytest.mark.slow
def test_a_network_of_float32_in_64_bits(x64):
    """What is given is in 64 bits, and does not mix with what is kept in 32."""
    models = jn.neurons.HodgkinHuxley(), jn.neurons.AdEx()
    made = jn.Description([jn.Population(type(m).__name__, 2, m) for m in models])
    net = jn.build(made, 0, 0.01)
    channels = (jn.channels.SquidSodium(g=0.0), *models[0].channels[1:])
    net = net.set("HodgkinHuxley", channels=channels).set("AdEx", c_m=200.0, delta_t=3.0)
    assert {x.dtype for g in net.groups for x in jax.tree.leaves(g.model)} == {np.dtype("float32")}


def test_set_of_the_only_population():
    net = jn.build(description(["A"], sizes={"A": SIZES["A"]}), 0, 0.1)
    assert net.set("A", tau_m=9.0).groups[0].model.tau_m.shape == ()


def test_signals_with_times_are_set_as_build_leaves_them():
    """A signal has whole steps after `build`, and milliseconds before."""

    def network(amplitude):
        drive = jn.Stimulation("A", jn.stimuli.Current(amplitude), name="drive")
        return jn.build(
            jn.Description([jn.Population("A", 2, jn.neurons.LIF())], (), [drive]), 0, 0.1
        )

    first, second = (jn.stimuli.Steps([1.0, t], [40.0, 90.0]) for t in (2.0, 3.5))
    changed, built = network(first).set("drive", amplitude=second), network(second)
    built = dataclasses.replace(built, fingerprint=changed.fingerprint)  # of two descriptions
    assert jax.tree.structure(changed) == jax.tree.structure(built)
    for a, b in zip(jax.tree.leaves(changed), jax.tree.leaves(built)):
        np.testing.assert_array_equal(a, b)
    assert_refused(
        lambda: network(first).set("drive", amplitude=jn.stimuli.Steps([1.0, 2.03], [40.0, 90.0])),
        "stimulation 'drive': amplitude",
        "times",
        "2.03 ms, between 2 and 2.1 ms",
    )


def test_start_weights_outside_new_bounds():
    cells, synapse = jn.Population("E", 5, jn.neurons.LIF()), jn.synapses.Exponential()
    rule, stdp = jn.connectivity.OneToOne(), jn.plasticity.PairSTDP(w_max=1.0)
    wire = {"weight": 0.5, "delay": 1.0, "synapse": synapse, "plasticity": stdp}
    net = jn.build(jn.Description([cells], [jn.Projection("E", "E", rule, **wire)]), 1, 0.1)
    with pytest.warns(UserWarning, match="0.5 to 0.5, .* new bounds, 0 to 0.1") as seen:
        net.set("E->E", w_max=0.1)
    assert seen[0].filename == __file__
    net.set("E->E", w_max=2.0, rate=np.float32(0.1))
