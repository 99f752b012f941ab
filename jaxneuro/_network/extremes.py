"""Whether what modulators scale can have the values that their bounds allow.

Parameters of one model are tried together, because their ranges may depend on each other, and so
is everything that decides whether gap junctions of a population are stable. The factors of one
modulator follow its level: between two levels at which one of them meets a bound they are linear,
so that only these levels are tried, in all combinations of the modulators.
"""

import itertools
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Num

from .._arrays import is_traced
from .._fields import Model, named_parameters
from ..spec import InvalidValueError
from .bounds import with_parameters
from .gap_stability import check_gap_junctions
from .members import inside, member
from .modulator import ModulationTarget
from .names import ModelReference, named

if TYPE_CHECKING:
    from .network import Network

_LARGE = 1e6  # a factor that is tried where there is no largest one
_MOST = 64  # combinations that are tried


class _Pull(NamedTuple):
    """That a modulator scales something: the amount, and the bounds of the factor."""

    modulator: str
    amount: float
    low: float
    high: float


class _Scaled(NamedTuple):
    """Something that modulators scale: a name and its parameter, and who scales it."""

    name: str
    key: str
    pulls: list[_Pull]


class _ScaledModel(NamedTuple):
    """A model, and what modulators scale of it."""

    reference: ModelReference
    parts: list[_Scaled]


def check_extremes(net: "Network", touched: Collection[tuple] | None = None) -> None:
    """Raises `InvalidValueError` where modulators can make values that could not be set.

    `touched` are the paths of the models (or couplings) to look at, None for all.
    """
    if not net.modulators or any(map(is_traced, _numbers(net))):
        return
    reached = _reached(net)
    by_model: dict[tuple, _ScaledModel] = {}
    for target, scaled in reached.items():
        reference = _reference(net, target, scaled)
        if reference is not None:
            who = reference.path, reference.member
            by_model.setdefault(who, _ScaledModel(reference, [])).parts.append(scaled)
    for (path, _), model in by_model.items():
        if touched is None or path in touched:
            for factors in _corners(model.parts):
                _try(net, model, None, factors)
    _check_gaps(net, reached, by_model, touched)


def _numbers(net: "Network") -> list:
    """What decides whether the network is known: the numbers of models, not of connections."""
    layers = [(c.weight, c.gain, [s.total for s in c.sides]) for c in net.couplings]
    parts = [(g.model, g.receptors, g.stimuli) for g in net.groups]
    return jax.tree.leaves((net.modulators, parts, [p.release for p in net.pathways], layers))


def _reached(net: "Network") -> dict[ModulationTarget, _Scaled]:
    """Everything that is scaled, once, with all modulators that do so."""
    out: dict[ModulationTarget, _Scaled] = {}
    for m in net.modulators:
        low, high = (float(x) for x in np.asarray(m.bounds))
        high = high if np.isfinite(high) else _LARGE
        for target, amount, (name, key) in zip(m.targets, np.asarray(m.amounts), m.scales):
            pull = _Pull(m.name, float(amount), low, high)
            out.setdefault(target, _Scaled(name, key, [])).pulls.append(pull)
    return out


def _reference(net: "Network", target: ModulationTarget, scaled: _Scaled) -> ModelReference | None:
    """The model that has a scaled parameter; None for a gain or a weight, whose sign stays."""
    for reference in named(net, scaled.name).references:
        if target.path[: len(reference.path)] == reference.path:
            return reference
    return None


def _check_gaps(
    net: "Network", reached: dict, by_model: dict, touched: Collection[tuple] | None
) -> None:
    """The same for gap junctions: with the gains of couplings, and the neurons of a population."""
    gains = {
        r.path[1]: s for r, s in reached.items() if r.path[0] == "couplings" and s.key == "gain"
    }
    for population, numbers in _electrical(net).items():
        (reference,) = named(net, population).references
        who = reference.path, reference.member
        model = by_model.get(who, _ScaledModel(reference, []))
        mine = {k: gains[k] for k in numbers if k in gains}
        paths = {reference.path, *(("couplings", k) for k in numbers)}
        if not (mine or model.parts) or (touched is not None and not paths & set(touched)):
            continue
        for factors in _corners([*mine.values(), *model.parts]):
            _try(net, model, mine, factors)


