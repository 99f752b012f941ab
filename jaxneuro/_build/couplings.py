"""Builds couplings: draws their connections and arranges them by target."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int64

from .._arrays import as_array
from .._describe.coupling import Coupling
from .._describe.resolve import ResolvedProjection
from .._describe.values import is_computed
from .._kernels.gather import make_gather_table
from .._model import Neuron, state_variables
from .._network.coupling import CouplingLayer, Side
from .._network.group import initial_state
from .._text import an
from .._units import warn_of_units, weight_in_si
from ..spec import InvalidValueError, unknown
from .grouping import Grouping, Settings
from .groups import release_initial
from .merge import alone, merge
from .pathways import ProjectionBundle, own_weights
from .weights import check_drawn_weights


class CoupledPairs(NamedTuple):
    """Connections one by one: from `pre` to `post`, with `weights`, or None for one of all."""

    pre: Int64[np.ndarray, " synapses"]
    post: Int64[np.ndarray, " synapses"]
    weights: Float[np.ndarray, " synapses"] | None

    def where(
        self, chosen: Bool[np.ndarray, " synapses"] | Int64[np.ndarray, " chosen"]
    ) -> "CoupledPairs":
        """Some of them."""
        own = None if self.weights is None else self.weights[chosen]
        return CoupledPairs(self.pre[chosen], self.post[chosen], own)

    def turned(self) -> "CoupledPairs":
        """The same in the other direction."""
        return CoupledPairs(self.post, self.pre, self.weights)

    def and_(self, other: "CoupledPairs") -> "CoupledPairs":
        """These and others."""
        own = None
        if self.weights is not None and other.weights is not None:
            own = np.concatenate([self.weights, other.weights])
        pre, post = (np.concatenate(pair) for pair in zip(self[:2], other[:2]))
        return CoupledPairs(pre, post, own)


def check_coupling(grouping: Grouping, c: Coupling) -> None:
    """Raises `InvalidValueError` for gap junctions of neurons without a voltage, or with `initial`.

    Gap junctions release nothing, so that there is no state that could start with given values.
    """
    if not c.electrical:
        return
    for part in (c.pre, c.post):
        model = _model(grouping, part.population)
        state = jax.eval_shape(lambda m: initial_state(m, 2), alone(model))
        if "v" not in state_variables(state):
            must = "given with synapse=: gap junctions join neurons with a voltage v"
            got = f"{part.population!r}, {an(type(model).__name__)}, which has none"
            raise InvalidValueError(c.label, "release", must, got)
    if c.initial:
        raise unknown("state variable", next(iter(c.initial)), (), c.label, "initial")


def _model(grouping: Grouping, population: str) -> Neuron:
    return grouping.description.population(population).model


def build_coupling(
    grouping: Grouping, c: Coupling, resolved: ResolvedProjection, settings: Settings
) -> CouplingLayer:
    """The coupling of some groups as it runs."""
    dtype = settings.dtype
    names = c.pre.population, c.post.population
    n, n_post = (grouping.description.population(name).n for name in names)
    pairs = _pairs(
        c, resolved, ProjectionBundle(resolved, settings.seed, n, n_post, settings.dt), dtype
    )
    if pairs.weights is not None:
        check_drawn_weights(c, pairs.weights, resolved.target)
        if is_computed(c.weight):
            unit = "nS" if c.synapse is None else c.synapse.weight_unit
            warn_of_units(weight_in_si(c.label, c.gain * pairs.weights, unit))
    sides = [_side(grouping, names, pairs, dtype)]
    if c.symmetric and names[0] != names[1]:
        sides.append(_side(grouping, names[::-1], pairs.turned(), dtype))
    own = pairs.weights is not None
    receptor, row = (None, None) if c.synapse is None else grouping.input_of(c)
    return CouplingLayer(
        sides=tuple(sides),
        weight=as_array(1.0 if own else c.weight, dtype),
        gain=as_array(c.gain, dtype),
        release=None if c.release is None else merge([c.release], [n], dtype),
        initial=() if c.release is None else release_initial(grouping, [c], [0], dtype),
        name=c.name,
        source=names[0],
        target=names[1],
        individual=own,
        average=c.average,
        receptor=receptor,
        input=row,
    )


def _pairs(
    c: Coupling, resolved: ResolvedProjection, bundle: ProjectionBundle, dtype: np.dtype
) -> CoupledPairs:
    """All connections of a coupling, each pair of a symmetric one in both directions."""
    own = own_weights(resolved.projection)
    pieces = [make() for make in bundle.pieces(dtype if own else None, None)]
    empty = np.zeros(0, np.int64)
    pre = np.concatenate([empty, *(np.repeat(p.rows, p.counts.astype(np.int64)) for p in pieces)])
    post = np.concatenate([empty, *(p.targets.astype(np.int64) for p in pieces)])
    weights = np.concatenate([np.zeros(0, dtype), *(p.weights for p in pieces)]) if own else None
    bundle.forget()
    pairs = CoupledPairs(pre, post, weights)
    if c.pre.population != c.post.population:
        return pairs
    if c.electrical:  # no current flows from a neuron to itself
        others = pairs.where(pairs.pre != pairs.post)
        if pairs.pre.size and not others.pre.size and max(resolved.sizes) > 1:
            must = "one that connects a neuron with another one"
            raise InvalidValueError(c.label, "rule", must, type(c.rule).__name__)
        pairs = others
    if not c.symmetric:
        return pairs
    if not resolved.same:  # two parts without a neuron in common
        return _both_ways(pairs)
    if c.rule.pairs == "drawn":
        return _both_ways(pairs.where(pairs.pre <= pairs.post))
    return _both_ways(_listed_once(c, pairs))


def _both_ways(pairs: CoupledPairs) -> CoupledPairs:
    return pairs.and_(pairs.where(pairs.pre != pairs.post).turned())


def _listed_once(c: Coupling, pairs: CoupledPairs) -> CoupledPairs:
    """Every pair of a list once; raises for one with two weights."""
    once, times = np.unique(np.stack([pairs.pre, pairs.post]), axis=1, return_counts=True)
    if (times > 1).any():
        i, j = once[:, np.argmax(times > 1)]
        must = "one that lists each pair once, with the sum of its weights, or symmetric=False"
        raise InvalidValueError(c.label, "rule", must, f"neurons {i} and {j} more than once")
    low, high = np.minimum(pairs.pre, pairs.post), np.maximum(pairs.pre, pairs.post)
    number = low * (int(high.max(initial=0)) + 1) + high
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    if pairs.weights is not None:
        differ = np.flatnonzero(pairs.weights != pairs.weights[first][which])
        if differ.size:
            i, j = low[differ[0]], high[differ[0]]
            must = "one number for each pair, or symmetric=False"
            raise InvalidValueError(c.label, "weight", must, f"two for neurons {i} and {j}")
    return CoupledPairs(low, high, pairs.weights).where(first)


def _side(grouping: Grouping, names: Sequence[str], pairs: CoupledPairs, dtype: np.dtype) -> Side:
    """What targets of the second population get from sources of the first."""
    seats = [grouping.seats[name] for name in names]
    sizes = [grouping.description.population(name).n for name in names]
    table, weights = make_gather_table(pairs.post, pairs.pre, sizes[1], sizes[0], pairs.weights)
    spans = [(seat.first, seat.first + n) for seat, n in zip(seats, sizes)]
    total = np.bincount(pairs.post, weights=pairs.weights, minlength=sizes[1])
    return Side(
        table=table,
        weights=as_array(np.zeros(0), dtype) if weights is None else weights,
        total=as_array(total, dtype),
        source=seats[0].group,
        sources=spans[0],
        target=seats[1].group,
        targets=spans[1],
    )
