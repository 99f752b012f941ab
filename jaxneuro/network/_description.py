"""What a person writes: populations, projections and stimuli, as plain frozen values."""

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._checks import check_bounds, check_count, unknown
from .._text import counted
from .._types import Neuron, Release, Stimulus, Synapse
from ..connectivity import Rule
from ..numerics import Distribution
from ..release import Spikes
from ._estimate import Estimate, estimate


def _check_kind(what: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        hint = " (a class was given: call it)" if isinstance(value, type) else ""
        raise ValueError(f"{what} must be a {kind.__name__}; got {value!r}{hint}")


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"{what}: the name must be a text of at least one letter; got {name!r}")


def _numbers(what: str, value: Any) -> Any:
    """A number, an array of finite numbers, or a distribution, checked."""
    if isinstance(value, Distribution):
        return value
    try:
        x = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} must be a number, an array of numbers or a distribution; got {value!r}"
        ) from None
    check_bounds(what, x)
    return float(x) if x.ndim == 0 else x


@dataclasses.dataclass(frozen=True, eq=False)
class Population:
    """Neurons of one model under one name.

    **Fields** `name`; `n` number of neurons (0 is allowed); `model` a neuron model, its
    parameters one number for all or arrays `(n,)`; `initial` start values of state variables
    by name (`{"v": Uniform(-60, -50)}`): a number, an array `(n,)` or a distribution.

    **Raises** `ValueError` for a wrong name, size or model, or an array of the wrong length.

    **Source** the house's own: design section 3.
    """

    name: str
    n: int
    model: Neuron
    initial: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name("a population", self.name)
        label = f"population {self.name!r}"
        object.__setattr__(self, "n", check_count(f"{label}: n", self.n))
        _check_kind(f"{label}: model", self.model, Neuron)
        for field in dataclasses.fields(self.model):
            self._check_length(f"{label}: {field.name}", getattr(self.model, field.name))
        initial = {k: _numbers(f"{label}: initial {k}", v) for k, v in self.initial.items()}
        for k, v in initial.items():
            self._check_length(f"{label}: initial {k}", v)
        object.__setattr__(self, "initial", initial)

    def _check_length(self, name: str, value: Any) -> None:
        shape = np.shape(value) if hasattr(value, "shape") else ()
        if shape not in ((), (self.n,)):
            raise ValueError(
                f"{name} must be one number or one per neuron, shape ({self.n},); got {shape}"
            )


@dataclasses.dataclass(frozen=True, eq=False)
class Projection:
    """The connections from one population to another.

    **Fields** `source`, `target` population names; `rule` who connects to whom; `weight` and
    `delay` [ms] a number, a distribution, an array `(n_source, n_target)`, or one with an entry
    per connection (`Explicit`, `OneToOne`); the unit of the weight is that of the synapse;
    `synapse` the receptor; `release` what a spike hands over; `gain` multiplies all weights at
    delivery; `name` (default "source->target").

    **Raises** `ValueError` for a wrong kind of value, or one that is not finite.

    **Source** the house's own: design section 3.
    """

    source: str
    target: str
    rule: Rule
    weight: Any = dataclasses.field(kw_only=True)
    delay: Any = dataclasses.field(kw_only=True)
    synapse: Synapse = dataclasses.field(kw_only=True)
    release: Release = dataclasses.field(default_factory=Spikes, kw_only=True)
    gain: float = dataclasses.field(default=1.0, kw_only=True)
    name: str = dataclasses.field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if self.name == "":
            object.__setattr__(self, "name", f"{self.source}->{self.target}")
        _check_name("a projection", self.name)
        label = f"projection {self.name!r}"
        _check_kind(f"{label}: rule", self.rule, Rule)
        _check_kind(f"{label}: synapse", self.synapse, Synapse)
        _check_kind(f"{label}: release", self.release, Release)
        object.__setattr__(self, "weight", _numbers(f"{label}: weight", self.weight))
        delay = _numbers(f"{label}: delay", self.delay)
        if not isinstance(delay, Distribution) and np.size(delay) and np.min(delay) <= 0:
            raise ValueError(
                f"{label}: a delay must be above 0 ms, at least one time step (one dt is the "
                f"shortest); got {np.min(delay)}"
            )
        object.__setattr__(self, "delay", delay)
        gain = _numbers(f"{label}: gain", self.gain)
        if not isinstance(gain, float):
            raise ValueError(f"{label}: gain must be one number; got {self.gain!r}")
        object.__setattr__(self, "gain", gain)


