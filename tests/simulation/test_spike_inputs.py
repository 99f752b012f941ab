"""Spikes as the input of a run: every form of them gives the spikes that were given."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.parallel.networks import mesh

_plan = importlib.import_module("jaxneuro._run.chunks")
N, STEPS, DT = 11, 150, 0.1
WIRES = [
    jn.Projection(
        *("told", "out", jn.connectivity.FixedProbability(0.5)),
        weight=jn.Uniform(50.0, 90.0),
        delay=jn.Uniform(0.5, 2.0),
        synapse=jn.synapses.Exponential(2.0),
    )
]
CELLS = [
    jn.Population("told", N, jn.neurons.Relay()),
    jn.Population("other", 3, jn.neurons.Relay()),
    jn.Population("out", 6, jn.neurons.LIF(tau_m=10.0, c_m=100.0)),
]
MADE = jn.Description(CELLS, WIRES)
NET = jn.build(MADE, 1, DT)
RNG = np.random.default_rng(5)
GIVEN = RNG.random((STEPS, N)) < 0.1
GIVEN[0, 0] = GIVEN[-1, 1] = GIVEN[40, 2] = GIVEN[41, 2] = True


def trains(spikes, start=0.0, shift=0.0):
    """Spikes step by step with their times, in no order, `shift` before the end of the step."""
    steps, neurons = np.nonzero(spikes)
    order = np.random.default_rng(0).permutation(steps.size)
    times = start + (steps[order] + 1) * DT - shift
    return jn.SpikeTrains(times, neurons[order], N, start, start + len(spikes) * DT)


def packed(spikes):
    return np.packbits(spikes, axis=1, bitorder="little")


@pytest.fixture(scope="module")
def bits():
    """The spikes as another run recorded them, of a network with one population."""
    net = jn.build(jn.Description([jn.Population("elsewhere", N, jn.neurons.Relay())]), 0, DT)
    late = net.init(0)._replace(step=jnp.int32(1000))
    return jn.scan(net, late, STEPS, {"elsewhere": GIVEN})[1].spikes


TRAINS = trains(GIVEN)
FORMS = {
    "trains": lambda bits: TRAINS,
    "times inside of steps": lambda bits: trains(GIVEN, shift=0.07),
    "a spike twice": lambda bits: jn.SpikeTrains(
        np.concatenate([TRAINS.times, TRAINS.times - 0.02]), np.tile(TRAINS.neurons, 2), N, 0, 15
    ),
    "a part of a longer one": lambda bits: jn.SpikeTrains(
        np.append(TRAINS.times, 17.0), np.append(TRAINS.neurons, 3), N, 0.0, 20.0
    ),
    "bits": lambda bits: bits,
    "booleans": lambda bits: GIVEN,
    "booleans of jax": lambda bits: jnp.asarray(GIVEN),
    "packed": lambda bits: packed(GIVEN),
    "packed, of jax": lambda bits: jnp.asarray(packed(GIVEN)),
    "numbers": lambda bits: GIVEN.astype(float),
    "whole numbers": lambda bits: GIVEN.astype(np.int32).tolist(),
}


@pytest.fixture(scope="module")
def expected():
    result = jn.simulate(NET, 15.0, inputs={"told": GIVEN})
    assert len(result.spikes["out"]) > 10
    return result


def same(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def same_run(result, expected):
    same(result.spikes["told"].dense(DT), GIVEN)
    assert len(result.spikes["other"]) == 0
    same(result.events("out"), expected.events("out"))
    same(result.state, expected.state)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_run(form, bits, expected, chunks):
    spikes = FORMS[form](bits)
    result = jn.simulate(NET, 15.0, inputs={"told": spikes})
    same_run(result, expected)
    assert result.compile_s == 0.0  # one program for all
    chunks(40)
    same_run(jn.simulate(NET, 15.0, inputs={"told": spikes}), expected)


scan = jax.jit(
    lambda net, x: jn.scan(net, net.init(0), STEPS, {"told": x}), compiler_options=_plan._OPTIONS
)


@pytest.mark.slow(but=["trains"])
@pytest.mark.parametrize("form", FORMS)
def test_scan_takes_every_form(form, bits, expected):
    spikes = FORMS[form](bits)
    if isinstance(spikes, jn.SpikeTrains):
        spikes = spikes.between(0.0, 15.0).dense(DT)
    elif isinstance(spikes, list):
        spikes = np.array(spikes)
    state, recording = scan(NET, spikes)
    same(recording.spikes.dense("told"), GIVEN)
    same(recording.spikes.events("out"), expected.events("out"))
    same(state, expected.state)


def test_trains_into_a_scan():
    """Outside of `jit`, where their number is known; inside it is not."""
    alone = jn.build(jn.Description(CELLS[:1]), 0, DT)
    late = alone.init(0)._replace(step=jnp.int32(20))
    moved = trains(GIVEN, start=2.0)
    _, recording = jn.scan(alone, late, STEPS, {"told": moved})
    same(recording.spikes.dense("told"), GIVEN)
    with pytest.raises(jn.InvalidValueError) as caught:
        jax.eval_shape(lambda s: jn.scan(NET, s, STEPS, {"told": TRAINS})[0].step, NET.init(0))
    assert caught.value.field == "the input of 'told'"


@pytest.mark.slow
def test_trials_of_their_own(expected):
    trials = np.stack([np.roll(GIVEN, 13 * k, axis=0) for k in range(3)])
    one = lambda net, x: jn.scan(net, net.init(0), STEPS, {"told": x})[1]  # noqa: E731
    many = jax.jit(jax.vmap(one, (None, 0)))
    for recording in (many(NET, trials), many(NET, np.packbits(trials, -1, "little"))):
        same(recording.spikes.dense("told"), trials)
        same(recording[0].spikes.events("out"), expected.events("out"))
    alone = jn.simulate(NET, 15.0, inputs={"told": trials[2]})
    same(recording[2].spikes.events("out"), alone.events("out"))


@pytest.mark.parametrize("cut", [1, 64, 149])
def test_two_runs(cut, expected):
    """Times are those since the network's start, so that both runs take the same spikes."""
    first = jn.simulate(NET, cut * DT, inputs={"told": TRAINS})
    rest = jn.simulate(NET, (STEPS - cut) * DT, inputs={"told": TRAINS}, state=first)
    same(first.spikes["told"].dense(DT), GIVEN[:cut])
    same(rest.spikes["told"].dense(DT), GIVEN[cut:])
    same(rest.state, expected.state)


