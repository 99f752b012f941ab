"""`log_events` on a GPU: one Pallas kernel (Triton lowering).

A *program* has a block of targets. The number of an event is the count of those before it, of this
step in the order of the targets: a program counts the bits of all targets before its own, eight
thousand at a time, so that no program waits for another and every run gives the same log.

**Races.** A place of `head` belongs to one target, and so to one program. Events of a step have
numbers of their own, and so entries of their own: a log has room for more than those of a step.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .clock import Clock, Step
from .event_log import Halves
from .gpu_fused_scan import Block
from .gpu_program import lanes as iota
from .gpu_program import operand

_BYTES = 1024  # of bits that are counted at a time
NUMBER = jax.ShapeDtypeStruct((1,), jnp.int32)


def log_pallas(
    count: jax.Array,
    head: jax.Array,
    log: jax.Array,
    kept: jax.Array,
    bits: jax.Array,
    numbers: jax.Array,
    step: Step,
    first: int,
    longest_delay: int,
    interpret: bool = False,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """`log_events`, with the events as packed `bits`, those of the targets from bit `first` on."""
    n, rows = head.shape[0], kept.shape[0]
    changed = [head, log, *([kept] if rows else [])]
    reads = [bits, *map(operand, (count, *Clock.of(step))), *([numbers] if rows else [])]
    halves = Halves(log.shape[0], n, longest_delay)
    *new, total, limit = pl.pallas_call(
        functools.partial(_kernel, halves=halves, first=first, rows=rows),
        out_shape=[*(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in changed), NUMBER, NUMBER],
        grid=(programs_of(n),),
        input_output_aliases={len(reads) + k: k for k in range(len(changed))},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=4, num_stages=1),
        name="log_events",
    )(*reads, *changed)
    head, log, *new = new
    return count + total[0], head, log, new[0] if rows else kept, limit[0]


def _kernel(*refs, halves, first, rows):
    bits, count, start, since, *rest = refs
    # What is changed is one array before and after; the references to those before are left out.
    block, out = TargetBlock(halves, first), rest[2 * bool(rows) + 2 :]
    fired = block.fired(bits)
    numbers = [triton.load(rest[0].at[row, block.at], mask=fired, other=0.0) for row in range(rows)]
    block.log(fired, bits, count[0], start[0] + since[0], numbers, out)


def lanes_of(n: int) -> int:
    """Targets of a program."""
    return 256 if n <= 2**16 else 1024


def programs_of(n: int) -> int:
    return -(-n // lanes_of(n))


class TargetBlock(Block):
    """One program: its targets of a pathway, from neuron `first` of their group on."""

    def __init__(self, halves: Halves, first: int):
        super().__init__(halves.n_targets, lanes_of(halves.n_targets))
        self.halves, self.first = halves, first

    def fired(self, bits: Any) -> jax.Array:
        """Which of them have a bit among those of their group."""
        bit = self.first + self.at
        byte = triton.load(bits.at[bit >> 3], mask=self.here, other=0).astype(jnp.int32)
        return self.here & ((byte >> (bit & 7)) & 1 != 0)

    def log(
        self,
        fired: jax.Array,
        bits: Any,
        count: jax.Array,
        step: jax.Array,
        numbers: Sequence[jax.Array],
        out: Sequence[Any],
    ) -> None:
        """Logs the events of those that `fired`, with their `numbers`.

        `out`: head, log, the log's numbers if it has any, the count of the step's events, and the
        limit, which the last program writes.
        """
        head, log, *kept, total, limit = out
        before = _count_bits(bits, self.first, self.first + self.program * lanes_of(self.n))
        number = count + before + jnp.cumsum(fired.astype(jnp.int32), dtype=jnp.int32) - 1
        # Interpreted, a masked lane writes back what it has read: beyond the end it writes nothing.
        entry = jnp.where(fired, number & (log.shape[0] - 1), log.shape[0])
        now = jnp.broadcast_to(step, self.at.shape)
        for column in (0, 1):
            old = triton.load(head.at[self.at, column], mask=fired, other=0)
            triton.store(log.at[entry, column + 1], old, mask=fired)
            triton.store(head.at[self.at, column], number if column else now, mask=fired)
        triton.store(log.at[entry, 0], now, mask=fired)
        for row, x in enumerate(numbers):
            triton.store(kept[0].at[row, entry], x, mask=fired)

        @pl.when(self.program == programs_of(self.n) - 1)
        def _():
            events = before + jnp.sum(fired.astype(jnp.int32), dtype=jnp.int32)
            total[0] = events
            # The entry is older than this step: no program writes it.
            limit[0] = self.halves.limit(count, count + events, lambda entry: log[entry, 0])


def _count_bits(bits, start, stop):
    """How many bits from `start` to `stop` are set."""

    def add(carry):
        at, found = carry
        byte = at + iota(_BYTES)
        low, high = (jnp.clip(x - 8 * byte, 0, 8) for x in (start, stop))
        inside = ((1 << high) - 1) & ~((1 << low) - 1)
        x = triton.load(bits.at[byte], mask=high > low, other=0).astype(jnp.int32) & inside
        x = x - ((x >> 1) & 0x55)
        x = (x & 0x33) + ((x >> 2) & 0x33)
        x = (x + (x >> 4)) & 0x0F
        return at + _BYTES, found + jnp.sum(x, dtype=jnp.int32)

    one = jnp.int32(start >> 3), jnp.int32(0)
    return lax.while_loop(lambda carry: carry[0] * 8 < stop, add, one)[1]
