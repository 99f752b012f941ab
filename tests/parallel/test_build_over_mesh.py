"""`build(..., mesh=)` makes what `shard(build(...), mesh)` makes, without the whole."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import parallel
from tests.refusing import assert_refused

from .networks import (
    LIF,
    delayed,
    delayed_description,
    every_step,
    every_step_description,
    mesh,
)


@pytest.mark.slow
def test_a_network_with_everything():
    """Arrays are equal to the last bit, with the same statics: it runs the same program."""
    for whole, described in ((delayed, delayed_description), (every_step, every_step_description)):
        one = parallel.shard(whole(), mesh(4), parallel.RoundRobin())
        two = jn.build(described(), key=1, dt=0.1, mesh=mesh(4), partition=parallel.RoundRobin())
        assert jax.tree.structure(one) == jax.tree.structure(two)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two)):
            assert a.sharding == b.sharding
            np.testing.assert_array_equal(a, b)


def rules():
    yield jn.connectivity.FixedIndegree(7, multapses=True)
    yield jn.connectivity.FixedOutdegree(5)
    yield jn.connectivity.FixedTotal(301)
    yield jn.connectivity.OneToOne()
    yield jn.connectivity.AllToAll(autapses=False)
    yield jn.connectivity.Explicit(np.array([3, 3, 1, 3, 0]), np.array([90, 2, 2, 90, 92]))


@pytest.mark.slow(but=["FixedOutdegree"])
@pytest.mark.parametrize("rule", list(rules()), ids=lambda r: type(r).__name__)
def test_every_rule_with_own_weights_and_delays(rule):
    """Also where rows are drawn in pieces, and more targets than one block has."""
    values = {"weight": jn.Normal(1.0, 0.1), "delay": jn.Uniform(0.5, 2.0)}
    d = jn.Description(
        [jn.Population("E", 93, LIF)],
        [jn.Projection("E", "E", rule, synapse=jn.synapses.Exponential(5.0), **values)],
    )
    check(d)


@pytest.mark.slow
def test_a_large_population():
    d = jn.Description(
        [jn.Population("E", 150_000, LIF)],
        [
            jn.Projection(
                *("E", "E", jn.connectivity.FixedProbability(1e-4)),
                weight=jn.Normal(1.0, 0.1),
                delay=1.0,
                synapse=jn.synapses.Exponential(5.0),
                plasticity=jn.plasticity.PairSTDP(w_max=5.0),
            )
        ],
    )
    check(d)


def check(description):
    one = jn.build(description, key=2, dt=0.1)
    two = jn.build(description, key=2, dt=0.1, mesh=mesh(2))
    assert two.n_synapses == one.n_synapses > 0
    a, b = one.connections("E->E"), two.connections("E->E")
    for field in ("pre", "post", "weight", "delay"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    if one.pathways[0].plastic is not None:
        weights = [net.weights(net.init(0), "E->E") for net in (one, two)]
        np.testing.assert_array_equal(*weights)
        values = np.linspace(0.0, 5.0, one.n_synapses, dtype=np.float32)
        state = two.with_weights(two.init(0), "E->E", values)
        np.testing.assert_array_equal(two.weights(state, "E->E"), values)


def test_bad_input():
    d = delayed_description()
    for more, what in (
        ({"mesh": mesh(2), "partition": parallel.Metis()}, "build: partition must"),
        ({"mesh": mesh(2), "axis": "rows"}, "axis of the mesh"),
        ({"mesh": 3}, "mesh"),
        ({"partition": parallel.RoundRobin()}, "build: mesh must"),
    ):
        with pytest.raises(ValueError, match=what):
            jn.build(d, key=1, dt=0.1, **more)
    redrawn = jn.connectivity.FixedProbability(0.1, stored=False)
    synapse = jn.synapses.Exponential(5.0)
    d = jn.Description(
        [jn.Population("E", 9, LIF)],
        [jn.Projection("E", "E", redrawn, weight=1.0, delay=1.0, synapse=synapse)],
    )
    assert_refused(
        lambda: jn.build(d, key=1, dt=0.1, mesh=mesh(2)),
        "projection 'E->E'",
        "rule",
        "stored=False",
    )
    assert_refused(
        lambda: jn.build(d, key=1, dt=0.1, mesh=mesh(2), deterministic=True),
        "build",
        "mesh",
        "a mesh",
    )
