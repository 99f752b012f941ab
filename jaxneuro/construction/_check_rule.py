"""Checks that a rule of plasticity is one, and that it fits where it is."""

from typing import Any

import jax
import numpy as np

from .._text import an
from .._types import Neuron, Plasticity, state_variables
from ..kernels import RulePrograms
from ..network import initial_state
from ._merge import alone

# What a rule finds beside its own traces, and what a synapse has beside its own variables.
_TAKEN = {"pre_traces": ("released", "arriving"), "variables": ("weight",)}


def check_numbers(rule: Plasticity, what: str) -> None:
    """Raises `ValueError` for a rule with an array where one number is needed."""
    for x in jax.tree.leaves(rule):
        if np.ndim(x):
            raise ValueError(
                f"{what}: every parameter must be one number for all synapses; got an array of "
                f"shape {np.shape(x)}. Make a population, or a projection, for each value"
            )


def check_declared(rule: Plasticity, what: str, populations: Any) -> None:
    """Raises `ValueError` for traces, variables, signals or a schedule that cannot be."""
    for hook, taken in _TAKEN.items():
        for name in getattr(rule, hook)():
            if name in taken:
                raise ValueError(f"{what}: {hook} must not use the name {name!r}, which is taken")
    for name, trace in (*rule.pre_traces().items(), *rule.post_traces().items()):
        tau = float(np.asarray(getattr(trace, "tau", np.nan)))
        if not tau > 0:
            raise ValueError(
                f"{what}: trace {name!r} must be a jn.Trace with tau above 0 ms; got {trace!r}"
            )
    signals = rule.signals
    if not isinstance(signals, tuple) or not all(isinstance(x, str) for x in signals):
        raise ValueError(f"{what}: signals must be a tuple of names; got {signals!r}")
    for name in signals:
        if name in populations:
            raise ValueError(
                f"{what}: the signal {name!r} must not have the name of a population, whose input "
                "is a current. Give it another name"
            )
    every = rule.schedule()
    if len(every) != 2 or any(x != int(x) or x < 0 for x in every):
        raise ValueError(
            f"{what}: schedule must return two whole numbers of steps, 0 for never; got {every!r}"
        )


def check_acts(rule: Plasticity, programs: RulePrograms, what: str) -> None:
    """Raises `ValueError` for a rule of which a part, or all, is never called."""
    ticks, sums = rule.schedule()
    scales = type(rule).factors is not Plasticity.factors
    for hook, acts, every in (
        ("on_tick", "on_tick" in programs.acting, ticks),
        ("factors", scales, sums),
    ):
        if acts and not every:
            raise ValueError(
                f"{what}: {hook} is never called; let schedule return every how many steps it is"
            )
    if not scales and not programs.acting:
        raise ValueError(
            f"{what} changes nothing: define at least one of on_pre, on_post, on_tick, between "
            "and factors"
        )


def post_numbers(
    rule: Plasticity, model: Neuron, what: str, dt: float, dtype: Any
) -> tuple[str, ...]:
    """The names of the numbers that a target has; `ValueError` if it lacks a voltage."""
    neurons = jax.eval_shape(lambda m: initial_state(m, 2), alone(model))
    has_voltage = "v" in state_variables(neurons)
    state = jax.eval_shape(lambda: rule.init_post(2))
    spikes = jax.ShapeDtypeStruct((2,), bool)
    v = jax.ShapeDtypeStruct((2,), dtype) if has_voltage else None
    try:
        return tuple(
            jax.eval_shape(lambda s, z, v: rule.step_post(s, z, v, dt)[0], state, spikes, v)
        )
    except (TypeError, AttributeError) as error:
        if has_voltage:
            raise
        raise ValueError(
            f"{what} reads the voltage of its targets, and {an(type(model).__name__)} has none"
        ) from error
