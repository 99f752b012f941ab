"""Phases after many steps, normal numbers, and events with a probability."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from jaxneuro._numerics.draws import chance, standard_normal
from jaxneuro._numerics.phase import cycles
from jaxneuro._numerics.streams import bits, seed_of, stream_key

STEPS = [0, 1, 7, 2**24 + 1, 2**30, 2**31 - 1, -1, -1234567, -(2**31)]


of_step = jax.jit(cycles, static_argnums=2)
normal = jax.jit(standard_normal, static_argnums=1)
by_chance = jax.jit(chance)
slope_of_step = jax.jit(jax.grad(lambda f, step: cycles(f, step, 0.1)))
slopes_of_step = jax.jit(jax.vmap(jax.grad(lambda f, step: cycles(f, step, 0.1)), (0, None)))


def words(n):
    key = stream_key(seed_of(0), "x", "stimulus")
    return jax.device_put(bits(key, np.arange(n), 0))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dt", [0.1, 0.025, 1.0, 7.3])
def test_cycles_equal_exact_fractions(step, dt):
    frequency = np.asarray([0.0, 1e-4, 0.01, 1.0, 7.3, 40.0, 999.9, 12345.0], np.float32)
    got = of_step(frequency, np.int32(step), dt)
    assert got.dtype == np.float32
    for f, x in zip(frequency, np.asarray(got)):
        exact = Fraction(float(f)) * Fraction(dt) / 1000 * step
        away = Fraction(float(x)) - exact
        assert abs(away - round(away)) < 4e-8 + 6e-11 * f, float(f)
        assert -0.5 <= x <= 0.5


@pytest.mark.usefixtures("x64")
def test_cycles_in_float64():
    frequency = np.asarray([1e-7, 7.3, 41.7])
    got = of_step(frequency, np.int32(2**30), 0.1)
    assert got.dtype == np.float64
    for f, x in zip(frequency, np.asarray(got)):
        away = Fraction(float(x)) - Fraction(float(f)) * Fraction(0.1) / 1000 * 2**30
        assert abs(away - round(away)) < 1e-9 + 6e-11 * f


def test_normal_numbers_have_the_law_and_its_moments():
    x = np.asarray(normal(words(1_000_000), jnp.float32), np.float64)
    assert scipy.stats.kstest(x, "norm").pvalue > 1e-4
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        assert abs((x**power).mean() - moment) < 5 * np.sqrt(variance / x.size), power
    for z in (2.5, 3.5, 4.0):
        expected = 2 * scipy.stats.norm.sf(z) * x.size
        assert abs((np.abs(x) > z).sum() - expected) < 5 * np.sqrt(expected)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.usefixtures("x64")
def test_normal_numbers_from_known_words(dtype):
    a = np.asarray([0, 1, 2**31, 2**32 - 2**24, 12345678, 2**20], np.uint32)
    b = np.asarray([0, 2**30, 2**31, 2**32 - 1, 2**31 - 1, 3 * 2**29], np.uint32)
    got = np.asarray(normal((a, b), dtype))
    u, turn = (a + 0.5) / 2**32, b / 2**32
    want = np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * turn)
    np.testing.assert_allclose(got, want, atol=2e-6 if dtype == jnp.float32 else 1e-13)
    assert got[0] > 6.7


@pytest.mark.parametrize("p", [0.0, 1e-5, 0.3, 0.999, 1.0])
def test_chances(p):
    word = words(1_000_000)[0]
    hits = np.asarray(by_chance(word, np.float32(p)))
    assert abs(hits.sum() - p * hits.size) <= 5 * np.sqrt(p * (1 - p) * hits.size)
    ends = np.asarray(by_chance(np.asarray([0, 2**32 - 1], np.uint32), np.float32(p)))
    assert ends.tolist() == [p > 0, p == 1]


@pytest.mark.parametrize("step", [-7, 0, 57, 2**20])
def test_the_phase_has_the_slope_of_time(step):
    """d cycles / d frequency = t [s], exactly; also of a batch."""
    slope = slope_of_step(np.float32(12.3), np.int32(step))
    np.testing.assert_allclose(slope, step * 1e-4, rtol=1e-6)
    many = slopes_of_step(np.arange(1.0, 4.0, dtype=np.float32), np.int32(step))
    np.testing.assert_allclose(many, np.full(3, step * 1e-4), rtol=1e-6)
    at = [np.asarray(of_step(np.float32(f), np.int32(57), 0.1)) for f in (10.01, 9.99)]
    wide = (at[0] - at[1]) / 0.02
    np.testing.assert_allclose(wide, 57e-4, rtol=1e-3)
