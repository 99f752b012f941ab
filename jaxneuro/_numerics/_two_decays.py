"""The difference of two decays over a step, for any two rates, equal ones too."""

import math

import jax
import jax.numpy as jnp

from ._singular import phi1, tilt


def decay_difference(a: jax.Array, b: jax.Array) -> jax.Array:
    """`(exp(-a) - exp(-b)) / (b - a)` for a, b at least 0, to a few ulp; exp(-a) where a = b."""
    low, high = jnp.minimum(a, b), jnp.maximum(a, b)
    return jnp.exp(-low) * phi1(low - high)


def two_decays(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """`D(u) = (exp(-a u) - exp(-b u)) / (b - a)` over 0 <= u <= 1, for 0 < a <= b.

    Returns D(1), the integral of D(u), and that of `(u - 1/2) D(u)`. With `D' = exp(-b u) - a D`
    and `D' = exp(-a u) - b D` by parts: `(phi(a) - D(1)) / b`, with phi the mean of exp(-a u), and
    `(tilt(a) - D(1)/2 + mean) / b`. These keep their digits where b is at least 1, however near a
    is to b; below, a series in the complete symmetric polynomials of a and b is used.
    """
    end = decay_difference(a, b)
    small = b < 1.0
    one = jnp.ones_like(b)
    near_mean, near_tilt = _series(jnp.where(small, a, 0.0 * a), jnp.where(small, b, 0.0 * b))
    far = jnp.where(small, one, b)
    mean = jnp.where(small, near_mean, (phi1(-a) - end) / far)
    return end, mean, jnp.where(small, near_tilt, (tilt(a) - 0.5 * end + mean) / far)


def _series(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sums of `(-1)^k h_k(a, b)` over (k + 2)!, and times (k + 1)/2 over (k + 3)!."""
    terms = 19 if b.dtype == jnp.float64 else 11
    power = jnp.ones_like(a)
    h = jnp.ones_like(a * b)
    mean, slope = 0.5 * h, h / 12.0
    for k in range(1, terms):
        power = -power * a
        h = power - h * b
        mean = mean + h / math.factorial(k + 2)
        slope = slope + h * ((k + 1) / (2.0 * math.factorial(k + 3)))
    return mean, slope


def log_quotient(x: jax.Array) -> jax.Array:
    """`log(1 + x) / x` for x at least 0, to a few ulp; 1 at x = 0.

    Near 0 by the series of `2 artanh(y) / x` with `y = x / (2 + x)`, so that the gradient keeps its
    digits.
    """
    small = x < 0.5
    y = jnp.where(small, x / (2.0 + x), jnp.zeros_like(x))
    terms = 12 if x.dtype == jnp.float64 else 6
    series = jnp.full_like(x, 1.0 / (2 * terms + 1))
    for k in reversed(range(terms)):
        series = series * jnp.square(y) + 1.0 / (2 * k + 1)
    far = jnp.where(small, jnp.ones_like(x), x)
    return jnp.where(small, series * (2.0 / (2.0 + x)), jnp.log1p(far) / far)
