"""Distributions against scipy: quantiles, truncation, both paths, refusals."""

import functools
import math

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import jaxneuro as jn
from jaxneuro._numerics.distributions import LogNormal, Normal, Uniform, unit_interval

U = np.concatenate([[2.0**-24, 1 - 2.0**-24], np.linspace(0.001, 0.999, 301)])
INF = math.inf


def truncated(mean, sd, low=-INF, high=INF):
    return scipy.stats.truncnorm((low - mean) / sd, (high - mean) / sd, loc=mean, scale=sd)


BOUNDS = [
    (-INF, INF),
    (0.0, INF),
    (-INF, 0.0),
    (-1.0, 2.0),
    (1.9, 2.1),
    (9.0, INF),  # 3.5 sd above the mean
    (12.0, 13.0),  # 5 sd above
    (-INF, -5.0),
    (-9.0, -8.0),
    (-200.0, 300.0),
]


LOG_BOUNDS = [(0.0, INF), (1.0, INF), (0.0, 2.0), (0.5, 8.0)]


@functools.cache
def of_jax():
    """The float32 quantiles of all bounds, from one program."""
    laws = {b: Normal(2.0, 2.0, low=b[0], high=b[1]) for b in BOUNDS}
    logs = {("log", *b): LogNormal(0.3, 0.8, low=b[0], high=b[1]) for b in LOG_BOUNDS}
    far = {("far", s): Normal(0.0, 1.0, **{s: v}) for s, v in (("low", 6.0), ("high", -6.0))}
    laws |= logs | far | {"uniform": Uniform(-3, 2)}
    got = jax.jit(lambda u: [law.quantile(u) for law in laws.values()])(U.astype(np.float32))
    return dict(zip(laws, map(np.asarray, got)))


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_normal_equals_scipy(low, high):
    mean, sd = 2.0, 2.0
    d = Normal(mean, sd, low=low, high=high)
    want = truncated(mean, sd, low, high).ppf(U)
    np.testing.assert_allclose(d.quantile(U), want, rtol=1e-9, atol=1e-9)
    got = of_jax()[low, high]
    assert got.dtype == np.float32
    assert ((got >= np.float32(low)) & (got <= np.float32(high))).all()
    # float32 numbers near 1 are 6e-8 apart: so far out, that is what a value is known to.
    inner = (U > 0.0009) & (U < 0.9991)
    np.testing.assert_allclose(got[inner], want[inner], rtol=2e-5, atol=2e-5)


@hypothesis.given(
    mean=st.floats(-50, 50),
    sd=st.floats(0.01, 20),
    low=st.floats(-4, 3),
    width=st.floats(0.1, 5),
)
def test_truncation_equals_scipy_wherever_the_bounds_are(mean, sd, low, width):
    a, b = mean + low * sd, mean + (low + width) * sd
    got = Normal(mean, sd, low=a, high=b).quantile(U)
    want = truncated(mean, sd, a, b).ppf(U)
    np.testing.assert_allclose((got - mean) / sd, (want - mean) / sd, rtol=1e-7, atol=1e-7)
    assert (np.diff(got[2:]) >= 0).all()
    slack = 1e-12 * (abs(mean) + sd)
    assert got.min() >= a - slack
    assert got.max() <= b + slack


def test_both_far_tails_mirror_each_other():
    above, below = Normal(0.0, 1.0, low=6.0), Normal(0.0, 1.0, high=-6.0)
    np.testing.assert_allclose(above.quantile(U), -below.quantile(1 - U), rtol=1e-13)
    np.testing.assert_allclose(above.quantile(U), truncated(0, 1, low=6.0).ppf(U), rtol=1e-9)
    for side, sign in (("low", 1), ("high", -1)):
        got = sign * of_jax()["far", side]
        assert np.isfinite(got).all()
        assert (got >= 6.0).all()


@pytest.mark.parametrize(("low", "high"), LOG_BOUNDS)
def test_log_normal_equals_scipy(low, high):
    mu, sigma = 0.3, 0.8
    law = scipy.stats.lognorm(sigma, scale=math.exp(mu))
    want = law.ppf(law.cdf(low) + (law.cdf(high) - law.cdf(low)) * U)
    d = LogNormal(mu, sigma, low=low, high=high)
    np.testing.assert_allclose(d.quantile(U), want, rtol=1e-9)
    inner = (U > 0.0009) & (U < 0.9991)
    np.testing.assert_allclose(of_jax()["log", low, high][inner], want[inner], rtol=5e-5)


