"""Spikes at given times, and pulse packets, which become such."""

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import jaxneuro as jn
from jaxneuro.stimuli import PulsePackets, ScheduledSpikes, SpikeTimes
from tests.oracle import stimuli as oracle
from tests.stimuli.driving import DT, prepare, run, scan

N = 5


@hypothesis.given(
    # Few lengths, for the number of times is a shape.
    ends=st.sampled_from([0, 1, 7, 40]).flatmap(
        lambda size: st.lists(st.integers(1, 30), min_size=size, max_size=size)
    ),
    each=st.booleans(),
    seed=st.integers(0, 9),
)
def test_spikes_come_at_their_times(ends, each, seed):
    neurons = np.random.default_rng(seed).integers(0, N, len(ends)) if each else None
    times = np.asarray(ends, np.float64) * DT
    want = oracle.spike_counts(25, N, ends, neurons)
    np.testing.assert_array_equal(run(SpikeTimes(times, neurons), N, 25), want)


def test_a_spike_belongs_to_the_step_that_ends_with_it():
    counts = run(SpikeTimes([0.3, 0.1, 0.3], [2, 0, 2]), 3, 5)
    assert np.argwhere(counts).tolist() == [[0, 0], [2, 2]]
    assert counts[2, 2] == 2


@pytest.mark.parametrize("kind", [list, tuple, np.asarray, jnp.asarray])
def test_a_list_of_times_for_each_neuron(kind):
    lists = [[0.3, 0.1, 0.3], [], [2.0], [0.1]]
    neurons = np.repeat(np.arange(4), [3, 0, 1, 1])
    want = oracle.spike_counts(25, 4, [3, 1, 3, 20, 1], neurons)
    model = SpikeTimes([kind(x) for x in lists])
    np.testing.assert_array_equal(run(model, 4, 25), want)
    again = SpikeTimes(np.asarray(model.times).tolist())  # as a file would keep them
    np.testing.assert_array_equal(run(again, 4, 25), want)
    assert run(SpikeTimes([kind([]), kind([])]), 2, 3).sum() == 0
    many = run(SpikeTimes([kind([0.1])] * 300), 300, 2)
    assert (many == [[1], [0]]).all()


@pytest.mark.parametrize("kind", [jnp.asarray, np.asarray, list, tuple])
def test_float32_times_are_on_the_grid(kind):
    times = kind(np.asarray([1.1, 300.3, 0.7], np.float32))
    steps = prepare(SpikeTimes(times), 1).steps
    assert np.asarray(steps)[:-1].tolist() == [6, 10, 3002]


def test_late_spikes():
    first = 2**30
    ends = [first + 1, first + 2, first + 7]
    counts = run(SpikeTimes(np.asarray(ends) * DT, [0, 1, 0]), 2, 10, first)
    assert np.argwhere(counts).tolist() == [[0, 0], [1, 1], [6, 0]]


def test_a_run_in_pieces_from_negative_steps():
    ends = np.random.default_rng(0).integers(1, 100, 60)
    model = prepare(SpikeTimes(ends * DT, ends % N), N)
    state, before = scan(model, model.init(N, None), 7, first=-7)
    assert not np.asarray(before).any()
    pieces, first = [], 0
    for size in (1, 50, 60):
        state, out = scan(model, state, size, first)
        pieces.append(np.asarray(out))
        first += size
    np.testing.assert_array_equal(
        np.concatenate(pieces), oracle.spike_counts(111, N, ends, ends % N)
    )


def test_a_step_looks_at_no_more_entries_than_the_fullest_one():
    few = prepare(SpikeTimes(np.arange(1, 11) * DT, np.arange(10) % 2), N)
    many = prepare(SpikeTimes(np.arange(1, 5001) * DT, np.arange(5000) % 2), N)
    assert few.most == many.most == 1
    assert prepare(SpikeTimes([0.1] * 8, [0, 1, 2, 0, 1, 2, 0, 0]), N).most == 3
    assert prepare(SpikeTimes([0.1] * 8), N).most == 1
    assert many.steps.size == 5001


def test_spikes_in_a_batch():
    model = prepare(SpikeTimes([0.1, 0.4, 0.2], [1, 2, 1]), N)
    state = jax.tree.map(lambda x: np.stack([x] * 3), model.init(N, None))

    def go(state):
        return jax.lax.scan(lambda s, k: model.step(s, k, DT), state, np.arange(6, dtype=np.int32))[
            1
        ]

    alone = jax.jit(go)(model.init(N, None))
    np.testing.assert_array_equal(jax.jit(jax.vmap(go))(state), np.stack([alone] * 3))


def test_spikes_run_as_scheduled_spikes():
    for model in (SpikeTimes([0.1]), PulsePackets([1.0], 2, 0.5)):
        assert isinstance(prepare(model, N), ScheduledSpikes)
        with pytest.raises(ValueError, match="call prepare"):
            model.init(N, None)
        with pytest.raises(ValueError, match="call prepare"):
            model.step(None, jnp.int32(0), DT)


