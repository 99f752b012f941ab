"""The rule of a plastic projection: held to its role, and made ready to run."""

import logging
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Num

from .. import spec
from .._arrays import AnyArray, as_array
from .._describe.description import Description
from .._describe.projection import Projection
from .._kernels.rule_programs import RulePrograms, check_rule
from .._model import Neuron, Plasticity, Trace
from .._network.bounds import check_within
from .._network.members import as_floating
from .._network.plastic import Plastic, interval_steps
from .._network.slow import slow_variables
from .._numerics.grid import Duration, on_grid
from .._text import an
from .._warn import warn
from ..spec import InvalidValueError
from .contract import TRIED, has_voltage, hold, is_own, shapes, traced, traced_method
from .grouping import Grouping, PathwayKey, Settings
from .values import axonal_steps, check_axonal

_log = logging.getLogger("jaxneuro")


def build_plastic(
    grouping: Grouping, key: PathwayKey, p: Projection, longest: int, settings: Settings
) -> Plastic | None:
    """The rule of a pathway, None if its weights do not change.

    Args:
        grouping: the groups and pathways of the network.
        key: the pathway.
        p: its one projection.
        longest: the longest delay [steps].
        settings: what the network is built with.
    """
    if p.plasticity is None:
        return None
    dt, dtype, programs = settings.dt, settings.dtype, settings.rules[p.name]
    rule = _prepared(p, dt, dtype)
    ticks, sums = interval_steps(rule, label(p), dt)
    targets = grouping.description.population(p.post.population).n
    if programs.words is None:
        _log.warning(
            "%s uses %s, which native code does not know: every step visits all synapses, slowly",
            label(p),
            programs.why,
        )
    return Plastic(
        rule=rule,
        programs=programs,
        name=p.name,
        n_sources=grouping.description.population(p.pre.population).n,
        n_released=grouping.size(key.source),
        first_target=grouping.seats[p.post.population].first,
        n_targets=targets,
        axonal=axonal_steps(p, dt),
        longest=longest,
        whole=p.pre.where is None and p.post.where is None,
        tick_steps=ticks,
        sum_steps=sums,
        slow=slow_variables(label(p), rule, lambda: rule.init_post(1), dt, dtype),
    )


def label(p: Projection) -> str:
    """What the rule of a projection is called in messages."""
    return f"{type(p.plasticity).__name__} ({p.label})"


def check_plastic(
    description: Description, dt: float, dtype: np.dtype, weights: np.dtype, deterministic: bool
) -> dict[str, RulePrograms]:
    """Return the functions of the rules by projection, for the kernels.

    Args:
        description: the network; nothing of it is drawn.
        dt: the time step [ms].
        dtype: that of the network.
        weights: that of individual weights.
        deterministic: whether arrivals are counted in quanta.

    Raises:
        InvalidValueError: for a plastic projection that cannot run.
    """
    rules = {}
    for p in description.projections:
        check_axonal(p, dt)
        if p.plasticity is not None:
            _check_storage(p, dtype, weights, deterministic)
            rules[p.name] = _check_rule(description, p, dt, dtype)
    return rules


def _check_storage(p: Projection, dtype: np.dtype, weights: np.dtype, deterministic: bool) -> None:
    """Raises `InvalidValueError` where weights that change cannot be kept."""
    got = f"{type(p.plasticity).__name__}, which changes weights"
    for wrong, must in (
        (not p.rule.stored, "None where stored=False keeps no weights"),
        (deterministic, "None with deterministic=True, whose quanta fit the first weights"),
        (np.dtype(weights) != np.dtype(dtype), "None with weights=bfloat16, which is too coarse"),
    ):
        if wrong:
            raise InvalidValueError(p.label, "plasticity", must, got)


def _check_rule(
    description: Description, p: Projection, dt: float, dtype: np.dtype
) -> RulePrograms:
    """Return the functions of a rule; raises if it does not fit its role or its neurons."""
    owner = label(p)
    rule = _prepared(p, dt, dtype)
    for path, x in jax.tree_util.tree_flatten_with_path(rule)[0]:
        if np.ndim(x):
            where = jax.tree_util.keystr(path, simple=True, separator=".")
            must = "one number for all synapses (a population or a projection for each value)"
            raise InvalidValueError(owner, where, must, f"shape {np.shape(x)}")
    _check_declared(rule, owner, {x.name for x in description.populations})
    target = description.population(p.post.population).model
    numbers, _, state = post_step(rule, target, owner, dt, dtype)
    programs = check_rule(rule, owner, tuple(numbers), dt, dtype)
    _check_acts(rule, programs, owner, dt)
    _warn_of_changes(rule, programs, owner)
    _check_steps(rule, state, owner, dt, dtype)
    if isinstance(p.weight, float | np.ndarray):
        check_start(p, np.asarray(p.weight))
    return programs


