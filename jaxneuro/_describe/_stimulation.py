"""A stimulation: a stimulus and the neurons it drives."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._checks import check_kind, check_name
from .._fields import check_lengths
from .._numerics import Distribution
from .._types import SpikeStimulus, Stimulus, Synapse
from ..spec import as_number
from ._kept import Value
from ._part import Part, as_part, check_ends
from ._population import numbers, start_values
from ._receptors import check_chosen, check_receptor, check_weight_unit


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Stimulation(Value):
    """A stimulus into a population, or into a part of one.

    A stimulus that sends spikes (`Poisson`, `SpikeTimes`, ...) needs a `weight` and a `synapse`,
    as a projection does; projections onto the population with an equal synapse share its
    receptor. One that gives a current has neither.

    **Fields** `target` population name or a `Part`; `stimulus` its model; `weight` one number, one
    per neuron or a distribution, in the unit of the synapse; `synapse` the receptor; `delay` [ms]
    (default 0) after which everything arrives; `start`, `stop` [ms] when it is on: from the time
    step that begins at `start` until the one that ends at `stop` (default always), before the
    delay; `initial` start values by name of state variables of the synapse (one number, one per
    neuron of the population or a distribution); `receptor_name` as that of a projection; `name`
    (default "Model->target").

    **Raises** `ValueError` for a value that is not a stimulus, a weight or synapse that is missing
    or not allowed, a weight in SI units, a negative delay or start, or a stop before the start.
    """

    target: str | Part
    stimulus: Stimulus
    weight: Any = dataclasses.field(default=None, kw_only=True)
    synapse: Synapse | None = dataclasses.field(default=None, kw_only=True)
    delay: float = dataclasses.field(default=0.0, kw_only=True)
    start: float = dataclasses.field(default=0.0, kw_only=True)
    stop: float = dataclasses.field(default=math.inf, kw_only=True)
    initial: Mapping[str, Any] = dataclasses.field(default_factory=dict, kw_only=True)
    receptor_name: str | None = dataclasses.field(default=None, kw_only=True)
    name: str = dataclasses.field(default="", kw_only=True)

    def __post_init__(self) -> None:
        check_ends("Stimulation", target=self.target)
        whose = repr(self.name) if self.name else f"of {self.post.population!r}"
        check_kind(f"stimulation {whose}: stimulus", self.stimulus, Stimulus)
        if self.name == "":
            name = f"{type(self.stimulus).__name__}->{self.post.population}"
            object.__setattr__(self, "name", name)
        check_name("a stimulation", self.name)
        label = f"stimulation {self.name!r}"
        if isinstance(self.stimulus, SpikeStimulus):
            self._check_spikes(label)
        elif self.weight is not None or self.synapse is not None or self.initial:
            raise ValueError(
                f"{label}: {type(self.stimulus).__name__} drives neurons directly: it takes no "
                "weight and no synapse, nor start values of one"
            )
        check_chosen(f"{label}: receptor_name", self.receptor_name, self.synapse)
        object.__setattr__(self, "initial", start_values(label, self.initial))
        for key in ("delay", "start", "stop"):
            object.__setattr__(self, key, _time(f"{label}: {key}", getattr(self, key)))
        if self.delay == math.inf or self.start == math.inf:
            raise ValueError(f"{label}: delay and start must be finite")
        if self.stop < self.start:
            raise ValueError(
                f"{label}: stop must not be before start; got {self.stop:g} before "
                f"{self.start:g} ms"
            )

    def _check_spikes(self, label: str) -> None:
        kind = type(self.stimulus).__name__
        if self.weight is None or self.synapse is None:
            raise ValueError(
                f"{label}: {kind} sends spikes: give weight= and synapse=, as for a projection"
            )
        check_kind(f"{label}: synapse", self.synapse, Synapse)
        check_receptor(f"{label}: synapse", self.synapse)
        if callable(self.weight) and not isinstance(self.weight, Distribution):
            raise ValueError(
                f"{label}: weight must be one number, one per neuron or a distribution; got "
                f"{self.weight!r}. Pass the values of the function as an array"
            )
        weight = numbers(f"{label}: weight", self.weight)
        if np.ndim(weight) > 1:
            raise ValueError(
                f"{label}: weight must be one number, one per neuron or a distribution; got shape "
                f"{np.shape(weight)}"
            )
        check_weight_unit(label, self.synapse, weight)
        object.__setattr__(self, "weight", weight)

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"stimulation {self.name!r}"

    @property
    def post(self) -> Part:
        """The neurons that are driven."""
        return as_part(self.target)


def check_one_per_neuron(s: Stimulation, n: int) -> None:
    """Raises `ValueError` for an array of another length than the neurons that are driven."""
    label = f"stimulation {s.name!r}"
    check_lengths(label, s.stimulus, n, s.post.population)
    if np.ndim(s.weight) == 1 and np.shape(s.weight) != (n,):
        raise ValueError(
            f"{label}: weight must be one number or one per neuron, shape ({n},); got "
            f"{np.shape(s.weight)}"
        )


def _time(what: str, value: Any) -> float:
    number = as_number(value)
    if not number >= 0:
        raise ValueError(f"{what} must be a number of at least 0 ms; got {value!r}")
    return number
