"""Distributions to draw weights, delays and start values from.

A distribution turns a uniform number in (0, 1) into a value by its quantile function. Bounds
truncate it exactly, as redrawing until the value fits would: the uniform number is mapped to the
part of the distribution between the bounds.

Weights and delays of connections and stimulations are drawn from a table of 86,016 quantiles
(`draws.py`), start values from the quantile function itself.
"""

import dataclasses
import math
from abc import abstractmethod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtri
from jaxtyping import Float, UInt32

from .. import spec
from ..spec import AtMost, Less, Number, Rule

_SPREAD = 6.0  # standard deviations within which values are drawn
_LARGEST_LOG = 88.7  # the logarithm of the largest number of float32


def unit_interval(word: UInt32[Any, "*n"]) -> Float[Any, "*n"]:
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


class Distribution(spec.Module):
    """The role of a distribution: it gives the value at a quantile.

    Drawn weights and delays take one of 86,016 values, the same on every backend: a probability
    is exact to 2^-11 of its distance from the nearer end, down to 2^-32. For a normal distribution
    these are steps of 4e-4 sd or less within 4.9 sd of the mean, and tails up to 6.3 sd. Start
    values have 2^23 steps of probability.

    `quantile(u)` maps numbers in (0, 1) to values, NumPy or JAX in and out.
    """

    @abstractmethod
    def quantile(self, u: Float[Any, "*n"]) -> Float[Any, "*n"]: ...

    @abstractmethod
    def support(self) -> tuple[float, float]: ...


def _constant(kind: Number, default: Any = dataclasses.MISSING, *, doc: str) -> Any:
    """A number of a distribution, in the unit of what is drawn: part of the compiled program."""
    return spec.field(kind, default=default, doc=doc, static=True)


_ANY = Number()
_SIZE = Number(at_least=0.0)
_BOUND = Number(finite=False)


class Uniform(Distribution):
    """Uniform between two bounds: `low + (high - low) u`."""

    low: float = _constant(_ANY, doc="lower bound")
    high: float = _constant(_ANY, doc="upper bound")
    rules = (AtMost("low", "high"),)

    def quantile(self, u: Float[Any, "*n"]) -> Float[Any, "*n"]:
        return self.low + (self.high - self.low) * u

    def support(self) -> tuple[float, float]:
        return self.low, self.high


class _Tail(NamedTuple):
    """A normal distribution between two bounds, seen from the nearer tail.

    Attributes:
        sign: -1 where it is mirrored: above the mean, the lower tail of the mirrored distribution
            keeps the digits.
        low, high: the bounds in standard deviations from the mean.
        low_p, high_p: the probabilities below them.
    """

    sign: float
    low: float
    high: float
    low_p: float
    high_p: float


def _tail(mean: float, sd: float, low: float, high: float) -> _Tail:
    a, b = (low - mean) / sd, (high - mean) / sd
    sign = -1.0 if a > 0 else 1.0
    if sign < 0:
        a, b = -b, -a
    low_p, high_p = (float(0.5 * math.erfc(-x / math.sqrt(2))) for x in (a, b))
    return _Tail(sign, a, b, low_p, high_p)


def _has_values(mean: float, sd: float, low: float, high: float) -> bool:
    """Whether there is anything to draw between the bounds."""
    if sd == 0:
        return low <= mean <= high
    tail = _tail(float(mean), float(sd), float(low), float(high))
    return tail.high_p - tail.low_p >= 1e-12


def _truncated_normal(
    u: Float[Any, "*n"], mean: float, sd: float, low: float, high: float
) -> Float[Any, "*n"]:
    """The quantile of a normal distribution truncated to [low, high], from the nearer tail."""
    xp, inverse = _special(u)
    if sd == 0:
        return xp.full_like(u, mean)
    if low == -math.inf and high == math.inf:
        return mean + sd * inverse(u)
    tail = _tail(mean, sd, low, high)
    if tail.sign < 0:
        u = 1 - u
    z = inverse(tail.low_p + (tail.high_p - tail.low_p) * u)
    z = xp.clip(z, max(tail.low, -40.0), min(tail.high, 40.0))
    return mean + sd * (tail.sign * z)


class Normal(Distribution):
    """Normal distribution, truncated to [low, high] as by redrawing.

    Reference:
        Truncation as by redrawing: Potjans and Diesmann (2014), The cell-type specific cortical
        microcircuit: relating structure and activity in a full-scale spiking network model,
        doi:10.1093/cercor/bhs358.
    """

    mean: float = _constant(_ANY, doc="mean")
    sd: float = _constant(_SIZE, doc="standard deviation")
    low: float = _constant(_BOUND, -math.inf, doc="lower bound")
    high: float = _constant(_BOUND, math.inf, doc="upper bound")
    rules = (
        Less("low", "high"),
        Rule(
            "mean",
            "such that with sd {sd} there are values between low ({low}) and high ({high})",
            lambda mean, sd, low, high: _has_values(mean, sd, low, high),
        ),
    )

    def quantile(self, u: Float[Any, "*n"]) -> Float[Any, "*n"]:
        return _truncated_normal(u, self.mean, self.sd, self.low, self.high)

    def support(self) -> tuple[float, float]:
        return (self.mean, self.mean) if self.sd == 0 else (self.low, self.high)


class LogNormal(Distribution):
    """Log-normal distribution: exp(Normal(mu, sigma)), truncated to [low, high] as by redrawing.

    For a mean m and a standard deviation s give `sigma = sqrt(log(1 + (s/m)**2))` and
    `mu = log(m) - sigma**2/2`. A sigma of 1 is a wide distribution.
    """

    mu: float = _constant(_ANY, doc="mean of the logarithm")
    sigma: float = _constant(_SIZE, doc="standard deviation of the logarithm")
    low: float = _constant(Number(at_least=0.0, finite=False), 0.0, doc="lower bound of the value")
    high: float = _constant(_BOUND, math.inf, doc="upper bound of the value")
    rules = (
        Less("low", "high"),
        Rule(
            "sigma",
            f"such that mu + {_SPREAD:g} sigma, with mu {{mu}}, is at most {_LARGEST_LOG}, beyond "
            "which float32 does not hold the value, or there is a bound high",
            lambda mu, sigma, high: mu + _SPREAD * sigma <= _LARGEST_LOG or high < math.inf,
        ),
        Rule(
            "mu",
            "such that with sigma {sigma} there are values between low ({low}) and high ({high})",
            lambda mu, sigma, low, high: _has_values(mu, sigma, _log(low), _log(high)),
        ),
    )

    def quantile(self, u: Float[Any, "*n"]) -> Float[Any, "*n"]:
        xp = _special(u)[0]
        low, high = _log(self.low), _log(self.high)
        return xp.exp(_truncated_normal(u, self.mu, self.sigma, low, high))

    def support(self) -> tuple[float, float]:
        return self.low, self.high


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
