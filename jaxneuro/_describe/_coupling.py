"""A coupling: neurons that see each other, in every time step and without a delay."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._checks import check_kind, check_name
from .._types import Release, Synapse
from ..connectivity import Rule
from ..synapses import Direct
from ._kept import Value
from ._part import Part, as_part, check_ends
from ._population import numbers, start_values
from ._projection import Projection
from ._receptors import check_chosen, check_receptor, check_weight_unit

_ONE_STEP = 1.0  # ms; a delay for the drawing of connections, which nothing reads


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Coupling(Value):
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

    **Fields** `source`, `target` population names, or a `Part` of a population; `rule` who is
    coupled to whom; `weight` a number, a distribution, an array, a function or a value by position,
    as for a `Projection` (of gap junctions: conductances [nS], or in the model's own unit of
    current per mV); `release`, `synapse`; `gain` multiplies all weights; `average` divides by the
    number of couplings of the target, as lixirnet does; `symmetric` (default: for gap junctions):
    every pair of neurons is drawn once, and both see each other with one weight; `initial` start
    values by name of state variables of the synapse and of the release; `receptor_name` as that of
    a projection; `name` (default "source~target"). `dataclasses.replace` keeps the `name` and the
    `symmetric` of the old coupling, also where they were defaults: give them anew with other ends
    or another kind.

    **Raises** `ValueError` for a conductance that is negative or in SI units, a release without a
    synapse or the reverse; from `Description`, a symmetric coupling by a rule with a fixed number
    of connections within a population; from `build`, gap junctions of neurons without a voltage,
    and those of which a neuron has more in all than is stable at the time step.

    **Source** Hahne et al. (2015), doi:10.3389/fninf.2015.00022, on gap junctions with voltages of
    the last step and with iterations.
    """

    source: str | Part
    target: str | Part
    rule: Rule
    weight: Any = dataclasses.field(kw_only=True)
    release: Release | None = dataclasses.field(default=None, kw_only=True)
    synapse: Synapse | None = dataclasses.field(default=None, kw_only=True)
    gain: float = dataclasses.field(default=1.0, kw_only=True)
    average: bool = dataclasses.field(default=False, kw_only=True)
    symmetric: bool | None = dataclasses.field(default=None, kw_only=True)
    initial: Mapping[str, Any] = dataclasses.field(default_factory=dict, kw_only=True)
    receptor_name: str | None = dataclasses.field(default=None, kw_only=True)
    name: str = dataclasses.field(default="", kw_only=True)

    def __post_init__(self) -> None:
        check_ends("Coupling", source=self.source, target=self.target)
        if self.name == "":
            name = f"{self.pre.population}~{self.post.population}"
            object.__setattr__(self, "name", name)
        check_name("a coupling", self.name)
        label = self.label
        check_kind(f"{label}: rule", self.rule, Rule)
        self._check_kinds(label)
        for field in ("average", "symmetric"):
            value = getattr(self, field)
            if not (isinstance(value, bool) or (value is None and field == "symmetric")):
                raise ValueError(f"{label}: {field} must be True or False; got {value!r}")
        if self.symmetric is None:
            object.__setattr__(self, "symmetric", self.electrical)
        gain = numbers(f"{label}: gain", self.gain)
        if not isinstance(gain, float):
            raise ValueError(f"{label}: gain must be one number; got {self.gain!r}")
        object.__setattr__(self, "gain", gain)
        object.__setattr__(self, "initial", start_values(label, self.initial))
        object.__setattr__(self, "weight", self.drawn().weight)
        check_weight_unit(label, self.synapse, self.weight, gain)
        if not self.rule.stored:
            raise ValueError(
                f"{label}: the connections of a coupling are stored, every step reads all of them; "
                "give a rule without stored=False"
            )

    def _check_kinds(self, label: str) -> None:
        if (self.release is None) != (self.synapse is None):
            has, lacks = ("release", "synapse") if self.synapse is None else ("synapse", "release")
            raise ValueError(
                f"{label}: give both release= and synapse= (what a source sets free, and the "
                f"receptor), or neither, for gap junctions; got a {has} without a {lacks}"
            )
        if self.release is not None and self.synapse is not None:
            check_kind(f"{label}: release", self.release, Release)
            check_kind(f"{label}: synapse", self.synapse, Synapse)
            check_receptor(f"{label}: synapse", self.synapse)
        check_chosen(f"{label}: receptor_name", self.receptor_name, self.synapse)

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"coupling {self.name!r}"

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


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class DrawnCoupling(Projection):
    """What is drawn for a coupling; its errors name the coupling.

    **Fields** as `Projection`; `symmetric` as of the coupling.
    """

    symmetric: bool = dataclasses.field(default=False, kw_only=True)

    @property
    def label(self) -> str:
        return f"coupling {self.name!r}"


def check_pairs(c: Coupling, same: bool, overlap: bool) -> None:
    """Raises `ValueError` where every pair of a population cannot be drawn once.

    `same` says whether both ends are the same neurons, `overlap` whether some are on both sides.
    """
    if c.symmetric and not c.electrical and c.pre.population != c.post.population:
        raise ValueError(
            f"{c.label}: a graded coupling of two populations goes one way, its release is that of "
            "the sources; describe another Coupling for the other way"
        )
    if c.symmetric and overlap and not same:
        raise ValueError(
            f"{c.label}: the parts of a population in a symmetric coupling must be equal or have "
            "no neuron in common; these overlap. Split them, or give symmetric=False"
        )
    if not (c.symmetric and same):
        return
    if c.rule.pairs is None:
        raise ValueError(
            f"{c.label}: symmetric couplings within a population draw each pair once, and "
            f"{type(c.rule).__name__} fixes how many connections there are in one direction. Give "
            "another rule (FixedProbability, DistanceProbability, Explicit, ...), or "
            "symmetric=False"
        )
    table = isinstance(c.weight, np.ndarray) and c.weight.ndim == 2
    if table and not np.array_equal(c.weight, c.weight.T):
        raise ValueError(
            f"{c.label}: weights of symmetric couplings must be a symmetric array; give "
            "symmetric=False for two weights per pair"
        )
