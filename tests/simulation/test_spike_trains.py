"""`SpikeTrains`, the spikes of a run by name, and what is said where they were not recorded."""

import dataclasses
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxneuro as jn
from jaxneuro._numerics.windows import in_window
from jaxneuro._run.recorded import NotRecordedError
from jaxneuro._run.spikes import spike_times, steps_near
from tests.network.networks import balanced
from tests.refusing import assert_refused

TRAINS = jn.SpikeTrains([12.0, 10.1, 14.0, 12.0], [0, 2, 1, 1], 4, 10.0, 14.0)
equal = np.testing.assert_array_equal


@pytest.mark.slow
def test_fields():
    equal(TRAINS.times, [12.0, 10.1, 14.0, 12.0])
    equal(TRAINS.neurons, [0, 2, 1, 1])
    assert (TRAINS.n, TRAINS.start, TRAINS.stop, TRAINS.duration) == (4, 10.0, 14.0, 4.0)
    assert len(TRAINS) == 4
    assert (TRAINS.times.dtype, TRAINS.neurons.dtype) == (np.float64, np.int64)
    assert repr(TRAINS) == "SpikeTrains: 4 spikes of 4 neurons from 10 to 14 ms"
    with pytest.raises(dataclasses.FrozenInstanceError):
        TRAINS.n = 5
    same(pickle.loads(pickle.dumps(TRAINS)), TRAINS)


def same(a, b):
    equal(a.times, b.times)
    equal(a.neurons, b.neurons)
    assert (a.n, a.start, a.stop) == (b.n, b.start, b.stop)


def test_they_do_not_change_with_what_they_are_made_of():
    times, neurons = np.array([1.0, 2.0]), np.array([0, 1])
    made = jn.SpikeTrains(times, neurons, 2, 0.0, 3.0)
    times[0], neurons[0] = 9.0, 7
    equal(made.times, [1.0, 2.0])
    equal(made.neurons, [0, 1])


def test_spikes_of_one_neuron():
    equal(TRAINS.of(1), [12.0, 14.0])
    equal(TRAINS.of(3), [])
    for neuron in (4, -1, 1.5):
        with pytest.raises(jn.InvalidValueError) as caught:
            TRAINS.of(neuron)
        assert caught.value.field == "neuron"


def test_nobody():
    for none in (jn.SpikeTrains([], [], 0, 0.0, 1.0), jn.SpikeTrains([], [], 3, 0.0, 0.0)):
        assert len(none) == 0
        assert none.dense(0.1).shape == (round(10 * none.duration), none.n)


BAD = {
    "too few neurons": ({"neurons": [0, 1]}, "neurons"),
    "neuron": ({"neurons": [0, 2, 1, 4]}, "neurons"),
    "below 0": ({"neurons": [0, -1, 1, 1]}, "neurons"),
    "half": ({"neurons": [0, 0.5, 1, 1]}, "neurons"),
    "at the start": ({"times": [10.0, 11.0, 12.0, 13.0]}, "times"),
    "after the stop": ({"times": [11.0, 11.0, 14.1, 13.0]}, "times"),
    "nan": ({"times": [11.0, np.nan, 12.0, 13.0]}, "times"),
    "rows": ({"times": [[11.0, 12.0], [12.0, 13.0]]}, "times"),
    "no time": ({"times": ["a", "b", "c", "d"]}, "times"),
    "n": ({"n": -1}, "n"),
    "window": ({"start": 15.0}, "stop"),
    "endless": ({"stop": np.inf}, "stop"),
}


@pytest.mark.parametrize(("changed", "field"), BAD.values(), ids=BAD.keys())
def test_bad_fields(changed, field):
    fields = {"times": TRAINS.times, "neurons": TRAINS.neurons, "n": 4, "start": 10.0, "stop": 14.0}
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.SpikeTrains(**fields | changed)
    assert (caught.value.owner, caught.value.field) == ("SpikeTrains", field)


def test_a_part():
    part = TRAINS.between(10.1, 12.0)
    equal(part.times, [12.0, 12.0])
    assert (part.n, part.start, part.stop) == (4, 10.1, 12.0)
    same(TRAINS.between(), TRAINS)
    same(TRAINS.between(stop=12.0).between(start=11.0), TRAINS.between(11.0, 12.0))
    for window in ((9.0, 12.0), (12.0, 15.0), (12.0, 12.0), (13.0, 12.0), (np.nan, 12.0)):
        with pytest.raises(jn.InvalidValueError):
            TRAINS.between(*window)


