"""`log_events`: the postsynaptic events that rows of plastic synapses have not seen yet.

A synapse is touched when its source spikes. Until then the events of its target wait here: every
event knows where the previous one of the same target is, so a synapse walks back from the newest
to the first that it has not seen. The log is one ring for all targets: it holds the last `capacity`
events, whoever had them. Rows are brought up to date whenever half of it has been filled: those
that were not visited since the half began. What the others need is then in the newer half, and
stays there until the next time.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int32, UInt8

from .._arrays import as_array
from .bits import pack_reference
from .call import batched, by_platform, native_update, over_batch
from .clock import Clock, Step
from .fused_scan import fused_or_plain
from .native import native_available

LONG_AGO = -(2**30)  # the time of an event that never was
_RANKS = (0, 2, 2, 2, 1, 2, 0, 0, 1)


class EventLog(NamedTuple):
    """The last events of some targets.

    Attributes:
        count: int32 () events so far, modulo 2^32: event e is in entry e mod capacity.
        head: int32 (targets, 2) time step and number of the newest event of each target.
        events: int32 (capacity, 3) time of each event, time and number of the previous one of its
            target.
        numbers: (rows, capacity) of the target, as they were.
    """

    count: Int32[Array, ""]
    head: Int32[Array, "targets 2"]
    events: Int32[Array, "capacity 3"]
    numbers: Float[Array, "rows capacity"]

    @property
    def capacity(self) -> int:
        """How many events it holds, a power of two."""
        return self.events.shape[-2]


def empty_log(n_targets: int, most: int, rows: int, dtype: Any) -> EventLog:
    """A log without events, for so many targets that have at most `most` events in a delay."""
    # Two halves, and what one step may add.
    capacity = 1 << int(np.ceil(np.log2(max(2 * most * n_targets + n_targets, 16))))
    head = np.stack([np.full(n_targets, LONG_AGO), np.full(n_targets, -1)], axis=1)
    events = np.full((capacity, 3), LONG_AGO)
    return EventLog(
        as_array(0, np.int32),
        as_array(head, np.int32),
        as_array(events, np.int32),
        as_array(np.zeros((rows, capacity)), dtype),
    )


def log_events(
    log: EventLog,
    events: Bool[Array, " targets"],
    numbers: Float[Array, "rows targets"],
    step: Step,
    longest_delay: int,
    packed: tuple[UInt8[Array, " bytes"], int] | None = None,
) -> tuple[EventLog, Int32[Array, ""]]:
    """The log with the events of a step: booleans (targets,), and numbers (rows, targets).

    Rows visited last before the second result must be visited now; it is `LONG_AGO` where none
    must. `packed` are bits among which the events are known to be, and the number of the first. A
    derivative is that by the numbers.
    """
    bits, first = (jnp.zeros(0, jnp.uint8), 0) if packed is None else packed
    call = _batched(native_available(), first, longest_delay)
    numbers = numbers.astype(log.numbers.dtype)
    *new, limit = call(*log, events, numbers, *Clock.of(step), bits, ())
    return EventLog(*new), limit


@functools.cache
def _batched(native: bool, first: int, longest_delay: int) -> Any:
    del native  # another key: what was traced without the native library stays without it

    def limit(before: Any, count: Any, head: Any, log: Any, _: Any) -> Any:
        halves = Halves(log.shape[0], head.shape[0], longest_delay)
        return halves.limit(before, count, lambda entry: log[entry, 0])

    def with_limit(update: Callable) -> Callable:
        def run(*operands: Any) -> tuple:
            new = update(*operands)
            return *new, over_batch(limit, (0, 0, 2, 2))(operands[0], *new[:3], ())

        return run

    def call(*operands: Any) -> Any:
        reference = with_limit(over_batch(lambda *x: _reference(*x), _RANKS))

        def on_gpu(*operands: Any) -> Any:
            fused = over_batch(functools.partial(_fused, first, longest_delay), _RANKS)
            return fused_or_plain(
                fused, reference, "events are logged in several launches", *operands
            )

        return by_platform(*operands, default=reference, cpu=with_limit(_native), cuda=on_gpu)

    whole = jax.custom_jvp(batched(call, _RANKS, "", in_place=4, made=1))

    @whole.defjvp
    def slopes(primals: Any, tangents: Any) -> Any:
        return whole(*primals), jax.jvp(with_limit(_reference), primals, tangents)[1]

    return whole


def _fused(first: int, longest_delay: int, *operands: Any) -> tuple:
    from .gpu_event_log import log_pallas  # Pallas: only where it is needed

    count, head, log, kept, events, numbers, first_step, since, bits, _ = operands
    bits = bits if bits.size else pack_reference(events)
    return log_pallas(
        *(count, head, log, kept, bits, numbers), Clock(first_step, since), first, longest_delay
    )


def _native(*operands: Any) -> tuple:
    *arrays, first, since, _, _ = operands
    return native_update("jaxneuro_log_events", (*arrays, first + since), 4)


def _reference(count, head, log, kept, events, numbers, first, since, *_):
    capacity = log.shape[0]
    number = count + jnp.cumsum(events, dtype=jnp.int32) - 1
    entry = jnp.where(events, number & (capacity - 1), capacity)
    time = jnp.full(events.shape, first + since, jnp.int32)
    log = log.at[entry].set(jnp.stack([time, *head.T], axis=1), mode="drop")
    kept = kept.at[:, entry].set(numbers, mode="drop")
    head = jnp.where(events[:, None], jnp.stack([time, number], axis=1), head)
    return count + jnp.sum(events, dtype=jnp.int32), head, log, kept


class Halves(NamedTuple):
    """When a log has filled one of its halves.

    Attributes:
        capacity: of the log.
        n_targets: how many it has.
        longest_delay: [steps].
    """

    capacity: int
    n_targets: int
    longest_delay: int

    def limit(self, before: Any, count: Any, time_of: Callable) -> Any:
        """Rows visited last before this must be visited now; `LONG_AGO` where none must.

        int32 (), from the counts of events before and after a step, and `time_of` an entry.
        """
        half = (self.capacity - self.n_targets) // 2

        def of_half(x: Any) -> Any:  # rounded down, for a count that is negative too
            rest = lax.rem(x, jnp.int32(half))
            return x - jnp.where(rest < 0, rest + half, rest)

        oldest = time_of((count - half) & (self.capacity - 1))
        return jnp.where(
            of_half(before) != of_half(count), oldest + self.longest_delay + 1, LONG_AGO
        ).astype(jnp.int32)
