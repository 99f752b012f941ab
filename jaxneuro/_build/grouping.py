"""The groups of a description, the receptors of a group, the projections of a pathway."""

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np
from jaxtyping import UInt32

from .._describe.coupling import Coupling
from .._describe.description import Description
from .._describe.population import Population
from .._describe.projection import Projection
from .._describe.resolve import ResolvedProjection
from .._describe.stimulation import Stimulation
from .._kernels.rule_programs import RulePrograms
from .._model import StochasticRelease, Synapse
from .._network.group import input_rows
from .._numerics.distributions import Distribution
from ..synapses import Into
from .merge import kind_key, own_key, sort_key, state_dtypes, value_key

Sender: TypeAlias = Projection | Stimulation | Coupling  # what sends to a receptor


class Settings(NamedTuple):
    """What all parts of a network are built with.

    Attributes:
        seed: the seed of all draws.
        dt: the time step [ms].
        dtype: the dtype of numbers.
        weights: the dtype of individual weights.
        rules: the functions of the rules of plasticity, by projection.
    """

    seed: UInt32[np.ndarray, ""]
    dt: float
    dtype: np.dtype
    weights: np.dtype
    rules: dict[str, RulePrograms]


class Seat(NamedTuple):
    """The place of a population: its group, its number there, and its first neuron there."""

    group: int
    member: int
    first: int


class PathwayKey(NamedTuple):
    """What projections of one pathway share: groups, the release and its chosen name, and where
    its state starts.

    A plastic projection, or one whose release draws or has drawn start values, has a pathway of its
    own: `own` is its name, "" for all others.
    """

    source: int
    target: int
    release: Hashable
    name: str
    starts: tuple = ()
    own: str = ""


class Grouping:
    """Which populations make a group, which receptors it has, which projections a pathway.

    Everything is sorted by name, and what is grouped keeps the order of its first name: results
    must not depend on the order of the description.
    """

    def __init__(
        self,
        description: Description,
        resolved: dict[str, ResolvedProjection],
        dense: Mapping[str, bool] = MappingProxyType({}),
    ):
        self.description, self.resolved, self.dense = description, resolved, dense
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
        self._fed = self._find_fed()
        self._numbers = [{key: k for k, key in enumerate(mine)} for mine in self.receptors]
        self._rows = [
            input_rows([synapse_of(r) for r in mine.values()], self.fed(group))
            for group, mine in enumerate(self.receptors)
        ]
        self.pathways = self._find_pathways()

    @property
    def neurons(self) -> int:
        return sum(p.n for p in self.description.populations)

    def size(self, group: int) -> int:
        return sum(p.n for p in self.groups[group])

    def input_of(self, p: Sender) -> tuple[int, int]:
        """The number of the receptor that something sends to, and of the row of its arrivals."""
        group = self.seats[p.post.population].group
        number = self._numbers[group][receptor_key(p)]
        ports = synapse_of(p).ports
        port = ports.index(p.synapse.port) if isinstance(p.synapse, Into) else 0
        return number, self._rows[group][number].start + port

    def fed(self, group: int) -> tuple[bool, ...]:
        """Whether projections or couplings lead to each receptor of a group."""
        return tuple(key in self._fed[group] for key in self.receptors[group])

    def _find_fed(self) -> list[set[tuple]]:
        found: list[set[tuple]] = [set() for _ in self.groups]
        for p in (*self.description.projections, *self.description.couplings):
            if p.synapse is not None:
                found[self.seats[p.post.population].group].add(receptor_key(p))
        return found

    @property
    def senders(self) -> list[Sender]:
        """Everything that sends to a receptor."""
        d = self.description
        return [
            *d.projections,
            *(s for s in d.stimuli if s.synapse is not None),
            *(c for c in d.couplings if c.synapse is not None),
        ]

    def _find_receptors(self) -> list[dict[tuple, Sender]]:
        found: list[dict[tuple, Sender]] = [{} for _ in self.groups]
        # Sorted by kind: the sum over several receptors must not depend on other names.
        for p in sorted(self.senders, key=lambda p: (_model_order(synapse_of(p)), p.name)):
            found[self.seats[p.post.population].group].setdefault(receptor_key(p), p)
        return found

    def _find_pathways(self) -> dict[PathwayKey, list[Projection]]:
        found: dict[PathwayKey, list[Projection]] = {}
        for p in sorted(self.description.projections, key=lambda p: (p.pre.population, p.name)):
            source = self.seats[p.pre.population].group
            target = self.seats[p.post.population].group
            release = (value_key(p.release), p.pre.population if _has_arrays(p.release) else "")
            starts, drawn = _release_starts(p)
            alone = drawn or p.plasticity is not None or isinstance(p.release, StochasticRelease)
            alone |= p.name in self.dense
            named = p.release_name or ""
            key = PathwayKey(source, target, release, named, starts, p.name if alone else "")
            found.setdefault(key, []).append(p)
        # Sorted by the kind of the source: the sum over pathways must not depend on other names.
        return dict(sorted(found.items(), key=lambda item: self._pathway_order(*item)))

    def _pathway_order(self, key: PathwayKey, projections: list[Projection]) -> tuple:
        first = projections[0]
        source = self.groups[key.source][0].model
        order = *sort_key(source), *_model_order(first.release), key.source, key.target
        return *order, key.name, key.starts, key.own


def synapse_of(p: Sender) -> Synapse:
    """The receptor that something sends to; of one with ports, the whole."""
    assert p.synapse is not None
    return p.synapse.receptor if isinstance(p.synapse, Into) else p.synapse


def receptor_key(p: Sender) -> tuple:
    """Equal for what shares a receptor of its target group."""
    synapse = synapse_of(p)
    population = p.post.population if _has_arrays(synapse) else ""
    return (*value_key(synapse), population, p.receptor_name or "")


def _release_starts(p: Projection) -> tuple[tuple, bool]:
    """The start values of the release of a projection, and whether some of them are drawn.

    Those with a number per neuron have the name of the population; equal for what may share.
    """
    if not p.initial or p.release.plain:
        return (), False
    known = state_dtypes(p.release)
    mine = {name: x for name, x in sorted(p.initial.items()) if name in known}
    if any(isinstance(x, Distribution) for x in mine.values()):
        return (), True
    name = p.pre.population if any(map(np.ndim, mine.values())) else ""
    values = (tuple(np.ravel(np.asarray(x, np.float64)).tolist()) for x in mine.values())
    return (name, *zip(mine, values)) if mine else (), False


def _model_order(model: Any) -> tuple:
    """The key by which models are sorted: class, static fields, numbers."""
    return *sort_key(model), tuple(np.ravel(x).tolist() for x in jax.tree.leaves(model))


def _has_arrays(model: Any) -> bool:
    return any(np.ndim(x) for x in jax.tree.leaves(model))
