"""What build compares and refuses beyond single values: kinds, shapes, drive, memory."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import SCAN


class CounterState(NamedTuple):
    v: jax.Array


class Same:
    """Prints like every other of its kind."""

    def __init__(self, x: float):
        self.x = x

    def __repr__(self) -> str:
        return "Same()"


class Counter(jn.Neuron):
    k: Any = jn.static()

    def init(self, n):
        return CounterState(jnp.zeros(n, jnp.float32))

    def step(self, state, drive, dt):
        v = state.v + self.k.x + 0 * drive.current_at(state.v)
        return CounterState(v), v < 0


class Misshapen(Counter):
    def step(self, state, drive, dt):
        return state, state.v[:-1] > 0


class Deaf(Counter):
    def step(self, state, drive, dt):
        return state, state.v > 0


def one(model, n=3):
    return jn.Description([jn.Population("E", n, model)])


@pytest.mark.slow
def test_models_are_grouped_by_what_they_are_not_by_what_they_print():
    cells = [jn.Population(name, 2, Counter(Same(x))) for name, x in (("A", 1.0), ("B", 5.0))]
    net = jn.build(jn.Description(cells), 0, 1.0)
    state, _ = SCAN(net, net.init(0), 10)
    np.testing.assert_array_equal(net.read(state, "A", "v"), [10, 10])
    np.testing.assert_array_equal(net.read(state, "B", "v"), [50, 50])


def test_spikes_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"Misshapen .* spikes of shape \(n,\)"):
        jn.build(one(Misshapen(Same(1.0))), 0, 1.0)


def test_inputs_that_a_neuron_ignores_are_refused():
    with pytest.raises(ValueError, match=r"Deaf \(population 'neurons'\): step must"):
        jn.simulate(Deaf(Same(1.0)), 5.0, current=1.0, dt=1.0)


def test_the_memory_check_counts_the_state():
    cells = jn.Population("E", 10_000_000, jn.neurons.LIF())
    rule, synapse = jn.connectivity.FixedIndegree(1), jn.synapses.Exponential()
    far = jn.Projection("E", "E", rule, weight=1.0, delay=6000.0, synapse=synapse)
    with pytest.raises(ValueError, match="build: description must"):
        jn.build(jn.Description([cells], [far]), 0, 0.1)


def test_an_integer_seed_may_be_traced():
    cells = jn.Population("E", 5, jn.neurons.LIF(), {"v": jn.Uniform(-70.0, -60.0)})
    net = jn.build(jn.Description([cells]), 0, 0.1)
    batch = jax.vmap(net.init)(jnp.arange(3))
    for seed in range(3):
        alone = net.init(seed)
        np.testing.assert_array_equal(batch.groups[0].neurons.v[seed], alone.groups[0].neurons.v)


def test_a_run_too_short_for_a_sample_keeps_the_shape_of_its_traces():
    net = jn.build(one(jn.neurons.LIF()), 0, 0.1)
    result = jn.simulate(net, 0.5, record=jn.Record(variables={"E": "v"}, interval=1.0))
    assert result.traces["E"]["v"].shape == (0, 3)


@pytest.mark.parametrize("initial", [{"refractory": -5}, {"spikes": 0.3}])
def test_start_values_that_the_state_cannot_hold_are_refused(initial):
    cells = jn.Population("E", 3, jn.neurons.LIF(), initial)
    with pytest.raises(ValueError, match=r"initial .* must be whole numbers from 0"):
        jn.build(jn.Description([cells]), 0, 0.1)
