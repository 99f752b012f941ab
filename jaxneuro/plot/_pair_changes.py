"""What pairs of spikes do to the weight of one synapse, by the methods of its rule."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._types import Numbers, Plasticity


class Pairs(NamedTuple):
    """Pairs of spikes at a synapse, step by step.

    **Fields** `weight` at the start; `dt` [ms]; `first` step of the first presynaptic spike,
    `every` steps from one to the next, `count` how many; `rest`, `peak` [mV] the voltage of the
    target, which is at its peak for `wide` steps from each of its spikes on; `signals` by name, the
    value in every step.
    """

    weight: Any
    dt: Any
    first: Any
    every: Any
    count: Any
    rest: Any
    peak: Any
    wide: Any
    signals: dict[str, Any]

    def spiked(self, k: Any, late: Any, wide: Any) -> Any:
        """Whether step k is one of `wide` steps from a spike on, `late` steps after the first."""
        since = k - self.first - late
        return (since >= 0) & (since < self.count * self.every) & (since % self.every < wide)


class _Synapse(NamedTuple):
    """A synapse with its neurons: its own numbers, those of both, and shared ones now and then."""

    own: dict[str, Any]
    traces: dict[str, Any]
    target: Any
    shared: dict[str, Any]
    then: dict[str, Any]
    touched: Any


def pair_changes(rule: Plasticity, lags: np.ndarray, pairs: Pairs, steps: int) -> np.ndarray:
    """The change of the weight after `steps` steps, for each lag [steps] of the target: (lags,).

    In float64. `factors`, which multiply all weights of a target, are left out.
    """
    with jax.enable_x64(True):
        rule, given = jax.tree.map(lambda x: np.asarray(x, np.float64), (rule, pairs))
        whole = ("first", "every", "count", "wide")
        given = given._replace(**{name: np.int64(getattr(pairs, name)) for name in whole})
        return np.asarray(_changes(rule, np.asarray(lags, np.int64), given, steps))


@functools.partial(jax.jit, static_argnums=3)
def _changes(rule: Plasticity, lags: jax.Array, pairs: Pairs, steps: int) -> jax.Array:
    def one(lag: jax.Array) -> jax.Array:
        step = functools.partial(_step, rule, pairs, lag)
        synapse, _ = lax.scan(step, _started(rule, pairs), jnp.arange(steps))
        return _up_to_date(rule, pairs, synapse, steps)["weight"] - pairs.weight

    return jax.vmap(one)(lags)


def _started(rule: Plasticity, pairs: Pairs) -> _Synapse:
    def floating(values: Any) -> Any:
        return jax.tree.map(lambda x: jnp.asarray(x, jnp.float64), values)

    shared = floating(rule.init_shared())
    return _Synapse(
        own=floating({"weight": pairs.weight, **rule.variables()}),
        traces=floating(dict.fromkeys(rule.pre_traces(), 0.0)),
        target=floating(rule.init_post(1)),
        shared=shared,
        then=shared,
        touched=jnp.asarray(0, jnp.int64),
    )


def _step(rule: Plasticity, pairs: Pairs, lag: Any, s: _Synapse, k: Any) -> tuple[_Synapse, None]:
    """A time step as the role of a rule has it: what happens sees the numbers before the step."""
    dt = pairs.dt
    arriving, spiked = pairs.spiked(k, 0, 1), pairs.spiked(k, lag, 1)
    v = jnp.where(pairs.spiked(k, lag, pairs.wide), pairs.peak, pairs.rest)
    before = {name: x.decayed(s.traces[name], dt) for name, x in rule.pre_traces().items()}
    numbers, events, target = rule.step_post(s.target, spiked[None], v[None], dt)
    s = s._replace(target=target, shared=rule.step_shared(s.shared, pairs.signals, dt))
    released = arriving.astype(dt.dtype)
    pre = {**before, "arriving": released, "released": released}
    silent = Numbers({**pre, "released": jnp.zeros_like(released)})
    post = Numbers({name: x[0] for name, x in numbers.items()})
    every = rule.schedule()[0]
    tick = (k + 1) % every == 0 if every else jnp.bool_(False)

    due = arriving | events[0] | tick
    own = _where(due, _up_to_date(rule, pairs, s, k + 1), s.own)
    for happens, does, source in (
        (events[0], rule.on_post, silent),
        (tick, rule.on_tick, Numbers(pre)),
        (arriving, rule.on_pre, Numbers(pre)),
    ):
        own = _where(happens, _changed(rule, own, does(Numbers(own), source, post)), own)
    after = {name: x.jumped(before[name]) for name, x in rule.pre_traces().items()}
    return s._replace(
        own=own,
        traces=_where(arriving, after, before),
        then=_where(due, s.shared, s.then),
        touched=jnp.where(due, k + 1, s.touched),
    ), None


def _up_to_date(rule: Plasticity, pairs: Pairs, s: _Synapse, k: Any) -> dict[str, Any]:
    """The numbers of a synapse after what happens between events, up to the start of step k."""
    elapsed = jnp.asarray(k - s.touched, jnp.float64) * pairs.dt
    start, stop = Numbers(s.then), Numbers(s.shared)
    return _changed(rule, s.own, rule.between(Numbers(s.own), elapsed, start, stop))


def _changed(rule: Plasticity, own: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a synapse after some changes, the weight within its bounds."""
    if "weight" in changes:
        low, high = rule.bounds()
        changes = {**changes, "weight": jnp.clip(changes["weight"], low, high)}
    return {**own, **changes}


def _where(condition: Any, x: Any, other: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), x, other)
