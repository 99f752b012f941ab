"""Checks that a rule of plasticity is one, and that it fits where it is."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..spec import as_number
from .._text import an
from .._types import Neuron, Plasticity, Trace
from .._units import check_unit
from .._warn import warn
from .._kernels import RulePrograms
from .._network import as_floating, initial_state
from ._check_own import is_own
from ._check_role import check_state, shapes, traced
from ._merge import alone

# What a rule finds beside its own traces, and what a synapse has beside its own variables.
_TAKEN = {"pre_traces": ("released", "arriving"), "post_traces": (), "variables": ("weight",)}
_KINDS = {"pre_traces": "jn.Trace", "post_traces": "jn.Trace", "variables": "start values"}


def check_numbers(rule: Plasticity, what: str) -> None:
    """Raises `ValueError` for a rule with an array where one number is needed."""
    for x in jax.tree.leaves(rule):
        if np.ndim(x):
            raise ValueError(
                f"{what}: every parameter must be one number for all synapses; got an array of "
                f"shape {np.shape(x)}. Make a population, or a projection, for each value"
            )


def check_declared(rule: Plasticity, what: str, populations: Any) -> None:
    """Raises `ValueError` for traces, variables, bounds, signals or a schedule that cannot be."""
    for hook, taken in _TAKEN.items():
        declared = _declared(rule, what, hook)
        if not isinstance(declared, dict) or not all(isinstance(x, str) for x in declared):
            raise ValueError(
                f"{what}: {hook} must return a dictionary of {_KINDS[hook]} by name; got "
                f"{declared!r}"
            )
        for name, value in declared.items():
            if name in taken:
                raise ValueError(f"{what}: {hook} must not use the name {name!r}, which is taken")
            _check_one(what, hook, name, value)
    _check_bounds(rule, what)
    signals = rule.signals
    if not isinstance(signals, tuple) or not all(isinstance(x, str) for x in signals):
        raise ValueError(f"{what}: signals must be a tuple of names; got {signals!r}")
    for name in signals:
        if name in populations:
            raise ValueError(
                f"{what}: the signal {name!r} must not have the name of a population, whose input "
                "is a current. Give it another name"
            )
    every = _declared(rule, what, "schedule")
    pair = isinstance(every, tuple | list) and len(every) == 2
    if not pair or any(not as_number(x) >= 0 or as_number(x) % 1 for x in every):
        raise ValueError(
            f"{what}: schedule must return two whole numbers of steps, 0 for never; got {every!r}"
        )


def _declared(rule: Plasticity, what: str, hook: str) -> Any:
    """What a method of a rule without arguments returns."""
    with traced(what, hook):
        return getattr(rule, hook)()


def _check_one(what: str, hook: str, name: str, value: Any) -> None:
    """Raises `ValueError` for one trace, or one variable, of another kind."""
    if hook == "variables":
        if not math.isfinite(as_number(value)):
            raise ValueError(
                f"{what}: variable {name!r} must start at one finite number; got {value!r}"
            )
        return
    trace = value if isinstance(value, Trace) else None
    if trace is None or not as_number(trace.tau) > 0 or math.isnan(as_number(trace.jump)):
        raise ValueError(
            f"{what}: trace {name!r} must be a jn.Trace with tau above 0 ms and a number as its "
            f"jump; got {value!r}"
        )
    check_unit(f"{what}: the tau of trace {name!r}", as_number(trace.tau), "ms")


def _check_bounds(rule: Plasticity, what: str) -> None:
    """Raises `ValueError` unless the bounds of a rule are a lowest and a highest weight."""
    for hook in ("bounds", "limits"):
        pair = _declared(rule, what, hook)
        given = isinstance(pair, tuple | list) and len(pair) == 2
        numbers = [as_number(x) for x in pair if x is not None] if given else [math.nan]
        if any(map(math.isnan, numbers)) or numbers != sorted(numbers):
            raise ValueError(
                f"{what}: {hook} must return the lowest and the highest weight, (0.0, 1.0), None "
                f"for no bound; got {pair!r}"
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


def warn_of_changes(rule: Plasticity, programs: RulePrograms, what: str) -> None:
    """Warns of a rule of a user whose new weight does not depend on the old one.

    It may depend on a variable of the synapse, which keeps the weight.
    """
    for phase in ("pre", "post", "tick"):
        hook, sets = f"on_{phase}", any(p.kind == "weight" for p in programs.writes[phase])
        kept = programs.reads[phase] & {"weight", "variable"}
        if is_own(rule) and hook in programs.acting and sets and not kept:
            warn(
                f"{what}: {hook} returns the new weight, which does not depend on the old one; if "
                'it is a change, return {"weight": synapse.weight + change}'
            )


def post_numbers(
    rule: Plasticity, model: Neuron, what: str, dt: float, dtype: Any
) -> tuple[str, ...]:
    """The names of the numbers that a target has; `ValueError` if it lacks a voltage."""
    return tuple(_post_step(rule, model, what, (2, dt, dtype))[0])


def check_steps(rule: Plasticity, model: Neuron, what: str, how: tuple) -> None:
    """Raises `ValueError` for numbers of targets, shared numbers or factors of another shape.

    `how` is the number of targets, dt and dtype.
    """
    n, dt, dtype = how
    _, _, targets = _post_step(rule, model, what, how)
    one = jax.ShapeDtypeStruct((), dtype)
    with traced(what, "init_shared"):
        shared = jax.eval_shape(lambda: _arrays(rule.init_shared(), dtype))
    if not isinstance(shared, dict) or any(x.shape for x in shared.values()):
        raise ValueError(
            f"{what}: init_shared must return a dictionary of single numbers by name; it returns "
            f"{shapes(shared)}"
        )
    signals = dict.fromkeys(rule.signals, one)
    with traced(what, "step_shared", f"{shapes(shared)} and the signals {shapes(signals)}"):
        new = jax.eval_shape(
            lambda s, x: _arrays(rule.step_shared(s, x, dt), dtype), shared, signals
        )
    check_state(what, shared, new, "init_shared and step_shared")
    if not rule.schedule()[1]:
        return
    total = jax.ShapeDtypeStruct((n,), dtype)
    given = f"total and synapses of shape ({n},), and the state {shapes(targets)}"
    with traced(what, "factors", given):
        factors = jax.eval_shape(
            lambda x, k, s: jnp.asarray(rule.factors(x, k, s)), total, total, targets
        )
    if factors.shape not in ((), (n,)) or factors.dtype.kind not in "iuf":
        raise ValueError(
            f"{what}: factors must return one number per target, of shape ({n},), or one for all; "
            f"it returns {shapes(factors)} for {n} targets"
        )


def _post_step(rule: Plasticity, model: Neuron, what: str, how: tuple) -> tuple[Any, Any, Any]:
    """What `step_post` returns for some targets, traced and checked; `how` as in `check_steps`."""
    n, dt, dtype = how
    shown = jax.eval_shape(lambda m: m.voltage(initial_state(m, 2)), alone(model))
    rates = getattr(rule, "reads_rates", False)
    has_voltage = shown is not None and (model.rate_sign is None or rates)
    with traced(what, "init_post"):
        state = jax.eval_shape(lambda: _arrays(rule.init_post(n), dtype))
    spikes = jax.ShapeDtypeStruct((n,), bool)
    v = jax.ShapeDtypeStruct((n,), dtype) if has_voltage else None
    given = f"the state {shapes(state)}, spikes of shape ({n},) and v"
    try:
        with traced(what, "step_post", given):
            out = jax.eval_shape(lambda s, z, v: rule.step_post(s, z, v, dt), state, spikes, v)
    except ValueError as error:
        if has_voltage or not isinstance(error.__cause__, TypeError | AttributeError):
            raise
        raise ValueError(
            f"{what} reads the voltage of its targets, and {an(type(model).__name__)} has none"
        ) from error
    if not isinstance(out, tuple) or len(out) != 3 or not isinstance(out[0], dict):
        raise ValueError(
            f"{what}: step_post must return (numbers, events, state), the numbers a dictionary; it "
            f"returns {shapes(out)}"
        )
    numbers, events, new = out
    if any(getattr(x, "shape", None) != (n,) for x in (*numbers.values(), events)):
        raise ValueError(
            f"{what}: step_post must return numbers and events of shape (n,), one per target; it "
            f"returns {shapes(numbers)} and {shapes(events)} for {n} targets"
        )
    if events.dtype != bool:
        raise ValueError(
            f"{what}: the events of step_post must be boolean, (n,); got {shapes(events)}"
        )
    new = jax.eval_shape(lambda s: _arrays(s, dtype), new)
    check_state(what, state, new, "init_post and step_post")
    return numbers, events, new


def _arrays(values: Any, dtype: Any) -> Any:
    """As arrays, those of floating numbers in the dtype of the network."""
    return as_floating(jax.tree.map(jnp.asarray, values), dtype)
