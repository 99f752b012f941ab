"""Who is in which group, which receptors a group has, which projections a pathway."""

from collections.abc import Hashable
from typing import Any

import jax
import numpy as np

from ._description import Description
from ._merge import kind_key, own_key, sort_key, value_key
from ._places import Wired
from ._population import Population
from ._projection import Projection
from ._stimulation import Stimulation


class Plan:
    """The layout of a description before anything is drawn.

    Everything is sorted by name, and what is grouped keeps the order of its first name: results
    must not depend on the order of the description.
    """

    def __init__(self, description: Description, wired: dict[str, Wired]):
        self.description, self.wired = description, wired
        by_kind: dict[Hashable, list[Population]] = {}
        for p in sorted(description.populations, key=lambda p: p.name):
            kind = kind_key(p.model), own_key(p.name, p.model)
            by_kind.setdefault(kind, []).append(p)
        self.groups = list(by_kind.values())
        self.place: dict[str, tuple[int, int, int]] = {}
        for number, members in enumerate(self.groups):
            start = 0
            for index, p in enumerate(members):
                self.place[p.name] = (number, index, start)
                start += p.n
        self.receptors = self._plan_receptors()
        self.pathways = self._plan_pathways()

    @property
    def neurons(self) -> int:
        return sum(p.n for p in self.description.populations)

    def size(self, group: int) -> int:
        return sum(p.n for p in self.groups[group])

    def _plan_receptors(self) -> list[dict[tuple, Projection | Stimulation]]:
        found: list[dict[tuple, Projection | Stimulation]] = [{} for _ in self.groups]
        d = self.description
        senders = [*d.projections, *(s for s in d.stimuli if s.synapse is not None)]
        # By what they are: what several receptors add up must not depend on other names.
        for p in sorted(senders, key=lambda p: (_model_order(p.synapse), p.name)):
            found[self.place[p.post.population][0]].setdefault(receptor_key(p), p)
        return found

    def _plan_pathways(self) -> dict[tuple, list[Projection]]:
        found: dict[tuple, list[Projection]] = {}
        for p in sorted(self.description.projections, key=lambda p: (p.pre.population, p.name)):
            source = self.place[p.pre.population][0]
            target = self.place[p.post.population][0]
            release = (value_key(p.release), p.pre.population if _has_arrays(p.release) else "")
            found.setdefault((source, target, release), []).append(p)
        # By what their sources are: what several pathways add up must not depend on other names.
        return dict(sorted(found.items(), key=lambda item: self._pathway_order(*item)))

    def _pathway_order(self, key: tuple, projections: list[Projection]) -> tuple:
        first = projections[0]
        return *sort_key(self.groups[key[0]][0].model), *_model_order(first.release), key[0], key[1]


def receptor_key(p: Projection | Stimulation) -> tuple:
    """Equal for projections and stimulations that share a receptor of their target group."""
    return (*value_key(p.synapse), p.post.population if _has_arrays(p.synapse) else "")


def _model_order(model: Any) -> tuple:
    """What models are put in order by: class, static fields, numbers."""
    return *sort_key(model), tuple(np.ravel(x).tolist() for x in jax.tree.leaves(model))


def _has_arrays(model: Any) -> bool:
    return any(np.ndim(x) for x in jax.tree.leaves(model))