def _prepared(p: Projection, dt: float, dtype: np.dtype) -> Plasticity:
    """The rule of a projection, its durations as numbers of steps, its numbers in the dtype of the
    network; raises for a duration off the grid.
    """
    assert p.plasticity is not None
    rule = on_grid(label(p), p.plasticity, dt)
    return jax.tree.map(lambda x: as_array(x, dtype), rule)


def check_start(p: Projection, weights: Num[AnyArray, "..."]) -> None:
    """Raises `InvalidValueError` for start weights outside the bounds of the rule."""
    if p.plasticity is not None and np.size(weights):
        check_within(p.label, "weight", p.plasticity, weights)


# --- what a rule declares: methods without arguments --------------------------------------------


class _TraceKind(spec.Kind):
    """A trace with a time constant in ms."""

    def convert(self, value: Any) -> Any:
        jump = math.nan if not isinstance(value, Trace) else spec.as_number(value.jump)
        if math.isnan(jump):
            raise spec.Unfit("a jn.Trace with a number as its jump")
        _TAU.convert(value.tau)
        return value


class _Bounds(spec.Kind):
    """The lowest and the highest weight, None for no bound."""

    def convert(self, value: Any) -> Any:
        pair = isinstance(value, tuple | list) and len(value) == 2
        numbers = [spec.as_number(x) for x in value if x is not None] if pair else [math.nan]
        if any(map(math.isnan, numbers)) or numbers != sorted(numbers):
            raise spec.Unfit("the lowest and the highest weight, (0.0, 1.0), None for no bound")
        return value


class _Intervals(spec.Kind):
    """Two durations [ms] that are part of the program, None for never."""

    def convert(self, value: Any) -> Any:
        pair = isinstance(value, tuple | list) and len(value) == 2
        if not pair or any(isinstance(x, jax.Array) for x in value):  # a leaf, which may change
            must = "two times in ms, numbers or fields declared with static, None for never"
            raise spec.Unfit(must)
        for x in value:
            _INTERVAL.convert(x)
        return value


_TAU = spec.Number("ms", above=0.0)
_INTERVAL = spec.Maybe(Duration(above=0.0))
_TRACES = spec.Entries(_TraceKind())

# What each method returns, and the names that a rule finds there already.
_DECLARED = {
    "pre_traces": (_TRACES, ("released", "arriving")),
    "post_traces": (_TRACES, ()),
    "variables": (spec.Entries(spec.Number()), ("weight",)),
    "bounds": (_Bounds(), ()),
    "limits": (_Bounds(), ()),
    "intervals": (_Intervals(), ()),
}


def _check_declared(rule: Plasticity, owner: str, populations: set[str]) -> None:
    """Raises `InvalidValueError` for traces, variables, bounds, signals or intervals."""
    for method, (kind, taken) in _DECLARED.items():
        with traced(owner, method):
            declared = getattr(rule, method)()
        spec.check(owner, method, kind, declared)
        for name in (x for x in taken if x in declared):
            must = f"without {', '.join(map(repr, taken))}, which a synapse has anyway"
            raise InvalidValueError(owner, method, must, repr(name))
    signals = rule.signals
    if not isinstance(signals, tuple) or not all(isinstance(x, str) for x in signals):
        raise InvalidValueError(owner, "signals", "a tuple of names", repr(signals))
    for name in set(signals) & populations:  # whose input is a current
        raise InvalidValueError(owner, "signals", "other names than populations", repr(name))