def test_pulse_packets_have_their_spikes_and_spread():
    n, activity, sd, times = 400, 30, 2.0, np.asarray([30.0, 80.0])
    counts = run(PulsePackets(times, activity, sd), n, 1200)
    assert (counts.sum(axis=0) == 2 * activity).all()
    for t in times:
        near = slice(round(t / DT) - 200, round(t / DT) + 200)
        step, neuron = np.nonzero(counts[near])
        weight = counts[near][step, neuron].astype(int)
        assert weight.sum() == n * activity
        away = (np.repeat(step, weight) + 1 - 200) * DT
        assert abs(away.mean()) < 5 * sd / np.sqrt(away.size)
        assert abs(away.std() - np.hypot(sd, DT / np.sqrt(12))) < 5 * sd / np.sqrt(2 * away.size)
        smooth = away + np.random.default_rng(0).uniform(-DT / 2, DT / 2, away.size)
        assert scipy.stats.kstest(smooth / sd, "norm").pvalue > 1e-4
    first, second = counts[:550].sum(axis=0), counts[550:].sum(axis=0)
    assert (first == activity).all()
    assert (second == activity).all()


def test_pulse_packets_are_the_same_drawn_in_pieces(monkeypatch):
    packets = PulsePackets([2.0, 3.0], 5, np.linspace(0.0, 2.0, 7))
    whole = prepare(packets, 7)
    monkeypatch.setattr("jaxneuro.stimuli._given_spikes._CHUNK", 9)
    pieces = prepare(packets, 7)
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(pieces), strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.asarray(whole.counts).sum() > 50


def test_packets_that_never_come():
    assert run(PulsePackets([], 5, 1.0), 3, 50).sum() == 0
    assert run(PulsePackets([1e38, 2.0], 5, 0.0), 3, 50).sum() == 15


def test_pulse_packets_of_each_neuron_and_without_spread():
    counts = run(PulsePackets([2.0], 4, [0.0, 0.0, 1.0]), 3, 100)
    assert (counts[19, :2] == 4).all()
    assert (counts[:, :2].sum(axis=0) == 4).all()
    assert counts[19, 2] < 4


def test_packet_spikes_before_the_start_are_dropped():
    n = 1000
    sums = run(PulsePackets([0.0], 10, 5.0), n, 400).sum()
    half = scipy.stats.norm.sf(DT / 2 / 5.0)
    assert abs(sums - 10 * n * half) < 5 * np.sqrt(10 * n * half * (1 - half))


NAN = float("nan")
REFUSED = {
    "at 0": (lambda: SpikeTimes([1.0, 0.0]), "times", "0.0 at index 1"),
    "one number": (lambda: SpikeTimes(1.0), "times", "shape ()"),
    "text": (lambda: SpikeTimes(["a"]), "times", "'a'"),
    "none": (lambda: SpikeTimes([None]), "times", "[None]"),
    "nan in a list": (lambda: SpikeTimes([[2.0], [NAN, 1.0]]), "times", "index 0 for neuron 1"),
    "at 0 in a list": (lambda: SpikeTimes([[1.0, 0.0]]), "times", "0.0 at index 1 for neuron 0"),
    "text in a list": (lambda: SpikeTimes([[1.0], ["a"]]), "times", "'a'"),
    "lists and numbers": (lambda: SpikeTimes([[1.0, 2.0], 3.0]), "times", "3.0"),
    "lists of lists": (lambda: SpikeTimes([[1.0], [[2.0]]]), "times", "for neuron 1"),
    "at 0 in an array": (lambda: SpikeTimes(np.zeros((2, 2))), "times", "0.0 at index 0"),
    "lists and neurons": (lambda: SpikeTimes([[1.0]], [0]), "neurons", "[0]"),
    "other neurons": (lambda: SpikeTimes([1.0, 2.0], [1]), "neurons", "[1]"),
    "half neurons": (lambda: SpikeTimes([1.0], [0.5]), "neurons", "[0.5]"),
    "events of a result": (
        lambda: SpikeTimes((np.array([1.0, 2.0]), np.array([0, 1]))),
        "times",
        "times and neurons",
    ),
    "packet before 0": (lambda: PulsePackets([-1.0], 1, 1.0), "times", "-1.0 at index 0"),
    "one packet": (lambda: PulsePackets(1.0, 1, 1.0), "times", "shape ()"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    make, field, got = REFUSED[name]
    with pytest.raises(jn.InvalidValueError) as error:
        make()
    assert error.value.owner in ("SpikeTimes", "PulsePackets")
    assert error.value.field == field
    assert got in error.value.got


OFF = {
    "off the grid": (SpikeTimes([1.0, 1.25]), "x: times .*got 1.25 ms, between 1.2 and 1.3 ms"),
    "no such neuron": (SpikeTimes([1.0, 1.0], [0, 3]), "from 0 to 2; got 3 at index 1"),
    "neuron below 0": (SpikeTimes([1.0], [-1]), "from 0 to 2; got -1 at index 0"),
    "too few lists": (SpikeTimes([[1.0], [2.0]]), "x: times must be .* 3 neurons; got 2 lists"),
    "off the grid in a list": (SpikeTimes([[1.0], [], [0.15]]), "x: times .*got 0.15 ms"),
    "no memory": (
        PulsePackets([1.0, 2.0], 10**9, 1.0),
        "x: .* at most 134217728 spikes .*; got 6000000000 of 3 neurons, 2 packets .* 358 GiB",
    ),
    "length": (PulsePackets([1.0], 1, np.ones(4)), r"x: sd must be one number .*\(3,\)"),
}


@pytest.mark.parametrize("name", OFF)
def test_what_is_refused_when_a_network_is_built(name):
    model, message = OFF[name]
    with pytest.raises(ValueError, match=message):
        prepare(model, 3)
