"""Functions whose plain formula is 0/0 at a point and loses its digits near it."""

import math
from typing import Any

import jax
import jax.numpy as jnp

# Coefficients of x^2, x^4, ... of x / (1 - exp(-x)) - x/2: Bernoulli numbers over factorials.
_BERNOULLI = (
    *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600),
    *(1 / 47900160, -691 / 1307674368000),
)


def _is_double(x: jax.Array) -> bool:
    return x.dtype == jnp.float64


def _polynomial(x: jax.Array, coefficients: tuple[float, ...]) -> jax.Array:
    out = jnp.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = out * x + c
    return out


def linoid(x: jax.Array, decay: Any = None) -> jax.Array:
    """`x / (1 - exp(-x))`, the rate of many gates: right to a few ulp everywhere, 1 at x = 0.

    Near 0 a series is used, so that neither value nor gradient is 0/0. `decay` is `exp(-x)` if it
    is known already.
    """
    near, terms = (0.3, 6) if _is_double(x) else (1.0, 4)
    series = 1.0 + x * (0.5 + x * _polynomial(jnp.square(x), _BERNOULLI[:terms]))
    small = jnp.abs(x) < near
    decay = jnp.exp(-x) if decay is None else decay
    # Two `where`: a gradient evaluates both branches.
    return jnp.where(small, series, x / jnp.where(small, jnp.ones_like(x), 1.0 - decay))


def decay_mean(rate: jax.Array, dt: float) -> jax.Array:
    """`(1 - exp(-rate dt)) / rate` [ms]: the integral of `exp(-rate t)` over a step; dt at 0.

    Right to 10 ulp: it is used in the innermost loop, where a series for a wider range would cost
    more.
    """
    x, terms = rate * dt, 10 if _is_double(rate) else 5
    small = jnp.abs(x) < 0.1
    series = dt * _polynomial(x, tuple((-1) ** k / math.factorial(k + 1) for k in range(terms)))
    # Two `where`: a gradient evaluates both branches.
    safe = jnp.where(small, jnp.ones_like(rate), rate)
    return jnp.where(small, series, (1.0 - jnp.exp(-x)) / safe)


def phi1(x: jax.Array) -> jax.Array:
    """`(exp(x) - 1) / x`, to a few ulp everywhere; 1 at x = 0."""
    small = jnp.abs(x) < 1.0
    safe = jnp.where(small, jnp.ones_like(x), x)
    # Not expm1(x) / x near 0: the gradient of that loses its digits.
    near = 1.0 + x * phi2(jnp.where(small, x, jnp.zeros_like(x)))
    return jnp.where(small, near, jnp.expm1(safe) / safe)


def phi2(x: jax.Array) -> jax.Array:
    """`(exp(x) - 1 - x) / x^2`, to a few ulp everywhere; 1/2 at x = 0."""
    terms = 16 if _is_double(x) else 11
    coefficients = tuple(1.0 / math.factorial(k + 2) for k in range(terms))
    small = jnp.abs(x) < 1.0
    safe = jnp.where(small, jnp.ones_like(x), x)
    near = _polynomial(jnp.where(small, x, jnp.zeros_like(x)), coefficients)
    return jnp.where(small, near, (jnp.expm1(safe) - safe) / jnp.square(safe))


def tilt(x: jax.Array) -> jax.Array:
    """Integral of `(u - 1/2) exp(-x u)` over 0 <= u <= 1, to 12 ulp everywhere; -x/12 near 0."""
    terms = 18 if _is_double(x) else 10
    coefficients = tuple((k + 1) / (2.0 * math.factorial(k + 3)) for k in range(terms))
    small = jnp.abs(x) < 1.0
    near = -x * _polynomial(jnp.where(small, -x, jnp.zeros_like(x)), coefficients)
    far = jnp.where(small, jnp.ones_like(x), x)
    half = 0.5 * far
    return jnp.where(small, near, (1.0 - half - jnp.exp(-far) * (1.0 + half)) / jnp.square(far))
