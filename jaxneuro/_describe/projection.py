"""A projection: the connections from one population to another."""

from collections.abc import Mapping
from typing import Any

from .. import spec
from .._model import Plasticity, Release, Synapse
from ..connectivity import Rule
from ..release import Spikes
from .part import END, Part, as_part, end_name
from .values import (
    RECEPTOR_NAMED,
    START_VALUES,
    OwnName,
    Receptor,
    Synaptic,
    check_log_normal,
    check_weight_law,
)

_NAME = spec.Maybe(spec.Name())


class Projection(spec.Value):
    """The connections from one population to another.

    Weights and delays are a number, a distribution, an array `(n_source, n_target)` of the neurons
    that it connects (those of a `Part`), one with an entry per connection (`Explicit`, `OneToOne`),
    a function `f(i, j)` of arrays of source and target indices in their populations, a
    `jn.space.Profile` of the distance, or another value by position (`jn.space.ByDistance`,
    `ByPositions`, `ConductionDelay`). Delays that are drawn or computed are rounded to the time
    grid. A distribution of delays may not reach below half a time step (bound it:
    `jn.Normal(1.5, 0.75, low=0.1)`); what a function computes is at least one step. A function gets
    the indices of many connections at once, is called more than once, and must give the same values
    each time.

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

    `dataclasses.replace` keeps the `name`, also where it was a default: give another one with other
    ends.

    Raises:
        InvalidValueError: for a wrong kind of value, one that is not finite, or an `axonal` of
            weights that do not change; from `build`, if a distribution of delays reaches below half
            a time step, or if every computed delay does.
    """

    source: str | Part = spec.field(END, doc="where spikes come from")
    target: str | Part = spec.field(END, doc="where they arrive")
    rule: Rule = spec.field(spec.Of(Rule), doc="who connects to whom")
    weight: Any = spec.field(Synaptic(), kw_only=True, doc="weights, in the unit of the synapse")
    delay: Any = spec.field(Synaptic("ms", above=0.0), kw_only=True, doc="delays")
    synapse: Synapse = spec.field(Receptor(), kw_only=True, doc="the receptor")
    release: Release = spec.field(
        spec.Of(Release), default=Spikes(), kw_only=True, doc="what a spike sets free"
    )
    gain: float = spec.field(
        spec.Number(), default=1.0, kw_only=True, doc="multiplies all weights at delivery"
    )
    plasticity: Plasticity | None = spec.field(
        spec.Maybe(spec.Of(Plasticity)),
        default=None,
        kw_only=True,
        doc="the rule by which weights change (`jn.plasticity`); None: they do not",
    )
    axonal: float = spec.field(
        spec.Number("ms", at_least=0.0),
        default=0.0,
        kw_only=True,
        doc="the part of every delay that a spike needs to the synapse",
    )
    initial: Mapping[str, Any] = spec.field(
        START_VALUES,
        default=spec.KeptMapping(),
        kw_only=True,
        doc="start values by name of state variables of the synapse (a number, one per target "
        "neuron or a distribution) and of the release (one per source neuron)",
    )
    receptor_name: str | None = spec.field(
        _NAME, default=None, kw_only=True, doc="a name for a receptor that projections share"
    )
    release_name: str | None = spec.field(
        _NAME, default=None, kw_only=True, doc="a name for a release that projections share"
    )
    expected_rate: float | None = spec.field(
        spec.Maybe(spec.Number("Hz", at_least=0.0)),
        default=None,
        kw_only=True,
        doc="how often a source spikes at most; None: what its refractory time allows. All-to-all "
        "projections whose sources spike in many steps are matrix products",
    )
    name: str = spec.field(
        OwnName(),
        default="",
        kw_only=True,
        doc='its name; by default "source->target"',
    )

    rules = (
        spec.Rule(
            "axonal",
            "0 ms without plasticity=: it says where in a delay weights change",
            lambda axonal, plasticity: axonal == 0 or plasticity is not None,
        ),
        RECEPTOR_NAMED,
        spec.Rule(
            "release_name",
            "None where spikes are not changed on their way",
            lambda release_name, release: release_name is None or not release.plain,
        ),
    )

    @property
    def label(self) -> str:
        return f"projection {self._named!r}"

    @property
    def _named(self) -> str:
        return self.name or f"{end_name(self.source)}->{end_name(self.target)}"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "name", self._named)
        check_log_normal(self.label, "delay", self.delay, "ms")
        if self.plasticity is None:
            check_weight_law(self.label, self.synapse, self.weight, self.gain)

    @property
    def pre(self) -> Part:
        """The source neurons."""
        return as_part(self.source)

    @property
    def post(self) -> Part:
        """The target neurons."""
        return as_part(self.target)
