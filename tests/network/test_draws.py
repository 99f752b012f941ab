"""Weights and delays: arrays, and distributions with the right moments and bounds."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import jaxneuro as jn
from tests.network.networks import description, events, one_number, projection, random_connections
from tests.oracle.quantiles import probabilities

SYNAPSE = jn.synapses.Exponential(2.0)
NEURON = jn.neurons.LIF(t_ref=2.0)
RUN = jax.jit(jn.scan, static_argnums=(2, 4))


def two(rule, n=(400, 500), **values):
    """Two populations with one projection, built."""
    populations = [jn.Population(k, m, NEURON) for k, m in zip("AB", n)]
    values = {"weight": 1.0, "delay": 0.1, **values}
    p = jn.Projection("A", "B", rule, synapse=SYNAPSE, **values)
    return jn.build(jn.Description(populations, [p]), 3, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "same"),
    [
        (jn.Uniform(2.0, 5.0), scipy.stats.uniform(2.0, 3.0)),
        (jn.Normal(3.0, 0.5), scipy.stats.norm(3.0, 0.5)),
        (jn.Normal(0.0, 1.0, low=0.0), scipy.stats.halfnorm()),
        (jn.LogNormal(0.2, 0.4), scipy.stats.lognorm(0.4, scale=np.exp(0.2))),
    ],
    ids=["uniform", "normal", "half normal", "log-normal"],
)
def test_weights_have_the_moments_of_their_law(law, same):
    mean, sd, (low, high) = same.mean(), same.std(), same.support()
    w = np.asarray(two(jn.connectivity.FixedProbability(0.5), weight=law).pathways[0].weights)
    assert w.size > 95_000
    assert abs(w.mean() - mean) < 4 * sd / np.sqrt(w.size)
    assert abs(w.std() - sd) < 0.02 * sd
    assert low <= w.min()
    assert w.max() <= high
    rows, positions = np.indices((400, 500)).reshape(2, -1)[:, :3000]
    net = two(jn.connectivity.AllToAll(), weight=law)
    u = probabilities(3, "A->B", rows, positions, 0)
    np.testing.assert_allclose(net.pathways[0].weights[:3000], same.ppf(u), rtol=2e-6, atol=1e-7)


def test_delays_are_rounded_to_the_grid_and_at_least_one_step():
    law = jn.Normal(1.5, 0.75, low=0.05)  # half a step
    net = two(jn.connectivity.FixedProbability(0.5), delay=law)
    steps = np.asarray(net.pathways[0].table.delays)
    assert steps.min() == 1
    bulk = steps[steps > 1]
    assert abs(np.mean(steps) - 15.47) < 0.15  # 15 + 7.5 phi(z) / Phi(-z), z = -14.5 / 7.5
    assert bulk.size > 0.95 * steps.size
    assert net.groups[0].slots == int(steps.max()) + 1
    assert (steps == 1).mean() == pytest.approx(0.0095, abs=0.002)  # between 0.5 and 1.5


@pytest.mark.parametrize(
    "delay",
    [
        jn.Normal(1.5, 0.75, low=0.05),
        jn.LogNormal(0.5, 0.5),
        lambda i, j: 0.5 * (i != j),
    ],
    ids=["Normal", "LogNormal", "function"],
)
def test_delays_that_round_to_at_least_one_step_are_built(delay):
    net = two(jn.connectivity.AllToAll(), (4, 4), delay=delay)
    assert net.connections("A->B").delay.min() >= 0.1


def test_uniform_delays_stay_inside():
    net = two(jn.connectivity.FixedProbability(0.5), delay=jn.Uniform(0.5, 30.0))
    steps = np.asarray(net.pathways[0].table.delays)
    assert steps.dtype == np.uint16
    assert (steps.min(), steps.max()) == (5, 300)


def test_weights_and_delays_are_drawn_independently():
    law = jn.Uniform(0.1, 20.0)
    p = two(jn.connectivity.FixedProbability(0.5), weight=law, delay=law).pathways[0]
    r = np.corrcoef(p.weights, np.asarray(p.table.delays, float))[0, 1]
    assert abs(r) < 4 / np.sqrt(p.weights.size)


def given(kind):
    """(rule, weights, delays in steps, the same as connections) of A (6) to B (6)."""
    rng, n = np.random.default_rng(4), 6
    pre, post = (x.ravel() for x in np.indices((n, n)))
    weight, delay = rng.normal(60.0, 30.0, (n, n)), rng.integers(1, 9, (n, n))
    if kind == "matrix":
        return jn.connectivity.AllToAll(), weight, delay, (pre, post)
    if kind == "one to one":
        who = np.arange(n)
        return jn.connectivity.OneToOne(), np.diag(weight), np.diag(delay), (who, who)
    chosen = rng.permutation(n * n)[:20]
    pre, post = np.append(pre[chosen], pre[chosen[:5]]), np.append(post[chosen], post[chosen[:5]])
    rule = jn.connectivity.Explicit(pre, post)
    if kind == "explicit, matrix":
        return rule, weight, delay, (pre, post)
    return rule, rng.normal(60.0, 30.0, 25), rng.integers(1, 9, 25), (pre, post)


@pytest.mark.parametrize("kind", ["matrix", "one to one", "explicit", "explicit, matrix"])
def test_arrays_reach_their_connections(kind, x64):
    """One spike of one source gives each of its targets its weight after its delay."""
    rule, weight, delay, (pre, post) = given(kind)
    populations = [jn.Population("A", 6, NEURON), jn.Population("B", 6, NEURON)]
    forever = jn.synapses.Exponential(1e12)  # the current is the sum of what has arrived
    p = jn.Projection("A", "B", rule, weight=weight, delay=delay * 0.1, synapse=forever)
    net = jn.build(jn.Description(populations, [p]), 0, 0.1, jnp.float64)
    w = weight[pre, post] if weight.ndim == 2 else weight
    d = delay[pre, post] if delay.ndim == 2 else delay
    record = jn.Record(variables={"A->B": "current"})
    for source in range(6):
        kick = np.zeros((10, 6))
        kick[0, source] = 1e6
        expected = np.zeros((10, 6))
        for i, target, value, steps in zip(pre, post, w, d):
            expected[steps:, target] += value * (i == source)
        _, recording = RUN(net, net.init(0), 10, {"A": kick}, record)
        np.testing.assert_allclose(recording.traces["A->B"]["current"], expected, atol=1e-8)


@functools.cache
def with_one_value():
    """Connections with one weight and one delay, and the spikes of their network."""
    rng = np.random.default_rng(8)
    c = one_number(random_connections(rng, {"A": 13, "B": 20}, 0, "fast", 5), "weight", 30.0)
    c = one_number(c, "delay_steps", 3)
    net = jn.build(description(projections=[projection(c)]), 0, 0.1, jnp.float64)
    return c, events(net, 200)


@pytest.mark.parametrize("delay", ["one", "each"])
@pytest.mark.parametrize("weight", ["one", "each"])
def test_one_value_or_an_array_of_it_give_the_same(weight, delay, x64):
    c, plain = with_one_value()
    count = c["pre"].size
    changed = {
        **({"weight": np.full(count, 30.0)} if weight == "each" else {}),
        **({"delay": np.full(count, 0.3)} if delay == "each" else {}),
    }
    given = projection(c, **changed)
    net = jn.build(description(projections=[given]), 0, 0.1, jnp.float64)
    assert events(net, 200) == plain
