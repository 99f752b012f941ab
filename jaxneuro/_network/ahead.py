"""Arrivals that are known before a loop: products of the spikes that the inputs of a run give.

All steps are one product, whose rows the loop takes up, one in each step. A group that nothing else
reaches leaves its ring alone: it is written when the loop has ended.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int32

from .runtime import RuntimeNetwork
from .state import NetworkState


class Ahead(NamedTuple):
    """What arrives in the steps of a loop, and after it, of spikes that are known before it.

    Attributes:
        arrivals: (1 + steps + late, places) per group, of the step before the first one on; None
            where nothing of that kind arrives.
    """

    arrivals: tuple[Float[Array, "_ _"] | None, ...]

    @classmethod
    def of(
        cls, runtime: RuntimeNetwork, state: NetworkState, inputs: Mapping[str, Any], steps: int
    ) -> "Ahead":
        """For a loop from `state` on."""
        out: list[Any] = [None] * len(runtime.groups)
        for p in runtime.known_pathways:
            dense, matrix = p.dense, p.matrix
            ring = state.groups[p.target].ring
            spikes = state.groups[p.source].released
            first = dense.released_by(spikes, matrix.dtype)[None]
            given = runtime.given(p, inputs, steps - 1).astype(matrix.dtype)
            slots = steps + _late(ring)
            new = dense.arrivals(jnp.concatenate([first, given]), matrix, slots, ring.shape[1])
            out[p.target] = new if out[p.target] is None else out[p.target] + new
        for k, new in enumerate(out):
            if new is None:
                continue
            ring = state.groups[k].ring
            waiting = jnp.zeros((1 + _late(ring), ring.shape[1]), ring.dtype)
            if k not in runtime.delivered_to:
                waiting = ring[_slots(ring, state.step - 1)]
            new = jnp.pad(new, ((1, 0), (0, 0)))
            out[k] = new.at[: waiting.shape[0]].add(waiting)
        return cls(tuple(out))

    def taps(self, steps: int) -> tuple:
        """What arrives in each step, per group."""
        return tuple(None if x is None else x[1 : 1 + steps] for x in self.arrivals)

    def after(
        self, runtime: RuntimeNetwork, state: NetworkState, done: int | Int32[Array, ""]
    ) -> NetworkState:
        """The state after `done` steps, with what arrives later."""
        groups = list(state.groups)
        for k, x in enumerate(self.arrivals):
            if x is not None:
                ring = groups[k].ring
                late = lax.dynamic_slice_in_dim(x, done, 1 + _late(ring))
                kept = ring if k in runtime.delivered_to else jnp.zeros_like(ring)
                new = with_arrivals(kept, state.step - 1, late)
                groups[k] = groups[k]._replace(ring=jnp.where(done > 0, new, ring))
        return state._replace(groups=tuple(groups))


def with_arrivals(ring: Any, step: Any, arriving: Any) -> Any:
    """A ring after `step`, with what arrived in that step and what arrives in those after it."""
    return ring.at[_slots(ring, step)[: arriving.shape[0]]].add(arriving)


def _slots(ring: Any, step: Any) -> Any:
    """The slots of a step and of those after it."""
    return jnp.mod(step + jnp.arange(1 + _late(ring), dtype=jnp.int32), ring.shape[0])


def _late(ring: Any) -> int:
    """How many steps after the last one something may arrive."""
    return max(ring.shape[0] - 2, 0)
