"""Functions of distance: a probability, a weight or a delay that falls off in space."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from .._checks import Named, check_bounds
from .._help import DocumentedModule
from ._axes import per_axis


def _constant(name: str, **keywords: Any) -> Any:
    def number(value: Any) -> float:
        return per_axis(name, value, 1)[0]

    return eqx.field(static=True, converter=number, **keywords)


class Profile(Named, eqx.Module, metaclass=DocumentedModule):
    """A function of distance, for probabilities, weights or delays.

    **Step** `profile(d)` maps distances [um] to values, NumPy in and out, any shape.
    `reach(level)` is the distance beyond which the absolute value stays below `level`, or inf.
    `monotonic` says that the value only falls or only rises, so that its extremes over a range of
    distances are at the ends of the range.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    monotonic: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, d: Any) -> np.ndarray: ...

    @abstractmethod
    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""


class Gaussian(Profile):
    """`peak exp(-d^2 / (2 sigma^2))`.

    **Fields** `sigma` [um] above 0; `peak` the value at distance 0.

    **Raises** `ValueError` unless both are finite and sigma above 0.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    sigma: float = _constant("Gaussian: sigma")
    peak: float = _constant("Gaussian: peak", default=1.0)
    monotonic = True

    def __check_init__(self) -> None:
        check_bounds("Gaussian: sigma", self.sigma, "um", above=0.0)

    def __call__(self, d: Any) -> np.ndarray:
        x = np.asarray(d, np.float64) / self.sigma
        return self.peak * np.exp(-0.5 * (x * x))

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        return self.sigma * math.sqrt(2.0 * _falls(self.peak, level))


class Exponential(Profile):
    """`peak exp(-d / length)`.

    **Fields** `length` [um] above 0; `peak` the value at distance 0.

    **Raises** `ValueError` unless both are finite and length above 0.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    length: float = _constant("Exponential: length")
    peak: float = _constant("Exponential: peak", default=1.0)
    monotonic = True

    def __check_init__(self) -> None:
        check_bounds("Exponential: length", self.length, "um", above=0.0)

    def __call__(self, d: Any) -> np.ndarray:
        return self.peak * np.exp(-np.asarray(d, np.float64) / self.length)

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        return self.length * _falls(self.peak, level)


class Linear(Profile):
    """`peak max(0, 1 - d / radius)`: falls in a straight line and is 0 from the radius on.

    **Fields** `radius` [um] above 0; `peak` the value at distance 0.

    **Raises** `ValueError` unless both are finite and radius above 0.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    radius: float = _constant("Linear: radius")
    peak: float = _constant("Linear: peak", default=1.0)
    monotonic = True

    def __check_init__(self) -> None:
        check_bounds("Linear: radius", self.radius, "um", above=0.0)

    def __call__(self, d: Any) -> np.ndarray:
        return self.peak * np.maximum(0.0, 1.0 - np.asarray(d, np.float64) / self.radius)

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        if level <= 0:
            return math.inf
        return self.radius * max(0.0, 1.0 - level / abs(self.peak)) if self.peak else 0.0


class Disc(Profile):
    """`peak` up to the radius and on it, 0 beyond.

    **Fields** `radius` [um] above 0; `peak` the value inside.

    **Raises** `ValueError` unless both are finite and radius above 0.

    **Source** Senk et al. (2022), doi:10.1371/journal.pcbi.1010086.
    """

    radius: float = _constant("Disc: radius")
    peak: float = _constant("Disc: peak", default=1.0)
    monotonic = True

    def __check_init__(self) -> None:
        check_bounds("Disc: radius", self.radius, "um", above=0.0)

    def __call__(self, d: Any) -> np.ndarray:
        return np.where(np.asarray(d, np.float64) <= self.radius, self.peak, 0.0)

    def reach(self, level: float) -> float:
        """The distance [um] beyond which the absolute value stays below `level`."""
        if level <= 0:
            return math.inf
        return self.radius if abs(self.peak) >= level else 0.0


def _falls(peak: float, level: float) -> float:
    """The x with `|peak| exp(-x) = level`, at least 0; inf for no level."""
    if level <= 0:
        return math.inf
    return max(0.0, math.log(abs(peak) / level)) if peak else 0.0
