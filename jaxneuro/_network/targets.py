"""What a rule of plasticity does target by target in a step: one launch where a GPU runs it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int32, UInt8

from .._kernels.clock import Clock
from .._kernels.event_log import EventLog, log_events
from .._kernels.fused_scan import fused_or_plain
from .._model import Plasticity
from .._numerics.compensated import Low, step_compensated
from .members import as_floating


class Fired(NamedTuple):
    """What the target group of a pathway did in the step whose releases are delivered.

    Attributes:
        bits: packed spikes.
        v: voltages after the step, before a reset; None of a model without any.
    """

    bits: UInt8[Array, " bytes"]
    v: Float[Array, " n"] | None


class TargetNumbers(NamedTuple):
    """What a pathway keeps of its targets.

    Attributes:
        state: what `step_post` of the rule keeps.
        low: the digits below those of its slow variables.
        ring: (slots, rows, targets) its numbers in the last steps.
        log: postsynaptic events that not all synapses have seen.
    """

    state: Any
    low: Low
    ring: Float[Array, "slots rows targets"]
    log: EventLog


class TargetStep(NamedTuple):
    """How the targets of a pathway step.

    Attributes:
        first, n: which of their group they are.
        ring_names, log_names: of the numbers that the ring keeps, and the log.
        longest_delay: [steps].
        dt: time step [ms].
        dtype: of the numbers.
    """

    first: int
    n: int
    ring_names: tuple[str, ...]
    log_names: tuple[str, ...]
    longest_delay: int
    dt: float
    dtype: np.dtype

    def of(
        self, rule: Plasticity, state: Any, spikes: Bool[Array, " n"], v: Any
    ) -> tuple[list, list, Bool[Array, " n"], Any]:
        """`step_post` of the rule: numbers for the ring and for the log, events, and the state."""
        numbers, events, state = rule.step_post(state, spikes, v, self.dt)
        ring, log = (named(numbers, x, self.dtype) for x in (self.ring_names, self.log_names))
        return ring, log, events, as_floating(state, self.dtype)


def step_targets(
    how: TargetStep,
    rule: Plasticity,
    before: TargetNumbers,
    fired: Fired,
    step: Clock,
) -> tuple[TargetNumbers, Int32[Array, ""]]:
    """The numbers after a step; rows visited last before the second result must be visited now."""

    def plain(*operands: Any) -> tuple:
        return _plain(how, *operands)

    def fused(*operands: Any) -> tuple:
        from .._kernels.gpu_targets import targets_pallas  # Pallas: only where it is needed

        rule, (state, low, ring, log), fired, step = operands
        state, ring, log, limit = targets_pallas(how, rule, state, ring, log, fired, step)
        return TargetNumbers(state, low, ring, EventLog(*log)), limit

    if before.low:  # has not been tried in a kernel on a card
        return plain(rule, before, fired, step)
    otherwise = f"the targets of a {type(rule).__name__} take several launches per step"
    return fused_or_plain(fused, plain, otherwise, rule, before, fired, step)


def _plain(
    how: TargetStep, rule: Any, before: TargetNumbers, fired: Fired, step: Any
) -> tuple[TargetNumbers, Any]:
    """As XLA runs it."""
    span = slice(how.first, how.first + how.n)
    spikes = jnp.unpackbits(fired.bits, bitorder="little")[span] != 0
    v = None if fired.v is None else fired.v[span]

    def move(state: Any, spikes: Any, v: Any) -> tuple[Any, tuple]:
        *output, new = how.of(rule, state, spikes, v)
        return new, tuple(output)

    state, low, (now, kept, events) = step_compensated(move, before.state, before.low, spikes, v)
    ring = written(before.ring, stacked(now, how.dtype), step.now)
    packed = (fired.bits, how.first) if events is spikes else None
    kept = stacked(kept, how.dtype).reshape(len(kept), how.n)
    log, limit = log_events(before.log, events, kept, step, how.longest_delay, packed)
    return TargetNumbers(state, low, ring, log), limit


def stacked(rows: list, dtype: np.dtype) -> Float[Array, "names ..."]:
    return jnp.stack(rows) if rows else jnp.zeros(0, dtype)


def named(values: Mapping[str, Any], names: tuple[str, ...], dtype: np.dtype) -> list:
    return [jnp.asarray(values[name], dtype) for name in names]


def written(
    ring: Float[Array, " slots *row"], row: Float[Array, "..."], step: Int32[Array, ""]
) -> Float[Array, " slots *row"]:
    """A ring with the numbers of a step."""
    slot = jnp.mod(step, ring.shape[0])
    return lax.dynamic_update_index_in_dim(ring, row.reshape(ring.shape[1:]), slot, 0)
