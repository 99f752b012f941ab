"""A group of neurons stepped on 8 devices gives the bits of one device."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.zoo import NEURONS, init, inputs, run

DEVICES, PER_SHARD, STEPS = 8, 128, 300


@pytest.mark.parametrize("case", NEURONS.values(), ids=NEURONS.keys())
def test_sharded_equals_unsharded(case):
    n = DEVICES * PER_SHARD
    rng = np.random.default_rng(3)
    model = jax.tree.map(lambda x: x * rng.uniform(0.97, 1.03, n).astype("float32"), case.model)
    xs, state = inputs(model, STEPS, n=n), init(model, n)
    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("neurons",))
    specs = (P("neurons"), P("neurons"), P(None, "neurons"))
    out = (P("neurons"), P(None, "neurons"))
    sharded = jax.jit(jax.shard_map(run, mesh=mesh, in_specs=specs, out_specs=out))
    one, many = jax.jit(run)(model, state, xs), sharded(model, state, xs)
    assert len(many[1]["v"].sharding.device_set) == DEVICES
    assert np.asarray(one[1]["spikes"]).sum() > 1000
    for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(many)):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
