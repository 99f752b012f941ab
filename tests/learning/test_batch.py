"""Trials as one batch: padded, masked, and what one network makes of each."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

RNG = np.random.default_rng(0)
SPIKES = [RNG.random((steps, 11)) < 0.3 for steps in (7, 4, 9)]
CURRENTS = [RNG.random((steps, 11)).astype(np.float32) for steps in (7, 4, 9)]


def trains(x, dt):
    steps, neurons = np.nonzero(x)
    return jn.SpikeTrains((steps + 1) * dt, neurons, x.shape[1], 0.0, len(x) * dt)


def assert_holds(batch, arrays):
    assert (batch.steps, len(batch)) == (9, 3)
    np.testing.assert_array_equal(batch.mask, np.arange(9)[:, None] < [7, 4, 9])
    for k, x in enumerate(arrays):
        np.testing.assert_array_equal(batch.inputs[: len(x), k], x)
        assert not np.any(batch.inputs[len(x) :, k])


def test_every_form_of_trials_is_one_batch():
    dt = 0.5
    padded = np.zeros((3, 9, 11), bool)
    for k, x in enumerate(SPIKES):
        padded[k, : len(x)] = x
        padded[k, len(x) :] = True  # beyond its length
    events = [trains(x, dt) for x in SPIKES]
    ends = [x[-1].any() for x in SPIKES]
    assert all(ends)  # so that a trial ends with its last spike
    batches = [
        jn.learning.batch(SPIKES, dt),
        jn.learning.batch(events, dt),
        jn.learning.batch([(t.times, t.neurons) for t in events], dt, n=11),
        jn.learning.batch(padded, lengths=[7, 4, 9]),
        jn.learning.batch(jnp.asarray(padded), lengths=np.array([7, 4, 9])),
    ]
    for batch in batches:
        assert batch.n == 11
        assert batch.data.shape == (9, 3, 2)  # bits
        assert_holds(batch, SPIKES)


def test_currents():
    assert_holds(jn.learning.batch(CURRENTS), CURRENTS)
    assert_holds(jn.learning.batch([x[:, 0] for x in CURRENTS]), [x[:, 0] for x in CURRENTS])


def test_some_trials():
    batch = jn.learning.batch(SPIKES)
    for which in ([2, 0], np.array([2, 0]), np.array([True, False, True]), slice(1, None)):
        part = batch[which]
        np.testing.assert_array_equal(part.lengths, batch.lengths[which])
        np.testing.assert_array_equal(part.inputs, np.asarray(batch.inputs)[:, which])
    order = jax.jit(lambda batch, k: batch[k].inputs)(batch, jnp.array([1, 1]))
    np.testing.assert_array_equal(order[:, 0], batch.inputs[:, 1])


def test_one_network_runs_each_as_alone():
    relay, lif = jn.neurons.Relay(), jn.neurons.LIF()
    cells = [jn.Population("in", 11, relay), jn.Population("A", 20, lif)]
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(5.0)
    link = jn.Projection("in", "A", rule, weight=jn.Normal(90.0, 50.0), delay=1.0, synapse=synapse)
    net = jn.build(jn.Description(cells, [link]), 0, 0.5)
    batch = jn.learning.batch(SPIKES)
    record = jn.Record(variables={"A": "v"}, interval=0.5)

    def run(x):
        return jn.scan(net, net.init(0), len(x), {"in": x}, record)[1].traces["A"]["v"]

    together = jax.jit(jax.vmap(run, 1))(batch.inputs)
    for k, x in enumerate(SPIKES):
        np.testing.assert_allclose(together[k][: len(x)], run(x), rtol=1e-5)


def make(trials, dt=None, **more):
    return lambda: jn.learning.batch(trials, dt, **more)


@pytest.mark.parametrize(
    ("made", "field", "got"),
    [
        (make([]), "trials", "none"),
        (make([SPIKES[0], CURRENTS[0]]), "trial 1", "currents of 11 neurons"),
        (make([SPIKES[0], SPIKES[1][:, :5]]), "trial 1", "spikes of 5 neurons"),
        (make([SPIKES[0].astype(int)]), "trial 0", "int64"),
        (make([SPIKES[0][:, 0]]), "trial 0", "bool of shape (7,)"),
        (make([trains(SPIKES[0], 0.5)]), "dt", "None"),
        (make([([1.0], [0])], 0.5), "n", "None"),
        (make([([1.0],)], 0.5, n=3), "trial 0", "1 arrays"),
        (make(SPIKES, lengths=[1, 2, 3]), "lengths", "some"),
        (make(np.zeros((2, 5, 3), bool), lengths=[5, 6]), "lengths", "6 of trial 1"),
        (make(np.zeros((2, 5, 3), bool), lengths=[5]), "lengths", "[5]"),
        (make(np.zeros((2, 5, 3, 1))), "trials", "(2, 5, 3, 1)"),
        (make(np.zeros((2, 5), bool)), "trials", "bool of shape (2, 5)"),
        (make(np.zeros((0, 5, 3))), "trials", "(0, 5, 3)"),
    ],
)
def test_bad_input(made, field, got):
    assert_refused(made, "batch", field, got)


def test_one_trial_of_a_batch_is_refused():
    batch = jn.learning.batch(SPIKES)
    assert_refused(lambda: batch[0], "Batch", "trials", "0")
