"""A population: neurons of one model under one name."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import is_traced
from .._checks import check_count, check_kind, check_name, check_size
from .._fields import check_lengths, potentials
from .._numerics import Distribution
from .._types import Neuron
from .._units import check_each_potential, check_start
from ..space import Free, Layout
from ._kept import KeptMapping, Value, kept_array

# The first and the last quantile that is drawn for a start value.
_EXTREMES = np.array([2.0**-24, 1.0 - 2.0**-24])
# What to do for a number that is traced.
_TRACED = ". Describe and build outside of jit, vmap and grad; vary it inside by net.set(name, ...)"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Population(Value):
    """Neurons of one model under one name.

    **Fields** `name`; `n` number of neurons (0 is allowed); `model` a neuron model, its
    parameters one number for all or arrays `(n,)`; `initial` start values of state variables
    by name (`{"v": Uniform(-60, -50)}`): a number, an array `(n,)` or a distribution;
    `positions` [um] a layout from `jn.space` (`Grid`, `UniformBox`) or an array `(n, d)`, or None.

    **Raises** `ValueError` for a wrong name, size or model, an array of the wrong length, or a
    layout that cannot place n neurons, or for start values in volts.
    """

    name: str
    n: int
    model: Neuron
    initial: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    positions: Any = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_name("a population", self.name)
        label = self.label
        object.__setattr__(self, "n", check_count(f"{label}: n", self.n))
        check_kind(f"{label}: model", self.model, Neuron)
        check_lengths(label, self.model, self.n, self.name)
        initial = start_values(label, self.initial)
        for k, v in initial.items():
            self._check_length(f"{label}: initial {k}", v)
            check_start(label, f"initial {k}", potentials(self.model), k, sizes(v))
            if isinstance(v, np.ndarray) and (k == "v" or k.startswith("v_")):
                check_each_potential(label, f"initial {k}", v)
        object.__setattr__(self, "initial", initial)
        if self.positions is not None:
            given = self.positions
            layout = given if isinstance(given, Layout) else Free(given)
            layout.check(label, self.n)
            object.__setattr__(self, "positions", layout)

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"population {self.name!r}"

    def _check_length(self, name: str, value: Any) -> None:
        shape = np.shape(value) if hasattr(value, "shape") else ()
        if shape not in ((), (self.n,)):
            raise ValueError(
                f"{name} must be one number or one per neuron, shape ({self.n},); got {shape}"
            )


def start_values(label: str, given: Any) -> dict[str, Any]:
    """Start values by name of the state variable, checked."""
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{label}: initial must map names of state variables to start values, {{'v': -60.0}}; "
            f"got {given!r}"
        )
    return KeptMapping({name: numbers(f"{label}: initial {name}", x) for name, x in given.items()})


def numbers(what: str, value: Any) -> Any:
    """A number, an array of finite numbers, or a distribution, checked; an array is read-only."""
    if isinstance(value, Distribution):
        return value
    try:
        x = np.asarray(value)
        x = np.asarray("no number" if x.dtype.kind not in "iuf" else x, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} must be a number, an array of numbers or a distribution; got {value!r}"
            f"{_TRACED if is_traced(value) else ''}"
        ) from None
    check_size(what, x)
    return float(x) if x.ndim == 0 else kept_array(value, x)


def sizes(value: Any) -> Any:
    """The numbers that a value may have, the extremes of a distribution; None if not known."""
    if isinstance(value, Distribution):
        return value.quantile(_EXTREMES)
    return value if isinstance(value, float | np.ndarray) else None
