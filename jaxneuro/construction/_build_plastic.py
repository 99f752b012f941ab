"""Checks the rule of a plastic projection, and makes it ready to run."""

from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from .._types import Plasticity
from ..description import Projection
from ..kernels import RulePrograms, check_rule
from ..network import Plastic, check_within
from ._delays import axonal_steps, check_axonal
from ._grouping import Grouping, PathwayKey


def build_plastic(
    grouping: Grouping, key: PathwayKey, p: Projection, longest: int, dt: float, dtype: Any
) -> Plastic | None:
    """The rule of a pathway, None if its weights do not change; `longest` its delay [steps]."""
    rule = p.plasticity
    if rule is None:
        return None
    targets = grouping.description.population(p.post.population).n
    return Plastic(
        rule=jax.tree.map(lambda x: as_array(x, dtype), rule),
        programs=_programs(p, dt, dtype),
        name=p.name,
        n_sources=grouping.description.population(p.pre.population).n,
        n_released=grouping.size(key.source),
        first_target=grouping.seats[p.post.population].first,
        n_targets=targets,
        axonal=axonal_steps(p, dt),
        longest=longest,
    )


def check_plastic(
    p: Projection, dt: float, dtype: Any, weights: Any, deterministic: bool
) -> None:
    """Raises `ValueError` for a plastic projection that cannot run, before anything is drawn."""
    check_axonal(p, dt)
    rule = p.plasticity
    if rule is None:
        return
    what = label(p)
    if not p.rule.stored:
        raise ValueError(
            f"{what} changes weights, which stored=False does not keep; store the projection"
        )
    if deterministic:
        raise ValueError(
            f"{what} changes weights, and deterministic=True counts in quanta of the largest weights "
            "at the start; build without it (on a CPU the bits repeat anyway)"
        )
    if np.dtype(weights) != np.dtype(dtype):
        raise ValueError(
            f"{what} changes weights by less than bfloat16 can hold; build without weights=bfloat16"
        )
    check_numbers(rule, what)
    _programs(p, dt, dtype)
    if isinstance(p.weight, float | np.ndarray):
        check_start(p, np.asarray(p.weight))


def _programs(p: Projection, dt: float, dtype: Any) -> RulePrograms:
    """The functions of a rule for the kernels; raises `ValueError` for those that do not fit."""
    rule = jax.tree.map(lambda x: as_array(x, dtype), p.plasticity)
    return check_rule(rule, label(p), post_numbers(rule, dt, dtype), dt, dtype)


def check_numbers(rule: Plasticity, what: str) -> None:
    """Raises `ValueError` for a rule with an array where one number is needed."""
    for x in jax.tree.leaves(rule):
        if np.ndim(x):
            raise ValueError(
                f"{what}: every parameter must be one number for all synapses; got an array of "
                f"shape {np.shape(x)}. Make a population, or a projection, for each value"
            )


def check_start(p: Projection, weights: Any) -> None:
    """Raises `ValueError` for start weights outside the bounds of the rule."""
    if p.plasticity is None or not np.size(weights):
        return
    check_within(f"projection {p.name!r}: start weights", p.plasticity, weights)


def label(p: Projection) -> str:
    """What the rule of a projection is called in messages."""
    return f"projection {p.name!r}: plasticity {type(p.plasticity).__name__}"


def post_numbers(rule: Plasticity, dt: float, dtype: Any) -> tuple[str, ...]:
    """The names of the numbers that a target has."""
    state = jax.eval_shape(lambda: rule.init_post(2))
    v, spikes = jax.ShapeDtypeStruct((2,), dtype), jax.ShapeDtypeStruct((2,), bool)
    numbers = jax.eval_shape(lambda s, z, v: rule.step_post(s, z, v, dt)[0], state, spikes, v)
    return tuple(numbers)
