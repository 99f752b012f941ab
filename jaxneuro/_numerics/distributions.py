"""Distributions to draw weights, delays and start values from.

A distribution turns a uniform number in (0, 1) into a value by its quantile function. Bounds
truncate it exactly, as redrawing until the value fits would: the uniform number is mapped to the
part of the distribution between the bounds.

Weights and delays of connections and stimulations are drawn from a table of 86,016 quantiles
(`draws.py`), start values from the quantile function itself.
"""

import math
from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtri

from .._checks import Named, is_traced
from .._help import DocumentedModule

_SPREAD = 6.0  # standard deviations within which values are drawn
_LARGEST_LOG = 88.7  # the logarithm of the largest number of float32


def unit_interval(word: Any) -> Any:
    """Random words as float64 (NumPy) or float32 (JAX) in the open interval (0, 1).

    The odd multiples of 2^-24: float32 holds each of them, so both give the same number.
    """
    if isinstance(word, jax.Array):
        u = (word >> np.uint32(9)).astype(jnp.float32)
        return u * np.float32(2.0**-23) + np.float32(2.0**-24)
    return (np.asarray(word) >> np.uint32(9)).astype(np.float64) * 2.0**-23 + 2.0**-24


def _special(u: Any) -> Any:
    if isinstance(u, np.ndarray | np.generic):
        import scipy.special

        return np, scipy.special.ndtri
    return jnp, ndtri


class Distribution(Named, eqx.Module, metaclass=DocumentedModule):
    """The role of a distribution: it gives the value at a quantile.

    Drawn weights and delays take one of 86,016 values, the same on every backend: a probability
    is exact to 2^-11 of its distance from the nearer end, down to 2^-32. For a normal distribution
    these are steps of 4e-4 sd or less within 4.9 sd of the mean, and tails up to 6.3 sd. Start
    values have 2^23 steps of probability.

    **Step** `quantile(u)` maps numbers in (0, 1) to values, NumPy or JAX in and out.
    """

    @abstractmethod
    def quantile(self, u: Any) -> Any: ...

    @abstractmethod
    def support(self) -> tuple[float, float]: ...


def _plain(value: Any) -> Any:
    """NumPy scalars as Python numbers, which take the dtype of the other operand."""
    return value.item() if isinstance(value, np.number) else value


def _constant(**keywords: Any) -> Any:
    return eqx.field(static=True, converter=_plain, **keywords)


def _check(name: str, **values: float) -> None:
    for key, value in values.items():
        if is_traced(value):
            raise ValueError(f"{name}: {key} must be a plain number, not a traced value")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{name}: {key} must be a number; got {value!r}")
        if math.isnan(value):
            raise ValueError(f"{name}: {key} must be a number; got nan")


class Uniform(Distribution):
    """Uniform between two bounds: `low + (high - low) u`.

    **Fields** `low`, `high`, in the unit of what is drawn.

    **Raises** `ValueError` unless both are finite and `low <= high`.
    """

    low: float = _constant()
    high: float = _constant()

    def __check_init__(self) -> None:
        _check("Uniform", low=self.low, high=self.high)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ValueError(
                f"Uniform: low must be finite and at most high; got {self.low} and {self.high}"
            )

    def quantile(self, u: Any) -> Any:
        return self.low + (self.high - self.low) * u

    def support(self) -> tuple[float, float]:
        return self.low, self.high


def _check_normal(name: str, low: float, high: float, **law: float) -> None:
    _check(name, **law, low=low, high=high)
    (centre, mean), (spread, sd) = law.items()
    if not (math.isfinite(mean) and math.isfinite(sd) and sd >= 0):
        raise ValueError(
            f"{name}: {spread} must be at least 0, {centre} finite; got {spread} {sd}, "
            f"{centre} {mean}"
        )
    if not low < high:
        raise ValueError(f"{name}: low must be below high; got {low} and {high}")


def _check_inside(name: str, sd: float, value: float, low: float, high: float) -> None:
    """Without spread the only value must lie between the bounds."""
    if sd == 0 and not low <= value <= high:
        raise ValueError(
            f"{name} must lie between low and high; got {value} outside [{low}, {high}]"
        )


