"""Checks whether modulators can bring what they scale to values that could not be set.

Scaled parameters of one model are set together, since their ranges may depend on each other, and
with them everything that decides whether gap junctions are stable. All modulators have one level,
or one of them has its opposite. Between two levels at which a factor meets a bound the factors are
linear, so these levels are enough.
"""

import math
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

import equinox as eqx
import jax
import numpy as np

from .._arrays import is_traced
from .._fields import named_parameters
from ..spec import InvalidValueError
from .bounds import with_parameters
from .gap_stability import check_gap_junctions
from .members import inside, member
from .modulator import ModulationTarget
from .names import ModelReference, named

if TYPE_CHECKING:
    from .network import Network

_LARGE = 1e6  # the largest factor that is tried where a modulator has no highest one


class _Pull(NamedTuple):
    """A modulator, the amount by which it scales something, and the bounds of the factor."""

    modulator: str
    amount: float
    low: float
    high: float


class _Scaled(NamedTuple):
    """A scaled number: the name that has it, its key there, and the modulators that scale it."""

    name: str
    key: str
    pulls: list[_Pull]


class _ScaledModel(NamedTuple):
    """A model with the parameters that are scaled, and of a population the gains of its couplings.

    Attributes:
        reference: the model.
        parts: its scaled parameters.
        couplings: the numbers of the couplings with gap junctions at its neurons.
        gains: the scaled gains of these, by the number of the coupling.
    """

    reference: ModelReference
    parts: list[_Scaled]
    couplings: set[int]
    gains: dict[int, _Scaled]


def check_extremes(net: "Network", touched: Collection[tuple] | None = None) -> None:
    """Raises `InvalidValueError` where modulators can make values that could not be set.

    `touched` are the paths of the models (or couplings) to look at, None for all.
    """
    if not net.modulators or any(map(is_traced, _numbers(net))):
        return
    for model in _models(net):
        paths = {model.reference.path, *(("couplings", k) for k in model.couplings)}
        if touched is None or paths & set(touched):
            for factors in _factors([*model.gains.values(), *model.parts]):
                _try(net, model, factors)


def _numbers(net: "Network") -> list:
    """The numbers that decide whether the network is known: those of models, not of connections."""
    layers = [(c.weight, c.gain, [s.total for s in c.sides]) for c in net.couplings]
    parts = [(g.model, g.receptors, g.stimuli) for g in net.groups]
    return jax.tree.leaves((net.modulators, parts, [p.release for p in net.pathways], layers))


def _models(net: "Network") -> list[_ScaledModel]:
    """The models of which something is scaled; not those of gains and weights, whose sign stays."""
    models: dict[tuple, _ScaledModel] = {}

    def model(reference: ModelReference) -> _ScaledModel:
        electrical = {
            number
            for number, layer in enumerate(net.couplings)
            if layer.release is None and reference.kind == "population"
            if reference.population in (layer.source, layer.target)
        }
        key = reference.path, reference.member
        return models.setdefault(key, _ScaledModel(reference, [], electrical, {}))

    for target, scaled in _scaled(net).items():
        if target.path[0] == "couplings":
            layer = net.couplings[target.path[1]]
            ends = (layer.source, layer.target) if layer.release is None else ()
            for population in dict.fromkeys(ends):
                (reference,) = named(net, population).references
                model(reference).gains[target.path[1]] = scaled
        for reference in named(net, scaled.name).references:
            if target.path[: len(reference.path)] == reference.path:
                model(reference).parts.append(scaled)
                break
    return list(models.values())


def _scaled(net: "Network") -> dict[ModulationTarget, _Scaled]:
    """Everything that is scaled, once, with all modulators that do so."""
    out: dict[ModulationTarget, _Scaled] = {}
    for m in net.modulators:
        low, high = (float(x) for x in np.asarray(m.bounds))
        high = high if np.isfinite(high) else _LARGE
        for target, amount, (name, key) in zip(m.targets, np.asarray(m.amounts), m.scales):
            pull = _Pull(m.name, float(amount), low, high)
            out.setdefault(target, _Scaled(name, key, [])).pulls.append(pull)
    return out


def _factors(parts: list[_Scaled]) -> Iterator[list[float]]:
    """The factors of some numbers at each level at which one of them meets a bound."""
    pulls = [pull for part in parts for pull in part.pulls if pull.amount]
    levels = sorted({(bound - 1) / p.amount for p in pulls for bound in (p.low, p.high)})
    names = {p.modulator for p in pulls}

    def factor(pull: _Pull, level: float) -> float:
        return float(np.clip(1 + pull.amount * level, pull.low, pull.high))

    for level in levels:
        for opposite in (None, *sorted(names)) if len(names) > 1 else (None,):
            yield [
                math.prod(factor(p, -level if p.modulator == opposite else level) for p in x.pulls)
                for x in parts
            ]


def _try(net: "Network", model: _ScaledModel, factors: list[float]) -> None:
    """Raises `InvalidValueError` for factors with which values could not be set."""
    reference, parts, gains = model.reference, model.parts, model.gains
    try:
        if parts:
            scaled = member(reference.model(net), reference.sizes, reference.member)
            places = {name: path for name, (path, _) in named_parameters(scaled).items()}
            values = {
                part.key: np.asarray(inside(scaled, places[part.key])) * factor
                for part, factor in zip(parts, factors[len(gains) :])
            }
            new = with_parameters(named(net, parts[0].name).label, reference, net, values)
            net = eqx.tree_at(reference.model, net, new)
        couplings = list(net.couplings)
        for number, factor in zip(gains, factors):
            gain = couplings[number].gain * factor
            couplings[number] = eqx.tree_at(lambda c: c.gain, couplings[number], gain)
        if model.couplings:
            check_gap_junctions(couplings, net.groups, net.dt, reference.population, net.layout)
    except ValueError as error:
        raise _error([*gains.values(), *parts], factors, error) from None


def _error(scaled: list[_Scaled], factors: list[float], error: ValueError) -> InvalidValueError:
    moved = [(part, x) for part, x in zip(scaled, factors) if x != 1]
    names = dict.fromkeys(pull.modulator for part, _ in moved for pull in part.pulls)
    got = " and ".join(f"{part.key} of {part.name!r} times {x:g}" for part, x in moved)
    owner = f"modulator{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"
    bounds = [
        k for k, side in (("lowest", -1), ("highest", 1)) if any(side * x > side for _, x in moved)
    ]
    must = "such that what is scaled can be set"
    return InvalidValueError(owner, " or ".join(bounds), must, f"{got}: {error}")
