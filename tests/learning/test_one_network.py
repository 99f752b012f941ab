"""One network is trained by trials, simulated, laid over devices, saved, loaded and trained on."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxneuro as jn
from tests.parallel.networks import mesh

CLASSES, PIXELS, STEPS = 3, 16, 25
RNG = np.random.default_rng(0)
PATTERNS = RNG.integers(0, 12, (CLASSES, PIXELS))  # when each pixel spikes


def built():
    surrogate = jn.surrogates.FastSigmoid(2.0, form="voltage")
    unit = {"tau_m": 20.0, "c_m": 20.0, "e_l": 0.0}
    hidden = jn.neurons.LIF(
        **unit, v_th=1.0, v_reset=0.0, t_ref=0.0, surrogate=surrogate, reset="subtract"
    )
    cells = [
        jn.Population("in", PIXELS, jn.neurons.Relay()),
        jn.Population("hid", 64, hidden),
        jn.Population("out", CLASSES, jn.neurons.LeakyIntegrator(**unit)),
    ]
    wire = {"delay": 1.0, "synapse": jn.synapses.Delta()}
    every = jn.connectivity.AllToAll()
    wires = [
        jn.Projection("in", "hid", every, weight=jn.Normal(0.3, 0.3), **wire),
        jn.Projection("hid", "out", every, weight=jn.Normal(0.0, 0.2), **wire),
    ]
    return jn.build(jn.Description(cells, wires), key=0, dt=1.0)


def trials(count):
    labels = RNG.integers(0, CLASSES, count)
    times = PATTERNS[labels] + RNG.integers(0, 3, (count, PIXELS)) + 1.0
    pairs = [(t, np.arange(PIXELS)) for t in times]
    return jn.learning.batch(pairs, 1.0, n=PIXELS), jnp.asarray(labels)


def highest(net, x):
    record = jn.Record(spikes=False, variables={"out": "v"}, interval=1.0)
    x = jnp.pad(x, ((0, STEPS - len(x)), (0, 0)))
    return jn.scan(net, net.init(0), STEPS, {"in": x}, record)[1].traces["out"]["v"].max(axis=0)


def trained(net, steps):
    params, rebuild = jn.trainable(net, {"in->hid": "weight", "hid->out": "weight"})
    adam = optax.adam(0.02)

    def loss(params, net, batch, labels):
        scores = jax.vmap(highest, (None, 1))(rebuild(params, net), batch.inputs)
        return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()

    @jax.jit
    def step(params, held, net, batch, labels):
        value, slope = jax.value_and_grad(loss)(params, net, batch, labels)
        change, held = adam.update(slope, held)
        return optax.apply_updates(params, change), held, value

    held, values = adam.init(params), []
    with jax.numpy_dtype_promotion("standard"):  # optax mixes types
        for _ in range(steps):
            params, held, value = step(params, held, net, *trials(32))
            values.append(float(value))
    return rebuild(params, net), values


def right(net):
    batch, labels = trials(100)
    scores = jax.jit(jax.vmap(highest, (None, 1)))(net, batch.inputs)
    return float(jnp.mean(scores.argmax(-1) == labels))


@pytest.mark.slow
def test_it_is_the_same_network_all_the_way(tmp_path):
    net, values = trained(built(), 150)
    assert values[-1] < 0.5 * values[0]
    assert right(net) > 0.8

    input_spikes = jn.SpikeTrains(
        np.sort(RNG.uniform(1.0, 10_000.0, 5_000)), RNG.integers(0, PIXELS, 5_000), PIXELS, 0, 1e4
    )
    inputs = {"in": input_spikes}
    result = jn.simulate(net, 10_000.0, inputs=inputs, progress=False)
    steps = np.unique(np.stack([input_spikes.steps(1.0), input_spikes.neurons]), axis=1)
    assert result.spikes["in"].times.size == steps.shape[1]
    assert result.spikes["hid"].times.size > 100

    laid = jn.parallel.shard(net, mesh(2))
    over = jn.simulate(laid, 1_000.0, inputs=inputs, progress=False)
    first = result.spikes["hid"]
    early = first.times <= 1_000.0
    np.testing.assert_allclose(over.spikes["hid"].times.size, early.sum(), rtol=0.01)

    params, rebuild = jn.trainable(net, {"in->hid": "weight", "hid->out": "weight"})
    jn.checkpoint.save(tmp_path / "params.npz", params)
    loaded = rebuild(jn.checkpoint.load(tmp_path / "params.npz", params), built())
    assert not loaded.changes(net)
    on, values = trained(loaded, 20)
    assert values[-1] < 0.5
    assert right(on) > 0.8