def _truncated_normal(u, mean, sd, low, high):
    """The quantile of a normal distribution truncated to [low, high], from the nearer tail."""
    xp, inverse = _special(u)
    if sd == 0:
        return xp.full_like(u, mean)
    if low == -math.inf and high == math.inf:
        return mean + sd * inverse(u)
    a, b = (low - mean) / sd, (high - mean) / sd
    # Above the mean, the lower tail of the mirrored distribution keeps the digits.
    sign = -1.0 if a > 0 else 1.0
    if sign < 0:
        a, b, u = -b, -a, 1 - u
    low_p, high_p = (float(0.5 * math.erfc(-x / math.sqrt(2))) for x in (a, b))
    if high_p - low_p < 1e-12:
        raise ValueError(
            f"a normal distribution with mean {mean} and sd {sd} must have values between low and "
            f"high; it has (nearly) nothing between {low} and {high}. Widen the bounds"
        )
    z = xp.clip(inverse(low_p + (high_p - low_p) * u), max(a, -40.0), min(b, 40.0))
    return mean + sd * (sign * z)


class Normal(Distribution):
    """Normal distribution, truncated to [low, high] as by redrawing.

    **Fields** `mean`, `sd`, `low` (default -inf), `high` (default inf), in the unit of
    what is drawn.

    **Raises** `ValueError` for a negative sd, NaN, `low >= high`, or bounds that leave
    nothing to draw.

    **Source** truncation as by redrawing: Potjans and Diesmann (2014),
    doi:10.1093/cercor/bhs358.
    """

    mean: float = _constant()
    sd: float = _constant()
    low: float = _constant(default=-math.inf)
    high: float = _constant(default=math.inf)

    def __check_init__(self) -> None:
        _check_normal("Normal", self.low, self.high, mean=self.mean, sd=self.sd)
        _check_inside("Normal: with sd 0 the mean", self.sd, self.mean, self.low, self.high)
        if self.sd > 0:
            self.quantile(np.float64(0.5))

    def quantile(self, u: Any) -> Any:
        return _truncated_normal(u, self.mean, self.sd, self.low, self.high)

    def support(self) -> tuple[float, float]:
        return (self.mean, self.mean) if self.sd == 0 else (self.low, self.high)


class LogNormal(Distribution):
    """Log-normal distribution: exp(Normal(mu, sigma)), truncated to [low, high] as by redrawing.

    **Fields** `mu`, `sigma` of the logarithm; `low` (default 0), `high` (default inf)
    of the value.

    **Raises** `ValueError` for a negative sigma, NaN, `low >= high`, bounds that leave
    nothing to draw, or without `high` a `mu + 6 sigma` above 88.7: values that float32 cannot hold.
    """

    mu: float = _constant()
    sigma: float = _constant()
    low: float = _constant(default=0.0)
    high: float = _constant(default=math.inf)

    def __check_init__(self) -> None:
        _check_normal("LogNormal", self.low, self.high, mu=self.mu, sigma=self.sigma)
        if self.low < 0:
            raise ValueError(f"LogNormal: low must be at least 0; got {self.low}")
        middle = math.exp(self.mu) if self.sigma == 0 else 0.0
        _check_inside("LogNormal: with sigma 0 exp(mu)", self.sigma, middle, self.low, self.high)
        largest = self.mu + _SPREAD * self.sigma
        if largest > _LARGEST_LOG and self.high == math.inf:
            raise ValueError(
                f"LogNormal: exp(mu + {_SPREAD:g} sigma) must be a number of float32, mu + "
                f"{_SPREAD:g} sigma at most {_LARGEST_LOG}; got mu {self.mu:g}, sigma "
                f"{self.sigma:g}. Both are those of the logarithm (a sigma of 1 is a wide "
                "distribution): for a mean m and a standard deviation s give sigma = "
                "sqrt(log(1 + (s/m)**2)), mu = log(m) - sigma**2/2; or bound it by high="
            )
        if self.sigma > 0:
            self.quantile(np.float64(0.5))

    def quantile(self, u: Any) -> Any:
        low = math.log(self.low) if self.low > 0 else -math.inf
        xp = _special(u)[0]
        return xp.exp(_truncated_normal(u, self.mu, self.sigma, low, math.log(self.high)))

    def support(self) -> tuple[float, float]:
        return self.low, self.high
