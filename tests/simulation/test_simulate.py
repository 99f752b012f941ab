"""`simulate`: the bits of `scan`, in chunks, on the host."""

import functools
import importlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import balanced
from tests.refusing import assert_refused

driver = importlib.import_module("jaxneuro._run.simulate")
NET = jn.build(balanced(delay=jn.Uniform(0.5, 8.0)), 1, 0.1)


def summed(state, output):
    return output.spikes["E"].sum()


RECORD = jn.Record(
    variables={"E": ("v", "refractory"), "E->I": "g"},
    neurons={"E": [3, 100]},
    interval=0.7,
    rates=True,
    statistics=...,
    function=summed,
)


def same(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def everything(result):
    kept = ("state", "traces", "sample_times", "counts", "function", "spikes", "means", "lfp")
    return {k: getattr(result, k) for k in kept} | {"spikes": result.spikes.by_population}


@pytest.mark.slow(but=["7"])
@pytest.mark.parametrize("chunk", [None, 7, 70])
def test_it_equals_scan(chunk, chunks):
    if chunk:
        chunks(chunk)
    result = jn.simulate(NET, 21.0, record=RECORD, key=5, progress=False)
    state, recording = jax.jit(jn.scan, static_argnums=(2, 4))(NET, NET.init(5), 210, None, RECORD)
    same(result.state, state)
    for field in ("traces", "counts", "function", "means", "lfp", "statistics"):
        same(getattr(result, field), getattr(recording, field))
    for name in "EI":
        times, who = recording.spikes.events(name)
        np.testing.assert_array_equal(result.events(name)[0], times)
        np.testing.assert_array_equal(result.events(name)[1], who)
    assert result.sample_times == pytest.approx(0.7 * np.arange(1, 31))
    assert result.events("E")[0].size > 50
    assert (result.n_steps, result.first_step, result.interrupted) == (210, 0, False)


@pytest.mark.slow
def test_a_rest_shorter_than_a_sample(chunks):
    chunks(7)
    result = jn.simulate(NET, 30.4, record=RECORD)
    whole = jn.simulate(NET, 30.4)
    assert result.n_steps == 304
    assert result.sample_times.size == 43 == len(result.traces["E"]["v"])
    same(result.spikes, whole.spikes)
    same(result.state, whole.state)


@pytest.mark.slow(but=["parts0"])
@pytest.mark.parametrize("parts", [(10, 42, 252), (3, 3, 298), (35, 3, 266), (301, 3)])
def test_samples_keep_their_phase(parts, chunks):
    """Runs end to end sample where one run does, wherever they are cut.

    Before the first sample they have 0, 1 or 4 steps, after the last 0 or 3: each is a program.
    """
    chunks(7)
    whole = jn.simulate(NET, 30.4, record=RECORD)
    runs, state = [], None
    for steps in parts:
        runs.append(jn.simulate(NET, steps / 10, record=RECORD, state=state))
        state = runs[-1].state
    same(state, whole.state)
    assert [r.sample_times.size for r in runs] == [len(r.traces["E"]["v"]) for r in runs]
    assert whole.sample_times == pytest.approx(0.7 * np.arange(1, 44))
    for name in ("traces", "sample_times", "counts", "function"):
        pieces = [getattr(r, name) for r in runs]
        pieces = [x for x in pieces if x is not None]  # no sample, no value of the function
        joined = jax.tree.map(lambda *x: np.concatenate(x), *pieces)
        same(joined, getattr(whole, name))


@pytest.mark.slow
def test_means_and_lfp_in_chunks(chunks):
    record = jn.Record(means={"E": ("v", "refractory"), "I->E": "g"}, lfp=("I", "E"), interval=0.7)
    chunks(7)
    parts = jn.simulate(NET, 29.4, record=record)
    _, recording = jax.jit(jn.scan, static_argnums=(2, 4))(NET, NET.init(0), 294, None, record)
    same((parts.means, parts.lfp), (recording.means, recording.lfp))
    assert parts.lfp["E"].shape == parts.sample_times.shape == (42,)
    assert parts.lfp["E"][-1] > 1.0
    short = jn.simulate(NET, 0.5, record=record)
    assert {x.shape for x in jax.tree.leaves((short.means, short.lfp))} == {(0,)}
    assert short.means.keys() == parts.means.keys()


def test_going_on_from_a_state(chunks):
    chunks(60)
    whole = jn.simulate(NET, 30.0, record=jn.Record(rates=True))
    first = jn.simulate(NET, 12.0, record=jn.Record(rates=True))
    second = jn.simulate(NET, 18.0, record=jn.Record(rates=True), state=first.state)
    same(second.state, whole.state)
    assert second.start == pytest.approx(12.0)
    for name in "EI":
        parts = [r.events(name) for r in (first, second)]
        joined = [np.concatenate(x) for x in zip(*parts)]
        same(joined, list(whole.events(name)))
        assert second.events(name)[0].min() > 12.0


@pytest.mark.slow
def test_inputs_go_into_their_chunk(chunks):
    current = np.linspace(0.0, 400.0, 200)
    whole = jn.simulate(NET, 20.0, inputs={"E": current, "I": np.tile(current[:, None], 40)})
    chunks(33)
    parts = jn.simulate(NET, 20.0, inputs={"E": current, "I": np.tile(current[:, None], 40)})
    same(everything(parts), everything(whole))
    silent = jn.simulate(NET, 20.0, inputs={"E": 0 * current, "I": np.zeros((200, 40))})
    assert len(silent.spikes["E"]) != len(whole.spikes["E"])


def test_rates(chunks):
    chunks(60)
    result = jn.simulate(NET, 48.0, record=jn.Record(rates=True))
    for name, n in NET.populations.items():
        assert result.rate(name) == pytest.approx(result.counts[name].sum() / (n * 0.048))
    assert_refused(lambda: result.rate("X"), "", "population", "'X'")
    with pytest.raises(ValueError, match="were not recorded"):
        jn.simulate(NET, 1.0, record=jn.Record(spikes=False)).events("E")


def test_no_time_at_all():
    result = jn.simulate(NET, 0.0, record=RECORD)
    assert result.n_steps == 0
    assert result.events("E")[0].size == 0
    assert np.isnan(result.rate("E"))  # 0 spikes in no time


@pytest.mark.slow
def test_a_bare_neuron():
    neuron = jn.neurons.LIF()
    constant = jn.simulate(neuron, current=np.full((1000, 1), 500.0), dt=0.1)
    assert constant.duration == pytest.approx(100.0)
    assert 3 < constant.rate("neurons") * 0.1 < 10
    many = jn.simulate(neuron, current=np.tile([0.0, 500.0], (1000, 1)), dt=0.1)
    assert many.network.n_neurons == 2
    np.testing.assert_array_equal(many.events("neurons")[0], constant.events("neurons")[0])
    assert set(many.events("neurons")[1].tolist()) == {1}
    quiet = jn.simulate(neuron, 10.0, n=3, dt=0.1)
    assert (quiet.network.n_neurons, quiet.n_steps) == (3, 100)


def test_a_constant_current_per_neuron_is_an_f_i_curve():
    currents = np.array([0.0, 600.0, 300.0])
    got = jn.simulate(LIF, 60.0, dt=0.1, current=currents)
    want = jn.simulate(LIF, dt=0.1, current=np.tile(currents, (600, 1)))
    assert got.populations == {"neurons": 3}
    np.testing.assert_array_equal(got.events("neurons"), want.events("neurons"))
    assert list(np.unique(got.events("neurons")[1])) == [1]


class Unstable(jn.Neuron):
    """Doubles from a start value until it is infinite, or turns NaN at once."""

    nan: bool = jn.static(False)

    def init(self, n):
        return jn.neurons.LIF().init(n)._replace(v=np.zeros(n, np.float32))

    def step(self, state, drive, dt):
        v = jnp.where((state.v > 0) & self.nan, jnp.nan, state.v * 2)
        return state._replace(v=v), state.spikes


class Deaf(jn.Neuron):
    """Takes a current and does nothing with it that lasts."""

    def init(self, n):
        return jn.neurons.LIF().init(n)

    def step(self, state, drive, dt):
        spikes = drive.current_at(state.v) > jnp.inf
        return state._replace(spikes=spikes), spikes


@pytest.mark.parametrize(("nan", "until"), [(True, 50), (False, 150)])
def test_not_finite_is_reported_after_the_chunk(nan, until, chunks):
    """1 doubled 128 times leaves the range of float32: in the third chunk."""
    chunks(50)
    populations = [
        jn.Population("fine", 3, jn.neurons.LIF()),
        jn.Population("broken", 4, Unstable(nan), initial={"v": [0.0, 0.0, 1.0, 1.0]}),
    ]
    drive = jn.Stimulation("fine", jn.stimuli.Current(2000.0))
    net = jn.build(jn.Description(populations, (), [drive]), 0, 0.1)
    span = f"between {until / 10 - 5:g} and {until / 10:g} ms"
    message = rf"v of population 'broken' is {'nan' if nan else 'inf'} .*first is neuron 2.*{span}"
    with pytest.raises(jn.NonFiniteError, match=message) as caught:
        jn.simulate(net, 30.0)
    result = caught.value.result
    assert isinstance(caught.value, ValueError)
    assert result.n_steps == until
    assert result.events("fine")[0].size > 0


@pytest.mark.slow
def test_an_infinite_voltage_of_lif_is_reported():
    """+inf is no spike, so it stays in the state."""
    made = balanced()
    net = jn.build(made, 1, 0.1).set("E->E", weight=3e38)
    with pytest.raises(jn.NonFiniteError, match=r"population '[EI]'"):
        jn.simulate(net, 50.0)


@pytest.mark.slow
def test_a_receptor_that_is_not_finite_has_the_names_of_its_projections():
    """Two currents into one receptor, more than float32 holds, in a population that sees none."""
    cells = [
        jn.Population("A", 5, jn.neurons.LIF(), initial={"v": 0.0}),
        jn.Population("B", 2, Deaf()),
    ]
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(2.0)
    wires = [
        jn.Projection("A", "B", rule, weight=3e38, delay=0.1, synapse=synapse, name=name)
        for name in ("first", "second", "third")
    ]
    other = jn.Projection(
        "A", "B", rule, weight=1.0, delay=0.1, synapse=jn.synapses.Exponential(9.0)
    )
    for k, names in ((1, "'first'"), (2, "'first', 'second'"), (3, "'first', 'second', ...")):
        net = jn.build(jn.Description(cells, [*wires[:k], other]), 0, 0.1)
        message = f"current of the receptor of {names} of population 'B' is inf in 2 neuron"
        with pytest.raises(jn.NonFiniteError, match="^" + re.escape(message)):
            jn.simulate(net, 2.0)


def test_ctrl_c_keeps_what_was_recorded(chunks, monkeypatch):
    chunks(60)
    whole = jn.simulate(NET, 48.0, record=jn.Record(rates=True))
    collect, calls = driver._Run._collect, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return collect(self, *args)

    monkeypatch.setattr(driver._Run, "_collect", interrupted)
    with pytest.raises(jn.Interrupted, match=r"after \d+ ms of the run.*\.result of this") as stop:
        jn.simulate(NET, 48.0, record=jn.Record(rates=True))
    result = stop.value.result
    assert isinstance(stop.value, KeyboardInterrupt)
    assert result.interrupted
    assert 120 <= result.n_steps < 480
    assert result.n_steps % 60 == 0
    until = result.n_steps * 0.1 + 1e-6
    for name in "EI":
        times, who = whole.events(name)
        same(list(result.events(name)), [times[times <= until], who[times <= until]])
        assert len(result.counts[name]) == result.n_steps
    assert "interrupted" in repr(result)
    monkeypatch.setattr(driver._Run, "_collect", collect)
    left = 48.0 - result.duration
    rest = jn.simulate(NET, left, state=result, record=jn.Record(rates=True))
    same(rest.state, whole.state)


@pytest.mark.slow
def test_a_real_signal():
    script = """
        import jaxneuro as jn, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a caller may ignore it
        net = jn.build(jn.Description([jn.Population("E", 2000, jn.neurons.LIF())]), 0, 0.1)
        jn.simulate(net, 1e3)
        print("ready", flush=True)
        try:
            for _ in range(3):
                jn.simulate(net, 1e7)
        except jn.Interrupted as stop:
            print(stop.result.interrupted, 0 < stop.result.n_steps < 10**8, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as job:
        assert job.stdout.readline() == "ready\n"
        time.sleep(4.0)
        job.send_signal(signal.SIGINT)
        assert job.stdout.readline() == "True True\n"
        assert job.wait(60) == 0


@pytest.mark.parametrize("tqdm", [True, False])
def test_progress(tqdm, chunks, capsys, monkeypatch):
    if not tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    chunks(60)
    run = functools.partial(jn.simulate, NET, 24.0, record=jn.Record(rates=True))
    run(progress=True)
    text = capsys.readouterr().err
    assert "simulating" in text
    assert "100" in text
    run(progress=False)
    run()
    assert capsys.readouterr().err == ""


LIF = jn.neurons.LIF()
BAD = {
    "duration": (lambda: jn.simulate(NET, -1.0), "simulate", "duration", "-1.0"),
    "off the grid": (
        lambda: jn.simulate(NET, 1.05),
        *("simulate", "the duration", "1.05 ms, between 1 and 1.1 ms"),
    ),
    "inputs": (
        lambda: jn.simulate(NET, 1.0, inputs={"E": np.ones(9)}),
        *("simulate", "the input of 'E'", "(9,)"),
    ),
    "nan input": (
        lambda: jn.simulate(NET, 1.0, inputs={"E": [0.0] * 4 + [np.nan] * 6}),
        *("simulate", "the input of 'E'", "nan at index 4"),
    ),
    "population": (
        lambda: jn.simulate(NET, 1.0, inputs={"X": np.ones(10)}),
        *("simulate", "population to drive", "'X'"),
    ),
    "a current for a duration": (
        lambda: jn.simulate(LIF, np.linspace(0, 9, 20), dt=0.1),
        *("simulate", "duration", "a ndarray"),
    ),
    "no duration": (
        lambda: jn.simulate(LIF, dt=0.1, current=[1, 2]),
        *("simulate", "duration", "none"),
    ),
    "two durations": (
        lambda: jn.simulate(LIF, 0.5, dt=0.1, current=np.ones((6, 1))),
        *("simulate", "the input of 'neurons'", "(6,)"),
    ),
    "currents of other neurons": (
        lambda: jn.simulate(LIF, 1.0, dt=0.1, n=3, current=[1, 2]),
        *("simulate", "current", "shape (2,)"),
    ),
    "variable": (
        lambda: jn.simulate(NET, 1.0, record=jn.Record(variables={"E": "u"})),
        *("simulate", "state variable of population 'E'", "'u'"),
    ),
    "key": (lambda: jn.simulate(NET, 1.0, key=-1), "simulate", "key", "-1"),
    "variable of a short run": (
        lambda: jn.simulate(NET, 0.5, record=jn.Record(variables={"E": "u"}, interval=1.0)),
        *("simulate", "state variable of population 'E'", "'u'"),
    ),
}


def test_the_last_steps_that_can_be_counted():
    late = NET.init(0)._replace(step=jnp.int32(2**31 - 11))
    result = jn.simulate(NET, 1.0, state=late)
    assert int(result.state.step) == 2**31 - 1
    with pytest.raises(ValueError, match=r"got 1.1 ms after 2,147,483,637 steps"):
        jn.simulate(NET, 1.1, state=late)
    with pytest.raises(ValueError, match=r"got 1e\+12 ms after 0 steps"):
        jn.simulate(NET, 1e12)


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    assert_refused(*BAD[case])


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap, jax.grad])
def test_it_is_not_traced(transform):
    run = lambda tau: jn.simulate(jn.neurons.LIF(tau_m=tau), 1.0, dt=0.1).run_s  # noqa: E731
    x = jnp.ones(2) if transform is jax.vmap else 1.0
    with pytest.raises(ValueError, match="inside jit, vmap and grad use jn"):
        transform(run)(x)
