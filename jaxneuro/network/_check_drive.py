"""Refuses a neuron that would silently ignore what its synapses or stimuli give it."""

from typing import Any

import jax
import jax.numpy as jnp

from .._types import Drive
from ._group import Group
from ._merge import first_member


def check_drive_is_used(group: Group, dt: float, dtype: Any) -> None:
    """Raises `ValueError` where the neuron model never looks at a part that it is given.

    Looks at the traced `step` once, with arrays of one neuron; nothing runs.
    """
    given = _given_parts(group, dt, dtype)
    if not given or group.n == 0:
        return
    model = first_member(group.model)
    drive = Drive(**{part: jnp.zeros(1, dtype) for part in given})
    jaxpr = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt))(drive, model, model.init(1)).jaxpr
    used = {id(v) for equation in jaxpr.eqns for v in equation.invars}
    used |= {id(v) for v in jaxpr.outvars}
    parts = [part for part in Drive._fields if part in given]
    for part, variable in zip(parts, jaxpr.invars):
        if id(variable) not in used:
            raise ValueError(
                f"{type(model).__name__} (population {group.populations[0]!r}) must use the drive "
                f"it is given; its step ignores `drive.{part}`, which comes from {given[part]}. "
                f"In step, use drive.current_at(v) and drive.jumped(v)"
            )


def _given_parts(group: Group, dt: float, dtype: Any) -> dict[str, str]:
    """The parts of the drive that the group's receptors and stimuli give, and who gives them."""
    one, given = jnp.zeros(1, dtype), {}
    for receptor in group.receptors:
        model = first_member(receptor)
        drive = jax.eval_shape(lambda m=model: m.step(m.init(1), one, one, dt)[1])
        given |= {k: type(model).__name__ for k, x in drive._asdict().items() if x is not None}
    for stimulus in group.stimuli:
        model = first_member(stimulus.model)
        drive = jax.eval_shape(lambda m=model: m.step(m.init(1), jnp.int32(0), dt)[1])
        given |= {k: type(model).__name__ for k, x in drive._asdict().items() if x is not None}
    return given
