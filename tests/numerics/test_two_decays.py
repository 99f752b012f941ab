"""The difference of two decays, against decimal arithmetic with 160 digits."""

import decimal
from decimal import Decimal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._numerics.maths import log_quotient, two_decays

every_dtype = pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=["32", "64"])


def phi(x):
    return (1 - (-x).exp()) / x


def tilted(x):
    return (1 - x / 2 - (-x).exp() * (1 + x / 2)) / x**2


def exact(a, b):
    """D(1) and both integrals; for a = b their limits, by a distance that no double sees."""
    a, b = Decimal(float(a)), Decimal(float(b))
    b = b * (1 + Decimal("1e-60")) if a == b else b
    end = ((-a).exp() - (-b).exp()) / (b - a)
    return [float(x) for x in (end, (phi(a) - phi(b)) / (b - a), (tilted(a) - tilted(b)) / (b - a))]


def pairs(dtype):
    """Rates times dt over many decades, far apart, near, and equal; and around the switch."""
    a = np.concatenate([np.geomspace(1e-6, 60.0, 40), [0.3, 0.999, 1.0, 1.001]])
    ratios = np.array([0.0, 1e-7, 1e-5, 1e-3, 0.03, 0.3, 1.0, 4.0, 30.0, 1e3])
    b = a[:, None] * (1.0 + ratios)
    a = np.broadcast_to(a[:, None], b.shape).astype(dtype).ravel()
    b = b.astype(dtype).ravel()
    keep = b < 300.0
    return a[keep], b[keep]


@pytest.mark.slow
@every_dtype
def test_values(dtype, x64):
    a, b = pairs(dtype)
    got = [np.asarray(x, np.float64) for x in jax.jit(two_decays)(a, b)]
    with decimal.localcontext(decimal.Context(prec=160)):
        true = np.array([exact(*pair) for pair in zip(a, b)]).T
    eps = float(jnp.finfo(dtype).eps)
    # An exponential of -x is as good as x has digits: x ulp.
    few = 8 + 2 * a
    for x, y, times in zip(got, true, (1.0, 3.0, 20.0)):
        error = np.abs(x / y - 1) / eps / few
        seen = y > float(jnp.finfo(dtype).tiny)
        assert error[seen].max() <= times, (a[error.argmax()], b[error.argmax()])


def test_slopes_are_those_of_differences(x64):
    """On both sides of the switch; and along both rates where they are equal."""
    at = [(0.2, 0.2), (1.2, 1.2), (0.01, 0.4), (0.5, 0.999), (0.5, 1.001), (2.0, 9.0)]
    a, b = np.array(at).T
    width = 1e-5
    slopes = np.asarray(jax.jit(jax.vmap(jax.jacfwd(two_decays, (0, 1))))(a, b))
    both = jax.jit(two_decays)
    for da, db in ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0)):
        change = np.subtract(
            both(a + width * da, b + width * db), both(a - width * da, b - width * db)
        )
        along = da * slopes[:, 0] + db * slopes[:, 1]
        first = 0 if da == db else 2
        np.testing.assert_allclose(
            along[:, first:], change[:, first:] / (2 * width), rtol=1e-8, atol=1e-11
        )


@every_dtype
def test_log_quotient(dtype, x64):
    x = np.concatenate([np.geomspace(1e-20, 1e4, 200), np.linspace(0.45, 0.55, 30)]).astype(dtype)
    got, slopes = map(np.asarray, jax.jit(jax.vmap(jax.value_and_grad(log_quotient)))(x))
    with decimal.localcontext(decimal.Context(prec=160)):
        exact = [(Decimal(float(v)), (1 + Decimal(float(v))).ln()) for v in x]
        true = np.array([float(log / v) for v, log in exact])
        slope = np.array([float((1 / (1 + v) - log / v) / v) for v, log in exact])
    eps = float(jnp.finfo(dtype).eps)
    assert got.dtype == dtype
    assert (np.abs(got / true - 1) / eps).max() <= 4
    assert (np.abs(slopes / slope - 1) / eps).max() <= 40
    start = jax.jit(jax.value_and_grad(log_quotient))(np.zeros((), dtype))
    np.testing.assert_allclose(start, (1.0, -0.5), rtol=eps)
