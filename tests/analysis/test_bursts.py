"""Bursts and avalanches against state machines that go spike by spike."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro.analysis import avalanches, bursts, population_bursts
from tests.oracle import analysis_spikes as oracle

N = 3
EVENTS = st.lists(st.tuples(st.integers(0, N - 1), st.integers(1, 300)), unique=True, max_size=120)


@hypothesis.given(
    events=EVENTS,
    begin=st.integers(1, 6),
    more=st.integers(0, 5),
    gap=st.integers(0, 15),
    duration=st.integers(0, 8),
    number=st.integers(2, 4),
)
def test_bursts_equal_the_state_machine(events, begin, more, gap, duration, number):
    events = sorted(events, key=lambda e: e[1])
    steps, neurons = np.array([e[1] for e in events]), np.array([e[0] for e in events], int)
    limits = np.array([begin, begin + more, gap, duration])
    got = bursts(steps * 0.1, neurons, N, *(limits * 0.1).tolist(), number)
    want = [
        (i, *found)
        for i, train in enumerate(oracle.trains(steps, neurons, N))
        for found in oracle.bursts(train, *limits, number)
    ]
    assert got.owner.tolist() == [w[0] for w in want]
    np.testing.assert_allclose(got.start, [0.1 * w[1] for w in want], atol=1e-9)
    np.testing.assert_allclose(got.stop, [0.1 * w[2] for w in want], atol=1e-9)
    assert got.spikes.tolist() == [w[3] for w in want]


def test_a_burst_by_hand():
    times = np.array([100.0, 105.0, 110.0, 500.0, 505.0, 525.0, 530.0, 900.0])
    got = bursts(times, np.full(8, 1), 2, 10.0, 15.0, 50.0, 5.0, 3)
    # 500 and 505 alone are too few; 20 ms later they go on, which is less than the gap of 50.
    assert got.start.tolist() == [100.0, 500.0]
    assert got.stop.tolist() == [110.0, 530.0]
    assert got.spikes.tolist() == [3, 4]
    assert got.owner.tolist() == [1, 1]


def test_the_end_of_one_neuron_is_no_burst_with_the_next():
    got = bursts([1.0, 2.0, 2.5, 3.0], [0, 0, 1, 1], 2, 10.0, 10.0, 100.0, 0.0, 2)
    assert got.owner.tolist() == [0, 1]
    assert all(len(part) == 0 for part in bursts([], [], 2))


def test_bursts_refuse():
    with pytest.raises(ValueError, match=r"max_end must be finite and at least 10.0 ms; got 5.0"):
        bursts([], [], 1, max_begin=10.0, max_end=5.0)
    with pytest.raises(ValueError, match="min_spikes must be a whole number of at least 2; got 1"):
        bursts([], [], 1, min_spikes=1)
    with pytest.raises(ValueError, match=r"min_gap must be finite and at least 0.0 ms; got -1"):
        bursts([], [], 1, min_gap=-1.0)
    with pytest.raises(ValueError, match=r"bursts: min_duration must"):
        bursts([], [], 1, min_duration=np.nan)
    with pytest.raises(ValueError, match="indices from 0 to 0; got 1"):
        bursts([1.0], [1], 1)


def test_bursts_of_a_population():
    # Bins of 10 ms and 2 neurons: 100 Hz is 2 spikes in a bin.
    times = [1.0, 12.0, 15.0, 20.0, 21.0, 30.0, 35.0, 55.0, 56.0, 70.0]
    start, stop, spikes = population_bursts(times, 2, 100.0, threshold=100.0)
    assert start.tolist() == [10.0, 50.0]
    assert stop.tolist() == [30.0, 60.0]
    assert spikes.tolist() == [5, 2]
    long = population_bursts(times, 2, 100.0, threshold=100.0, min_duration=20.0)
    assert long[0].tolist() == [10.0]
    assert population_bursts([], 2, 100.0, threshold=100.0)[0].size == 0


def test_bursts_of_a_population_refuse():
    with pytest.raises(ValueError, match="n must be a whole number of at least 1; got 0"):
        population_bursts([], 0, 10.0, threshold=1.0)
    with pytest.raises(ValueError, match=r"threshold must be finite and above 0.0 Hz; got 0"):
        population_bursts([], 1, 10.0, threshold=0.0)
    with pytest.raises(ValueError, match="stop must"):
        population_bursts([], 1, 10.0, threshold=1.0, start=20.0)
    with pytest.raises(ValueError, match="times must"):
        population_bursts([np.nan], 1, 10.0, threshold=1.0)


@hypothesis.given(activity=st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=1, max_size=60))
def test_avalanches_equal_the_loop(activity):
    size, duration = avalanches(np.array(activity))
    assert list(zip(size.tolist(), duration.tolist())) == oracle.avalanches(activity)


def test_avalanches_refuse():
    with pytest.raises(ValueError, match=r"counts must be finite and at least 0.0; got -1"):
        avalanches([0, -1])
    with pytest.raises(ValueError, match=r"at least 1 bins; got shape \(0,\)"):
        avalanches([])
    with pytest.raises(ValueError, match=r"got shape \(2, 2\)"):
        avalanches(np.zeros((2, 2)))
