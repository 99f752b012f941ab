"""Formulas that are 0/0 at a point, against decimal arithmetic with 160 digits."""

import decimal
from decimal import Decimal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._numerics.maths import decay_mean, linoid, phi1, phi2, tilt

DT = 0.5  # rate times it is exact
LIMIT = {jnp.float32: 80.0, jnp.float64: 700.0}
# Below it an error counts as if the value were this large: a slope of linoid is 0 where the square
# of its exponential overflows.
FLOOR = 1e-12
SWITCHES = (0.03, 0.1, 0.3, 1.0, 1e-3)
every_dtype = pytest.mark.parametrize("dtype", LIMIT, ids=lambda x: x.__name__)


def exact_linoid(x):
    return x / (1 - (-x).exp())


def exact_linoid_slope(x):
    e = (-x).exp()
    return (1 - e - x * e) / (1 - e) ** 2


def exact_phi1(x):
    return (x.exp() - 1) / x


def exact_phi1_slope(x):
    return ((x - 1) * x.exp() + 1) / x**2


def exact_phi2(x):
    return (x.exp() - 1 - x) / x**2


def exact_phi2_slope(x):
    return ((x - 2) * x.exp() + x + 2) / x**3


def exact_tilt(x):
    return (1 - x / 2 - (-x).exp() * (1 + x / 2)) / x**2


def exact_tilt_slope(x):
    return (x / 2 - 2 + (-x).exp() * (2 + 3 * x / 2 + x**2 / 2)) / x**3


def exact_mean(rate):
    return Decimal(DT) * exact_phi1(-rate * Decimal(DT))


def exact_mean_slope(rate):
    return -(Decimal(DT) ** 2) * exact_phi1_slope(-rate * Decimal(DT))


# Name: function, exact value and slope, both at 0, bounds of both in ulp.
FUNCTIONS = {
    "linoid": (linoid, exact_linoid, exact_linoid_slope, (1.0, 0.5), (4, 40)),
    "phi1": (phi1, exact_phi1, exact_phi1_slope, (1.0, 0.5), (4, 60)),
    "phi2": (phi2, exact_phi2, exact_phi2_slope, (0.5, 1 / 6), (5, 150)),
    "decay_mean": (
        lambda x: decay_mean(x, DT),
        *(exact_mean, exact_mean_slope),
        (DT, -(DT**2) / 2),
        (10, 120),
    ),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def points(dtype, limit):
    """Wide, dense around 0, and on both sides of every switch."""
    wide = np.geomspace(1e-20, limit, 300)
    near = [s * k * (1 + e) for s in SWITCHES for k in (1, 1 / DT) for e in np.linspace(-1, 1, 41)]
    edges = [s / q * (1 + k * 1e-7) for s in SWITCHES for q in (1, DT) for k in range(-4, 5)]
    x = np.concatenate([wide, near, edges, np.linspace(0, 1.5, 151)]).astype(dtype)
    x = np.unique(np.concatenate([x, -x]))
    return x[(x != 0) & (np.abs(x) > 1e-20) & (np.abs(x) < limit)]


def worst(got, exact, x):
    """The largest error in ulp of the exact value, and where."""
    eps = float(jnp.finfo(got.dtype).eps)
    with decimal.localcontext(decimal.Context(prec=160)):
        true = np.array([float(exact(Decimal(float(value)))) for value in x])
        off = np.abs(np.asarray(got, np.float64) - true)
    error = off / np.maximum(np.abs(true), FLOOR) / eps
    return error.max(), x[error.argmax()]


@pytest.mark.slow(but=["linoid-float32"])
@every_dtype
@every_function
def test_values_and_slopes(name, dtype, x64):
    function, value, slope, _, (few, some) = FUNCTIONS[name]
    x = points(dtype, LIMIT[dtype])
    got, slopes = map(np.asarray, jax.jit(jax.vmap(jax.value_and_grad(function)))(x))
    assert got.dtype == slopes.dtype == dtype
    error, where = worst(got, value, x)
    assert error <= few, (error, where)
    error, where = worst(slopes, slope, x)
    assert error <= some, (error, where)


@every_dtype
@every_function
def test_at_zero(name, dtype, x64):
    function, _, _, expected, _ = FUNCTIONS[name]
    values = jax.jit(jax.value_and_grad(function))
    for zero in (0.0, -0.0):
        got = values(np.asarray(zero, dtype))
        np.testing.assert_allclose(got, expected, rtol=float(jnp.finfo(dtype).eps))


@every_dtype
@every_function
def test_where_the_exponential_overflows(name, dtype, x64):
    """No NaN far out; what is 0 to all digits is 0 or as good as."""
    function = jax.jit(FUNCTIONS[name][0])
    huge = np.asarray([1e4, 1e15], dtype)
    for x in (huge, -huge):
        assert not np.isnan(np.asarray(function(x))).any()
    if name == "linoid":
        np.testing.assert_array_equal(function(huge), huge)
        np.testing.assert_array_equal(np.abs(np.asarray(function(-huge))), 0.0)
    if name == "decay_mean":
        np.testing.assert_array_equal(function(huge), 1.0 / huge)


@every_dtype
def test_linoid_with_a_known_exponential(dtype, x64):
    both = jax.jit(lambda x: (linoid(x), linoid(x, jnp.exp(-x))))
    np.testing.assert_array_equal(*both(points(dtype, 30.0)))


@every_dtype
def test_tilt(dtype, x64):
    """Its slope passes 0 at 2.69: there the absolute error counts."""
    x = points(dtype, LIMIT[dtype])
    got, slopes = map(np.asarray, jax.jit(jax.vmap(jax.value_and_grad(tilt)))(x))
    error, where = worst(got, exact_tilt, x)
    assert error <= 12, (error, where)
    far = np.abs(x - 2.69) > 0.5
    error, where = worst(slopes[far], exact_tilt_slope, x[far])
    assert error <= 150, (error, where)
    near = [float(exact_tilt_slope(Decimal(float(v)))) for v in x[~far]]
    np.testing.assert_allclose(slopes[~far], near, rtol=0, atol=2 * float(jnp.finfo(dtype).eps))
    start = jax.jit(jax.value_and_grad(tilt))(np.zeros((), dtype))
    np.testing.assert_allclose(start, (0.0, -1 / 12), rtol=float(jnp.finfo(dtype).eps))