def _check_acts(rule: Plasticity, programs: RulePrograms, owner: str, dt: float) -> None:
    """Raises `InvalidValueError` for a rule of which a part, or all, is never called."""
    ticks, sums = interval_steps(rule, owner, dt)
    scales = type(rule).factors is not Plasticity.factors
    for method, acts, n_steps in (
        ("on_tick", "on_tick" in programs.acting, ticks),
        ("factors", scales, sums),
    ):
        if acts and not n_steps:
            must = f"the time [ms] from one call of {method} to the next"
            raise InvalidValueError(owner, "intervals", must, "None, for never")
    if not scales and not programs.acting:
        must = "one of on_pre, on_post, on_tick, between and factors at least"
        raise InvalidValueError(owner, "methods", must, "none, so that no weight changes")


def _warn_of_changes(rule: Plasticity, programs: RulePrograms, owner: str) -> None:
    """Warns of a rule of a user whose new weight does not depend on the old one.

    It may depend on a variable of the synapse, which keeps the weight.
    """
    for phase in ("pre", "post", "tick"):
        method, sets = f"on_{phase}", any(p.kind == "weight" for p in programs.writes[phase])
        kept = programs.reads[phase] & {"weight", "variable"}
        if is_own(rule) and method in programs.acting and sets and not kept:
            warn(
                f"{owner}: {method} returns the new weight, which does not depend on the old one; "
                'if it is a change, return {"weight": synapse.weight + change}'
            )


# --- what a rule does in a step -----------------------------------------------------------------


def post_step(
    rule: Plasticity, target: Neuron, owner: str, dt: float, dtype: np.dtype
) -> tuple[Any, Any, Any]:
    """Return what `step_post` of a rule returns: numbers of the targets by name, events, state.

    Raises:
        InvalidValueError: for a method that does not fit its role, or lacks a voltage.
    """
    voltage = has_voltage(target) and (
        target.rate_sign is None or getattr(rule, "reads_rates", False)
    )
    with traced(owner, "init_post", "the number of targets"):
        state = jax.eval_shape(lambda: _arrays(rule.init_post(TRIED), dtype))
    spikes = jax.ShapeDtypeStruct((TRIED,), bool)
    v = jax.ShapeDtypeStruct((TRIED,), dtype) if voltage else None
    takes = f"the state {shapes(state)}, spikes of shape ({TRIED},) and v"
    try:
        call = lambda s, z, v: rule.step_post(s, z, v, dt)  # noqa: E731
        with traced(owner, "step_post", takes):
            _, out = traced_method(owner, rule, "step_post", call, state, spikes, v)
    except InvalidValueError as error:
        if voltage or not isinstance(error.__cause__, TypeError | AttributeError):
            raise
        must = "one that reads no voltage of its targets"
        got = f"one that does, and {an(type(target).__name__)} has none"
        raise InvalidValueError(owner, "step_post", must, got) from error
    if isinstance(out, tuple) and len(out) == 3:
        out = *out[:2], jax.eval_shape(lambda s: _arrays(s, dtype), out[2])
    return hold(owner, rule, "step_post", out, TRIED, state)


def _check_steps(rule: Plasticity, state: Any, owner: str, dt: float, dtype: np.dtype) -> None:
    """Holds shared numbers and factors to the role; `state` is that of the targets."""
    one = jax.ShapeDtypeStruct((), dtype)
    with traced(owner, "init_shared"):
        shared = jax.eval_shape(lambda: _arrays(rule.init_shared(), dtype))
    hold(owner, rule, "init_shared", shared, TRIED)
    signals = dict.fromkeys(rule.signals, one)
    takes = f"{shapes(shared)} and the signals {shapes(signals)}"
    call = lambda s, x: _arrays(rule.step_shared(s, x, dt), dtype)  # noqa: E731
    with traced(owner, "step_shared", takes):
        _, new = traced_method(owner, rule, "step_shared", call, shared, signals)
    hold(owner, rule, "step_shared", new, TRIED, shared)
    if rule.intervals()[1] is None:
        return
    total = jax.ShapeDtypeStruct((TRIED,), dtype)
    takes = f"total and synapses of shape ({TRIED},), and the state {shapes(state)}"
    call = lambda x, k, s: jnp.asarray(rule.factors(x, k, s))  # noqa: E731
    with traced(owner, "factors", takes):
        _, factors = traced_method(owner, rule, "factors", call, total, total, state)
    hold(owner, rule, "factors", factors, TRIED)


def _arrays(values: Any, dtype: np.dtype) -> Any:
    """As arrays, those of floating numbers in the dtype of the network."""
    return as_floating(jax.tree.map(jnp.asarray, values), dtype)
