"""Rates of single neurons against plain loops."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro.analysis import neuron_rates, population_rate

EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 400)), max_size=60)


@hypothesis.given(events=EVENTS, first=st.integers(0, 100), last=st.integers(101, 400))
def test_rates_equal_the_loop(events, first, last):
    neurons = np.array([e[0] for e in events], int)
    steps = np.array([e[1] for e in events], int)
    want = [sum(i == own and first < s <= last for own, s in events) for i in range(5)]
    got = neuron_rates(steps * 0.1, neurons, 5, stop=last * 0.1, start=first * 0.1)
    np.testing.assert_allclose(got, np.array(want) / ((last - first) * 1e-4), rtol=1e-12)


def test_the_mean_of_the_neurons_is_that_of_the_population():
    rng = np.random.default_rng(0)
    times, neurons = np.sort(rng.integers(1, 10_001, 3000)) * 0.1, rng.integers(0, 20, 3000)
    _, rate = population_rate(times, 20, stop=1000.0)
    assert neuron_rates(times, neurons, 20, 1000.0).mean() == pytest.approx(rate.mean(), rel=1e-12)


def test_rates_of_nobody_and_of_nothing():
    assert neuron_rates([], [], 0, 10.0).shape == (0,)
    assert neuron_rates([], [], 3, 10.0).tolist() == [0.0] * 3
    assert neuron_rates([5.0], [1], 3, 500.0).tolist() == [0.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [0, 1], 2, 5.0), r"one length; got shapes \(1,\) and \(2,\)"),
        (([1.0], [2], 2, 5.0), "indices from 0 to 1; got 2"),
        (([1.0], [0.5], 2, 5.0), "neurons must be whole numbers; got dtype float64"),
        (([1.0, np.nan], [0, 0], 2, 5.0), "spike times must"),
        (([1.0], [0], 2.0, 5.0), "n must be a whole number of at least 0; got 2.0"),
        (([1.0], [0], 2, 5.0, 5.0), "stop must be after start; got 5.0 and 5.0"),
        (([1.0], [0], 2, 5.0, 6.0), "stop must"),
        (([1.0], [0], 2, np.inf), "stop must be finite; got inf"),
    ],
)
def test_rates_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        neuron_rates(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([np.nan], 1, 5.0), "times must"),
        (([[1.0]], 1, 5.0), r"one dimension; got shape \(1, 1\)"),
        (([1.0], -1, 5.0), "n must be a whole number of at least 1; got -1"),
        (([1.0], 1, np.nan), "stop must be one number of ms; got nan"),
    ],
)
def test_the_population_rate_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        population_rate(*arguments)
