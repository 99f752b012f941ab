"""States that move from one number of devices to another."""

import dataclasses

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from tests.network.networks import balanced

RULES = {
    "E->E": jn.plasticity.PairSTDP(w_max=12.0),
    "I->E": jn.plasticity.VogelsSTDP.with_target(10.0, w_max=200.0),
}


def over(net, devices, partition=None):
    return jn.parallel.shard(net, Mesh(np.array(jax.devices()[:devices]), ("d",)), partition)


@pytest.fixture(scope="module", params=["static", "plastic"])
def networks(request):
    """One network on one device, on two and on three."""
    made = balanced(delay=jn.Uniform(0.5, 6.0))
    if request.param == "plastic":
        learned = [dataclasses.replace(p, plasticity=RULES.get(p.name)) for p in made.projections]
        made = dataclasses.replace(made, projections=learned)
    one = jn.build(made, 1, 0.1)
    return one, over(one, 2), over(one, 3, jn.parallel.RoundRobin())


@pytest.mark.parametrize(("begins", "goes_on"), [(0, 1), (1, 0), (2, 1), (1, 1)])
def test_a_saved_state_goes_on_over_another_number_of_devices(networks, begins, goes_on, tmp_path):
    one, here, there = networks[0], networks[begins], networks[goes_on]
    plastic = [p.plastic.name for p in one.pathways if p.plastic is not None]
    whole = jn.simulate(one, 120.0, key=2)
    first = jn.simulate(here, 70.0, key=2)
    jn.checkpoint.save(tmp_path / "state.npz", here.as_one_device(first.state))
    rest = jn.simulate(there, 50.0, state=jn.checkpoint.load(tmp_path / "state.npz", there))
    for name in one.order:
        for mine, its in zip(rest.events(name), whole.events(name, 70.0, 120.0)):
            np.testing.assert_array_equal(mine, its)
        v = (net.read(x.state, name, "v") for net, x in ((one, whole), (there, rest)))
        # Rows of plastic synapses were brought up to date in between, which rounds once more.
        np.testing.assert_allclose(*map(np.asarray, v), rtol=1e-6 if plastic else 0)
    assert rest.events("E")[0].size > 10
    for name in plastic:
        mine, its = (
            np.asarray(net.weights(x.state, name)) for net, x in ((there, rest), (one, whole))
        )
        np.testing.assert_allclose(mine, its, rtol=3e-6)


def test_a_state_of_one_device_is_taken_by_simulate(networks):
    one, two, _ = networks
    first = jn.simulate(two, 20.0, key=2)
    moved = two.as_one_device(first.state)
    a, b = (jn.simulate(net, 20.0, state=moved) for net in (one, two))
    for name in one.order:
        for mine, its in zip(a.events(name), b.events(name)):
            np.testing.assert_array_equal(mine, its)
    assert one.as_one_device(moved) is moved
    with pytest.raises(jn.InvalidValueError, match="another description"):
        jn.simulate(one, 1.0, state=first)


def test_a_run_over_devices_is_saved(networks, tmp_path):
    one, two, _ = networks
    for ms in (15.0, 40.0):
        saved = jn.simulate(two, ms, key=2, save=tmp_path, every=10.0)
    whole = jn.simulate(two, 40.0, key=2)
    for name in one.order:
        for mine, its in zip(saved.events(name), whole.events(name)):
            np.testing.assert_array_equal(mine, its)
    for mine, its in zip(jax.tree.leaves(saved.state), jax.tree.leaves(whole.state)):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(its))