def test_some_neurons():
    trains = jn.SpikeTrains([1.0, 2.0, 3.0, 4.0, 5.0], [3, 1, 0, 3, 2], 4, 0.0, 10.0)
    for which in ([3, 1], np.array([False, True, False, True]), slice(1, None, 2), range(1, 4, 2)):
        some = trains[which]
        assert some.neurons.tolist() == [3, 1, 3]  # by their numbers
        assert some.times.tolist() == [1.0, 2.0, 4.0]
        assert some.of(3).tolist() == [1.0, 4.0]
        assert some.of(2).size == 0
        assert (some.n, some.stop) == (4, 10.0)
        assert repr(some).startswith("SpikeTrains: 3 spikes of 2 of 4 neurons")
    few = trains[[3, 1]].between(1.0, 4.0)
    assert few.neurons.tolist() == [1, 3]
    assert few.by_place().neurons.tolist() == [1, 0]
    assert few[1].neurons.tolist() == [1]
    assert trains.by_place() is trains
    for bad in ([4], [-1], [1, 1], [], "E", 1.5):
        assert_refused(lambda bad=bad: trains[bad], "SpikeTrains", "neurons")
    assert_refused(lambda: few[0], "SpikeTrains", "neurons")  # not among them
    with pytest.raises(TypeError):
        iter(trains)


def test_booleans():
    dense = TRAINS.dense(0.5)
    assert dense.shape == (8, 4)
    equal(np.argwhere(dense), [[0, 2], [3, 0], [3, 1], [7, 1]])
    equal(TRAINS.steps(0.1, 10.0), [19, 0, 39, 19])
    equal(TRAINS.steps(0.1), [119, 100, 139, 119])
    with pytest.raises(jn.InvalidValueError):
        TRAINS.dense(0.3)


@given(
    st.integers(0, 10**7),
    st.integers(1, 300),
    st.sampled_from([0.1, 0.025, 1.0, 0.2, 0.3]),
    st.data(),
)
def test_booleans_of_any_window(first, n_steps, dt, data):
    """Also where products of whole numbers with dt are rounded up."""
    steps = np.array(data.draw(st.lists(st.integers(0, n_steps - 1), max_size=9)), np.int64)
    times = (first + steps + 1) * dt
    trains = jn.SpikeTrains(times, 0 * steps, 1, first * dt, (first + n_steps) * dt)
    equal(trains.steps(dt, trains.start), steps)
    equal(trains.steps(dt), first + steps)
    equal(np.flatnonzero(trains.dense(dt)), np.unique(steps))


@given(
    st.integers(0, 10**7),
    st.integers(1, 40),
    st.sampled_from([0.1, 0.025, 1.0, 1 / 3]),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
    st.sampled_from([0.0, 1e-6, -1e-6, 0.04, -0.04]),
)
def test_all_steps_that_end_in_a_window_are_near_it(first, n_steps, dt, ends, shift):
    window = tuple((first + k) * dt + shift for k in sorted(ends))
    inside = np.flatnonzero(in_window(spike_times(np.arange(n_steps), first, dt), *window))
    begin, end = steps_near(window, first, n_steps, dt)
    assert 0 <= begin <= end <= n_steps
    assert not inside.size or (begin <= inside[0] and inside[-1] < end)


@pytest.mark.parametrize("make", [np.float32, jnp.float32])
def test_times_in_float32_are_in_the_steps_of_float64(make):
    times = [100.3, 207.7, 311.1, 413.8]
    trains = jn.SpikeTrains(make(times), [0] * 4, 1, 0.0, 413.8)  # 311.10001, 413.79999
    for x in (trains, pickle.loads(pickle.dumps(trains)), trains.first(1)):
        equal(x.steps(0.1), [1002, 2076, 3110, 4137])
        equal(np.flatnonzero(x.dense(0.1)), [1002, 2076, 3110, 4137])
    part = trains.between(100.3, 311.1)
    equal(part.steps(0.1, 100.3), [1073, 2107])
    equal(np.flatnonzero(part.dense(0.1)), [1073, 2107])
    assert trains.times.dtype == np.float64
    late = jn.SpikeTrains(make([700_000.1]), [0], 1, 600_000.0, 800_000.0)
    assert_refused(lambda: late.dense(0.1), "SpikeTrains", "times", "0.0625 ms apart")
    assert late.steps(0.125) == [5_600_000]


