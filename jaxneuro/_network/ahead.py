"""Arrivals that are known before a loop: products of the spikes that the inputs of a run give.

All steps are one product, whose rows the loop takes up, one in each step. A group that nothing else
reaches leaves its ring alone: it is written when the loop has ended.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jaxtyping import Array, Bool, Float, Int32

from .pathway import RuntimePathway
from .runtime import RuntimeNetwork
from .state import NetworkState


class Ahead(NamedTuple):
    """Arrivals during a loop and after it, of spikes that are known before it.

    Attributes:
        arrivals: (steps + late, places) per group, of the first step on; None where nothing of
            that kind arrives, or for all groups.
    """

    arrivals: tuple[Float[Array, "_ _"] | None, ...] | None

    @classmethod
    def of(
        cls,
        runtime: RuntimeNetwork,
        state: NetworkState,
        inputs: Mapping[str, Any],
        steps: int,
        done: Int32[Array, ""] | None = None,
    ) -> tuple["Ahead", RuntimeNetwork]:
        """For a loop from `state` on; and the network of that loop, which does not deliver them.

        Of its steps, `done` are made if given.
        """
        known = [k for k, p in enumerate(runtime.pathways) if p.known]
        if not steps or not known:
            return cls(None), runtime
        out: list[Any] = [None] * len(runtime.groups)
        for k in known:
            p = runtime.pathways[k]
            new = _arrivals(p, state, inputs, steps, done)
            out[p.target] = new if out[p.target] is None else out[p.target] + new
        of = lambda r: [r.pathways[k] for k in known]  # noqa: E731
        runtime = eqx.tree_at(of, runtime, [_delivered_ahead(p) for p in of(runtime)])
        for k, new in enumerate(out):
            if new is not None and k not in _delivered_to(runtime):
                ring = state.groups[k].ring
                waiting = ring[_slots(ring, state.step)[:-1]]
                out[k] = new.at[: waiting.shape[0]].add(waiting) if waiting.size else new
        return cls(tuple(out)), runtime

    def in_steps(self, steps: int) -> tuple | None:
        """The arrivals of each step, per group."""
        if self.arrivals is None:
            return None
        return tuple(None if x is None else x[:steps] for x in self.arrivals)

    def after(
        self, runtime: RuntimeNetwork, state: NetworkState, done: int | Int32[Array, ""]
    ) -> NetworkState:
        """The state after `done` steps, with what arrives later."""
        groups = list(state.groups)
        for k, x in enumerate(self.arrivals or ()):
            if x is not None:
                ring = groups[k].ring
                late = lax.dynamic_slice_in_dim(x, jnp.maximum(done - 1, 0), 1 + _late(ring))
                kept = ring if k in _delivered_to(runtime) else jnp.zeros_like(ring)
                new = with_arrivals(kept, state.step - 1, late)
                groups[k] = groups[k]._replace(ring=jnp.where(done > 0, new, ring))
        return state._replace(groups=tuple(groups))


def _arrivals(
    p: RuntimePathway, state: NetworkState, inputs: Any, steps: int, done: Any
) -> Float[Array, "_ _"]:
    """The arrivals of a pathway from the first step on, which delivers the spikes before it."""
    assert p.dense is not None
    assert p.matrix is not None
    ring, x = state.groups[p.target].ring, jnp.zeros((steps - 1, 1), bool)
    if p.dense.given in inputs:
        x = inputs[p.dense.given][: steps - 1]
        x = x if x.ndim == 2 else x[:, None]
    if done is not None:  # the next loop delivers what the last step releases
        x = x & (jnp.arange(steps - 1, dtype=jnp.int32) < done - 1)[:, None]
    x = jnp.broadcast_to(x, (steps - 1, p.dense.sources))
    last = p.dense.released_by(state.groups[p.source].released, p.matrix.dtype)
    x = _after_row(last != 0, x).astype(p.matrix.dtype)
    return p.dense.arrivals(x, p.matrix, steps + _late(ring), ring.shape[1])


def _delivered_ahead(p: RuntimePathway) -> RuntimePathway:
    return dataclasses.replace(p, dense=None, matrix=None, ahead=True)


def _delivered_to(runtime: RuntimeNetwork) -> set[int]:
    """The groups into whose rings a loop delivers something."""
    return {p.target for p in runtime.pathways if not p.ahead}


def with_arrivals(ring: Any, step: Any, arriving: Any) -> Any:
    """A ring after `step`, with what arrived in that step and what arrives in those after it."""
    return ring.at[_slots(ring, step)[: arriving.shape[0]]].add(arriving)


def _slots(ring: Any, step: Any) -> Any:
    """The slots of a step and of those after it."""
    return jnp.mod(step + jnp.arange(1 + _late(ring), dtype=jnp.int32), ring.shape[0])


def _late(ring: Any) -> int:
    """How many steps after the last one something may arrive."""
    return max(ring.shape[0] - 2, 0)


# --- A row and those after it. In `vmap` the batch stays where it is: JAX would put it first, and
# move all numbers twice where the steps come first.

_joined = Primitive("joined")


def _after_row(row: Bool[Array, " n"], x: Bool[Array, "steps n"]) -> Bool[Array, "_ n"]:
    return _joined.bind(row, x)


@_joined.def_impl
def _concatenated(row: Any, x: Any, axis: int = 0) -> Any:
    return jnp.concatenate([jnp.expand_dims(row, axis), x], axis)


def _joined_batched(operands: Any, axes: Any) -> tuple[Any, int]:
    (row, x), (of_row, of_x) = operands, axes
    if of_x is None:
        of_x, x = 0, jnp.broadcast_to(x, (row.shape[of_row], *x.shape))
    steps = 1 if of_x == 0 else 0
    at = max(of_x - 1, 0)
    size = x.shape[of_x]
    if of_row is None:
        of_row, row = 0, jnp.broadcast_to(row, (size, *row.shape))
    row = jnp.moveaxis(row, of_row, at)
    return _concatenated(row, x, steps), of_x


_joined.def_abstract_eval(lambda row, x: x.update(shape=(1 + x.shape[0], *x.shape[1:])))
batching.primitive_batchers[_joined] = _joined_batched
mlir.register_lowering(_joined, mlir.lower_fun(_concatenated, multiple_results=False))
