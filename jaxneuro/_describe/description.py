"""A description: populations, projections and stimulations, as plain immutable values."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import spec
from .._fields import check_lengths
from .._html import diagram, page, table
from .._text import counted, shown
from ..space import Area
from .coupling import Coupling, check_pairs
from .estimate import Estimate, estimate
from .modulator import Modulator
from .part import Part, as_part, count, overlap
from .population import Population
from .projection import Projection
from .resolve import ResolvedProjection, Resolver
from .stimulation import Stimulation, check_one_per_neuron


class Description(spec.Value):
    """A network in the terms of neuroscience; nothing is drawn yet.

    Raises:
        InvalidValueError: for a repeated or an unknown name (the known ones are listed), for a rule
            that does not fit its populations, or a stimulus array of the wrong length.
    """

    populations: Sequence[Population] = spec.field(
        spec.Items(spec.Of(Population)), doc="the neurons"
    )
    projections: Sequence[Projection] = spec.field(
        spec.Items(spec.Of(Projection)), default=(), doc="the connections"
    )
    stimuli: Sequence[Stimulation] = spec.field(
        spec.Items(spec.Of(Stimulation)), default=(), doc="what drives them"
    )
    areas: Mapping[str, Area] = spec.field(
        spec.Entries(spec.Of(Area), "areas by name"),
        default=spec.KeptMapping(),
        doc="boxes of coordinates by name, for a `Part` to name",
    )
    couplings: Sequence[Coupling] = spec.field(
        spec.Items(spec.Of(Coupling)),
        default=(),
        kw_only=True,
        doc="gap junctions, and graded ones",
    )
    modulators: Sequence[Modulator] = spec.field(
        spec.Items(spec.Of(Modulator)), default=(), kw_only=True, doc="slow substances"
    )

    made_into: ClassVar[dict[str, str]] = {
        "Network": "; build it first: net = jn.build(description, key=0, dt=0.1)"
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_names()
        for p in self.projections:
            self._check_ends(p, source=p.pre, target=p.post)
        for s in self.stimuli:
            self._check_ends(s, target=s.post)
        for c in self.couplings:
            self._check_ends(c, source=c.pre, target=c.post)
        for m in self.modulators:
            if m.source is not None:
                self._check_ends(m, source=as_part(m.source))
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
        for field in ("populations", "projections", "stimuli", "couplings", "modulators"):
            for value in getattr(self, field):
                if value.name in seen:
                    got = f"{seen[value.name]} and {value.label}"
                    must = f"of names that nothing else has (give one, name={value.name + ' 2'!r})"
                    raise spec.InvalidValueError(self.label, field, must, got)
                seen[value.name] = value.label

    def population(self, name: str) -> Population:
        """The population of that name, or an error that lists the known ones."""
        spec.check_known("population", name, self._by_name)
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
        pre, post = p.pre.population, p.post.population
        check_lengths(f"{p.label}: synapse", p.synapse, self.population(post).n, post)
        check_lengths(f"{p.label}: release", p.release, self.population(pre).n, pre)
        self._resolved[p.name]  # its neurons, rule and values fit

    def _check_stimulation(self, s: Stimulation) -> None:
        name = s.post.population
        check_one_per_neuron(s, count(Resolver(self, np.uint32(0)).neurons(s.post)))
        if s.synapse is not None:
            check_lengths(f"{s.label}: synapse", s.synapse, self.population(name).n, name)

    def _check_ends(self, x: Any, **ends: Part) -> None:
        """Raises `InvalidValueError` for what begins or ends at what is no population."""
        driving = {s.name for s in self.stimuli}
        for side, part in ends.items():
            if part.population in driving:
                got = f"the stimulation {part.population!r}"
                raise spec.InvalidValueError(x.label, side, "a population", got)
            if part.population not in self._by_name:
                raise spec.unknown("population", part.population, self._by_name, x.label, side)

    def _check_coupling(self, c: Coupling) -> None:
        """Raises `InvalidValueError` where it cannot be symmetric, or for wrong lengths."""
        r, same_population = self._resolved[c.name], c.pre.population == c.post.population
        check_pairs(c, r.same, same_population and overlap(r.pre, r.post))
        for what, model, part in (("synapse", c.synapse, c.post), ("release", c.release, c.pre)):
            if model is not None:
                n = self.population(part.population).n
                check_lengths(f"{c.label}: {what}", model, n, part.population)

    def _check_modulator(self, m: Modulator) -> None:
        """Raises `InvalidValueError` for a modulator of, or from, what is not there."""
        if m.source is not None:
            Resolver(self, np.uint32(0)).neurons(as_part(m.source))
        if m.signal in self._by_name:  # its input is a current
            got = f"{m.signal!r}, a population"
            raise spec.InvalidValueError(m.label, "signal", "a name that nothing else has", got)
        if m.signal != m.name and m.signal in [other.name for other in self.modulators]:
            got = f"{m.signal!r}, another modulator, which cannot feed it"
            raise spec.InvalidValueError(m.label, "signal", "a name that nothing else has", got)
        parts = self.populations, self.projections, self.stimuli, self.couplings
        known = [thing.name for things in parts for thing in things]
        for name in m.scales:
            shared = any(name.startswith(f"{p.name}.") for p in self.populations)
            if name not in known and not shared:  # `build` knows the names of what is shared
                what = "population, projection, stimulation or coupling"
                raise spec.unknown(what, name, known, m.label, "scales")

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
        """What notebooks show: populations as boxes with arrows, and tables."""
        sizes = {p.name: p.n for p in self.populations}
        arrows = [(p.pre.population, p.post.population) for p in self.projections]
        lines = [(c.pre.population, c.post.population) for c in self.couplings]
        expected = {p.name: p.synapses for p in self.estimate().projections}
        tables = [
            table(
                ("population", "neurons", "model"),
                [(p.name, f"{p.n:,}", shown(p.model)) for p in self.populations],
            ),
            table(
                ("projection", "rule", "synapses (about)", "weight", "delay (ms)"),
                [
                    (
                        p.name,
                        shown(p.rule),
                        f"{expected[p.name]:,}",
                        shown(p.weight),
                        shown(p.delay),
                    )
                    for p in self.projections
                ],
            ),
            table(
                ("coupling", "rule", "weight"),
                [(c.name, shown(c.rule), shown(c.weight)) for c in self.couplings],
            ),
            table(("stimulation", "stimulus"), [(s.name, shown(s.stimulus)) for s in self.stimuli]),
            table(("modulator", "scales"), [(m.name, shown(m.scales)) for m in self.modulators]),
        ]
        return page(repr(self), tables, diagram(sizes, arrows, lines))

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
