"""Builds a group from its populations, with the start values of its receptors."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import ArrayLike, as_array
from .._describe.coupling import Coupling
from .._describe.population import Population
from .._describe.projection import Projection
from .._model import state_variables
from .._network.bounds import check_state_value
from .._network.group import Group, InitialValue, PopulationMember, initial_state
from .._network.slow import slow_variables
from .._numerics.distributions import Distribution
from .._text import brief
from ..spec import InvalidValueError, unknown
from .grouping import Grouping, Sender, receptor_key, synapse_of
from .merge import merge, merge_at, state_dtypes, state_shapes
from .stimuli import PreparedStimulation, group_stimuli


def build_group(
    grouping: Grouping,
    stimulations: list[PreparedStimulation],
    number: int,
    dt: float,
    dtype: np.dtype,
) -> Group:
    """Group `number` of a description; its ring gets its slots when delays are known."""
    members = grouping.groups[number]
    names, sizes = [p.name for p in members], [p.n for p in members]
    return Group(
        model=merge([p.model for p in members], sizes, dtype),
        receptors=tuple(
            merge_at(p.post.population, synapse_of(p), names, sizes, dtype)
            for p in grouping.receptors[number].values()
        ),
        stimuli=group_stimuli(grouping, stimulations, number, dtype),
        initial=tuple(
            _initial(p, grouping.seats[p.name].first, variable, value, dtype)
            for p in members
            for variable, value in sorted(p.initial.items())
        ),
        receptor_initial=receptor_initial(grouping, number, dtype),
        members=tuple(PopulationMember(p.name, p.n) for p in members),
        fed=grouping.fed(number),
        slow=_slow(grouping, number, dt, dtype),
    )


def _slow(
    grouping: Grouping, number: int, dt: float, dtype: np.dtype
) -> tuple[tuple[str, ...], ...]:
    """The slow variables of the neurons of a group, and of each of its receptors."""
    of_neurons = (
        slow_variables(p.label, p.model, lambda: initial_state(p.model, p.n), dt, dtype)  # noqa: B023
        for p in grouping.groups[number]
    )
    senders = [(p.label, synapse_of(p)) for p in grouping.receptors[number].values()]
    of_receptors = (
        slow_variables(label, synapse, lambda: synapse.init(1), dt, dtype)  # noqa: B023
        for label, synapse in senders
    )
    return tuple(sorted(set().union(*of_neurons))), *of_receptors


def _initial(
    p: Population, first: int, variable: str, value: Distribution | ArrayLike, dtype: np.dtype
) -> InitialValue:
    state = jax.eval_shape(
        lambda m: initial_state(m, p.n or 1), merge([p.model], [p.n or 1], dtype)
    )
    known = state_variables(state)
    if variable not in known:
        raise unknown("state variable", variable, known, p.label, "initial")
    shape = getattr(getattr(state, variable), "shape", None)
    if shape != (p.n or 1,):
        must = "that of an array (n,), one number per neuron (init starts any other)"
        raise InvalidValueError(p.label, f"initial {variable}", must, f"shape {shape}")
    check_whole(p.label, variable, value, getattr(state, variable).dtype)
    check_state_value(p.label, f"initial {variable}", p.model, variable, value)
    if not isinstance(value, Distribution):
        value = as_array(value, dtype)
    return InitialValue(variable, p.name, first, p.n, value)


def check_whole(label: str, variable: str, value: Distribution | ArrayLike, kind: np.dtype) -> None:
    """Raises `InvalidValueError` for start values that a variable of this dtype cannot hold."""
    if jnp.issubdtype(kind, jnp.floating):
        return
    whole = jnp.issubdtype(kind, jnp.bool_)
    low, high = (0, 1) if whole else (jnp.iinfo(kind).min, jnp.iinfo(kind).max)
    x = np.asarray(0.5 if isinstance(value, Distribution) else value)
    if np.any((x != np.rint(x)) | (x < low) | (x > high)):
        must = f"whole numbers from {low} to {high}"
        raise InvalidValueError(label, f"initial {variable}", must, brief(value))


def receptor_initial(
    grouping: Grouping, number: int, dtype: np.dtype
) -> tuple[tuple[InitialValue, ...], ...]:
    """The start values of each receptor of a group."""
    found: dict[tuple, list[InitialValue]] = {key: [] for key in grouping.receptors[number]}
    for p in sorted(grouping.senders, key=lambda p: p.name):
        seat = grouping.seats[p.post.population]
        if seat.group == number and p.initial:
            synapse, release = _variables(p)
            n = grouping.description.population(p.post.population).n
            mine = found[receptor_key(p)]
            for variable, value in sorted(p.initial.items()):
                if variable in synapse:
                    _check_initial(p, variable, value, synapse_of(p), synapse[variable], n)
                    start = _made(p, variable, value, seat.first, n, dtype)
                    mine.append(_once(p, start, mine))
                elif variable not in release:
                    raise _absent(p, variable, [*synapse, *release])
    return tuple(tuple(values) for values in found.values())


def release_initial(
    grouping: Grouping,
    senders: Sequence[Projection | Coupling],
    firsts: Sequence[int],
    dtype: np.dtype,
) -> tuple[InitialValue, ...]:
    """The start values of the release that some senders share.

    `firsts` says where the sources of each of them begin in the state. Senders with the same
    sources give the same values: `Grouping` has seen to it.
    """
    out: dict[tuple[str, int], InitialValue] = {}
    for p, first in zip(senders, firsts):
        if not p.initial:
            continue
        synapse, release = _variables(p)
        n = grouping.description.population(p.pre.population).n
        for variable, value in sorted(p.initial.items()):
            if variable in release and variable not in synapse:
                _check_initial(p, variable, value, p.release, release[variable], n)
                start = _made(p, variable, value, first, n, dtype)
                if n:
                    out.setdefault((variable, first), start)
    return tuple(out.values())


def _variables(p: Sender) -> tuple[dict[str, np.dtype], dict[str, np.dtype]]:
    """The dtypes of the state variables of the receptor and of the release of a sender."""
    synapse = None if p.synapse is None else synapse_of(p)
    release = getattr(p, "release", None)
    return tuple({} if m is None else state_dtypes(m) for m in (synapse, release))  # type: ignore[return-value]


def _absent(p: Sender, variable: str, known: list[str]) -> ValueError:
    """The error for a start value of what is no variable, or no array with one number each."""
    for model in (None if p.synapse is None else synapse_of(p), getattr(p, "release", None)):
        shape = None if model is None else state_shapes(model).get(variable)
        if shape is not None:
            must = "that of an array (n,), one number per neuron (init starts any other)"
            return InvalidValueError(p.label, f"initial {variable}", must, f"shape {shape}")
    return unknown("state variable", variable, known, p.label, "initial")


def _check_initial(
    p: Sender, variable: str, value: Any, model: Any, kind: np.dtype, n: int
) -> None:
    """Raises `InvalidValueError` for start values that a model of n units never has.

    `kind` is the dtype of the variable in its state.
    """
    check_whole(p.label, variable, value, kind)
    if np.ndim(value) and np.shape(value) != (n,):
        must = f"one number, one per neuron, shape ({n},), or a distribution"
        raise InvalidValueError(p.label, f"initial {variable}", must, f"shape {np.shape(value)}")
    check_state_value(p.label, f"initial {variable}", model, variable, value)


def _made(
    p: Sender, variable: str, value: Distribution | ArrayLike, first: int, n: int, dtype: np.dtype
) -> InitialValue:
    """Start values of the n units from `first` on."""
    if not isinstance(value, Distribution):
        value = as_array(value, dtype)
    return InitialValue(variable, p.name, first, n, value)


def _once(p: Sender, start: InitialValue, earlier: list[InitialValue]) -> InitialValue:
    """`start`; raises if another sender has given the same numbers of a receptor."""
    for other in earlier:
        if start.n and (other.variable, other.first) == (start.variable, start.first) and other.n:
            got = f"another one from {other.owner!r}, which shares the receptor"
            raise InvalidValueError(p.label, f"initial {start.variable}", "given once", got)
    return start
