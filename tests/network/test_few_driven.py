"""A stimulus onto a few of many neurons: computed apart from the loop over all, with its bits."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network import stimuli as stimuli_file

N = 8192


def network():
    some, other = jn.Part("N", slice(3, 23)), jn.Part("N", slice(10, 15))
    spikes = jn.stimuli.Poisson(np.linspace(200.0, 4000.0, 20))
    stimuli = [
        jn.Stimulation(some, spikes, weight=4.0, synapse=jn.synapses.Delta()),
        jn.Stimulation(other, jn.stimuli.Current(50.0)),
    ]
    population = jn.Population("N", N, jn.neurons.FlyLIF())
    return jn.build(jn.Description([population], [], stimuli), key=3, dt=0.1)


def final(net, states, batched=False):
    def run(state):
        return jn.scan(net, state, 60)[0].groups[0].neurons

    return jax.jit(jax.vmap(run) if batched else run)(states)


@pytest.mark.slow
def test_it_has_the_bits_of_one_loop(monkeypatch):
    net = network()
    states = [net.init(1), net.init(2)]
    apart = final(net, states[0])
    both = final(net, jax.tree.map(lambda *x: np.stack(x), *states), batched=True)
    monkeypatch.setattr(stimuli_file, "_MANY", N + 1)
    within = final(net, states[0])
    for mine, batch, other in zip(*map(jax.tree.leaves, (apart, both, within))):
        np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(batch[0], other)
    moved = np.flatnonzero(np.asarray(apart.v) != -52.0)
    assert moved.size > 5
    assert set(moved) <= set(range(3, 23))


@pytest.mark.slow
def test_it_is_computed_apart_where_many_are_not_driven():
    def jaxpr(covered, n):
        return str(
            jax.make_jaxpr(lambda x: stimuli_file.place(x, [(0, covered)], n))(np.ones(covered))
        )

    assert "cond" in jaxpr(20, N)
    assert "cond" not in jaxpr(20, N - 1)
    assert "cond" not in jaxpr(N // 2, N)