def _check_arrays(label: str, model: Any, population: Population) -> None:
    """Raises `ValueError` where a parameter is an array of another length than `population`."""
    for field in dataclasses.fields(model):
        shape = np.shape(getattr(model, field.name))
        if len(shape) == 1 and shape != (population.n,):
            raise ValueError(
                f"{label}: {field.name} must be one number or one per neuron of "
                f"{population.name!r}, shape ({population.n},); got {shape}"
            )


@dataclasses.dataclass(frozen=True, eq=False)
class Stimulation:
    """A stimulus into a population.

    **Fields** `target` population name; `stimulus` its model; `name` (default
    "Model->target").

    **Raises** `ValueError` for a value that is no stimulus.

    **Source** the house's own: design section 3.
    """

    target: str
    stimulus: Stimulus
    name: str = dataclasses.field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if self.name == "":
            name = f"{type(self.stimulus).__name__}->{self.target}"
            object.__setattr__(self, "name", name)
        _check_name("a stimulation", self.name)
        _check_kind(f"stimulation {self.name!r}: stimulus", self.stimulus, Stimulus)


@dataclasses.dataclass(frozen=True, eq=False)
class Description:
    """A network in the words of neuroscience: nothing is drawn yet.

    **Fields** `populations`, `projections`, `stimuli`: sequences of `Population`,
    `Projection`, `Stimulation`; all names are different.

    **Raises** `ValueError` for a repeated or an unknown name (the known ones are listed), for
    a rule that does not fit its populations, or a stimulus array of the wrong length.

    **Source** the house's own: design section 3.
    """

    populations: Sequence[Population]
    projections: Sequence[Projection] = ()
    stimuli: Sequence[Stimulation] = ()

    def __post_init__(self) -> None:
        for field, kind in (
            ("populations", Population),
            ("projections", Projection),
            ("stimuli", Stimulation),
        ):
            given = getattr(self, field)
            if isinstance(given, kind) or not isinstance(given, Iterable):
                raise ValueError(
                    f"Description: {field} must be a list of {kind.__name__}; got {given!r}"
                )
            values = tuple(given)
            for value in values:
                _check_kind(f"each of the {field}", value, kind)
            object.__setattr__(self, field, values)
        self._check_names()
        for p in self.projections:
            self._check_projection(p)
        for s in self.stimuli:
            self._check_stimulation(s)

    def _check_names(self) -> None:
        seen: dict[str, str] = {}
        for kind, values in (
            ("population", self.populations),
            ("projection", self.projections),
            ("stimulation", self.stimuli),
        ):
            for value in values:
                if value.name in seen:
                    raise ValueError(
                        f"there are two things named {value.name!r} (a {seen[value.name]} and a "
                        f"{kind}); give one of them another name, e.g. name={value.name + ' 2'!r}"
                    )
                seen[value.name] = kind

    def population(self, name: str) -> Population:
        """The population of that name, or `ValueError` listing the known ones."""
        if name not in self._by_name:
            raise unknown("population", name, self._by_name)
        return self._by_name[name]

    @functools.cached_property
    def _by_name(self) -> dict[str, Population]:
        return {p.name: p for p in self.populations}

    def _check_projection(self, p: Projection) -> None:
        label = f"projection {p.name!r}"
        pre, post = (self.population(name).n for name in (p.source, p.target))
        p.rule.check(label, pre, post, p.source == p.target)
        _check_arrays(f"{label}: synapse", p.synapse, self.population(p.target))
        _check_arrays(f"{label}: release", p.release, self.population(p.source))
        for what in ("weight", "delay"):
            value = getattr(p, what)
            if not isinstance(value, np.ndarray) or value.shape == (pre, post):
                continue
            count = p.rule.expected(pre, post, p.source == p.target)
            fixed = p.rule.arrange(np.zeros(int(count))) is not None
            if not fixed or value.shape != (int(count),):
                per = f" or ({int(count)},), one per connection" if fixed else ""
                raise ValueError(
                    f"{label}: {what} must be a number, a distribution or an array of shape "
                    f"({pre}, {post}){per}; got shape {value.shape}"
                )

    def _check_stimulation(self, s: Stimulation) -> None:
        _check_arrays(f"stimulation {s.name!r}", s.stimulus, self.population(s.target))

    def estimate(self) -> Estimate:
        """Synapses and bytes per projection and in all, before anything is drawn.

        **Source** the house's own: design section 5, storage.
        """
        return estimate(self)

    def __repr__(self) -> str:
        parts = [
            counted(len(self.populations), "population"),
            counted(sum(p.n for p in self.populations), "neuron"),
            counted(len(self.projections), "projection"),
            counted(len(self.stimuli), "stimulation"),
            "about " + counted(self.estimate().synapses, "synapse"),
        ]
        return "Description: " + ", ".join(parts)
