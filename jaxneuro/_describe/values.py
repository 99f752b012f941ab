"""The kinds of value in a description: start values, weights and delays, receptors."""

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from .. import spec
from .._model import Synapse
from .._numerics.distributions import Distribution, LogNormal
from .._text import an
from ..space import ByDistance, Profile, SpatialValue
from ..synapses import Delta

# The first and the last quantile that is drawn.
_EXTREMES = np.array([2.0**-24, 1.0 - 2.0**-24])


@dataclasses.dataclass(frozen=True)
class Drawn(spec.Ranged):
    """A number, an array of numbers, or a distribution, from which each is drawn."""

    models: ClassVar[tuple[type, ...]] = (Distribution,)

    def convert(self, value: Any) -> Any:
        if isinstance(value, Distribution):
            return value
        if isinstance(value, type):
            raise spec.Unfit("a value", f"the class {value.__name__}", " (call it)")
        try:
            x = spec.as_numbers(value)
        except spec.Unfit as error:
            raise spec.Unfit(self.what, None, error.hint) from None
        self.check_range(x)
        return float(x) if x.ndim == 0 else spec.kept_array(value, x)

    def read(self, entry: Any) -> Any:
        return entry.numbers(*self.models)

    @property
    def what(self) -> str:
        """What it must be."""
        return "a number, an array of numbers or a distribution"


@dataclasses.dataclass(frozen=True)
class Synaptic(Drawn):
    """Weights or delays: what is drawn, a function of the indices, or a value by position."""

    models = (Distribution, SpatialValue)

    def convert(self, value: Any) -> Any:
        if isinstance(value, Profile):
            return ByDistance(value)
        if isinstance(value, SpatialValue) or (callable(value) and not isinstance(value, type)):
            return value
        return super().convert(value)

    @property
    def what(self) -> str:
        return "a number, an array of numbers, a distribution, a function or a value by position"


@dataclasses.dataclass(frozen=True)
class OwnName(spec.Name):
    """A name; "" stands for one that follows from other fields."""

    def convert(self, value: Any) -> str:
        return value if value == "" else super().convert(value)

    def read(self, entry: Any) -> str:
        return "" if entry.value is None else super().read(entry)


START_VALUES = spec.Entries(Drawn(), "start values by name of the state variable")


class Receptor(spec.Of):
    """A synapse with one input; one with several is named with its port, `Into(AMPA(), "ampa")`."""

    def __init__(self) -> None:
        super().__init__(Synapse)

    def convert(self, value: Any) -> Any:
        synapse = super().convert(value)
        if synapse.ports:
            kind, ports = type(synapse).__name__, ", ".join(map(repr, synapse.ports))
            must = f"one input of a synapse, jn.synapses.Into({kind}(...), {synapse.ports[0]!r})"
            raise spec.Unfit(must, f"{an(kind)}, which has {ports}")
        return synapse


RECEPTOR_NAMED = spec.Rule(
    "receptor_name",
    "None where there is no receptor",
    lambda receptor_name, synapse: receptor_name is None or synapse is not None,
)


def extremes(value: Any) -> Any:
    """The numbers that a value may have, the extremes of a distribution; None if not known."""
    if isinstance(value, Distribution):
        return value.quantile(_EXTREMES)
    return value if isinstance(value, float | np.ndarray) else None


def is_computed(value: Any) -> bool:
    """Whether weights or delays are a function of the connection, its indices or distance."""
    return not isinstance(value, float | np.ndarray | Distribution)


def is_individual(value: Any) -> bool:
    """Whether weights or delays are stored per synapse rather than once per block."""
    return not isinstance(value, float)


# Medians that no weight and no delay has.
_MOST = {"pA": 1e4, "nS": 1e4, "mV": 1e3, "ms": 1e3}


def check_log_normal(owner: str, field: str, law: Any, unit: str, gain: float = 1.0) -> None:
    """Raises `InvalidValueError` for a log-normal law of weights or delays whose mu is a median."""
    if not isinstance(law, LogNormal) or unit not in _MOST or law.mu <= 0:
        return
    median = min(math.exp(min(law.mu, 700.0)), law.high)
    if median * abs(gain) > _MOST[unit]:
        must = "a LogNormal whose mu and sigma are those of the logarithm"
        got = f"mu = {law.mu:g}, a median of exp(mu) = {median:.3g} {unit}"
        hint = f"; for a median of {law.mu:g} {unit} give mu={math.log(law.mu):.4g}"
        raise spec.InvalidValueError(owner, field, must, got, hint)


def check_weight_law(owner: str, synapse: Synapse | None, weight: Any, gain: float = 1.0) -> None:
    """Raises `InvalidValueError` for log-normal weights whose mu is a median.

    Args:
        owner: what the weights belong to.
        synapse: the receptor; None for gap junctions.
        weight: the weights.
        gain: what multiplies them.
    """
    unit = "nS" if synapse is None else synapse.weight_unit
    check_log_normal(owner, "weight", weight, "mV" if isinstance(synapse, Delta) else unit, gain)
