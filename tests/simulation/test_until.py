"""Runs that end at a condition, and callbacks: when they are asked; no bit depends on it."""

import importlib

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import balanced

driver = importlib.import_module("jaxneuro._run.simulate")
NET = jn.build(balanced(delay=jn.Uniform(0.5, 8.0)), 1, 0.1)
RECORD = jn.Record(
    variables={"E": "v"}, neurons={"E": [3, 100]}, interval=0.7, rates=True, statistics="I"
)


@pytest.fixture(scope="module")
def whole():
    return jn.simulate(NET, 30.4, record=RECORD)


def same(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def held(result):
    fields = ("state", "traces", "sample_times", "counts", "statistics")
    events = {name: result.events(name) for name in result.spikes}
    return {k: getattr(result, k) for k in fields} | {"events": events}


def never(result):
    return False


def asked(duration, every, **more):
    """The result, and the steps at which a condition was asked that never holds."""
    steps = []
    until = lambda result: steps.append(result.n_steps)  # noqa: E731
    result = jn.simulate(NET, duration, callback=until, check_interval=every, **more)
    return result, steps


@pytest.mark.slow(but=["0.5-None"])
@pytest.mark.parametrize(
    ("every", "chunk"),
    [(0.1, None), (0.5, None), (2.8, None), (2.8, 7), (30.4, None), (30.4, 70), (100.0, 7)],
)
def test_checks_change_no_bit_and_no_time(every, chunk, chunks, whole):
    if chunk:
        chunks(chunk)
    result, steps = asked(30.4, every, record=RECORD)
    same(held(result), held(whole))
    width = round(10 * every)
    assert steps == [*range(width, 304, width), 304]


def test_any_remainder_has_the_same_programs(whole):
    """A check interval that the record's does not divide, or the other way round."""
    asked(30.4, 0.5, record=RECORD)
    result, _ = asked(30.4, 1.1, record=RECORD)
    assert result.compile_s == 0.0
    same(held(result), held(whole))


@pytest.mark.parametrize("chunk", [None, 5])
def test_it_ends_at_the_first_check_at_which_the_condition_holds(chunk, chunks, whole):
    if chunk:
        chunks(chunk)
    seen = []

    def many(result):
        seen.append(result)
        return len(result.spikes["E"]) >= 100

    result = jn.simulate(NET, 30.4, record=RECORD, until=many, check_interval=0.9)
    times = whole.spikes["E"].times
    expected = next(k for k in range(9, 305, 9) if (times < k / 10 + 0.05).sum() >= 100)
    assert result.n_steps == expected < 300
    assert [x.n_steps for x in seen] == list(range(9, expected + 1, 9))
    assert not result.interrupted
    assert result.until_held
    for text in (repr(result), result._repr_html_()):
        assert "until its condition held" in text
    assert "ended after" in jn.analysis.summary(result)
    part = jn.simulate(NET, expected / 10, record=RECORD)
    same(held(result), held(part))
    assert not part.until_held
    assert "until" not in repr(part) + jn.analysis.summary(part)
    rest = jn.simulate(NET, 30.4 - result.duration, record=RECORD, state=result)
    same(rest.state, whole.state)


def test_results_so_far_stay_as_they_were(chunks, whole):
    """They are views of arrays that grow."""
    chunks(5)
    seen = []
    jn.simulate(NET, 30.4, record=RECORD, callback=seen.append, check_interval=2.5)
    assert [x.n_steps for x in seen] == [*range(25, 301, 25), 304]
    for result in seen:
        inside = whole.spikes["E"].times < result.stop + 0.05
        same(result.events("E"), tuple(x[inside] for x in whole.events("E")))
        same(result.counts["I"], whole.counts["I"][: result.n_steps])
        samples = result.n_steps // 7
        same(result.traces["E"]["v"], whole.traces["E"]["v"][:samples])
        same(result.sample_times, whole.sample_times[:samples])
        assert int(result.statistics["I"].count.sum()) == len(result.spikes["I"])
        assert int(result.state.step) == result.n_steps


def test_a_window_of_a_result_so_far(whole):
    """`rate` and `events` of a part look only at the steps near it."""
    counted = jn.simulate(NET, 30.4, record=jn.Record(spikes=False, rates=True))
    for start, stop in ((0.0, 30.4), (3.0, 3.1), (29.9, 30.4), (0.25, 17.35), (12.0, None)):
        times, neurons = whole.events("E")
        last = 30.4 if stop is None else stop
        inside = (times > start + 1e-6) & (times <= last + 1e-6)
        same(whole.events("E", start, stop), (times[inside], neurons[inside]))
        rate = inside.sum() / (160 * (last - start) * 1e-3)
        assert whole.rate("E", start, stop) == pytest.approx(rate)
        assert counted.rate("E", start, stop) == whole.rate("E", start, stop)


def test_a_condition_from_the_start():
    result = jn.simulate(NET, 30.0, until=lambda result: True, check_interval=1.0)
    assert result.n_steps == 10
    nothing, steps = asked(0.0, 1.0)
    assert (nothing.n_steps, steps) == (0, [0])
    assert jn.simulate(NET, 0.5, until=lambda r: np.True_, check_interval=1.0).n_steps == 5


def test_both_are_asked_the_callback_first():
    order = []
    jn.simulate(
        NET,
        3.0,
        until=lambda result: order.append("until") or result.n_steps == 20,
        callback=lambda result: order.append("callback"),
        check_interval=1.0,
    )
    assert order == ["callback", "until"] * 2


def test_a_run_that_goes_on():
    first = jn.simulate(NET, 3.3, record=RECORD)
    whole = jn.simulate(NET, 27.1, record=RECORD, state=first)
    seen = []
    result = jn.simulate(
        NET,
        27.1,
        record=RECORD,
        state=first,
        until=lambda result: seen.append((result.start, result.n_steps)) or False,
        check_interval=5.0,
    )
    same(held(result), held(whole))
    assert [n for _, n in seen] == [50, 100, 150, 200, 250, 271]
    assert {start for start, _ in seen} == {first.stop}


@pytest.mark.parametrize("name", ["until", "callback"])
def test_an_error_has_the_result(name):
    def broken(result):
        if result.n_steps >= 20:
            raise RuntimeError("no answer")
        return False

    with pytest.raises(RuntimeError, match="no answer") as caught:
        jn.simulate(NET, 10.0, **{name: broken}, check_interval=1.0)
    assert caught.value.result.n_steps == 20


def test_ctrl_c_in_a_condition(whole):
    def stop(result):
        if result.n_steps >= 30:
            raise KeyboardInterrupt
        return False

    with pytest.raises(jn.Interrupted) as caught:
        jn.simulate(NET, 30.4, record=RECORD, until=stop, check_interval=1.0)
    result = caught.value.result
    assert (result.n_steps, result.interrupted) == (30, True)
    rest = jn.simulate(NET, 27.4, record=RECORD, state=result)
    same(rest.state, whole.state)


@pytest.mark.parametrize("call", [1, 4, 9])
def test_ctrl_c_between_checks(call, chunks, monkeypatch, whole):
    chunks(7)
    collect, calls = driver._Run._collect, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return collect(self, *args)

    monkeypatch.setattr(driver._Run, "_collect", interrupted)
    with pytest.raises(jn.Interrupted) as caught:
        jn.simulate(NET, 30.4, record=RECORD, until=never, check_interval=2.5)
    monkeypatch.setattr(driver._Run, "_collect", collect)
    result = caught.value.result
    assert 0 < result.n_steps < 100
    inside = whole.spikes["E"].times < result.stop + 0.05
    same(result.events("E"), tuple(x[inside] for x in whole.events("E")))
    rest = jn.simulate(NET, 30.4 - result.duration, record=RECORD, state=result)
    same(rest.state, whole.state)


def test_ctrl_c_before_the_first_chunk(monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(driver, "program", stop)
    with pytest.raises(jn.Interrupted) as caught:
        jn.simulate(NET, 30.4, record=RECORD)
    result = caught.value.result
    assert (result.n_steps, len(result.spikes["E"]), result.traces["E"]["v"].shape) == (
        0,
        0,
        (0, 2),
    )
    assert int(result.statistics["I"].count.sum()) == 0
    assert int(result.state.step) == 0


def test_a_state_that_is_not_finite_comes_first():
    """The condition is not asked of a run that is broken."""
    net, seen = NET.set("E->E", weight=3e38), []
    with pytest.raises(jn.NonFiniteError) as caught:
        jn.simulate(net, 50.0, callback=seen.append, check_interval=1.0)
    result = caught.value.result
    assert result.n_steps == 10 * (len(seen) + 1)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"check_interval": 1.0}, "check_interval"),
        ({"until": never}, "check_interval"),
        ({"until": never, "check_interval": 0.0}, "check_interval"),
        ({"until": never, "check_interval": 0.25}, "check_interval"),
        ({"until": never, "check_interval": np.inf}, "check_interval"),
        ({"until": 3, "check_interval": 1.0}, "until"),
        ({"callback": "print", "check_interval": 1.0}, "callback"),
        ({"until": lambda result: None, "check_interval": 1.0}, "what until returns"),
        ({"until": lambda result: 1.0, "check_interval": 1.0}, "what until returns"),
    ],
)
def test_bad_input(given, field):
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.simulate(NET, 3.0, **given)
    assert (caught.value.owner, caught.value.field) == ("simulate", field)
