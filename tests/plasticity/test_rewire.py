"""Rewiring: weak synapses go, others come, and nothing old reaches the new ones."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.plasticity.scheduled import Wiring, network, run, trains
from tests.refusing import assert_refused

STEPS, N_PRE, N_POST = 200, 12, 9
NAME = "pre->post"


def grid(n):
    return jn.space.Free(np.stack([np.arange(n), np.zeros(n)], axis=1))


@pytest.fixture(scope="module")
def after_a_run():
    """A network, its state after a run, and its connections then."""
    rng = np.random.default_rng(5)
    pairs = rng.choice(N_PRE * N_POST, 50, replace=False)
    ends = pairs // N_POST, pairs % N_POST
    wiring = Wiring(*ends, rng.integers(1, 12, 50), 0, rng.uniform(0.0, 1.0, 50))
    net = network(jn.plasticity.PairSTDP(0.02, w_max=1.0), N_PRE, N_POST, wiring)
    spikes = trains(rng, STEPS, N_PRE, 0.05), trains(rng, STEPS, N_POST, 0.05)
    state = run(net, *spikes)[2].state
    return net, state, spikes


def test_weak_synapses_move(after_a_run):
    net, state, _ = after_a_run
    before = net.connections(NAME, state)
    new, moved = jn.rewire(net, state, 3, NAME, below=0.4, weight=0.25)
    after = new.connections(NAME, moved)
    np.testing.assert_array_equal(after.pre, before.pre)
    old = {(i, j): w for i, j, w in zip(before.pre, before.post, before.weight)}
    now = {(i, j): w for i, j, w in zip(after.pre, after.post, after.weight)}
    assert len(now) == len(old) == 50, "no pair is connected twice"
    kept = {pair for pair in now if pair in old}
    assert kept == {pair for pair, w in old.items() if w >= 0.4}
    assert all(now[pair] == pytest.approx(old[pair], abs=1e-6) for pair in kept)
    assert all(now[pair] == 0.25 for pair in now if pair not in old)
    assert sorted(after.delay) == pytest.approx(sorted(before.delay))


def test_old_and_new_do_not_mix(after_a_run):
    net, state, _ = after_a_run
    new, moved = jn.rewire(net, state, 3, NAME, below=0.4, weight=0.25)
    for one, other in ((net, moved), (new, state)):
        with pytest.raises(ValueError, match="state must be one of this network"):
            one.weights(other, NAME)
        with pytest.raises(ValueError, match="state must be one of this network"):
            jn.simulate(one, 1.0, state=other)
    again, _ = jn.rewire(net, state, 3, NAME, below=0.4, weight=0.25)
    again.weights(moved, NAME)
    newer, still = jn.rewire(new, moved, 3, NAME, below=0.4, weight=0.25)
    newer.weights(still, NAME)


def test_weights_of_plastic_synapses_are_set_in_the_state(after_a_run):
    net, state, _ = after_a_run
    assert_refused(
        lambda: net.set(NAME, weight=0.5),
        "projection 'pre->post'",
        "weight",
        "that of plastic synapses",
    )
    assert (net.weights(net.with_weights(state, NAME, 0.5), NAME) == 0.5).all()


def test_the_same_key_the_same_synapses(after_a_run):
    net, state, _ = after_a_run
    one, two, other = (
        jn.rewire(net, state, key, NAME, below=0.4, weight=0.25)[0].connections(NAME).post
        for key in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_shapes_stay_so_that_nothing_is_compiled_again(after_a_run):
    net, state, _ = after_a_run
    shapes = lambda x: jax.tree.map(lambda a: (a.shape, a.dtype), x)  # noqa: E731
    new, moved = jn.rewire(net, state, 3, NAME, below=0.4, weight=0.25)
    assert shapes(new) == shapes(net)
    assert shapes(moved) == shapes(state)


def test_a_new_synapse_sees_no_older_spikes(after_a_run):
    """It changes as a synapse that was there all the time and had its weight set now."""
    net, state, spikes = after_a_run
    new, moved = jn.rewire(net, state, 3, NAME, below=0.4, weight=0.25)
    _, weights, _ = run(new, *spikes, state=moved)
    # The same connections from the start, without any weight change until now.
    after = new.connections(NAME, moved)
    wiring = Wiring(after.pre, after.post, np.rint(after.delay / 0.1).astype(int), 0, after.weight)
    twin = network(jn.plasticity.PairSTDP(0.02, w_max=1.0), N_PRE, N_POST, wiring)
    frozen = twin.freeze(twin.init(0), NAME)
    was = twin.resume(run(twin, *spikes, state=frozen)[2].state, NAME)
    _, expected, _ = run(twin, *spikes, state=was)
    np.testing.assert_allclose(weights, expected, rtol=1e-5)


def test_growth_by_distance():
    ends = np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20)
    description = jn.Description(
        [
            jn.Population("pre", 20, jn.neurons.PoissonSource(5.0), positions=grid(20)),
            jn.Population("post", 20, jn.neurons.LIF(), positions=grid(20)),
        ],
        [
            jn.Projection(
                *("pre", "post", jn.connectivity.Explicit(*ends)),
                weight=0.1,
                delay=1.0,
                synapse=jn.synapses.Exponential(),
                plasticity=jn.plasticity.PairSTDP(w_max=1.0),
            )
        ],
    )
    net = jn.build(description, 1, 0.1)
    near = jn.space.Gaussian(sigma=2.0)
    new, _ = jn.rewire(net, net.init(0), 1, NAME, below=0.2, weight=0.5, profile=near)
    after = new.connections(NAME)
    grown = after.weight == 0.5
    assert grown.all()
    assert np.abs(after.pre - after.post)[grown].mean() < 4.0


def test_a_full_row_keeps_its_synapses():
    everyone = jn.connectivity.AllToAll()
    description = jn.Description(
        [
            jn.Population("pre", 3, jn.neurons.PoissonSource(5.0)),
            jn.Population("post", 4, jn.neurons.LIF()),
        ],
        [
            jn.Projection(
                *("pre", "post", everyone),
                weight=0.1,
                delay=1.0,
                synapse=jn.synapses.Exponential(),
                plasticity=jn.plasticity.PairSTDP(w_max=1.0),
            )
        ],
    )
    net = jn.build(description, 1, 0.1)
    new, _ = jn.rewire(net, net.init(0), 1, NAME, below=0.2, weight=0.5)
    np.testing.assert_allclose(new.connections(NAME).weight, 0.1)


@pytest.mark.parametrize(
    ("options", "owner", "field", "got"),
    [
        ({"below": np.nan, "weight": 0.5}, "rewire: projection 'pre->post'", "below", "nan"),
        (
            {"below": 0.1, "weight": 1.5},
            *("rewire: projection 'pre->post'", "weight", "1.5 to 1.5"),
        ),
        (
            {"below": 0.1, "weight": 0.5, "profile": jn.space.Gaussian(1.0)},
            *("population 'pre'", "positions", "None"),
        ),
        ({"below": 0.1, "weight": 0.5, "profile": 3}, "rewire", "profile", "3"),
    ],
)
def test_bad_input(after_a_run, options, owner, field, got):
    net, state, _ = after_a_run
    assert_refused(lambda: jn.rewire(net, state, 1, NAME, **options), owner, field, got)