def test_counts_and_back():
    counts = np.array([[0, 2, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]])
    made = jn.SpikeTrains.of_counts(counts, 0.5, start=3.0)
    equal(made.times, [3.5, 4.0, 4.0, 5.0])
    equal(made.neurons, [1, 0, 0, 0])
    assert (made.n, made.start, made.stop) == (3, 3.0, 5.0)
    back = np.zeros_like(counts)
    np.add.at(back, (made.neurons, made.steps(0.5, 3.0)), 1)
    equal(back, counts)
    equal(made.dense(0.5).T, counts > 0)
    same(jn.SpikeTrains(made.times, made.neurons, made.n, made.start, made.stop), made)
    same(
        jn.SpikeTrains.of_counts(counts[0], 0.5, 3.0), jn.SpikeTrains.of_counts(counts[:1], 0.5, 3)
    )
    same(jn.SpikeTrains.of_counts(counts > 0, 0.5), jn.SpikeTrains.of_counts((counts > 0) + 0, 0.5))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (([[0.5]], 1.0), "counts"),
        (([[-1]], 1.0), "counts"),
        ((3, 1.0), "counts"),
        (([["a"]], 1.0), "counts"),
        (([[1], [1, 2]], 1.0), "counts"),
        (([1], 0.0), "bin_ms"),
        (([1], np.nan), "bin_ms"),
        (([1], 1.0, np.inf), "start"),
    ],
)
def test_what_are_no_counts(given, field):
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.SpikeTrains.of_counts(*given)
    assert (caught.value.owner, caught.value.field) == ("SpikeTrains.of_counts", field)


NET = jn.build(balanced(), 1, 0.1)


@pytest.fixture(scope="module")
def result():
    first = jn.simulate(NET, 3.3)
    return jn.simulate(NET, 20.0, state=first)


def test_those_of_a_run(result):
    spikes = result.spikes
    assert (list(spikes), len(spikes), "E" in spikes, "X" in spikes) == (["E", "I"], 2, True, False)
    trains = spikes["E"]
    assert isinstance(trains, jn.SpikeTrains)
    assert (trains.n, trains.start, trains.stop) == (160, 3.3, 23.3)
    equal(trains.times, result.events("E")[0])
    equal(trains.neurons, result.events("E")[1])
    same(jn.SpikeTrains(trains.times, trains.neurons, 160, 3.3, 23.3), trains)
    assert {name: len(x) for name, x in spikes.items()} == {
        name: result.events(name)[0].size for name in "EI"
    }
    assert result.rate("E") == pytest.approx(len(trains) / (160 * trains.duration * 1e-3))
    for neuron in (3, 159):
        equal(trains.of(neuron), result.spikes["E"].of(neuron))
    equal(np.flatnonzero(trains.dense(0.1)[17]), result.neurons_at("E", 33 + 17))
    assert "spikes of 160 neurons" in repr(spikes)
    assert spikes.get("X") is None
    with pytest.raises(KeyError, match="'E', 'I'"):
        spikes["X"]
    for ask in (result.events, result.rate):
        with pytest.raises(jn.InvalidValueError, match="'E', 'I'"):
            ask("X")


def test_those_of_a_recording(result):
    state = jn.simulate(NET, 3.3).state
    _, recording = jax.jit(jn.scan, static_argnums=2)(NET, state, 200)
    for name in "EI":
        same(recording.spikes[name], result.spikes[name])


def test_what_was_not_recorded():
    result = jn.simulate(NET, 1.0, record=jn.Record(spikes=False))
    assert not result.spikes
    assert list(result.spikes) == []
    assert repr(result.spikes) == "{}"
    for ask in (
        lambda: result.spikes["E"],
        lambda: result.events("E"),
        lambda: result.spikes["E"].of(0),
        lambda: result.neurons_at("E", 0),
        lambda: result.rate("E"),
        lambda: result.counts["E"],
        lambda: result.statistics["E"],
        lambda: result.traces["E"],
    ):
        with pytest.raises(NotRecordedError, match=r"jn\.Record\(") as caught:
            ask()
        assert isinstance(caught.value, KeyError)
        assert isinstance(caught.value, ValueError)
    with pytest.raises(KeyError, match="'E', 'I'"):
        result.spikes["X"]
    assert "E" not in result.spikes


@pytest.mark.parametrize("field", ["spikes", "statistics", "counts"])
def test_what_an_error_says_to_record_is_what_records_it(field):
    result = jn.simulate(NET, 1.0, record=jn.Record(spikes=False))
    with pytest.raises(NotRecordedError) as caught:
        getattr(result, field)["E"]
    told = str(caught.value).split("record=")[1].removesuffix(")'").removesuffix(")")
    more = jn.simulate(NET, 1.0, record=eval(told, {"jn": jn}))
    assert getattr(more, field)["E"] is not None