def _electrical(net: "Network") -> dict[str, list[int]]:
    """The numbers of the couplings whose gap junctions neurons have, by population."""
    out: dict[str, list[int]] = {}
    for number, layer in enumerate(net.couplings):
        if layer.release is None:
            for name in {layer.target, layer.source}:
                out.setdefault(name, []).append(number)
    return out


def _corners(parts: list[_Scaled]) -> Iterator[dict[int, float]]:
    """Factors to try, by the identity of what is scaled."""
    by_modulator: dict[str, list[tuple[int, _Pull]]] = {}
    for scaled in parts:
        for pull in scaled.pulls:
            by_modulator.setdefault(pull.modulator, []).append((id(scaled), pull))
    choices = [_factors(pulls) for pulls in by_modulator.values()]
    seen = set()
    for chosen in _some(choices):
        total = {id(scaled): 1.0 for scaled in parts}
        for factors in chosen:
            for which, factor in factors.items():
                total[which] *= factor
        if tuple(total.values()) not in seen:
            seen.add(tuple(total.values()))
            yield total


def _factors(pulls: list[tuple[int, _Pull]]) -> list[dict[int, float]]:
    """The factors of one modulator at each level at which one of them meets a bound."""
    moving = [p for _, p in pulls if p.amount]
    levels = sorted({(bound - 1) / p.amount for p in moving for bound in (p.low, p.high)})
    return [
        {which: float(np.clip(1 + p.amount * c, p.low, p.high)) for which, p in pulls}
        for c in levels or [0.0]
    ]


def _some(choices: list[list]) -> Iterator[tuple]:
    """All combinations; of too many those in which at most one differs from first or last."""
    if np.prod([float(len(c)) for c in choices]) <= _MOST:
        yield from itertools.product(*choices)
        return
    for end in (0, -1):
        together = [c[end] for c in choices]
        yield tuple(together)
        for k, own in enumerate(choices):
            for x in own:
                yield (*together[:k], x, *together[k + 1 :])


def _try(
    net: "Network", scaled_model: _ScaledModel, gains: dict[int, _Scaled] | None, factors: dict
) -> None:
    """Raises `InvalidValueError` for factors with which values could not be set.

    `gains` are those of gap junctions by the number of the coupling, None to leave them out.
    """
    reference, parts = scaled_model
    try:
        if parts:
            model = member(reference.model(net), reference.sizes, reference.member)
            now = {s.key: _value(model, s.key) * factors[id(s)] for s in parts}
            new = with_parameters(named(net, parts[0].name).label, reference, net, now)
            net = eqx.tree_at(reference.model, net, new)
        if gains is not None:
            couplings = list(net.couplings)
            for number, scaled in gains.items():
                gain = couplings[number].gain * factors[id(scaled)]
                couplings[number] = eqx.tree_at(lambda c: c.gain, couplings[number], gain)
            check_gap_junctions(couplings, net.groups, net.dt, reference.population, net.layout)
    except ValueError as error:
        raise _error([*(gains or {}).values(), *parts], factors, error) from None


def _value(model: Model, key: str) -> Num[np.ndarray, "..."]:
    return np.asarray(inside(model, named_parameters(model)[key][0]))


def _error(parts: list[_Scaled], factors: dict, error: ValueError) -> InvalidValueError:
    moved = [s for s in parts if factors[id(s)] != 1]
    names = dict.fromkeys(pull.modulator for s in moved for pull in s.pulls)
    what = " and ".join(f"{s.key} of {s.name!r} times {factors[id(s)]:g}" for s in moved)
    who = f"modulator{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"
    bounds = [
        b for b, x in (("lowest", -1), ("highest", 1)) for s in moved if x * factors[id(s)] > x
    ]
    field, must = " or ".join(dict.fromkeys(bounds)), "such that what is scaled can be set"
    return InvalidValueError(who, field, must, f"{what}: {error}")