def test_uniform_equals_scipy():
    want = scipy.stats.uniform(-3.0, 5.0).ppf(U)
    np.testing.assert_allclose(Uniform(-3, 2).quantile(U), want, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(of_jax()["uniform"], want, rtol=1e-5, atol=1e-6)


def test_no_spread_gives_the_mean_in_the_dtype_of_the_draw():
    u = jnp.full(3, 0.2, jnp.float32)
    for d, value in ((Normal(4, 0), 4.0), (LogNormal(0, 0), 1.0), (Uniform(2, 2), 2.0)):
        assert d.quantile(u).tolist() == [value] * 3
        assert d.quantile(u).dtype == jnp.float32
        assert d.quantile(np.full(3, 0.2)).tolist() == [value] * 3
    assert Normal(4.0, 0.0).support() == (4.0, 4.0)


@pytest.mark.parametrize("number", [np.float64, np.float32, np.int64, int, float])
def test_numbers_of_numpy_are_plain_numbers(number):
    # Strict promotion would refuse a NumPy scalar beside a float32 array.
    def drawn(number, u):
        laws = [law(number(1), number(2)) for law in (Normal, LogNormal, Uniform)]
        laws.append(Normal(number(1), number(2), low=number(0), high=number(3)))
        return [law.quantile(u) for law in laws]

    both = jax.jit(lambda u: (drawn(number, u), drawn(float, u)))
    np.testing.assert_array_equal(*both(np.full(2, 0.3, np.float32)))


@pytest.mark.slow
def test_the_unit_interval_is_open_and_the_same_in_numpy_and_jax():
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**32, 10_000, dtype=np.uint64).astype(np.uint32)
    words[:6] = (0, 1, 511, 512, 2**32 - 512, 2**32 - 1)
    plain, traced = unit_interval(words), jax.jit(unit_interval)(words)
    assert plain.dtype == np.float64
    assert traced.dtype == np.float32
    np.testing.assert_array_equal(plain, np.asarray(traced, np.float64))
    assert plain.min() > 0.0
    assert plain.max() < 1.0
    ends = unit_interval(jnp.asarray([0, 2**32 - 1], jnp.uint32))
    assert jnp.isfinite(Normal(0.0, 1.0).quantile(ends)).all()
    assert ends[0] == 1 - ends[1]


@pytest.mark.parametrize(
    ("make", "owner", "field"),
    [
        (lambda: Normal(0.0, -1.0), "Normal", "sd"),
        (lambda: Normal(math.nan, 1.0), "Normal", "mean"),
        (lambda: Normal(0.0, INF), "Normal", "sd"),
        (lambda: Normal(0.0, 1.0, low=math.nan), "Normal", "low"),
        (lambda: Normal(0.0, 1.0, low=2.0, high=1.0), "Normal", "high"),
        (lambda: Normal(0.0, 1.0, low=1.0, high=1.0), "Normal", "high"),
        (lambda: Normal(0.0, 1.0, low=30.0), "Normal", "mean"),
        (lambda: Normal(0.0, 1.0, high=-30.0), "Normal", "mean"),
        (lambda: Normal(0.0, 0.0, low=1.0), "Normal", "mean"),
        (lambda: LogNormal(0.0, -1.0), "LogNormal", "sigma"),
        (lambda: LogNormal(0.0, 15.0), "LogNormal", "sigma"),
        (lambda: LogNormal(0.0, 1.0, low=-1.0), "LogNormal", "low"),
        (lambda: LogNormal(0.0, 0.0, low=2.0), "LogNormal", "mu"),
        (lambda: LogNormal(0.0, 1.0, low=1e30), "LogNormal", "mu"),
        (lambda: LogNormal(0.0, 1.0, low=2.0, high=1.0), "LogNormal", "high"),
        (lambda: Uniform(2.0, 1.0), "Uniform", "high"),
        (lambda: Uniform(0.0, INF), "Uniform", "high"),
        (lambda: Uniform([1.0], 2.0), "Uniform", "low"),
        (lambda: jax.jit(lambda x: Uniform(x, 2.0))(1.0), "Uniform", "low"),
    ],
)
@pytest.mark.filterwarnings("ignore:A JAX array is being set as static")
def test_bad_parameters_are_refused(make, owner, field):
    with pytest.raises(jn.InvalidValueError) as caught:
        make()
    assert (caught.value.owner, caught.value.field) == (owner, field)


def test_a_bound_may_be_far_away():
    assert LogNormal(0.0, 15.0, high=1e6).support() == (0.0, 1e6)
    assert Normal(0.0, 1.0, low=-INF).support() == (-INF, INF)
