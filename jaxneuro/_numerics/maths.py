"""Functions of decays over a time step, to a few ulp also where their plain formula is 0/0."""

import math

import jax.numpy as jnp
from jaxtyping import Array, Float

# Coefficients of x^2, x^4, ... of x / (1 - exp(-x)) - x/2: Bernoulli numbers over factorials.
_BERNOULLI = (
    *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600),
    *(1 / 47900160, -691 / 1307674368000),
)


def _is_double(x: Float[Array, "..."]) -> bool:
    return x.dtype == jnp.float64


def _polynomial(x: Float[Array, "*n"], coefficients: tuple[float, ...]) -> Float[Array, "*n"]:
    out = jnp.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = out * x + c
    return out


def linoid(x: Float[Array, "*n"], decay: Float[Array, "*n"] | None = None) -> Float[Array, "*n"]:
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


def decay_mean(rate: Float[Array, "*n"], dt: float) -> Float[Array, "*n"]:
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


def phi1(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """`(exp(x) - 1) / x`, to a few ulp everywhere; 1 at x = 0."""
    small = jnp.abs(x) < 1.0
    safe = jnp.where(small, jnp.ones_like(x), x)
    # Not expm1(x) / x near 0: the gradient of that loses its digits.
    near = 1.0 + x * phi2(jnp.where(small, x, jnp.zeros_like(x)))
    return jnp.where(small, near, jnp.expm1(safe) / safe)


def phi2(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """`(exp(x) - 1 - x) / x^2`, to a few ulp everywhere; 1/2 at x = 0."""
    terms = 16 if _is_double(x) else 11
    coefficients = tuple(1.0 / math.factorial(k + 2) for k in range(terms))
    small = jnp.abs(x) < 1.0
    safe = jnp.where(small, jnp.ones_like(x), x)
    near = _polynomial(jnp.where(small, x, jnp.zeros_like(x)), coefficients)
    return jnp.where(small, near, (jnp.expm1(safe) - safe) / jnp.square(safe))


def tilt(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """Integral of `(u - 1/2) exp(-x u)` over 0 <= u <= 1, to 12 ulp everywhere; -x/12 near 0."""
    terms = 18 if _is_double(x) else 10
    coefficients = tuple((k + 1) / (2.0 * math.factorial(k + 3)) for k in range(terms))
    small = jnp.abs(x) < 1.0
    near = -x * _polynomial(jnp.where(small, -x, jnp.zeros_like(x)), coefficients)
    far = jnp.where(small, jnp.ones_like(x), x)
    half = 0.5 * far
    return jnp.where(small, near, (1.0 - half - jnp.exp(-far) * (1.0 + half)) / jnp.square(far))


def mean_over_step(tau: Float[Array, "*n"], dt: float) -> Float[Array, "*n"]:
    """Mean of exp(-t/tau) over one step: `tau/dt (1 - exp(-dt/tau))`.

    `tau` [ms]; `expm1` keeps the digits if tau is much longer than dt.
    """
    return -jnp.expm1(-dt / tau) * (tau / dt)


def slope_over_step(tau: Float[Array, "*n"], dt: float) -> Float[Array, "*n"]:
    """Slope [1/ms] of the straight line nearest to exp(-t/tau) over one step.

    By least squares: `12/dt^3` times the integral of `(t - dt/2) exp(-t/tau)` from 0 to dt.
    `tau` [ms].
    """
    return (12.0 / dt) * tilt(dt / tau)


def decay_difference(a: Float[Array, "..."], b: Float[Array, "..."]) -> Float[Array, "..."]:
    """`(exp(-a) - exp(-b)) / (b - a)` for a, b at least 0, to a few ulp; exp(-a) where a = b."""
    low, high = jnp.minimum(a, b), jnp.maximum(a, b)
    return jnp.exp(-low) * phi1(low - high)


def two_decays(
    a: Float[Array, "..."], b: Float[Array, "..."]
) -> tuple[Float[Array, "..."], Float[Array, "..."], Float[Array, "..."]]:
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


def _series(
    a: Float[Array, "..."], b: Float[Array, "..."]
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
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


def log_quotient(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
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
