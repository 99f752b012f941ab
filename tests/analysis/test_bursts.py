"""Bursts and avalanches against state machines that go spike by spike."""

import hypothesis
import hypothesis.strategies as st
import numpy as np

from jaxneuro import SpikeTrains
from jaxneuro.analysis import avalanches, bursts, population_bursts
from tests.oracle import analysis_spikes as oracle
from tests.refusing import assert_refused

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
    names = ("max_begin", "max_end", "min_gap", "min_duration")
    given = dict(zip(names, (limits * 0.1).tolist()))
    got = bursts(SpikeTrains(steps * 0.1, neurons, N, 0.0, 30.0), **given, min_spikes=number)
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
    given = {"max_begin": 10.0, "max_end": 15.0, "min_gap": 50.0, "min_duration": 5.0}
    got = bursts(SpikeTrains(times, np.full(8, 1), 2, 0.0, 1000.0), **given)
    # 500 and 505 alone are too few; 20 ms later they go on, which is less than the gap of 50.
    assert got.start.tolist() == [100.0, 500.0]
    assert got.stop.tolist() == [110.0, 530.0]
    assert got.spikes.tolist() == [3, 4]
    assert got.owner.tolist() == [1, 1]


def test_the_end_of_one_neuron_is_no_burst_with_the_next():
    trains = SpikeTrains([1.0, 2.0, 2.5, 3.0], [0, 0, 1, 1], 2, 0.0, 10.0)
    given = {"max_begin": 10.0, "max_end": 10.0, "min_gap": 100.0}
    got = bursts(trains, **given, min_duration=0.0, min_spikes=2)
    assert got.owner.tolist() == [0, 1]
    assert all(len(part) == 0 for part in bursts(SpikeTrains([], [], 2, 0.0, 10.0)))


EMPTY = SpikeTrains([], [], 1, 0.0, 100.0)


def test_bursts_refuse():
    for field, given in (
        ("max_end", {"max_begin": 10.0, "max_end": 5.0}),
        ("min_spikes", {"min_spikes": 1}),
        ("min_gap", {"min_gap": -1.0}),
        ("min_duration", {"min_duration": np.nan}),
    ):
        assert_refused(lambda given=given: bursts(EMPTY, **given), "bursts", field)


def test_bursts_of_a_population():
    # Bins of 10 ms and 2 neurons: 100 Hz is 2 spikes in a bin.
    times = [1.0, 12.0, 15.0, 20.0, 21.0, 30.0, 35.0, 55.0, 56.0, 70.0]
    trains = SpikeTrains(times, [0] * 10, 2, 0.0, 100.0)
    start, stop, spikes = population_bursts(trains, threshold=100.0)
    assert start.tolist() == [10.0, 50.0]
    assert stop.tolist() == [30.0, 60.0]
    assert spikes.tolist() == [5, 2]
    long = population_bursts(trains, threshold=100.0, min_duration=20.0)
    assert long[0].tolist() == [10.0]
    assert population_bursts(EMPTY, threshold=100.0)[0].size == 0


def test_bursts_of_a_population_refuse():
    nobody = SpikeTrains([], [], 0, 0.0, 100.0)
    for field, source, threshold in (("neurons", nobody, 1.0), ("threshold", EMPTY, 0.0)):
        owner = "population_bursts"
        given = {"threshold": threshold}
        assert_refused(lambda x=source, k=given: population_bursts(x, **k), owner, field)


@hypothesis.given(activity=st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=1, max_size=60))
def test_avalanches_equal_the_loop(activity):
    size, duration = avalanches(SpikeTrains.of_counts(activity, 2.0), bin_ms=2.0)
    assert list(zip(size.tolist(), duration.tolist())) == oracle.avalanches(activity)
