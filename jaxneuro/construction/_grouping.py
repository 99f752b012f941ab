"""The groups of a description, the receptors of a group, the projections of a pathway."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import jax
import numpy as np

from .._types import Synapse
from ..description import Description, Population, Projection, ResolvedProjection, Stimulation
from ._merge import kind_key, own_key, sort_key, value_key


class Seat(NamedTuple):
    """The place of a population: its group, its number there, and its first neuron there."""

    group: int
    member: int
    first: int


class PathwayKey(NamedTuple):
    """What projections of one pathway share: source and target group, and their release.

    A plastic projection has a pathway of its own: `plastic` is its name, "" for all others.
    """

    source: int
    target: int
    release: Hashable
    plastic: str = ""


class Grouping:
    """Which populations make a group, which receptors it has, which projections a pathway.

    Everything is sorted by name, and what is grouped keeps the order of its first name: results
    must not depend on the order of the description.
    """

    def __init__(self, description: Description, resolved: dict[str, ResolvedProjection]):
        self.description, self.resolved = description, resolved
        by_kind: dict[Hashable, list[Population]] = {}
        for p in sorted(description.populations, key=lambda p: p.name):
            kind = kind_key(p.model), own_key(p.name, p.model)
            by_kind.setdefault(kind, []).append(p)
        self.groups = list(by_kind.values())
        self.seats: dict[str, Seat] = {}
        for number, members in enumerate(self.groups):
            start = 0
            for index, p in enumerate(members):
                self.seats[p.name] = Seat(number, index, start)
                start += p.n
        self.receptors = self._find_receptors()
        self.pathways = self._find_pathways()

    @property
    def neurons(self) -> int:
        return sum(p.n for p in self.description.populations)

    def size(self, group: int) -> int:
        return sum(p.n for p in self.groups[group])

    def _find_receptors(self) -> list[dict[tuple, Projection | Stimulation]]:
        found: list[dict[tuple, Projection | Stimulation]] = [{} for _ in self.groups]
        d = self.description
        senders = [*d.projections, *(s for s in d.stimuli if s.synapse is not None)]
        # Sorted by kind: the sum over several receptors must not depend on other names.
        for p in sorted(senders, key=lambda p: (_model_order(p.synapse), p.name)):
            found[self.seats[p.post.population].group].setdefault(receptor_key(p), p)
        return found

    def _find_pathways(self) -> dict[PathwayKey, list[Projection]]:
        found: dict[PathwayKey, list[Projection]] = {}
        for p in sorted(self.description.projections, key=lambda p: (p.pre.population, p.name)):
            source = self.seats[p.pre.population].group
            target = self.seats[p.post.population].group
            release = (value_key(p.release), p.pre.population if _has_arrays(p.release) else "")
            plastic = "" if p.plasticity is None else p.name
            found.setdefault(PathwayKey(source, target, release, plastic), []).append(p)
        # Sorted by the kind of the source: the sum over pathways must not depend on other names.
        return dict(sorted(found.items(), key=lambda item: self._pathway_order(*item)))

    def _pathway_order(self, key: PathwayKey, projections: list[Projection]) -> tuple:
        first = projections[0]
        source = self.groups[key.source][0].model
        order = *sort_key(source), *_model_order(first.release), key.source, key.target
        return *order, key.plastic


def synapse_of(p: Projection | Stimulation) -> Synapse:
    """The synapse of what sends to a receptor."""
    assert p.synapse is not None
    return p.synapse


def receptor_key(p: Projection | Stimulation) -> tuple:
    """Equal for projections and stimulations that share a receptor of their target group."""
    return (*value_key(p.synapse), p.post.population if _has_arrays(p.synapse) else "")


def _model_order(model: Any) -> tuple:
    """The key by which models are sorted: class, static fields, numbers."""
    return *sort_key(model), tuple(np.ravel(x).tolist() for x in jax.tree.leaves(model))


def _has_arrays(model: Any) -> bool:
    return any(np.ndim(x) for x in jax.tree.leaves(model))
