"""Compiles the loop once per shape and record, and keeps what was compiled."""

import dataclasses
import logging
import time
from collections import OrderedDict
from typing import Any

import jax
import jax.numpy as jnp

from .._network import Network, NetworkState
from ._record import Record
from ._same_function import meaning
from ._scan import scan_turns

# Fewer copies of a loop carry, and 512-bit vectors where the CPU has them. Both keep
# every bit; what they gain is in docs/performance.md. Only CPUs know them.
_OPTIONS = {
    "xla_cpu_copy_insertion_use_region_analysis": True,
    "xla_cpu_prefer_vector_width": 512,
}
_KEPT = 16
_log = logging.getLogger("jaxneuro")
_programs: OrderedDict[Any, Any] = OrderedDict()


def _chunk(
    net: Network, state: NetworkState, inputs: Any, steps: Any, room: int, record: Record
) -> Any:
    state, recording = scan_turns(net, state, room, inputs, record, steps)
    return state, recording, _non_finite(state)


def _non_finite(state: NetworkState) -> jax.Array:
    """How many numbers of neurons, receptors, releases and plastic synapses are not finite."""
    models = [(group.neurons, group.receptors) for group in state.groups]
    rules = [
        (p.synapses.weights, p.synapses.variables, p.targets, p.shared)
        for p in (pathway.plastic for pathway in state.pathways)
        if p is not None
    ]
    releases = [sender.release for sender in (*state.pathways, *state.couplings)]
    leaves = jax.tree.leaves((models, rules, releases))
    floating = [x for x in leaves if jnp.issubdtype(x.dtype, jnp.floating)]
    bad = [jnp.sum(~jnp.isfinite(x), dtype=jnp.int32) for x in floating]
    return sum(bad, jnp.zeros((), jnp.int32))


def program(args: tuple, room: int, record: Record) -> tuple[Any, float]:
    """The compiled chunk `(*args) -> (state, recording, bad)` and its compile time.

    `args` are network, state, inputs of `room` steps, and how many of these are run: int32 (), or
    None for all. The time is 0 if an equal network (same shapes, any values) has run before.
    """
    leaves, structure = jax.tree.flatten(args)
    shapes = tuple(
        (x.shape, x.dtype, getattr(x, "weak_type", False), getattr(x, "sharding", None))
        for x in leaves
    )
    plain = dataclasses.replace(record, function=None)
    key = (structure, shapes, room, plain, meaning(record.function))
    if key in _programs:
        _programs.move_to_end(key)
        return _programs[key], 0.0
    start = time.perf_counter()
    jitted = jax.jit(_chunk, static_argnums=(4, 5))
    lowered = jitted.lower(*args, room, record)
    done = compiled(lowered)
    _programs[key] = done
    if len(_programs) > _KEPT:
        _programs.popitem(last=False)
    return done, time.perf_counter() - start


def compiled(lowered: Any) -> Any:
    """A lowered program, compiled with the options that suit a loop over steps."""
    if jax.default_backend() != "cpu":
        return lowered.compile()
    try:
        return lowered.compile(compiler_options=_OPTIONS)
    except Exception as error:  # an XLA that does not know the options; a real one comes again
        done = lowered.compile()
        _log.warning("XLA refused the compile options, compiled without them: %s", error)
        return done
