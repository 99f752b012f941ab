"""Checks that the source of a projection can release anything."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .._types import Drive, Neuron
from ..description import Projection
from ..network import Group, as_floating, first_member, initial_state
from ._grouping import Grouping
from ._states import any_state


def check_releases(grouping: Grouping, groups: Sequence[Group], dt: float, dtype: Any) -> None:
    """Raises `ValueError` for a projection of spikes from neurons that never spike."""
    spiking: dict[int, Projection] = {}  # one for each group: its step is traced once
    for key, projections in grouping.pathways.items():
        if groups[key.source].n and projections[0].release.plain:
            spiking.setdefault(key.source, projections[0])
    for p in grouping.description.projections:
        if not p.release.plain:
            check_step(p, grouping.description.population(p.pre.population).model, dt, dtype)
    for source, p in spiking.items():
        if _never_spikes(groups[source], dt, dtype):
            model = type(first_member(groups[source].model)).__name__
            raise ValueError(
                f"projection {p.name!r} releases spikes, but its source {p.pre.population!r} is a "
                f"{model}, which never spikes; give it release=jn.release.Graded(), which "
                "releases the activity"
            )


def voltage_of(neuron: Neuron) -> Any:
    """What a neuron model shows as its voltage, traced for two neurons; None if it has none."""
    return jax.eval_shape(lambda m: m.voltage(initial_state(m, 2)), first_member(neuron))


def check_step(p: Any, neuron: Neuron, dt: float, dtype: Any) -> None:
    """Raises `ValueError` for a release whose step does not fit its role or its sources."""
    label = f"{p.label}: release {type(p.release).__name__}"
    model = as_floating(first_member(p.release), dtype)
    state = jax.eval_shape(lambda m: any_state(m, 2), model)
    spikes = np.zeros(2, bool)
    v = None if voltage_of(neuron) is None else np.zeros(2, dtype)
    try:
        new, values = jax.eval_shape(
            lambda m, s, z, v: m.step(s, z, v, dt), model, state, spikes, v
        )
    except ValueError as error:  # a release that needs a voltage, and gets None
        raise ValueError(f"{label}: {error}") from None
    if jax.tree.structure(new) != jax.tree.structure(state) or any(
        a.shape != b.shape for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(new))
    ):
        raise ValueError(
            f"{label}: step must return a state like that of init; it turns {state} into {new}"
        )
    if values.shape != (2,):
        raise ValueError(
            f"{label}: step must return values of shape (n,), one per source neuron; it returns "
            f"{list(values.shape)} for 2 neurons"
        )


def _never_spikes(group: Group, dt: float, dtype: Any) -> bool:
    """Whether the spikes of the traced `step` depend on nothing: neither state nor drive."""
    model = first_member(group.model)
    zeros: Any = np.zeros(2, dtype)
    state = jax.eval_shape(lambda m: initial_state(m, 2), model)
    arrivals: Any = dict.fromkeys(model.ports, zeros) or None
    drive = Drive(zeros, zeros, zeros, arrivals)
    jaxpr = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt)[1])(drive, model, state).jaxpr
    needed = {id(v) for v in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        if any(id(v) in needed for v in equation.outvars):
            needed |= {id(v) for v in equation.invars}
    return not any(id(v) in needed for v in jaxpr.invars)
