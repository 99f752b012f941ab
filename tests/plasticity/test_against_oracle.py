"""Rules in a network equal sums over lists of spikes, synapse by synapse."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.oracle import plasticity as oracle
from tests.plasticity.scheduled import Wiring, network, run, trains

STEPS, N_PRE, N_POST, N = 260, 7, 5, 30
P = jn.plasticity
RULES = {
    "pair": (lambda: P.PairSTDP(0.05, w_max=1.0), oracle.pair, {"rate": 0.05, "w_max": 1.0}),
    "guetig": (
        lambda: P.PairSTDP(0.05, 1.1, 0.3, 0.6, w_max=1.0),
        oracle.pair,
        {"rate": 0.05, "alpha": 1.1, "mu_plus": 0.3, "mu_minus": 0.6, "w_max": 1.0},
    ),
    **{
        pairing: (
            lambda pairing=pairing: P.PairSTDP(0.05, w_max=1.0, pairing=pairing),
            oracle.pair,
            {"rate": 0.05, "w_max": 1.0, "pairing": pairing},
        )
        for pairing in ("nearest_symmetric", "nearest_restricted", "presynaptic_centred")
    },
    "power law": (lambda: P.PowerLawSTDP(0.05), oracle.power_law, {"rate": 0.05}),
    "trace": (
        lambda: P.TraceSTDP(0.05, 0.06),
        oracle.trace_pair,
        {"a_plus": 0.05, "a_minus": 0.06, "tau_plus": 20.0, "tau_minus": 20.0}
        | {"w_min": 0.0, "w_max": 1.0},
    ),
    "triplet": (
        lambda: P.TripletSTDP(a3_plus=0.05, w_max=1.0),
        oracle.triplet,
        {"a3_plus": 0.05, "w_max": 1.0},
    ),
    "vogels": (lambda: P.VogelsSTDP(eta=0.02), oracle.vogels, {"eta": 0.02}),
    "diehl and cook": (
        lambda: P.DiehlCookSTDP(eta_pre=0.05, eta_post=0.08),
        oracle.diehl_cook,
        {"eta_pre": 0.05, "eta_post": 0.08},
    ),
}
# Delays [steps] and the axonal part of them: longer than intervals, one for all or not.
DELAYS = {"one": (9, 0), "axonal": (9, 4), "own": (None, 0), "own and axonal": (None, 3)}


def drawn(rng, delay, axonal):
    """Spikes and connections; targets and delays of their own, some pairs connected twice."""
    pre, post = trains(rng, STEPS, N_PRE, 0.06), trains(rng, STEPS, N_POST, 0.06)
    ends = rng.integers(0, N_PRE, N), rng.integers(0, N_POST, N)
    delays = rng.integers(axonal + 1, 40, N) if delay is None else delay
    return pre, post, Wiring(*ends, delays, axonal, rng.uniform(0.2, 0.8, N))


def expected(name, rule, pre, post, wiring, steps, dt=0.1):
    """What arrives in every step, and the weights at the end, by the oracle."""
    _, weigh, numbers = RULES[name] if rule is None else rule
    arrived, weights = np.zeros((steps, post.shape[1])), []
    delays = np.broadcast_to(wiring.delays, wiring.pre.shape)
    for i, j, delay, w in zip(wiring.pre, wiring.post, delays, wiring.weights):
        dendritic = int(delay) - wiring.axonal
        spikes = oracle.Spikes(
            np.flatnonzero(pre[:steps, i]),
            np.flatnonzero(post[:steps, j]),
            wiring.axonal,
            dendritic,
            dt,
            steps - 2,  # spikes of the last step are delivered in the next
        )
        sent, end = weigh(spikes, w, **numbers)
        weights.append(end)
        for step, weight in sent:
            if step + dendritic < steps:
                arrived[step + dendritic, j] += weight
    return arrived, np.array(weights)


def in_order(net, wiring, weights):
    """Weights of the connections as they were given, in the order of `net.connections`."""
    return weights[np.lexsort((np.arange(wiring.pre.size), wiring.post, wiring.pre))]


@pytest.mark.parametrize("name", RULES)
def test_every_rule(name, x64):
    rng = np.random.default_rng(sum(map(ord, name)))
    pre, post, wiring = drawn(rng, None, 3)
    net = network(RULES[name][0](), N_PRE, N_POST, wiring, dtype=jnp.float64)
    arrived, weights, _ = run(net, pre, post)
    want, end = expected(name, None, pre, post, wiring, STEPS)
    np.testing.assert_allclose(arrived, want, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights, in_order(net, wiring, end), rtol=1e-9, atol=1e-12)
    assert np.abs(end - wiring.weights).max() > 0.01


@pytest.mark.slow(but=["axonal"])
@pytest.mark.parametrize("delays", DELAYS)
def test_every_kind_of_delay(delays, x64):
    rng = np.random.default_rng(len(delays))
    pre, post, wiring = drawn(rng, *DELAYS[delays])
    net = network(RULES["guetig"][0](), N_PRE, N_POST, wiring, dtype=jnp.float64)
    arrived, weights, _ = run(net, pre, post)
    want, end = expected("guetig", None, pre, post, wiring, STEPS)
    np.testing.assert_allclose(arrived, want, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights, in_order(net, wiring, end), rtol=1e-9)
