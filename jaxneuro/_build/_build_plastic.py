"""Checks the rule of a plastic projection, and makes it ready to run."""

import logging
from typing import Any

import jax
import numpy as np

from .._arrays import as_array
from .._describe import Description, Projection
from .._kernels import RulePrograms, check_rule
from .._network import Plastic, check_within
from ._check_rule import (
    check_acts,
    check_declared,
    check_numbers,
    check_steps,
    post_numbers,
    warn_of_changes,
)
from ._delays import axonal_steps, check_axonal
from ._grouping import Grouping, PathwayKey

_log = logging.getLogger("jaxneuro")


def build_plastic(
    grouping: Grouping, key: PathwayKey, p: Projection, longest: int, dt: float, dtype: Any
) -> Plastic | None:
    """The rule of a pathway, None if its weights do not change; `longest` its delay [steps]."""
    rule = p.plasticity
    if rule is None:
        return None
    targets = grouping.description.population(p.post.population).n
    programs = _programs(grouping.description, p, dt, dtype)
    if programs.words is None:
        _log.warning(
            "%s uses %s, which native code does not know: every step visits all synapses, slowly",
            label(p),
            programs.why,
        )
    return Plastic(
        rule=jax.tree.map(lambda x: as_array(x, dtype), rule),
        programs=programs,
        name=p.name,
        n_sources=grouping.description.population(p.pre.population).n,
        n_released=grouping.size(key.source),
        first_target=grouping.seats[p.post.population].first,
        n_targets=targets,
        axonal=axonal_steps(p, dt),
        longest=longest,
        whole=p.pre.where is None and p.post.where is None,
    )


def check_plastic(
    description: Description, dt: float, dtype: Any, weights: Any, deterministic: bool
) -> None:
    """Raises `ValueError` for a plastic projection that cannot run, before anything is drawn."""
    for p in description.projections:
        _check(description, p, dt, dtype, weights, deterministic)


def _check(
    description: Description,
    p: Projection,
    dt: float,
    dtype: Any,
    weights: Any,
    deterministic: bool,
) -> None:
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
            f"{what} changes weights, and deterministic=True counts in quanta of the largest "
            "weights at the start; build without it (on a CPU the bits repeat anyway)"
        )
    if np.dtype(weights) != np.dtype(dtype):
        raise ValueError(
            f"{what} changes weights by less than bfloat16 can hold; build without weights=bfloat16"
        )
    check_numbers(rule, what)
    check_declared(rule, what, {x.name for x in description.populations})
    programs = _programs(description, p, dt, dtype)
    check_acts(rule, programs, what)
    warn_of_changes(rule, programs, what)
    population = description.population(p.post.population)
    check_steps(rule, population.model, what, (population.n, dt, dtype))
    if isinstance(p.weight, float | np.ndarray):
        check_start(p, np.asarray(p.weight))


def _programs(description: Description, p: Projection, dt: float, dtype: Any) -> RulePrograms:
    """The functions of a rule for the kernels; raises `ValueError` for those that do not fit."""
    rule = jax.tree.map(lambda x: as_array(x, dtype), p.plasticity)
    model = description.population(p.post.population).model
    numbers = post_numbers(rule, model, label(p), dt, dtype)
    return check_rule(rule, label(p), numbers, dt, dtype)


def check_start(p: Projection, weights: Any) -> None:
    """Raises `ValueError` for start weights outside the bounds of the rule."""
    if p.plasticity is None or not np.size(weights):
        return
    check_within(f"projection {p.name!r}: start weights", p.plasticity, weights)


def label(p: Projection) -> str:
    """What the rule of a projection is called in messages."""
    return f"projection {p.name!r}: plasticity {type(p.plasticity).__name__}"
