"""A group of neurons stepped on 8 devices gives the bits of one device."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.laws.test_laws import FACTORS, FEW_ULP, same, spread
from tests.zoo import CASES, NEURONS, STEPS, N, fast_run, init, inputs, run

DEVICES = 8
# Not the schedules of spikes, which are one list for all neurons.
DRAWING = ("Poisson", "DeadTimePoisson", "MultipleInteraction")
NAMES = (*NEURONS, *DRAWING, "WhiteNoise", "OrnsteinUhlenbeck", "QuantalRelease")


def specs(tree, axis):
    """What has one number per neuron is cut along the neurons."""
    of = lambda x: P(*(None,) * axis, "neurons") if x.shape[axis:] == (N,) else P()  # noqa: E731
    return jax.tree.map(of, tree)


@pytest.mark.thorough(but=["EscapeRateLIF", "OrnsteinUhlenbeck", "QuantalRelease"])
@pytest.mark.parametrize("name", NAMES)
def test_sharded_equals_unsharded(name):
    model = spread(CASES[name], FACTORS)
    xs, state = inputs(model, STEPS), init(model, N)
    one = fast_run(model, state, xs)
    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("neurons",))
    into, out = (
        (specs(model, 0), specs(state, 0), specs(xs, 1)),
        (specs(state, 0), specs(one[1], 1)),
    )
    many = jax.jit(jax.shard_map(run, mesh=mesh, in_specs=into, out_specs=out))(model, state, xs)
    assert all(len(x.sharding.device_set) == DEVICES for x in many[1].values())
    spikes = one[1].keys() & {"spikes", "counts"}
    if CASES[name].spiking:
        assert all(one[1][k].sum() > 100 for k in spikes)
    same(one, many, 0.0 if CASES[name].same_bits else FEW_ULP * CASES[name].amplifies)
