"""Durations on the grid, the mean over a step, and Hz."""

import hypothesis
import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._numerics.grid import (
    check_dt,
    per_step,
    step_counts,
    steps_on_grid,
    time_tolerance,
    to_hz,
)
from jaxneuro._numerics.maths import mean_over_step


@hypothesis.given(n=st.integers(0, 100_000), dt=st.sampled_from([0.1, 0.05, 0.01, 0.025, 1.0]))
def test_multiples_of_dt_are_whole_steps(n, dt):
    for duration in (n * dt, np.float32(n * dt), jnp.float32(n * dt), np.array([n * dt])):
        got = steps_on_grid("t", duration, dt)
        assert got.dtype == np.int64
        assert (got == n).all()


@pytest.mark.parametrize(
    ("duration", "low", "high"),
    [(0.15, "0.1", "0.2"), (0.05, "0", "0.1"), (1.9999, "1.9", "2"), (2.0001, "2", "2.1")],
)
def test_both_neighbours_are_named(duration, low, high):
    pattern = rf"t_ref must be a whole number.*0.1 ms; got {duration}.* between {low} and {high} ms"
    with pytest.raises(ValueError, match=pattern):
        steps_on_grid("t_ref", duration, 0.1)


def test_float32_leaves_are_on_the_grid_but_float32_is_no_excuse():
    leaf = jnp.asarray([0.1, 0.3, 1.7, 999.9], jnp.float32)
    assert steps_on_grid("t", leaf, 0.1).tolist() == [1, 3, 17, 9999]
    for value in (0.1001, 2.0005, 999.95):
        with pytest.raises(ValueError, match="whole number"):
            steps_on_grid("t", np.float32(value), 0.1)


def test_the_tolerance_is_a_millionth_of_a_step():
    assert steps_on_grid("t", 0.1 * (1 + 5e-7), 0.1) == 1
    with pytest.raises(ValueError, match="whole number"):
        steps_on_grid("t", 0.1 * (1 + 2e-6), 0.1)


def test_the_first_bad_entry_of_an_array_is_named():
    with pytest.raises(ValueError, match=r"got 0\.25 ms, between 0\.2 and 0\.3 ms"):
        steps_on_grid("t", np.array([0.1, 0.25, 0.35]), 0.1)


@pytest.mark.parametrize("value", [np.float32(0.15), 0.1 + 0.05, jnp.float32(0.15)])
def test_numbers_are_printed_as_people_write_them(value):
    with pytest.raises(ValueError, match=r"steps of 0\.1 ms; got 0\.15 ms, between"):
        steps_on_grid("t", value, 0.1)
    with pytest.raises(ValueError, match=r"steps of 0\.3 ms; got 0\.15 ms, between 0 and 0\.3 ms"):
        steps_on_grid("t", value, 0.1 * 3)
    with pytest.raises(ValueError, match=r"of 0\.05 ms; got 0\.15 ms"):
        steps_on_grid("t", value, 0.05, at_least=4)


@pytest.mark.parametrize("value", [0.0, -0.1, [0.1, 0.0]])
def test_at_least(value):
    with pytest.raises(ValueError, match=r"delay must be at least 1 time step.*0.1 ms; got"):
        steps_on_grid("delay", value, 0.1, at_least=1)
    assert (steps_on_grid("delay", 0.1, 0.1, at_least=1) == 1).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, [0.1, np.inf]])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="t must be finite; got"):
        steps_on_grid("t", value, 0.1)


SHORT = [np.dtype(x) for x in ("f4", ">f4", "f8", "f2")]


@pytest.mark.parametrize("dtype", SHORT, ids=str)
@pytest.mark.parametrize("dt", [0.1, 0.05, 0.25, 1 / 3, 1.0])
def test_times_of_every_dtype_are_at_the_ends_of_their_steps(dtype, dt):
    """Rounded once, and as products of two rounded numbers; up to where they are dt / 4 apart."""
    last = min(int(0.12 / np.finfo(dtype).eps), 10**6)
    k = np.unique(np.geomspace(1, last, 3000).astype(np.int64))
    for given in ((k * dt).astype(dtype), k.astype(dtype) * dtype.type(dt)):
        times, exact = given.astype(np.float64), k
        if given.dtype.itemsize == 2:  # float16 does not hold every step number
            exact = np.rint(k.astype(dtype).astype(np.float64)).astype(np.int64)
            times = (exact * dt).astype(dtype).astype(np.float64)
        tolerance = time_tolerance(times, dtype)
        np.testing.assert_array_equal(step_counts(times, dt, tolerance), exact)
        np.testing.assert_array_equal(step_counts(times - 0.3 * dt, dt, tolerance), exact)


def test_a_time_between_two_steps_belongs_to_the_later():
    times = np.array([0.30002, 0.35, 0.39998, 0.4, 100.30004])
    for dtype in (np.float32, np.float64):
        tolerance = time_tolerance(times.astype(dtype).astype(np.float64), np.dtype(dtype))
        assert step_counts(times, 0.1, tolerance).tolist() == [4, 4, 4, 4, 1004]


def test_times_that_are_more_than_half_a_step_apart_are_refused():
    late = np.array([700_000.1])
    assert steps_on_grid("t", late, 0.1) == 7_000_001
    with pytest.raises(jn.InvalidValueError, match=r"t must be in float64.*0\.0625 ms apart"):
        steps_on_grid("t", late.astype(np.float32), 0.1)
    assert steps_on_grid("t", late.astype(np.float32), 0.125) == 5_600_001


def test_an_error_says_whose_duration_it_is():
    with pytest.raises(jn.InvalidValueError) as caught:
        steps_on_grid("projection 'A->B': delay", 0.15, 0.1)
    assert (caught.value.owner, caught.value.field) == ("projection 'A->B'", "delay")
    with pytest.raises(jn.InvalidValueError) as caught:
        steps_on_grid("t_ref", 0.002, 0.1)
    assert "2 (s -> ms)" in caught.value.hint


def test_no_durations_are_no_steps():
    assert steps_on_grid("t", np.zeros(0), 0.1).shape == (0,)


@pytest.mark.parametrize("dt", [0, -0.1, np.nan, np.inf, "x", None, 1e-4])
def test_a_bad_dt_is_refused(dt):
    with pytest.raises(jn.InvalidValueError) as caught:
        check_dt(dt)
    assert caught.value.field == "dt"


def test_a_good_dt_is_a_float():
    assert type(check_dt(np.float32(0.5))) is float
    assert check_dt(1) == 1.0
    assert [check_dt(x(0.1)) for x in (np.float32, np.float16, jnp.float32)] == [0.1] * 3


@pytest.mark.parametrize("tau", [0.05, 0.5, 2.0, 10.0, 1e6])
def test_mean_over_step_is_the_integral(tau):
    dt, n = 0.1, 100_000
    u = (np.arange(n) + 0.5) * dt / n
    want = np.exp(-u / tau).mean()
    np.testing.assert_allclose(mean_over_step(jnp.float32(tau), dt), want, rtol=1e-6)


def test_hz_and_ms():
    assert per_step(1000.0, 0.1) == pytest.approx(0.1)
    assert to_hz(50, 10, 500.0) == pytest.approx(10.0)
    assert to_hz(per_step(7.0, 0.1) * 10_000, 1, 1000.0) == pytest.approx(7.0)
