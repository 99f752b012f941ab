"""Rates of single neurons against plain loops."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro import SpikeTrains
from jaxneuro.analysis import neuron_rates, population_rate
from tests.refusing import assert_refused

EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 400)), max_size=60)


@pytest.mark.slow
@hypothesis.given(events=EVENTS, first=st.integers(0, 100), last=st.integers(101, 400))
def test_rates_equal_the_loop(events, first, last):
    neurons = np.array([e[0] for e in events], int)
    steps = np.array([e[1] for e in events], int)
    want = [sum(i == own and first < s <= last for own, s in events) for i in range(5)]
    trains = SpikeTrains(steps * 0.1, neurons, 5, 0.0, 40.0)
    got = neuron_rates(trains, stop=last * 0.1, start=first * 0.1)
    np.testing.assert_allclose(got, np.array(want) / ((last - first) * 1e-4), rtol=1e-12)


def test_the_mean_of_the_neurons_is_that_of_the_population():
    rng = np.random.default_rng(0)
    times, neurons = np.sort(rng.integers(1, 10_001, 3000)) * 0.1, rng.integers(0, 20, 3000)
    trains = SpikeTrains(times, neurons, 20, 0.0, 1000.0)
    _, rate = population_rate(trains)
    assert neuron_rates(trains).mean() == pytest.approx(rate.mean(), rel=1e-12)


def test_rates_of_nobody_and_of_nothing():
    assert neuron_rates(SpikeTrains([], [], 0, 0.0, 10.0)).shape == (0,)
    assert neuron_rates(SpikeTrains([], [], 3, 0.0, 10.0)).tolist() == [0.0] * 3
    assert neuron_rates(SpikeTrains([5.0], [1], 3, 0.0, 500.0)).tolist() == [0.0, 2.0, 0.0]


def test_a_rate_of_no_time_is_refused():
    nothing = SpikeTrains([], [], 3, 5.0, 5.0)
    assert_refused(lambda: neuron_rates(nothing), "neuron_rates", "the run")
