"""A description: populations, projections and stimulations, as plain immutable values."""

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .._checks import Named, check_kind, check_name
from .._fields import check_lengths
from .._text import counted
from ..space import Area
from ..spec import check_known, unknown
from ._coupling import Coupling, check_pairs
from ._estimate import Estimate, estimate
from ._html import html_of_description
from ._kept import KeptMapping
from ._modulator import Modulator
from ._part import as_part
from ._population import Population
from ._projection import Projection
from ._resolve import ResolvedProjection, Resolver, count, overlap
from ._stimulation import Stimulation, check_one_per_neuron


@dataclasses.dataclass(frozen=True, eq=False)
class Description(Named):
    """A network in the terms of neuroscience; nothing is drawn yet.

    **Fields** `populations`, `projections`, `stimuli`: sequences of `Population`, `Projection`,
    `Stimulation`; all names must be different. `areas`: boxes of coordinates (`jn.space.Area`) by
    name, for a `Part` to name; `couplings`, `modulators`: sequences of `Coupling`, `Modulator`.

    **Raises** `ValueError` for a repeated or an unknown name (the known ones are listed), for
    a rule that does not fit its populations, or a stimulus array of the wrong length.
    """

    populations: Sequence[Population]
    projections: Sequence[Projection] = ()
    stimuli: Sequence[Stimulation] = ()
    areas: Mapping[str, Area] = dataclasses.field(default_factory=dict)
    couplings: Sequence[Coupling] = dataclasses.field(default=(), kw_only=True)
    modulators: Sequence[Modulator] = dataclasses.field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for field, kind in (
            ("populations", Population),
            ("projections", Projection),
            ("stimuli", Stimulation),
            ("couplings", Coupling),
            ("modulators", Modulator),
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
        if not isinstance(self.areas, Mapping):
            raise ValueError(
                "Description: areas must map names to areas, {'V1': Area(...)}; got "
                f"{self.areas!r}"
            )
        object.__setattr__(self, "areas", KeptMapping(self.areas))
        for name, area in self.areas.items():
            check_name("an area", name)
            check_kind(f"area {name!r}", area, Area)
        self._check_names()
        for c in self.couplings:
            self._check_ends(c)
        for p in self.projections:
            self._check_projection(p)
        for s in self.stimuli:
            self._check_stimulation(s)
        for c in self.couplings:
            self._check_coupling(c)
        for m in self.modulators:
            self._check_modulator(m)

    def _check_names(self) -> None:
        seen: dict[str, str] = {}
        for kind, values in (
            ("population", self.populations),
            ("projection", self.projections),
            ("stimulation", self.stimuli),
            ("coupling", self.couplings),
            ("modulator", self.modulators),
        ):
            for value in values:
                if value.name in seen:
                    raise ValueError(
                        f"names must be different; {value.name!r} names a {seen[value.name]} and a "
                        f"{kind}. Give one of them another name, e.g. name={value.name + ' 2'!r}"
                    )
                seen[value.name] = kind

    def population(self, name: str) -> Population:
        """The population of that name, or `ValueError` listing the known ones."""
        check_known("population", name, self._by_name)
        return self._by_name[name]

    @functools.cached_property
    def _by_name(self) -> dict[str, Population]:
        return {p.name: p for p in self.populations}

    @functools.cached_property
    def _resolved(self) -> dict[str, ResolvedProjection]:
        """Every projection with its neurons; random positions are drawn with seed 0."""
        resolver = Resolver(self, np.uint32(0))
        drawn = [c.drawn() for c in self.couplings]
        return {p.name: resolver.resolve(p) for p in (*self.projections, *drawn)}

    def _check_projection(self, p: Projection) -> None:
        label, pre, post = f"projection {p.name!r}", p.pre.population, p.post.population
        check_lengths(f"{label}: synapse", p.synapse, self.population(post).n, post)
        check_lengths(f"{label}: release", p.release, self.population(pre).n, pre)
        self._resolved[p.name]  # its neurons, rule and values fit

    def _check_stimulation(self, s: Stimulation) -> None:
        name = s.post.population
        check_one_per_neuron(s, count(Resolver(self, np.uint32(0)).neurons(s.post)))
        if s.synapse is not None:
            label = f"stimulation {s.name!r}: synapse"
            check_lengths(label, s.synapse, self.population(name).n, name)

    def _check_ends(self, c: Coupling) -> None:
        """Raises `ValueError` for a coupling of what is no population."""
        driving = {s.name for s in self.stimuli}
        for part in (c.pre, c.post):
            if part.population in driving:
                raise ValueError(
                    f"{c.label}: {part.population!r} is a stimulation; a coupling joins neurons of "
                    "populations"
                )
            self.population(part.population)

    def _check_coupling(self, c: Coupling) -> None:
        """Raises `ValueError` for a coupling that cannot be symmetric, or for wrong lengths."""
        r, same_population = self._resolved[c.name], c.pre.population == c.post.population
        check_pairs(c, r.same, same_population and overlap(r.pre, r.post))
        for what, model, part in (("synapse", c.synapse, c.post), ("release", c.release, c.pre)):
            if model is not None:
                n = self.population(part.population).n
                check_lengths(f"{c.label}: {what}", model, n, part.population)

    def _check_modulator(self, m: Modulator) -> None:
        """Raises `ValueError` for a modulator of, or from, what is not there."""
        if m.source is not None:
            Resolver(self, np.uint32(0)).neurons(as_part(m.source))
        if m.signal in self._by_name:
            raise ValueError(
                f"{m.label}: the signal {m.signal!r} must not have the name of a population, whose "
                "input is a current. Give it another name"
            )
        if m.signal != m.name and m.signal in [other.name for other in self.modulators]:
            raise ValueError(
                f"{m.label}: the signal {m.signal!r} is an input of the run, and must not have the "
                "name of another modulator, which cannot feed it. Give it another name"
            )
        parts = self.populations, self.projections, self.stimuli, self.couplings
        known = [thing.name for things in parts for thing in things]
        for name in m.scales:
            shared = any(name.startswith(f"{p.name}.") for p in self.populations)
            if name not in known and not shared:  # `build` knows the names of what is shared
                what = "population, projection, stimulation or coupling"
                raise ValueError(f"{m.label}: {unknown(what, name, known)}")

    def estimate(self) -> Estimate:
        """Synapses and bytes per projection and in all, before anything is drawn.

        For random positions, those of key 0 are used.
        """
        coupled = {c.name for c in self.couplings}
        parts: tuple[list, list] = ([], [])
        for name, r in self._resolved.items():
            parts[name in coupled].append(r)
        return estimate(parts[0], sum(p.n for p in self.populations), couplings=parts[1])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_description(self)

    def __repr__(self) -> str:
        expected = self.estimate()
        parts = [
            counted(len(self.populations), "population"),
            counted(sum(p.n for p in self.populations), "neuron"),
            counted(len(self.projections), "projection"),
            counted(len(self.stimuli), "stimulation"),
            *([counted(len(self.couplings), "coupling")] if self.couplings else []),
            *([counted(len(self.modulators), "modulator")] if self.modulators else []),
            "about " + counted(expected.synapses, "synapse"),
        ]
        if self.couplings:
            parts.append("about " + counted(expected.neighbours, "coupled neighbour"))
        return "Description: " + ", ".join(parts)
