"""Signals: exact at every step, and refused where they make no sense."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.stimuli import Current, Poisson, Pulses, Ramp, Sinusoid, Steps, TimeFunction
from tests.oracle import stimuli as oracle
from tests.refusing import assert_refused
from tests.stimuli.driving import DT, prepare, run, values

LATE = [2**24 + 1, 2**30, 2**31 - 1]


@pytest.mark.parametrize("frequency", [0.0, 3.7, 50.0, 4999.0])
def test_a_sinusoid_is_exact_at_any_step(frequency):
    f = float(np.float32(frequency))
    steps = [*range(-5, 300), *LATE, -(2**30)]
    got = values(Sinusoid(2.0, 3.0, f, 0.5), steps)
    want = [oracle.sinusoid(k, 2.0, 3.0, f, 0.5, DT) for k in steps]
    np.testing.assert_allclose(got, want, atol=5e-6)


def test_a_sinusoid_for_each_neuron():
    signal = Sinusoid(np.asarray([1.0, 2.0]), 1.0, np.asarray([8.0, 16.0]), phase=[0.0, 1.0])
    got = values(signal, [2**30 + 3], n=2)[0]
    want = [oracle.sinusoid(2**30 + 3, m, 1.0, f, p, DT) for m, f, p in ((1, 8, 0), (2, 16, 1))]
    np.testing.assert_allclose(got, want, atol=2e-6)


def test_a_sinusoid_stays_within_its_bounds():
    signal = Sinusoid(10.1, 10.1, 13.7)
    x = values(signal, np.arange(100_000))
    assert x.min() >= 0
    low, high = signal.bounds()
    assert low <= x.min() < 1e-3
    assert high >= x.max() > high - 1e-3


@pytest.mark.slow
@hypothesis.given(
    # Few lengths, for the number of steps is a shape.
    firsts=st.sampled_from([1, 4, 9]).flatmap(
        lambda n: st.lists(st.integers(0, 50), min_size=n, max_size=n, unique=True).map(sorted)
    ),
    offset=st.sampled_from([0, 2**24 + 1, 2**31 - 100]),
    wide=st.booleans(),
)
def test_steps_change_at_exact_steps(firsts, offset, wide):
    firsts = [f + offset for f in firsts]
    numbers = np.random.default_rng(len(firsts)).normal(size=(len(firsts), 3)[: 1 + wide])
    times = np.asarray(firsts, np.float64) * DT
    at = np.unique([k for f in (*firsts, offset + 5) for k in (f - 1, f, f + 1)])
    got = values(Steps(times, numbers), [-7, 0, *at], n=3)
    want = [oracle.steps(int(k), firsts, numbers) for k in (-7, 0, *at)]
    np.testing.assert_array_equal(got, np.asarray(want, np.float32))


@pytest.mark.parametrize("first", [0, 13, 2**24 + 1])
def test_a_ramp_moves_between_exact_steps(first):
    last = first + 37
    signal = Ramp(-1.0, 2.5, first * DT, last * DT)
    steps = [-3, *range(max(first - 2, 0), last + 3), 2**31 - 1]
    want = [oracle.ramp(k, -1.0, 2.5, first, last) for k in steps]
    np.testing.assert_allclose(values(signal, steps), want, atol=1e-6)
    ends = values(signal, [max(first - 1, 0), first, last, last + 1])
    assert ends.tolist() == [-1.0, -1.0, 2.5, 2.5]


@pytest.mark.parametrize(
    ("width", "period", "first"), [(1, 1, 0), (1, 2, 5), (10, 30, 7), (3, 1000, 2**24 + 1)]
)
def test_pulses_have_exact_edges(width, period, first):
    signal = Pulses(4.0, width * DT, period * DT, first * DT, baseline=-1.0)
    steps = [
        -10,
        *range(max(0, first - 3), first + 2 * period + 9),
        *(k for k in LATE if k > first),
    ]
    want = [oracle.pulses(k, 4.0, width, period, first, -1.0) for k in steps]
    np.testing.assert_array_equal(values(signal, steps), want)


def test_a_function_is_called_at_the_middle_of_the_step():
    got = run(Current(lambda t: 2.0 * t + 1.0), 3, 50)
    np.testing.assert_allclose(got, 2.0 * (np.arange(50) + 0.5) * DT + 1.0, rtol=1e-6)
    each = run(Current(lambda t: jnp.arange(3.0) * t), 3, 20)
    want = np.arange(3) * (np.arange(20)[:, None] + 0.5) * DT
    np.testing.assert_allclose(each, want, rtol=1e-6)
    whole = run(Current(TimeFunction(lambda t: 1, gain=0.5)), 3, 4)
    assert whole.tolist() == [0.5] * 4


def test_the_gain_of_a_function_has_a_gradient():
    @jax.jit
    @jax.grad
    def slope(gain):
        signal = TimeFunction(jnp.sin, gain)
        return sum(signal.at(k, DT) for k in range(5))

    want = np.sin((np.arange(5) + 0.5) * DT).sum()
    np.testing.assert_allclose(slope(np.float32(1.0)), want, rtol=1e-5)


def test_a_current_is_its_amplitude():
    assert (run(Current(12.5), 4, 3) == 12.5).all()
    np.testing.assert_array_equal(run(Current(np.arange(4)), 4, 3), [[0, 1, 2, 3]] * 3)
    late = run(Current(Steps([0.0, 1.0], [5.0, 7.0])), 4, 20)
    np.testing.assert_array_equal(late, [5.0] * 10 + [7.0] * 10)
    wave = run(Current(Sinusoid(1.0, 2.0, 50.0)), 4, 300, first=2**30)
    want = [oracle.sinusoid(2**30 + k, 1.0, 2.0, 50.0, 0.0, DT) for k in range(300)]
    np.testing.assert_allclose(wave, want, atol=3e-6)


@pytest.mark.usefixtures("x64")
def test_the_dtype_is_that_of_the_parameters():
    for amplitude in (3.0, lambda t: t * 2, Ramp(0.0, 1.0, 0.0, 1.0), Sinusoid(0.0, 1.0, 9.0)):
        ready = prepare(Current(amplitude), 2)
        for dtype in (np.float32, np.float64):
            model = jax.tree.map(functools.partial(as_float, dtype=dtype), ready)
            now = jax.eval_shape(lambda m: m.step(m.init(2, None), np.int32(3), DT)[1], model)
            assert now.current.dtype == dtype


def as_float(x, dtype):
    return np.asarray(x, dtype) if x.dtype.kind == "f" else x


def test_a_batch_of_signals():
    def at(frequency, k):
        return Sinusoid(0.0, 1.0, frequency).at(k, DT)

    f, one = np.float32([1.0, 10.0, 100.0]), jax.jit(at)
    got = jax.jit(jax.vmap(at, in_axes=(0, None)))(f, np.int32(77))
    np.testing.assert_allclose(got, [one(x, np.int32(77)) for x in f], atol=1e-6)
    ready = Steps([1.0, 2.0], [3.0, 4.0]).prepare("x", 1, DT, None)
    np.testing.assert_array_equal(values(ready, np.arange(9, 21)), [0.0] + [3.0] * 10 + [4.0])


NAN = float("nan")
REFUSED = {
    "nan amplitude": (lambda: Current(NAN), "amplitude", "nan"),
    "text": (lambda: Current("five"), "amplitude", "'five'"),
    "none": (lambda: Poisson(None), "rate", "None"),
    "rate below 0": (lambda: Poisson(-1.0), "rate", "-1.0"),
    "a class": (lambda: Poisson(Sinusoid), "rate", "Sinusoid"),
    "sinusoid below 0": (lambda: Poisson(Sinusoid(5.0, 6.0, 1.0)), "rate", "Sinusoid of -1"),
    "steps below 0": (lambda: Poisson(Steps([1.0], [-1.0])), "rate", "Steps of -1"),
    "ramp below 0": (lambda: Poisson(Ramp(5.0, -0.1, 0.0, 1.0)), "rate", "Ramp of -0.1"),
    "pulses below 0": (lambda: Poisson(Pulses(1.0, 1.0, 2.0, baseline=-1.0)), "rate", "Pulses"),
    "times that fall": (lambda: Steps([2.0, 1.0], [0, 1]), "times", "index 0"),
    "equal times": (lambda: Steps([1.0, 1.0], [0, 1]), "times", "index 0"),
    "nan time": (lambda: Steps([NAN], [0]), "times", "nan"),
    "time below 0": (lambda: Steps([-1.0], [0]), "times", "-1.0"),
    "nan value": (lambda: Steps([1.0], [NAN]), "values", "nan"),
    "text values": (lambda: Steps([1.0], ["a"]), "values", "'a'"),
    "one value": (lambda: Steps([1.0], 2.0), "values", "shape ()"),
    "too few values": (lambda: Steps([1.0, 2.0], [1.0]), "values", "[1]"),
    "no times": (lambda: Steps([], []), "times", "[]"),
    "text times": (lambda: Steps(["a"], [1.0]), "times", "'a'"),
    "ramp backwards": (lambda: Ramp(0.0, 1.0, 5.0, 5.0), "t_stop", "5.0 ms"),
    "ramp times": (lambda: Ramp(0.0, 1.0, [0.0, 1.0], 5.0), "t_start", "shape (2,)"),
    "wide": (lambda: Pulses(1.0, 6.0, 5.0), "period", "5.0 ms"),
    "not callable": (lambda: TimeFunction(3.0), "function", "3.0"),
    "gain": (lambda: TimeFunction(abs, [1.0, 2.0]), "gain", "shape (2,)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    make, field, got = REFUSED[name]
    with pytest.raises(jn.InvalidValueError) as error:
        make()
    assert error.value.field == field
    assert got in error.value.got


OFF = {
    "steps": (Steps([1.0, 2.05], [0, 1]), "x: amplitude: times .* 2.05 ms, between 2 and 2.1 ms"),
    "ramp": (Ramp(0.0, 1.0, 0.0, 3.33), "amplitude: t_stop .* 3.33 ms, between 3.3 and 3.4"),
    "pulses": (Pulses(1.0, 0.25, 5.0), "amplitude: width .* 0.25 ms, between 0.2 and 0.3"),
    "too late": (Steps([2.0**31 * DT], [1.0]), "at most 2147483646 time steps"),
    "length": (np.ones(4), r"x: amplitude must be one number .*\(3,\); got shape \(4,\)"),
    "length inside": (Sinusoid(np.ones(4), 1.0, 1.0), r"x: amplitude: mean must be .*\(3,\)"),
    "length of steps": (Steps([1.0], np.ones((1, 4))), r"values must be of shape .*\(m, 3\)"),
    "length of a function": (lambda t: jnp.ones(4) * t, r"function of time .*\(3,\); got .*\(4,\)"),
}


KEY = jax.random.key(0)


def _fails(t):
    raise KeyError("lost")


FUNCTIONS = {
    "numpy": (lambda t: 1 + np.sin(t), "got TracerArrayConversionError"),
    "if": (lambda t: 100.0 if t > 10 else 0.0, "got TracerBoolConversionError"),
    "none": (lambda t: None, "returned None"),
    "no argument": (lambda: 1.0, "got TypeError: .*argument"),
    "two arguments": (lambda t, u: t, "got TypeError: .*argument"),
    "raises": (_fails, "got KeyError: 'lost'"),
    "text": (lambda t: "high", "got TypeError"),
    "random": (lambda t: np.random.random(), "got draws from np.random"),
    "random, with t": (lambda t: t * np.random.random(3), "got draws from np.random"),
    "a key": (lambda t: jax.random.uniform(KEY), "got numbers of a key that never changes"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_time_that_cannot_run(name):
    function, message = FUNCTIONS[name]
    with pytest.raises(jn.InvalidValueError, match=message) as error:
        Poisson(function).prepare("stimulation 's'", 3, DT, None)
    assert (error.value.owner, error.value.field) == ("stimulation 's': rate", "function")


def test_a_function_of_time_is_real():
    assert_refused(
        lambda: Poisson(lambda t: t.astype(jnp.complex64)).prepare("'s'", 3, DT, None),
        "'s': rate",
        "function",
        "complex64",
    )


def test_whole_numbers_and_truth_values_are_values_of_a_function():
    drawn = lambda t: jax.random.uniform(jax.random.fold_in(KEY, t.astype(int)))  # noqa: E731
    for function in (lambda t: 3, lambda t: t > 1, lambda t: [t, 2 * t, 3.0], drawn):
        ready = Current(function).prepare("x", 3, DT, None)
        assert ready.step(None, jnp.int32(0), DT)[1].current.dtype == jnp.float32


def test_float32_tells_times_apart_up_to_step_2_23():
    t = values(TimeFunction(lambda t: t), 2**23 + np.arange(-1000, 3))
    assert (np.diff(t[:1000]) > 0).all()
    assert (np.diff(t[1000:]) == 0).any()


def test_float32_times_of_signals():
    f4 = np.float32
    signals = (
        Steps(jnp.asarray([0.1, 300.3], jnp.float32), [1.0, 2.0]),
        Steps([f4(0.1), f4(300.3)], [1.0, 2.0]),
        Pulses(1.0, f4(0.3), jnp.float32(300.3), 0.7),
        Ramp(0.0, 1.0, jnp.float32(0.7), 300.3),
    )
    ready = [s.prepare("x", 1, DT, None) for s in signals]
    assert [s.times.tolist() for s in ready[:2]] == [[1, 3003]] * 2
    assert (ready[2].width, ready[2].period, ready[2].t_first) == (3, 3003, 7)
    assert (ready[3].t_start, ready[3].t_stop) == (7, 3003)
    assert_refused(
        lambda: Steps([f4(0.15), f4(0.12)], [1.0, 2.0]),
        "Steps",
        "times",
        "[0.15, 0.12] ms at index 0",
    )


@pytest.mark.parametrize("name", OFF)
def test_what_is_refused_when_a_network_is_built(name):
    amplitude, message = OFF[name]
    with pytest.raises(ValueError, match=message):
        Current(amplitude).prepare("x", 3, DT, None)


def test_a_signal_in_ms_does_not_run():
    for signal in (Steps([1.0], [1.0]), Ramp(0.0, 1.0, 0.0, 1.0), Pulses(1.0, 1.0, 2.0)):
        with pytest.raises(ValueError, match="call prepare"):
            signal.at(jnp.int32(0), DT)
        ready = signal.prepare("x", 1, DT, None)
        again = ready.prepare("x", 1, DT, None)
        assert jax.tree.leaves(again)[0].dtype == jax.tree.leaves(ready)[0].dtype
        assert ready.at(jnp.int32(5), DT) == again.at(jnp.int32(5), DT)
