"""Plastic networks: chunks, threads, batches, gradients, long histories, sums, freezing."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.threads import threads
from tests.plasticity.replay import replay
from tests.plasticity.scheduled import Wiring, network, run, trains
from tests.refusing import assert_refused

NAME, N_PRE, N_POST, STEPS = "pre->post", 9, 6, 160
P = jn.plasticity


def wired(rng, n=40, delay=7, axonal=0):
    ends = rng.integers(0, N_PRE, n), rng.integers(0, N_POST, n)
    return Wiring(*ends, delay, axonal, rng.uniform(0.2, 0.8, n))


def spikes(rng, p=0.06, steps=STEPS):
    return trains(rng, steps, N_PRE, p), trains(rng, steps, N_POST, p)


def same(a, b):
    return all(
        (np.asarray(x) == np.asarray(y)).all()
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b))
    )


@pytest.fixture(scope="module")
def reward():
    """A network with eligibility, a reward, delays of its own and an axonal part; its spikes."""
    rng = np.random.default_rng(1)
    rule = P.RewardModulatedSTDP(0.5, 0.6, tau_c=100.0, tau_n=20.0, w_max=1.0)
    net = network(rule, N_PRE, N_POST, wired(rng, 40, rng.integers(4, 20, 40), 3))
    signals = {"reward": 0.02 * (rng.random(STEPS) < 0.05)}
    return net, spikes(rng), signals


@pytest.mark.slow
def test_chunks_keep_every_bit(reward):
    net, (pre, post), signals = reward
    whole = run(net, pre, post, signals=signals)[2].state
    half, state = STEPS // 2, None
    for part in (slice(0, half), slice(half, STEPS)):
        now = {name: x[part] for name, x in signals.items()}
        start = {} if state is None else {"state": state}
        state = run(net, pre[part], post[part], signals=now, **start)[2].state
    assert same(whole, state)
    assert np.ptp(net.weights(state, NAME)) > 0.1


@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_threads_keep_every_bit():
    rng = np.random.default_rng(2)
    pre, post = trains(rng, 30, 60, 0.3), trains(rng, 30, 500, 0.1)
    ends = np.repeat(np.arange(60), 300), rng.integers(0, 500, 18_000)
    wiring = Wiring(*ends, 7, 0, rng.uniform(0.2, 0.8, 18_000))
    net = network(P.PairSTDP(0.05, mu_plus=0.4, w_max=1.0), 60, 500, wiring)
    before, found = threads(), []
    try:
        for n in (1, 2, 3):
            threads(n)
            arrived, weights, _ = run(net, pre, post)
            found.append((arrived, weights))
    finally:
        threads(before)
    assert all(same(found[0], other) for other in found[1:])


@pytest.mark.slow
def test_a_batch_of_rates_and_seeds_equals_single_runs():
    rng = np.random.default_rng(3)
    net = network(P.PairSTDP(0.05, w_max=1.0), N_PRE, N_POST, wired(rng))
    pre, post = (jnp.asarray(1.0 * x, jnp.float32) for x in spikes(rng))
    rates = jnp.array([0.0, 0.02, 0.1])

    def one(rate, seed):
        changed = net.set(NAME, rate=rate)
        state, _ = jn.scan(changed, changed.init(seed), STEPS, {"pre": pre, "post": post})
        return changed.weights(state, NAME), state.groups[0].ring

    both = jax.jit(jax.vmap(jax.vmap(one, (0, None)), (None, 0)))(rates, jnp.arange(2))
    single = jax.jit(one)
    for s in range(2):
        for r, rate in enumerate(rates):
            assert same([x[s, r] for x in both], single(rate, s))
    assert len(np.unique(np.asarray(both[0])[0].std(axis=1))) == 3


@pytest.mark.slow
def test_the_gradient_equals_finite_differences(x64):
    rng = np.random.default_rng(4)
    rule = P.PairSTDP(0.05, mu_plus=0.5, mu_minus=0.7, w_max=2.0)
    net = network(rule, N_PRE, N_POST, wired(rng, 12, 3), dtype=jnp.float64)
    pre, post = (jnp.asarray(1.0 * x) for x in spikes(rng, 0.12, 25))

    def loss(x):
        changed = net.set(NAME, rate=x[0], tau_plus=x[1], tau_minus=x[2])
        record = jn.Record(spikes=False, variables={"post": "v"})
        start = changed.init(0)
        out = jn.scan(changed, start, 25, {"pre": pre, "post": post}, record)[1]
        return jnp.sum(out.traces["post"]["v"] ** 2)

    at = jnp.array([0.05, 20.0, 15.0])
    gradient = jax.jit(jax.grad(loss))(at)
    value, eps = jax.jit(loss), jnp.array([1e-5, 1e-3, 1e-3])
    for k in range(3):
        step = jnp.zeros(3).at[k].set(eps[k])
        numeric = (value(at + step) - value(at - step)) / (2 * eps[k])
        np.testing.assert_allclose(gradient[k], numeric, rtol=1e-5)
    assert abs(gradient[0]) > 1.0
    assert gradient[2] != 0.0


@pytest.mark.slow
def test_a_history_is_not_cut_too_early():
    """Sources that hardly spike, targets that always do: the log is full many times over."""
    rng = np.random.default_rng(5)
    steps = 400
    pre, post = np.zeros((steps, N_PRE), bool), trains(rng, steps, N_POST, 0.8)
    pre[[2, 3, 395], [0, 1, 0]] = True
    pre[5, 2:4] = True
    wiring = Wiring(
        np.repeat(np.arange(4), N_POST), np.tile(np.arange(N_POST), 4), 3, 0, np.full(24, 0.01)
    )
    net = network(P.PairSTDP(0.001, mu_plus=0.0, tau_plus=40.0, w_max=1.0), N_PRE, N_POST, wiring)
    _, weights, result = run(net, pre, post)
    assert int(result.state.pathways[0].plastic.log.count) > 4 * 32 * N_POST
    for k, (i, j) in enumerate(zip(wiring.pre, wiring.post)):
        at = [np.flatnonzero(pre[:-1, i]), np.flatnonzero(post[: steps - 1 - 3, j]) + 3]
        rule = P.PairSTDP(0.001, mu_plus=0.0, tau_plus=40.0, w_max=1.0)
        expected = replay(rule, *at, steps - 1, weight=0.01, dt=0.1).weight[-1]
        np.testing.assert_allclose(weights[k], expected, rtol=2e-4)


def test_sums_over_all_synapses_of_a_target():
    rng = np.random.default_rng(6)
    wiring = wired(rng)
    net = network(P.Normalized(None, total=2.0, interval=1.0), N_PRE, N_POST, wiring)
    silent = np.zeros((12, N_PRE), bool), np.zeros((12, N_POST), bool)
    weights = run(net, *silent)[1]
    order = net.connections(NAME)
    totals = np.bincount(order.post, weights, minlength=N_POST)
    np.testing.assert_allclose(totals[np.unique(order.post)], 2.0, rtol=1e-5)
    share = order.weight / np.bincount(order.post, order.weight)[order.post]
    np.testing.assert_allclose(weights, 2.0 * share, rtol=1e-5)


def test_a_sum_acts_in_the_step_after_a_multiple_of_its_interval():
    wiring = Wiring(np.array([0]), np.array([0]), 5, 0, np.array([0.5]))
    net = network(P.Normalized(None, total=2.0, interval=1.0), 1, 1, wiring)
    inputs = {"pre": np.zeros((12, 1)), "post": np.zeros((12, 1))}
    record = jn.Record(weights={NAME: ...})
    result = jn.simulate(net, 1.2, inputs=inputs, record=record, progress=False)
    np.testing.assert_array_equal(result.weights[NAME][:, 0], [0.5] * 10 + [2.0] * 2)
    np.testing.assert_allclose(result.sample_times[10], 1.1)


@pytest.mark.slow
def test_ticks_and_frozen_weights():
    rng = np.random.default_rng(7)
    rule = P.Hebb(1e-3, 1e-3, tau_rate=10.0, interval=0.5)
    net = network(rule, N_PRE, N_POST, wired(rng, 10, 2))
    pre, post = spikes(rng, 0.1)
    _, weights, result = run(net, pre, post)
    order = net.connections(NAME)
    for k, (i, j) in enumerate(zip(order.pre, order.post)):
        at = [np.flatnonzero(pre[:-1, i]), np.flatnonzero(post[: STEPS - 3, j]) + 2]
        start = float(order.weight[k])
        expected = replay(rule, *at, STEPS - 1, weight=start, dt=0.1, dtype=np.float32).weight[-1]
        np.testing.assert_allclose(weights[k], expected, rtol=1e-5)
    frozen = net.freeze(result.state, NAME)
    _, rested, later = run(net, pre, post, state=frozen)
    np.testing.assert_array_equal(rested, weights)
    _, moved, _ = run(net, pre, post, state=net.resume(later.state, NAME))
    assert (moved != rested).all()


RESUME = """
import pickle, sys
import jax, numpy as np
from tests.plasticity.scheduled import run
with open(sys.argv[1], "rb") as file:
    net, state, pre, post, signals = pickle.load(file)
