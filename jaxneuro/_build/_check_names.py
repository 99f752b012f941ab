"""Whether the parameters and state variables of a projection have names of their own."""

from collections.abc import Sequence
from typing import Any

import jax

from .._fields import inner, parameters
from .._types import state_variables
from .._describe import Coupling, Projection
from ._grouping import synapse_of
from ._merge import alone, kind_key
from ._states import any_state

_OWN = {"gain", "weight"}  # what a projection itself has


def check_names(projections: Sequence[Projection | Coupling]) -> None:
    """See `_check_names`; each pair of kinds once."""
    kinds = {(kind_key(synapse_of(p)), kind_key(p.release)): p for p in reversed(projections)}
    for p in kinds.values():
        _check_names(p)


def _check_names(p: Projection | Coupling) -> None:
    """Raises `ValueError` where one name of a projection or coupling would mean two things.

    Its synapse and its release are set and read by the name of the projection.
    """
    label = p.label
    kinds = {"synapse": synapse_of(p), "release": p.release}
    (synapse, of_synapse), (release, of_release) = (
        (f"{kind} {type(model).__name__}", (_parameters(model), _variables(model)))
        for kind, model in kinds.items()
    )
    for what, first, second in zip(("parameter", "state variable"), of_synapse, of_release):
        if both := first & second:
            raise ValueError(
                f"{label}: {synapse} and {release} must have names of their own; both have the "
                f"{what} {min(both)!r}. Rename it in one of the two classes"
            )
    for model, (names, _) in ((synapse, of_synapse), (release, of_release)):
        if names & _OWN:
            raise ValueError(
                f"{label}: {model} must not have a parameter {min(names & _OWN)!r}, which a "
                f"{label.split()[0]} has itself. Rename it in the class"
            )


def _parameters(model: Any) -> set[str]:
    return {f.name for f in parameters(type(model))} | set(inner(model))


def _variables(model: Any) -> set[str]:
    return set(state_variables(jax.eval_shape(lambda m: any_state(m, 2), alone(model))))
