"""Checks that the source of a projection can release anything."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .._types import Drive
from ..description import Projection
from ..network import Group, first_member, initial_state
from ._grouping import Grouping


def check_releases(grouping: Grouping, groups: Sequence[Group], dt: float, dtype: Any) -> None:
    """Raises `ValueError` for a projection of spikes from neurons that never spike."""
    spiking: dict[int, Projection] = {}  # one for each group: its step is traced once
    for key, projections in grouping.pathways.items():
        if groups[key.source].n and projections[0].release.plain:
            spiking.setdefault(key.source, projections[0])
    for source, p in spiking.items():
        if _never_spikes(groups[source], dt, dtype):
            model = type(first_member(groups[source].model)).__name__
            raise ValueError(
                f"projection {p.name!r} releases spikes, but its source {p.pre.population!r} is a "
                f"{model}, which never spikes; give it release=jn.release.Graded(), which "
                "releases the activity"
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
