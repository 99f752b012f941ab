"""What a person writes: populations, projections and stimuli, as plain frozen values."""

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._checks import check_kind, check_name, unknown
from .._fields import tables
from .._text import counted
from ..space import Area
from ._estimate import Estimate, estimate
from ._places import Places, Wired, count
from ._population import Population
from ._projection import Projection
from ._stimulation import Stimulation


@dataclasses.dataclass(frozen=True, eq=False)
class Description:
    """A network in the words of neuroscience: nothing is drawn yet.

    **Fields** `populations`, `projections`, `stimuli`: sequences of `Population`, `Projection`,
    `Stimulation`; all names are different. `areas`: boxes of coordinates (`jn.space.Area`) by
    name, for a `Part` to name.

    **Raises** `ValueError` for a repeated or an unknown name (the known ones are listed), for
    a rule that does not fit its populations, or a stimulus array of the wrong length.

    **Source** the house's own: design section 3.
    """

    populations: Sequence[Population]
    projections: Sequence[Projection] = ()
    stimuli: Sequence[Stimulation] = ()
    areas: Mapping[str, Area] = dataclasses.field(default_factory=dict)

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
                check_kind(f"each of the {field}", value, kind)
            object.__setattr__(self, field, values)
        object.__setattr__(self, "areas", dict(self.areas))
        for name, area in self.areas.items():
            check_name("an area", name)
            check_kind(f"area {name!r}", area, Area)
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

    @functools.cached_property
    def _wired(self) -> dict[str, Wired]:
        """Every projection with its neurons; positions that are random drawn under seed 0."""
        places = Places(self, np.uint32(0))
        return {p.name: places.wire(p) for p in self.projections}

    def _check_projection(self, p: Projection) -> None:
        label, wired = f"projection {p.name!r}", self._wired[p.name]
        _check_arrays(f"{label}: synapse", p.synapse, self.population(p.post.population))
        _check_arrays(f"{label}: release", p.release, self.population(p.pre.population))
        pre, post = wired.sizes
        for what in ("weight", "delay"):
            value = getattr(p, what)
            if not isinstance(value, np.ndarray) or value.shape == (pre, post):
                continue
            number = 0 if p.rule.spatial else int(wired.expected)
            fixed = p.rule.arrange(np.zeros(number)) is not None
            if not fixed or value.shape != (number,):
                per = f" or ({number},), one per connection" if fixed else ""
                raise ValueError(
                    f"{label}: {what} must be a number, a distribution, a function or an array of "
                    f"shape ({pre}, {post}){per}; got shape {value.shape}"
                )

    def _check_stimulation(self, s: Stimulation) -> None:
        label, population = f"stimulation {s.name!r}", self.population(s.post.population)
        n = count(Places(self, np.uint32(0)).neurons(s.post))
        _check_arrays(label, s.stimulus, population, n)
        if s.synapse is not None:
            _check_arrays(f"{label}: synapse", s.synapse, population)
        if np.ndim(s.weight) == 1 and np.shape(s.weight) != (n,):
            raise ValueError(
                f"{label}: weight must be one number or one per neuron, shape ({n},); got "
                f"{np.shape(s.weight)}"
            )

    def estimate(self) -> Estimate:
        """Synapses and bytes per projection and in all, before anything is drawn.

        Random positions count as drawn with key 0.

        **Source** the house's own: design section 5, storage.
        """
        return estimate(self._wired.values(), sum(p.n for p in self.populations))

    def __repr__(self) -> str:
        parts = [
            counted(len(self.populations), "population"),
            counted(sum(p.n for p in self.populations), "neuron"),
            counted(len(self.projections), "projection"),
            counted(len(self.stimuli), "stimulation"),
            "about " + counted(self.estimate().synapses, "synapse"),
        ]
        return "Description: " + ", ".join(parts)


def _check_arrays(label: str, model: Any, population: Population, n: int | None = None) -> None:
    """Raises `ValueError` where a parameter is an array of another length than its neurons."""
    n = population.n if n is None else n
    free = {field.name for field in tables(type(model))}
    for field in dataclasses.fields(model):
        shape = np.shape(getattr(model, field.name))
        if field.name not in free and len(shape) == 1 and shape != (n,):
            raise ValueError(
                f"{label}: {field.name} must be one number or one per neuron of "
                f"{population.name!r}, shape ({n},); got {shape}"
            )
