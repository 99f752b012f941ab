"""Distributions to draw weights, delays and start values from.

A distribution turns a uniform number in (0, 1) into a value by its quantile
function. Bounds truncate it exactly, as redrawing until the value fits would: the
uniform number is mapped to the part of the distribution between the bounds.
"""

import math
from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtri

from .._checks import is_traced


def unit_interval(word):
    """Random words as float32/64 in the open interval (0, 1), 2^-24 apart."""
    if isinstance(word, np.ndarray | np.generic):
        return (word >> np.uint32(8)).astype(np.float64) * 2.0**-24 + 2.0**-25
    return (word >> np.uint32(8)).astype(jnp.float32) * np.float32(2.0**-24) + np.float32(2.0**-25)


def _special(u):
    if isinstance(u, np.ndarray | np.generic):
        import scipy.special

        return np, scipy.special.ndtri
    return jnp, ndtri


class Distribution(eqx.Module):
    """What can be drawn from: gives the value at a quantile.

    **Step** `quantile(u)` maps numbers in (0, 1) to values, NumPy or JAX in and out.

    **Source** inverse transform sampling.
    """

    @abstractmethod
    def quantile(self, u): ...

    @abstractmethod
    def support(self) -> tuple[float, float]: ...


def _check(name: str, **values: float) -> None:
    for key, value in values.items():
        if is_traced(value):
            raise ValueError(f"{name}: {key} must be a plain number, not a traced value")
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise ValueError(f"{name}: {key} must be a number; got {value!r}")
        if math.isnan(value):
            raise ValueError(f"{name}: {key} must be a number; got nan")


class Uniform(Distribution):
    """Uniform between two bounds: `low + (high - low) u`.

    **Fields** `low`, `high`, in the unit of what is drawn.

    **Raises** `ValueError` unless both are finite and `low <= high`.

    **Source** inverse transform sampling.
    """

    low: float = eqx.field(static=True)
    high: float = eqx.field(static=True)

    def __check_init__(self) -> None:
        _check("Uniform", low=self.low, high=self.high)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ValueError(
                f"Uniform: low must be finite and at most high; got {self.low} and {self.high}"
            )

    def quantile(self, u):
        return self.low + (self.high - self.low) * u

    def support(self) -> tuple[float, float]:
        return self.low, self.high


def _check_normal(name: str, mean: float, sd: float, low: float, high: float) -> None:
    _check(name, mean=mean, sd=sd, low=low, high=high)
    if not (math.isfinite(mean) and math.isfinite(sd) and sd >= 0):
        raise ValueError(f"{name}: sd must be at least 0, mean finite; got sd {sd}, mean {mean}")
    if not low < high:
        raise ValueError(f"{name}: low must be below high; got {low} and {high}")


def _truncated_normal(u, mean, sd, low, high):
    """The quantile of a normal law cut to [low, high], from the nearer tail."""
    xp, inverse = _special(u)
    if sd == 0:
        return xp.full_like(u, mean)
    if low == -math.inf and high == math.inf:
        return mean + sd * inverse(u)
    a, b = (low - mean) / sd, (high - mean) / sd
    # Above the mean the lower tail of the mirrored law keeps the digits.
    sign = -1.0 if a > 0 else 1.0
    if sign < 0:
        a, b, u = -b, -a, 1 - u
    low_p, high_p = (float(0.5 * math.erfc(-x / math.sqrt(2))) for x in (a, b))
    if high_p - low_p < 1e-12:
        raise ValueError(
            f"a normal law with mean {mean} and sd {sd} has (nearly) nothing between "
            f"{low} and {high}; widen the bounds"
        )
    z = xp.clip(inverse(low_p + (high_p - low_p) * u), max(a, -40.0), min(b, 40.0))
    return mean + sd * (sign * z)


class Normal(Distribution):
    """Normal law, cut to [low, high] as by redrawing.

    **Fields** `mean`, `sd`, `low` (default -inf), `high` (default inf), in the unit of
    what is drawn.

    **Raises** `ValueError` for a negative sd, NaN, `low >= high`, or bounds that leave
    nothing to draw.

    **Source** inverse transform sampling; truncation by redraw as in Potjans and
    Diesmann (2014), doi:10.1093/cercor/bhs358.
    """

    mean: float = eqx.field(static=True)
    sd: float = eqx.field(static=True)
    low: float = eqx.field(static=True, default=-math.inf)
    high: float = eqx.field(static=True, default=math.inf)

    def __check_init__(self) -> None:
        _check_normal("Normal", self.mean, self.sd, self.low, self.high)
        if self.sd == 0 and not self.low <= self.mean <= self.high:
            raise ValueError(
                f"Normal: with sd 0 the mean must lie between low and high; got {self.mean} "
                f"outside [{self.low}, {self.high}]"
            )
        if self.sd > 0:
            self.quantile(np.float64(0.5))

    def quantile(self, u):
        return _truncated_normal(u, self.mean, self.sd, self.low, self.high)

    def support(self) -> tuple[float, float]:
        return (self.mean, self.mean) if self.sd == 0 else (self.low, self.high)


class LogNormal(Distribution):
    """Log-normal law: exp(Normal(mu, sigma)), cut to [low, high] as by redrawing.

    **Fields** `mu`, `sigma` of the logarithm; `low` (default 0), `high` (default inf)
    of the value.

    **Raises** `ValueError` for a negative sigma, NaN, or `low >= high`.

    **Source** inverse transform sampling.
    """

    mu: float = eqx.field(static=True)
    sigma: float = eqx.field(static=True)
    low: float = eqx.field(static=True, default=0.0)
    high: float = eqx.field(static=True, default=math.inf)

    def __check_init__(self) -> None:
        _check_normal("LogNormal", self.mu, self.sigma, self.low, self.high)
        if self.low < 0:
            raise ValueError(f"LogNormal: low must be at least 0; got {self.low}")
        if self.sigma > 0:
            self.quantile(np.float64(0.5))

    def quantile(self, u):
        low = math.log(self.low) if self.low > 0 else -math.inf
        xp = _special(u)[0]
        return xp.exp(_truncated_normal(u, self.mu, self.sigma, low, math.log(self.high)))

    def support(self) -> tuple[float, float]:
        return self.low, self.high
