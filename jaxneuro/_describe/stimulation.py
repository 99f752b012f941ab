"""A stimulation: a stimulus and the neurons it drives."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import spec
from .._fields import check_lengths
from .._model import SpikeStimulus, Stimulus, Synapse
from .part import END, Part, as_part, end_name
from .values import (
    RECEPTOR_NAMED,
    START_VALUES,
    Drawn,
    OwnName,
    Receptor,
    check_weight_law,
)


def _drives(stimulus: Any) -> bool:
    return isinstance(stimulus, SpikeStimulus)


class Stimulation(spec.Value):
    """A stimulus into a population, or into a part of one.

    A stimulus that sends spikes (`Poisson`, `SpikeTimes`, ...) needs a `weight` and a `synapse`,
    as a projection does; projections onto the population with an equal synapse share its
    receptor. One that gives a current has neither.

    Raises:
        InvalidValueError: for a value that is not a stimulus, a weight or synapse that is missing
            or not allowed, a negative delay or start, or a stop before the start.
    """

    target: str | Part = spec.field(END, doc="the neurons that it drives")
    stimulus: Stimulus = spec.field(spec.Of(Stimulus), doc="its model")
    weight: Any = spec.field(
        spec.Maybe(Drawn()),
        default=None,
        kw_only=True,
        doc="one number, one per neuron or a distribution, in the unit of the synapse",
    )
    synapse: Synapse | None = spec.field(
        spec.Maybe(Receptor()), default=None, kw_only=True, doc="the receptor"
    )
    delay: float = spec.field(
        spec.Number("ms", at_least=0.0),
        default=0.0,
        kw_only=True,
        doc="after which everything arrives",
    )
    start: float = spec.field(
        spec.Number("ms", at_least=0.0),
        default=0.0,
        kw_only=True,
        doc="on from the time step that begins here, before the delay",
    )
    stop: float = spec.field(
        spec.Number("ms", at_least=0.0, finite=False),
        default=math.inf,
        kw_only=True,
        doc="on until the time step that ends here, before the delay",
    )
    initial: Mapping[str, Any] = spec.field(
        START_VALUES,
        default=spec.KeptMapping(),
        kw_only=True,
        doc="start values by name of state variables of the synapse (a number, one per neuron of "
        "the population or a distribution)",
    )
    receptor_name: str | None = spec.field(
        spec.Maybe(spec.Name()), default=None, kw_only=True, doc="as that of a projection"
    )
    name: str = spec.field(
        OwnName(),
        default="",
        kw_only=True,
        doc='its name; by default "Model->target"',
    )

    rules = (
        spec.Rule(
            "weight",
            "given with synapse= for a stimulus that sends spikes, and left out for any other",
            lambda weight, stimulus: (weight is not None) == _drives(stimulus),
        ),
        spec.Rule(
            "synapse",
            "given with weight= for a stimulus that sends spikes, and left out for any other",
            lambda synapse, stimulus: (synapse is not None) == _drives(stimulus),
        ),
        spec.Rule(
            "initial",
            "left out where there is no synapse",
            lambda initial, synapse: not initial or synapse is not None,
        ),
        spec.Rule(
            "weight",
            "one number, one per neuron or a distribution",
            lambda weight: np.ndim(weight) <= 1,
        ),
        RECEPTOR_NAMED,
        spec.AtMost("start", "stop"),
    )

    @property
    def label(self) -> str:
        return f"stimulation {self._named!r}"

    @property
    def _named(self) -> str:
        given = isinstance(self.stimulus, Stimulus)
        what = type(self.stimulus).__name__ if given else "stimulus"
        return self.name or f"{what}->{end_name(self.target)}"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "name", self._named)
        if self.synapse is not None:
            check_weight_law(self.label, self.synapse, self.weight)

    @property
    def post(self) -> Part:
        """The neurons that are driven."""
        return as_part(self.target)


def check_one_per_neuron(s: Stimulation, n: int) -> None:
    """Raises `InvalidValueError` for an array of another length than the driven neurons."""
    check_lengths(s.label, s.stimulus, n, s.post.population)
    if np.ndim(s.weight) == 1 and np.shape(s.weight) != (n,):
        must = f"one number or one per neuron, shape ({n},)"
        raise spec.InvalidValueError(s.label, "weight", must, str(np.shape(s.weight)))
