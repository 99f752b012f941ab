"""A projection: the connections from one population to another."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .._checks import check_kind, check_name
from .._numerics import Distribution
from .._types import Plasticity, Release, Synapse
from ..connectivity import Rule
from ..release import Spikes
from ..space import ByDistance, Profile, SpatialValue
from ._kept import Value
from ._part import Part, as_part, check_ends
from ._population import numbers, start_values
from ._receptors import check_chosen, check_log_normal, check_receptor, check_weight_unit


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Projection(Value):
    """The connections from one population to another.

    **Fields** `source`, `target` population names, or a `Part` of a population; `rule` who connects
    to whom; `weight` and `delay` [ms] a number, a distribution, an array `(n_source, n_target)` of
    the neurons it connects (those of a `Part`), one with an entry per connection (`Explicit`,
    `OneToOne`), a function `f(i, j)` of arrays of source and target indices in their populations, a
    `jn.space.Profile` of the distance, or another value by position (`jn.space.ByDistance`,
    `ByPositions`, `ConductionDelay`); the unit of the weight is that of the synapse; `synapse` the
    receptor; `release` what a spike releases; `gain` multiplies all weights at delivery;
    `plasticity` the rule by which weights change (`jn.plasticity`; None: they do not); `axonal`
    [ms] the part of every delay that a spike needs to the synapse; `receptor_name`, `release_name`
    see below; `initial` start values by name of state variables of the synapse (one number, one per
    target neuron or a distribution) and of the release (one per source neuron); `name` (default
    "source->target"; `dataclasses.replace` keeps it, give another one with other ends).

    Equal synapses onto a population are one receptor, with the start values that one of them gives.
    Equal releases of a population are one release where they start equally and their targets are of
    one neuron model; one that draws, starts at drawn values or has a plastic projection is the
    projection's own. What several share has a name of its own (`Network.shared`), by which it is
    set and read: `"E.AMPA"`, or `"E.AMPA(A->E)"`, with the first of those that use it, where a
    population has several of the class. In scripts that grow, choose a name: `"E.fast"` where all
    say `receptor_name="fast"` (`release_name` likewise). One name is for equal models; another name
    makes another receptor.

    A presynaptic spike reaches the synapse `axonal` after it, changes its weight there and takes
    the rest of the delay, at least one time step, to the neuron; a postsynaptic spike takes that
    rest back to the synapse. Only a rule of plasticity sees how a delay is divided.

    Delays that are drawn or computed are rounded to the time grid. A distribution of delays may not
    reach below half a time step (bound it: `jn.Normal(1.5, 0.75, low=0.1)`); what a function
    computes is at least one step. A function gets the indices of many connections at once, is
    called more than once, and must give the same values each time.

    **Raises** `ValueError` for a wrong kind of value, one that is not finite, weights in SI
    units, or an `axonal` of weights that do not change; from `build`, for delays that are drawn
    below half a time step, or computed so all of them.
    """

    _absent = MappingProxyType(  # no annotation: it would be among the fields
        {"receptor_type": "give the receptor: synapse=jn.synapses.Exponential(5.0)"}
    )

    source: str | Part
    target: str | Part
    rule: Rule
    weight: Any = dataclasses.field(kw_only=True)
    delay: Any = dataclasses.field(kw_only=True)
    synapse: Synapse = dataclasses.field(kw_only=True)
    release: Release = dataclasses.field(default_factory=Spikes, kw_only=True)
    gain: float = dataclasses.field(default=1.0, kw_only=True)
    plasticity: Plasticity | None = dataclasses.field(default=None, kw_only=True)
    axonal: float = dataclasses.field(default=0.0, kw_only=True)
    initial: Mapping[str, Any] = dataclasses.field(default_factory=dict, kw_only=True)
    receptor_name: str | None = dataclasses.field(default=None, kw_only=True)
    release_name: str | None = dataclasses.field(default=None, kw_only=True)
    name: str = dataclasses.field(default="", kw_only=True)

    def __post_init__(self) -> None:
        check_ends("Projection", source=self.source, target=self.target)
        if self.name == "":
            name = f"{self.pre.population}->{self.post.population}"
            object.__setattr__(self, "name", name)
        check_name("a projection", self.name)
        label = self.label
        check_kind(f"{label}: rule", self.rule, Rule)
        check_kind(f"{label}: synapse", self.synapse, Synapse)
        check_kind(f"{label}: release", self.release, Release)
        object.__setattr__(self, "weight", _values(f"{label}: weight", self.weight))
        delay = _values(f"{label}: delay", self.delay)
        if isinstance(delay, float | np.ndarray) and np.size(delay) and np.min(delay) <= 0:
            raise ValueError(
                f"{label}: a delay must be above 0 ms, at least one time step (one dt is the "
                f"shortest); got {np.min(delay)}"
            )
        check_log_normal(f"{label}: delay", delay, "ms")
        object.__setattr__(self, "delay", delay)
        gain = numbers(f"{label}: gain", self.gain)
        if not isinstance(gain, float):
            raise ValueError(f"{label}: gain must be one number; got {self.gain!r}")
        object.__setattr__(self, "gain", gain)
        if self.plasticity is not None:
            check_kind(f"{label}: plasticity", self.plasticity, Plasticity)
        else:  # weights that change may start near 0
            check_weight_unit(label, self.synapse, self.weight, gain)
        axonal = numbers(f"{label}: axonal", self.axonal)
        if not isinstance(axonal, float) or axonal < 0:
            raise ValueError(
                f"{label}: axonal must be one number of at least 0 ms, the part of the delay "
                f"before the synapse; got {self.axonal!r}"
            )
        if axonal and self.plasticity is None:
            raise ValueError(
                f"{label}: axonal says where weights change, and nothing changes these: give "
                f"plasticity=, or leave axonal out (the delay is all of it); got {axonal:g} ms"
            )
        object.__setattr__(self, "axonal", axonal)
        check_receptor(f"{label}: synapse", self.synapse)
        check_chosen(f"{label}: receptor_name", self.receptor_name, self.synapse)
        named = None if self.release.plain else self.release
        check_chosen(f"{label}: release_name", self.release_name, named)
        object.__setattr__(self, "initial", start_values(label, self.initial))

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"projection {self.name!r}"

    @property
    def pre(self) -> Part:
        """The source neurons."""
        return as_part(self.source)

    @property
    def post(self) -> Part:
        """The target neurons."""
        return as_part(self.target)


def _values(what: str, value: Any) -> Any:
    """Weights or delays: what `numbers` takes, or a function of the connection."""
    if isinstance(value, type):
        raise ValueError(f"{what} must be a value; got the class {value.__name__} (call it)")
    if isinstance(value, Profile):
        return ByDistance(value)
    if isinstance(value, SpatialValue) or (callable(value) and not isinstance(value, Distribution)):
        return value
    return numbers(what, value)


def is_computed(value: Any) -> bool:
    """Whether weights or delays are a function of the connection, its indices or distance."""
    return not isinstance(value, float | np.ndarray | Distribution)


def is_individual(value: Any) -> bool:
    """Whether weights or delays are stored per synapse rather than once per block."""
    return not isinstance(value, float)