def test_what_was_recorded_is_played_again(expected):
    again = jn.simulate(NET, 15.0, inputs={"told": expected.spikes["told"]})
    same_run(again, expected)
    both = {name: expected.spikes[name] for name in ("told", "other")}
    same_run(jn.simulate(NET, 15.0, inputs=both), expected)


@pytest.mark.slow
def test_two_devices(expected, bits):
    net = jn.build(MADE, 1, DT, mesh=mesh(2))
    assert net.expand().steps_together(STEPS) > 1
    for form in ("trains", "bits", "packed"):
        result = jn.simulate(net, 15.0, inputs={"told": FORMS[form](bits)})
        same(result.spikes["told"].dense(DT), GIVEN)
        same(result.events("out"), expected.events("out"))


def test_one_row_is_for_all_neurons():
    result = jn.simulate(NET, 15.0, inputs={"told": GIVEN[:, 0]})
    same(result.spikes["told"].dense(DT), np.tile(GIVEN[:, :1], N))


def test_seldom_meant():
    late = trains(GIVEN, start=500.0)
    with pytest.warns(match="the input of 'told'"):
        result = jn.simulate(NET, 15.0, inputs={"told": late})
    assert len(result.spikes["told"]) == 0


WRONG = {
    "a train too few": jn.SpikeTrains([1.0], [0], N - 1, 0.0, 15.0),
    "above 1": 2.0 * GIVEN,
    "a half": 0.5 * GIVEN,
    "below 0": -1 * GIVEN,
    "nan": np.where(GIVEN, np.nan, 0.0),
    "too few neurons": GIVEN[:, :-1],
    "too few steps": GIVEN[:-1],
    "of three axes": np.stack([GIVEN, GIVEN]),
    "text": "spikes",
    "lists": [[1.0], [2.0, 3.0]],
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_input(given):
    for run in (
        lambda x: jn.simulate(NET, 15.0, inputs={"told": x}),
        lambda x: jn.scan(NET, NET.init(0), STEPS, {"told": x}),
    ):
        with pytest.raises(jn.InvalidValueError) as caught:
            run(given)
        assert caught.value.field == "the input of 'told'"


def test_spikes_where_they_do_not_belong(bits):
    six = jn.SpikeTrains([1.0], [0], 6, 0.0, 15.0)
    other = jn.build(jn.Description(CELLS[:1]), 0, 0.2)
    for net, name, spikes in (
        (NET, "out", six),
        (NET, "out", bits),
        (other, "told", bits),  # steps of another length
        (NET, "nobody", six),
    ):
        for run in (
            lambda x, net=net: jn.simulate(net, 15.0, inputs=x),
            lambda x, net=net: jn.scan(net, net.init(0), STEPS, x),
        ):
            with pytest.raises(ValueError, match=name):
                run({name: spikes})


def test_times_in_seconds_are_told():
    net = jn.build(jn.Description([jn.Population("in", 2, jn.neurons.Relay())]), 0, 0.1)
    spikes = jn.SpikeTrains([0.12, 0.34, 0.57], [0, 1, 0], n=2, start=0.0, stop=1000.0)
    with pytest.warns(UserWarning, match="look like seconds"):
        jn.simulate(net, 1000.0, inputs={"in": spikes})


def test_times_in_float32_come_in_the_steps_of_float64():
    net = jn.build(jn.Description([jn.Population("in", 1, jn.neurons.Relay())]), 0, DT)
    times = [100.3, 207.7, 311.1, 413.8]  # 100.300003, 311.100006
    spikes = jn.SpikeTrains(np.array(times, np.float32), [0] * 4, 1, 0.0, 500.0)
    result = jn.simulate(net, 500.0, inputs={"in": spikes})
    np.testing.assert_allclose(result.spikes["in"].times, times, rtol=1e-12)
    late = jn.SpikeTrains(np.array([700_000.1], np.float32), [0], 1, 0.0, 800_000.0)
    with pytest.raises(jn.InvalidValueError, match="SpikeTrains: times must be in float64"):
        jn.simulate(net, 500.0, inputs={"in": late})


def test_a_saved_run_knows_its_spikes(tmp_path):
    """In any order; of other spikes it goes on only after the steps that were run."""
    saved = lambda ms, spikes: jn.simulate(  # noqa: E731
        *(NET, ms), inputs={"told": spikes}, save=tmp_path, every=4.0, progress=False
    )
    saved(10.0, TRAINS)
    other = GIVEN.copy()
    other[120] ^= True
    result = saved(15.0, trains(other))
    np.testing.assert_array_equal(result.spikes["told"].dense(DT), other)
    other[50, 3] ^= True
    with pytest.raises(jn.InvalidValueError, match="input of 'told': others in the first 15 ms"):
        saved(15.0, trains(other))
