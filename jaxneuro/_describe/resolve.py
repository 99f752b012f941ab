"""Finds the positions of a description's neurons, and which neurons a projection connects."""

import dataclasses
from typing import Any

import numpy as np

from .. import spec
from .._model import Neuron
from .._numerics.streams import stream_key
from ..connectivity import Rule
from ..space import Area, Place
from .part import Neurons, Part, count, listed, stretch


@dataclasses.dataclass(frozen=True)
class ResolvedProjection:
    """A projection whose rule knows its neurons.

    Attributes:
        projection: the projection.
        rule: its rule, bound to positions.
        pre: the neurons of the source.
        post: the neurons of the target.
        sizes: how many neurons each side has.
        same: whether both sides are the same neurons.
        places: the places of the whole populations, for values by distance.
        target: the model of the target neurons.
    """

    projection: Any
    rule: Rule
    pre: Neurons
    post: Neurons
    sizes: tuple[int, int]
    same: bool
    places: tuple[Place | None, Place | None]
    target: Neuron

    @property
    def expected(self) -> float:
        """The expected number of synapses."""
        return self.rule.expected(*self.sizes, self.same)


class Resolver:
    """The positions of a description's neurons under one seed, drawn when first needed."""

    def __init__(self, description: Any, seed: Any):
        self._description, self._seed = description, seed
        self._points: dict[str, np.ndarray] = {}

    def points(self, name: str) -> np.ndarray | None:
        """Positions (n, d) of a population, None if it has none."""
        population = self._description.population(name)
        if population.positions is None:
            return None
        if name not in self._points:
            key = stream_key(self._seed, name, "positions")
            self._points[name] = population.positions.draw(key, population.n)
        return self._points[name]

    def place(self, name: str, neurons: Neurons | None = None) -> Place | None:
        """Positions of some neurons with the period of their space."""
        points = self.points(name)
        if points is None:
            return None
        period = self._description.population(name).positions.period
        return Place(points if neurons is None else points[neurons], period)

    def neurons(self, part: Part) -> Neurons:
        """The neurons that a part selects."""
        n, where = self._description.population(part.population).n, part.where
        if isinstance(where, str):
            areas = self._description.areas
            if where not in areas:
                raise spec.unknown("area", where, areas, part.label, "where")
            where = areas[where]
        points = self.points(part.population) if isinstance(where, Area) else None
        return select_neurons(part, where, n, points)

    def resolve(self, p: Any) -> ResolvedProjection:
        """The projection with its neurons; raises `InvalidValueError` if its rule does not fit."""
        label = p.label
        pre, post = self.neurons(p.pre), self.neurons(p.post)
        sizes = count(pre), count(post)
        same = self._same(label, p, pre, post)
        rule = p.rule
        if rule.spatial:
            rule = rule.bind(
                label, self.place(p.pre.population, pre), self.place(p.post.population, post)
            )
        try:
            rule.check(label, *sizes, same)
        except spec.InvalidValueError as error:
            what = error.owner, error.field, error.must, error.got
            raise spec.InvalidValueError(*what, error.hint + self._parts(p, sizes)) from None
        places = self.place(p.pre.population), self.place(p.post.population)
        target = self._description.population(p.post.population).model
        resolved = ResolvedProjection(p, rule, pre, post, sizes, same, places, target)
        for what in ("weight", "delay"):
            if isinstance(getattr(p, what), np.ndarray):
                _check_array(label, resolved, what)
        return resolved

    def _parts(self, p: Any, sizes: tuple[int, int]) -> str:
        """What the parts of a projection are, for messages; "" if both ends are populations."""
        told = [
            f"the {side} is {n} of the {self._description.population(part.population).n} neurons "
            f"of {part.population!r}"
            for side, part, n in zip(("source", "target"), (p.pre, p.post), sizes)
            if part.where is not None
        ]
        return f". Indices count within a part: {' and '.join(told)}" if told else ""

    def _same(self, label: str, p: Any, pre: Neurons, post: Neurons) -> bool:
        if p.pre.population != p.post.population:
            return False
        if isinstance(pre, slice) and isinstance(post, slice) and pre == post:
            return True
        n = self._description.population(p.pre.population).n
        a, b = (np.arange(n)[x] for x in (pre, post))
        if np.array_equal(a, b):
            return True
        if not p.rule.autapses and np.intersect1d(a, b).size:
            must = "between parts that are equal or have no neuron in common, without autapses"
            raise spec.InvalidValueError(label, "rule", must, "parts that overlap")
        return False


def select_neurons(part: Part, where: Any, n: int, points: np.ndarray | None) -> Neurons:
    """The neurons among n that a part selects; `where` is no name, `points` (n, d) their places."""
    inside = isinstance(where, Area)
    found = _inside(part, where, points) if inside else _listed(part, where, n)
    if n and not count(found):
        got = f"none of the {n} there are"
        raise spec.InvalidValueError(part.label, "where", "at least one neuron", got)
    return found


def _inside(part: Part, area: Area, points: np.ndarray | None) -> Neurons:
    """The neurons of a part that is an area."""
    if points is None:
        must = "without areas where the population has no positions= (a Grid, an array, ...)"
        raise spec.InvalidValueError(part.label, "where", must, str(area))
    try:
        inside = np.flatnonzero(area.contains(points))
    except spec.InvalidValueError as error:
        what = error.must, error.got, error.hint
        raise spec.InvalidValueError(part.label, "where", *what) from None
    if points.size and not inside.size:
        got = f"{area}, with positions from {points.min(axis=0)} to {points.max(axis=0)} um"
        must = "an area that contains a neuron"
        raise spec.InvalidValueError(part.label, "where", must, got)
    return stretch(inside)


def _listed(part: Part, where: Any, n: int) -> Neurons:
    """The neurons of a part that is all of n neurons, a slice, indices or a mask."""
    if isinstance(where, np.ndarray) and where.dtype == bool and where.size != n:
        must = f"a mask of one boolean per neuron, {n} of them"
        raise spec.InvalidValueError(part.label, "where", must, str(where.size))
    where = listed(where) if isinstance(where, np.ndarray) else where
    if where is None or isinstance(where, slice):
        start, stop = (0, n) if where is None else (where.start, where.stop)
        stop = n if stop is None else stop
        last = max(start, stop)
    else:
        start, stop, last = 0, 0, int(where.max(initial=-1)) + 1
    if last > n:
        must = f"of neurons below {n}, the size of the population"
        raise spec.InvalidValueError(part.label, "where", must, str(last - 1))
    return stretch(where) if isinstance(where, np.ndarray) else slice(start, stop)


def _check_array(label: str, resolved: ResolvedProjection, what: str) -> None:
    """Raises `InvalidValueError` unless there is one per pair, or one per connection."""
    shape, (pre, post) = getattr(resolved.projection, what).shape, resolved.sizes
    if shape == (pre, post):
        return
    number = 0 if resolved.rule.spatial else int(resolved.expected)
    fixed = resolved.rule.arranges
    if not fixed or shape != (number,):
        per = f" or ({number},), one per connection" if fixed else ""
        must = f"a number, a distribution, a function or an array of shape ({pre}, {post}){per}"
        raise spec.InvalidValueError(label, what, must, f"shape {shape}")
