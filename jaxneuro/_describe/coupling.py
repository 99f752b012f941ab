"""A coupling: neurons that see each other, in every time step and without a delay."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import spec
from .._model import Release, Synapse
from ..connectivity import Rule
from ..synapses import Direct
from .part import END, Part, as_part, end_name
from .projection import Projection
from .values import (
    RECEPTOR_NAMED,
    START_VALUES,
    OwnName,
    Receptor,
    Synaptic,
    check_weight_law,
)

_ONE_STEP = 1.0  # ms; a delay for the drawing of connections, which nothing reads
_BOTH = "given with {other}= (what a source sets free, and the receptor), or neither is"


class Coupling(spec.Value):
    """Neurons that see each other in every time step, without a delay: gap junctions, or graded.

    Without `release` and `synapse` it makes *gap junctions*: into neuron i flows the current
    `sum_j g_ij (v_j - v_i)`, with the voltages at the start of the step, and g the weights. It is
    of first order in dt. Equations that say how v moves under a conductance use the own voltage
    within the step, so that the time step is limited by the neighbours alone. Stable is not exact:
    where the conductances at a neuron add up to more than a tenth of `c_m / dt`, neighbours take
    each other's old voltage within a step, instead of meeting.

    With both it is *graded*: what the release of each source gave at the end of the last step is
    added up at each target, `x_i = sum_j w_ij r_j`, and arrives at the receptor in this step:
    transmitters that are set free by the voltage, or activities of rate units.

    `dataclasses.replace` keeps the `name` and the `symmetric` of the old coupling, also where they
    were defaults: give them anew with other ends or another kind.

    Raises:
        InvalidValueError: for a release without a synapse or the reverse; from `Description`, a
            symmetric coupling by a rule with a fixed number of connections within a population;
            from `build`, a conductance that is negative, gap junctions of neurons without a
            voltage, and those of which a neuron has more in all than is stable at the time step.

    Reference:
        Hahne et al. (2015), A unified framework for spiking and gap-junction interactions in
        distributed neuronal network simulations, doi:10.3389/fninf.2015.00022, on gap junctions
        with voltages of the last step and with iterations.
    """

    source: str | Part = spec.field(END, doc="the neurons at one end")
    target: str | Part = spec.field(END, doc="the neurons at the other end")
    rule: Rule = spec.field(spec.Of(Rule), doc="who is coupled to whom")
    weight: Any = spec.field(
        Synaptic(),
        kw_only=True,
        doc="as of a `Projection`; of gap junctions conductances (nS, or the model's own unit of "
        "current per mV)",
    )
    release: Release | None = spec.field(
        spec.Maybe(spec.Of(Release)), default=None, kw_only=True, doc="what a source sets free"
    )
    synapse: Synapse | None = spec.field(
        spec.Maybe(Receptor()), default=None, kw_only=True, doc="the receptor"
    )
    gain: float = spec.field(spec.Number(), default=1.0, kw_only=True, doc="multiplies all weights")
    average: bool = spec.field(
        spec.Flag(),
        default=False,
        kw_only=True,
        doc="whether to divide by the number of couplings of the target, as lixirnet does",
    )
    symmetric: bool | None = spec.field(
        spec.Maybe(spec.Flag()),
        default=None,
        kw_only=True,
        doc="whether every pair of neurons is drawn once, and both see each other with one weight; "
        "None: gap junctions do",
    )
    initial: Mapping[str, Any] = spec.field(
        START_VALUES,
        default=spec.KeptMapping(),
        kw_only=True,
        doc="start values by name of state variables of the synapse and of the release",
    )
    receptor_name: str | None = spec.field(
        spec.Maybe(spec.Name()), default=None, kw_only=True, doc="as that of a projection"
    )
    name: str = spec.field(
        OwnName(), default="", kw_only=True, doc='its name; by default "source~target"'
    )

    rules = (
        spec.Rule(
            "release",
            _BOTH.format(other="synapse"),
            lambda release, synapse: release is not None or synapse is None,
        ),
        spec.Rule(
            "synapse",
            _BOTH.format(other="release"),
            lambda release, synapse: synapse is not None or release is None,
        ),
        RECEPTOR_NAMED,
        spec.Rule(
            "rule",
            "one that stores its connections (without stored=False): every step reads all of them",
            lambda rule: rule.stored,
        ),
    )

    @property
    def label(self) -> str:
        return f"coupling {self._named!r}"

    @property
    def _named(self) -> str:
        return self.name or f"{end_name(self.source)}~{end_name(self.target)}"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "name", self._named)
        if self.symmetric is None:
            object.__setattr__(self, "symmetric", self.electrical)
        check_weight_law(self.label, self.synapse, self.weight, self.gain)

    @property
    def electrical(self) -> bool:
        """Whether it makes gap junctions."""
        return self.release is None and self.synapse is None

    @property
    def pre(self) -> Part:
        """The source neurons."""
        return as_part(self.source)

    @property
    def post(self) -> Part:
        """The target neurons."""
        return as_part(self.target)

    def drawn(self) -> Projection:
        """A projection with the same neurons, rule and weights, by which connections are drawn."""
        return DrawnCoupling(
            *(self.source, self.target, self.rule),
            weight=self.weight,
            delay=_ONE_STEP,
            synapse=Direct(),
            name=self.name,
            symmetric=bool(self.symmetric),
        )


class DrawnCoupling(Projection):
    """What is drawn for a coupling; its errors name the coupling."""

    symmetric: bool = spec.field(
        spec.Flag(), default=False, kw_only=True, doc="whether every pair is drawn once"
    )

    @property
    def label(self) -> str:
        return f"coupling {self.name!r}"


def check_pairs(c: Coupling, same: bool, overlap: bool) -> None:
    """Raises `InvalidValueError` where every pair of a population cannot be drawn once.

    Args:
        c: the coupling.
        same: whether both ends are the same neurons.
        overlap: whether some neurons are on both sides.
    """
    if not c.symmetric:
        return
    if not c.electrical and c.pre.population != c.post.population:
        # Its release is that of the sources: the other way is another coupling.
        raise _not_symmetric(c, "a graded coupling of two populations")
    if overlap and not same:
        raise _not_symmetric(c, "parts of a population that are not equal and overlap")
    if not same:
        return
    if c.rule.pairs is None:
        got = f"{type(c.rule).__name__}, which fixes how many connections one direction has"
        raise _not_symmetric(c, got)
    table = isinstance(c.weight, np.ndarray) and c.weight.ndim == 2
    if table and not np.array_equal(c.weight, c.weight.T):
        raise spec.InvalidValueError(
            c.label, "weight", "a symmetric array, or symmetric=False", "two weights for a pair"
        )


def _not_symmetric(c: Coupling, got: str) -> spec.InvalidValueError:
    return spec.InvalidValueError(c.label, "symmetric", "False here", f"True for {got}")
