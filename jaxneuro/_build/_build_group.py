"""Builds a group from its populations."""

from typing import Any

import jax

from .._arrays import as_array
from ..spec import check_known
from .._types import state_variables
from .._describe import Population
from .._network import Group, Initial, PopulationSpan, initial_state
from .._numerics import Distribution
from ._grouping import Grouping, synapse_of
from ._merge import merge, merge_at
from ._starts import check_whole, receptor_starts
from ._stimuli import PreparedStimulation, group_stimuli


def build_group(
    grouping: Grouping, stimulations: list[PreparedStimulation], number: int, dtype: Any
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
            _initial(p, index, variable, value, dtype)
            for index, p in enumerate(members)
            for variable, value in sorted(p.initial.items())
        ),
        starts=receptor_starts(grouping, number, dtype),
        members=tuple(PopulationSpan(p.name, p.n) for p in members),
        fed=grouping.fed(number),
    )


def _initial(p: Population, index: int, variable: str, value: Any, dtype: Any) -> Initial:
    state = jax.eval_shape(
        lambda m: initial_state(m, p.n or 1), merge([p.model], [p.n or 1], dtype)
    )
    known = state_variables(state)
    check_known(f"state variable of population {p.name!r}", variable, known)
    shape = getattr(getattr(state, variable), "shape", None)
    if shape != (p.n or 1,):
        raise ValueError(
            f"population {p.name!r}: initial {variable} must be that of an array (n,), one number "
            f"per neuron; it has the shape {shape} for {p.n or 1} neurons. Start it in init of "
            f"{type(p.model).__name__}, from a parameter"
        )
    check_whole(f"population {p.name!r}", variable, value, getattr(state, variable).dtype)
    if not isinstance(value, Distribution):
        value = as_array(value, dtype)
    return Initial(variable, index, value)
