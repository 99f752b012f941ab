"""One synapse of any rule over given events: the role's methods called step by step, slowly.

`replay` says what a rule means: kernels and networks are compared with it. One step is:

1. source, target and shared numbers move by dt: traces decay, `step_post` and `step_shared` run;
2. `between` brings the synapse to now, in steps in which something happens (or in all);
3. `on_post`, `on_tick` and `on_pre`, each if it has an event, with the numbers before the events;
   after each, and after `between`, the weight is brought into the bounds;
4. every so many steps the weight is multiplied by `factors`;
5. the traces of the source jump if it released something.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro._model import NamedNumbers
from jaxneuro._network.plastic import interval_steps
from jaxneuro._numerics.grid import on_grid

BLOCK = 256  # steps: runs of about one length share a program


class Replayed(NamedTuple):
    """The weight and the further variables after each step, and the shared numbers."""

    weight: np.ndarray
    variables: dict[str, np.ndarray]
    shared: dict[str, np.ndarray]


def replay(rule, pre, post, steps, *, weight=0.5, dt=1.0, eager=False, **given) -> Replayed:
    """A synapse with presynaptic and postsynaptic events at the given steps.

    `released` (steps,): what the source releases, in place of `pre`; `v` (steps,) the voltage of
    the target; `signals` arrays (steps,) by name; `eager`: `between` runs in every step;
    `dtype` of all numbers.
    """
    dtype = given.get("dtype", np.float64)
    size = -(-steps // BLOCK) * BLOCK

    def padded(x):
        return np.concatenate([np.asarray(x, dtype), np.zeros(size - steps, dtype)])

    released = given.get("released")
    inputs = {
        "released": padded(_train(pre, steps) if released is None else released),
        "post": padded(_train(post, steps)) > 0,
        "v": padded(given.get("v", np.zeros(steps))),
        "eager": np.full(size, eager),
        "step": np.arange(size, dtype=np.int32),
    }
    for name in rule.signals:
        inputs["signal " + name] = padded(given.get("signals", {}).get(name, np.zeros(steps)))
    rule = on_grid("", rule, dt)
    given = np.asarray(weight, dtype), inputs, np.asarray(dt, dtype)
    w, rest, shared = _run(rule, *given, interval_steps(rule, "", dt))
    out = jax.tree.map(lambda x: np.asarray(x)[:steps], (w, rest, shared))
    return Replayed(*out)


def _train(at, steps):
    train = np.zeros(steps)
    train[np.asarray(at, int)] = 1.0
    return train


@functools.partial(jax.jit, static_argnums=4)
def _run(rule, weight, inputs, dt, intervals):
    def start(x):
        return jnp.asarray(x, weight.dtype)

    synapse = {"weight": weight, **{k: start(v) for k, v in rule.variables().items()}}
    shared = jax.tree.map(start, rule.init_shared())
    traces = {name: start(0.0) for name in rule.pre_traces()}
    target = jax.tree.map(start, rule.init_post(1))
    carry = (synapse, traces, target, shared, shared, jnp.zeros((), jnp.int32))
    _, out = jax.lax.scan(lambda c, x: _step(rule, intervals, c, x, dt), carry, inputs)
    return out


def _step(rule, intervals, carry, now, dt):
    synapse, traces, target, shared, then, touched = carry
    at, released = now["step"], now["released"]
    before = {k: trace.decayed(traces[k], dt) for k, trace in rule.pre_traces().items()}
    numbers, events, target = rule.step_post(target, now["post"][None], now["v"][None], dt)
    signals = {k.removeprefix("signal "): x for k, x in now.items() if k.startswith("signal ")}
    shared = rule.step_shared(shared, signals, dt)
    arriving = released != 0
    pre = NamedNumbers(
        {**before, "arriving": arriving.astype(released.dtype), "released": released}
    )
    silent = NamedNumbers({**pre.__dict__, "released": jnp.zeros_like(released)})
    post = NamedNumbers({k: x[0] for k, x in numbers.items()})
    tick_every, factor_every = intervals
    tick = (at + 1) % tick_every == 0 if tick_every else jnp.asarray(False)

    due = now["eager"] | arriving | events[0] | tick
    elapsed = (at + 1 - touched).astype(dt.dtype) * dt
    start, stop = NamedNumbers(then), NamedNumbers(shared)
    synapse = _if(due, rule, synapse, rule.between(NamedNumbers(synapse), elapsed, start, stop))
    synapse = _if(events[0], rule, synapse, rule.on_post(NamedNumbers(synapse), silent, post))
    synapse = _if(tick, rule, synapse, rule.on_tick(NamedNumbers(synapse), pre, post))
    synapse = _if(arriving, rule, synapse, rule.on_pre(NamedNumbers(synapse), pre, post))
    if factor_every:
        w = synapse["weight"]
        factor = rule.factors(w[None], jnp.ones(1, w.dtype), target)[0]
        w = jnp.where((at + 1) % factor_every == 0, w * factor, w)
        synapse = {**synapse, "weight": _bounded(rule, w)}

    then = jax.tree.map(lambda new, old: jnp.where(due, new, old), shared, then)
    traces = {
        k: jnp.where(arriving, trace.jumped(before[k]), before[k])
        for k, trace in rule.pre_traces().items()
    }
    carry = (synapse, traces, target, shared, then, jnp.where(due, at + 1, touched))
    rest = {k: x for k, x in synapse.items() if k != "weight"}
    return carry, (synapse["weight"], rest, shared)


def _bounded(rule, w):
    low, high = rule.bounds()
    w = w if low is None else jnp.maximum(w, low)
    return w if high is None else jnp.minimum(w, high)


def _if(condition, rule, synapse, changed: dict[str, Any]):
    """The synapse with what has changed, where there is an event."""
    if "weight" in changed:
        changed = {**changed, "weight": _bounded(rule, changed["weight"])}
    unknown = set(changed) - set(synapse)
    assert not unknown, f"a rule changes what a synapse has not: {unknown}"
    return {k: jnp.where(condition, changed.get(k, x), x) for k, x in synapse.items()}
