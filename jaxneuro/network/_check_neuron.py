"""Refuses a neuron whose step does not fit its role, or ignores what it is given."""

from typing import Any

import jax
import jax.numpy as jnp

from .._types import Drive
from ._group import Group
from ._merge import first_member


def check_neuron(group: Group, dt: float, dtype: Any, inputs: bool = False) -> None:
    """Raises `ValueError` for a model whose `step` changes its state's shape or whose spikes
    are not one per neuron, or that never looks at a part of the drive that it is given.

    Looks at the traced `step` once, with arrays of two neurons; nothing runs. `inputs` tells
    that a run gives currents too.

    **Source** the house's own: design section 2.
    """
    if group.n == 0:
        return
    given = _given_parts(group, dt, dtype)
    if inputs:
        given.setdefault("current", "the inputs of the run")
    model = first_member(group.model)
    name = f"{type(model).__name__} (population {group.populations[0]!r})"
    drive = Drive(**{part: jnp.zeros(2, dtype) for part in given})
    state = jax.eval_shape(lambda m: m.init(2), model)
    closed, (new, spikes) = jax.make_jaxpr(lambda d, m, s: m.step(s, d, dt), return_shape=True)(
        drive, model, state
    )
    _check_shapes(name, state, new, spikes)
    _check_used(name, closed.jaxpr, given)


def _check_shapes(name: str, state: Any, new: Any, spikes: Any) -> None:
    if jax.tree.structure(state) != jax.tree.structure(new):
        raise ValueError(f"{name}: step must return a state like that of init; got {new}")
    for before, after in zip(jax.tree.leaves(state), jax.tree.leaves(new)):
        if before.shape != after.shape:
            raise ValueError(
                f"{name}: step must keep the shape of every array of the state; it turns "
                f"{before.shape} into {after.shape} for 2 neurons"
            )
    kinds = (jnp.bool_, jnp.floating)
    if spikes.shape != (2,) or not any(jnp.issubdtype(spikes.dtype, k) for k in kinds):
        raise ValueError(
            f"{name}: step must return spikes of shape (n,), boolean or floating; it returns "
            f"{spikes.dtype}{list(spikes.shape)} for 2 neurons"
        )


def _check_used(name: str, jaxpr: Any, given: dict[str, str]) -> None:
    used = {id(v) for equation in jaxpr.eqns for v in equation.invars}
    used |= {id(v) for v in jaxpr.outvars}
    parts = [part for part in Drive._fields if part in given]
    for part, variable in zip(parts, jaxpr.invars):
        if id(variable) not in used:
            raise ValueError(
                f"{name} must use the drive it is given; its step ignores `drive.{part}`, which "
                f"comes from {given[part]}. In step, use drive.current_at(v) and drive.jumped(v)"
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