after = run(net, pre, post, signals=signals, state=state)[2].state
with open(sys.argv[2], "wb") as file:
    pickle.dump([np.asarray(x) for x in jax.tree.leaves(after)], file)
"""


@pytest.mark.slow
def test_a_new_process_goes_on_with_the_same_bits(reward, tmp_path):
    net, (pre, post), signals = reward
    half = STEPS // 2
    first = {name: x[:half] for name, x in signals.items()}
    state = run(net, pre[:half], post[:half], signals=first)[2].state
    rest = {name: x[half:] for name, x in signals.items()}
    kept = net, jax.tree.map(np.asarray, state), pre[half:], post[half:], rest
    (tmp_path / "in").write_bytes(pickle.dumps(kept))
    command = [sys.executable, "-c", RESUME, str(tmp_path / "in"), str(tmp_path / "out")]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[2])
    after = run(net, pre[half:], post[half:], signals=rest, state=state)[2].state
    assert same(after, pickle.loads((tmp_path / "out").read_bytes()))


@pytest.mark.slow
def test_resting_weights_are_within_their_bounds(reward):
    """A reward drives them out between two events; then they are frozen, or summed up."""
    rule = P.RewardModulatedSTDP(5.0, 5.0, tau_c=100.0, tau_n=50.0, w_max=1.0)
    net = network(rule, 1, 1, Wiring(np.array([0]), np.array([0]), 5, 0, np.array([0.5])))
    pre, post = np.zeros((2, 200, 1), bool)
    pre[5], post[20] = True, True
    punished = {"reward": np.where(np.arange(200) == 60, -1.0, 0.0)}
    state = net.freeze(run(net, pre, post, signals=punished)[2].state, NAME)
    quiet = {"reward": np.zeros(200)}
    arrived, weights, _ = run(net, pre, post & False, signals=quiet, state=state)
    assert weights.min() == 0.0
    assert arrived.min() == 0.0
    normalized = network(
        P.Normalized(rule, total=0.4, interval=19.9),
        1,
        1,
        Wiring(np.array([0]), np.array([0]), 5, 0, np.array([0.5])),
    )
    paid = {"reward": -punished["reward"]}
    np.testing.assert_allclose(run(normalized, pre, post, signals=paid)[1], 0.4, rtol=1e-5)


def test_weights_set_by_hand():
    rng = np.random.default_rng(8)
    net = network(P.PairSTDP(0.05, w_max=1.0), N_PRE, N_POST, wired(rng))
    pre, post = spikes(rng)
    state = run(net, pre, post)[2].state
    new = rng.uniform(0.0, 1.0, 40).astype(np.float32)
    np.testing.assert_array_equal(net.weights(net.with_weights(state, NAME, new), NAME), new)
    np.testing.assert_array_equal(net.weights(net.with_weights(state, NAME, 0.5), NAME), 0.5)
    assert_refused(
        lambda: net.with_weights(state, NAME, new[:3]),
        "projection 'pre->post'",
        "weights",
        "shape (3,)",
    )
    assert_refused(
        lambda: net.with_weights(state, NAME, 2.0), "projection 'pre->post'", "weights", "2 to 2"
    )


class Left(NamedTuple):
    """What is left to release."""

    left: jax.Array


class Halving(jn.Release):
    """Releases half as much with every spike."""

    def init(self, n):
        return Left(jnp.ones(n))

    def step(self, state, spikes, v, dt):
        return Left(jnp.where(spikes, 0.5, 1.0) * state.left), jnp.where(spikes, state.left, 0.0)


@pytest.mark.slow
def test_a_release_model_and_a_rule_on_one_projection():
    rng = np.random.default_rng(9)
    wiring = Wiring(np.array([0]), np.array([0]), 6, 2, np.array([0.5]))
    rule = P.PairSTDP(0.05, w_max=1.0)
    nets = [network(rule, 1, 1, wiring, release=r) for r in (Halving(), jn.release.Spikes())]
    pre, post = trains(rng, 120, 1, 0.05), trains(rng, 120, 1, 0.05)
    (halved, weights, _), (plain, others, _) = (run(net, pre, post) for net in nets)
    np.testing.assert_array_equal(weights, others)
    sent = plain[:, 0] > 0
    np.testing.assert_allclose(
        halved[sent, 0], plain[sent, 0] * 0.5 ** np.arange(sent.sum()), rtol=1e-6
    )
