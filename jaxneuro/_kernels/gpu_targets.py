"""What a rule does target by target on a GPU: one Pallas kernel (Triton lowering).

A *program* has a block of targets. It runs the rule's `step_post`, updates what the rule keeps in
place, writes the step's numbers into their slot of the ring, and logs the spikes as events. Events
that are not the spikes are packed and logged in a second launch: programs count those before their
own.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .bits import packed_bytes
from .call import for_gpu_kernel
from .clock import Clock, Step
from .event_log import Halves
from .fused_scan import Elementwise, NotFusedError
from .gpu_event_log import NUMBER, TargetBlock, lanes_of, log_pallas, programs_of
from .gpu_fused_scan import as_before
from .gpu_program import modulo, operand


def targets_pallas(
    how: Any,
    rule: Any,
    state: Any,
    ring: jax.Array,
    log: Any,
    fired: Any,
    step: Step,
    interpret: bool = False,
) -> tuple[Any, jax.Array, tuple, jax.Array]:
    """State, ring and log of the targets after a step, and the limit of `log_events`.

    `how.of(rule, state, spikes, v)` is what the rule does (`TargetStep`).

    Raises:
        NotFusedError: for a rule that does not act target by target.
    """
    fixed, held = jax.tree.leaves(rule), jax.tree.leaves(state)
    plan, (n_ring, n_log), own = _plan(how, rule, state, fired.v)
    changed = [*held, *([ring] if n_ring else [])]
    if own:
        made = [jax.ShapeDtypeStruct((packed_bytes(how.n),), jnp.uint8)]
        made += [jax.ShapeDtypeStruct((n_log, how.n), how.dtype)] if n_log else []
    else:
        changed += [log.head, log.events, *([log.numbers] if n_log else [])]
        made = [NUMBER, NUMBER]
    voltages = [] if fired.v is None else [fired.v]
    reads = [*fixed, *voltages, fired.bits, log.count, *Clock.of(step)]
    sizes = len(reads), len(changed), len(fixed), len(held), n_ring
    halves = Halves(log.capacity, how.n, how.longest_delay)
    out = pl.pallas_call(
        functools.partial(_kernel, plan, sizes, halves, how, own),
        out_shape=[*(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in changed), *made],
        grid=(programs_of(how.n),),
        input_output_aliases={len(reads) + k: k for k in range(len(changed))},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=4, num_stages=1),
        name="step_targets",
    )(*map(operand, reads), *changed)
    state, rest = jax.tree.unflatten(jax.tree.structure(state), out[: len(held)]), out[len(held) :]
    if n_ring:
        ring, *rest = rest
    if own:
        bits, numbers = rest[0], rest[1] if n_log else jnp.zeros((0, how.n), how.dtype)
        given = log.count, log.head, log.events, log.numbers, bits, numbers, step
        *new_log, limit = log_pallas(*given, 0, how.longest_delay, interpret)
        return state, ring, tuple(new_log), limit
    head, events, *kept, total, limit = rest
    kept = kept[0] if n_log else log.numbers
    return state, ring, (log.count + total[0], head, events, kept), limit[0]


def _plan(how: Any, rule: Any, state: Any, v: Any) -> tuple[Elementwise, tuple[int, int], bool]:
    """What the rule does to a block of targets as a list of operations; how many numbers it gives
    the ring and the log; whether its events are its own, not the spikes."""
    fixed, held, lanes = jax.tree.leaves(rule), jax.tree.leaves(state), lanes_of(how.n)
    if any(jnp.shape(x) != (how.n,) for x in held) or any(jnp.ndim(x) for x in fixed):
        raise NotFusedError("it has numbers that are not one per target")
    found: list = []

    def flat(*values: Any) -> list:
        rule_now = jax.tree.unflatten(jax.tree.structure(rule), values[: len(fixed)])
        *before, spikes = values[len(fixed) :]
        v = before.pop() if len(before) > len(held) else None
        old = jax.tree.unflatten(jax.tree.structure(state), before)
        ring, log, events, new = how.of(rule_now, old, spikes, v)
        found.append(((len(ring), len(log)), events is not spikes))
        new = [as_before(x, y) for x, y in zip(jax.tree.leaves(new), before, strict=True)]
        return [*new, *(jnp.broadcast_to(x, (lanes,)) for x in (*ring, *log, events))]

    many = [jax.ShapeDtypeStruct((lanes,), x.dtype) for x in (*held, *([] if v is None else [v]))]
    many.append(jax.ShapeDtypeStruct((lanes,), jnp.bool_))
    with for_gpu_kernel():
        plan = Elementwise(flat, [jax.ShapeDtypeStruct((), x.dtype) for x in fixed], many, lanes)
    if plan.tables:
        raise NotFusedError("it takes numbers from an array")
    return plan, *found[0]


def _kernel(plan: Elementwise, sizes: tuple, halves: Halves, how: Any, own: bool, *refs: Any):
    n_reads, n_changed, n_fixed, n_held, n_ring = sizes
    # What is changed is one array before and after; the references to those before are left out.
    reads, out = refs[:n_reads], refs[n_reads + n_changed :]
    *given, bits, count, first, since = reads
    step = first[0] + since[0]
    block = TargetBlock(halves, how.first)
    state, rest = out[:n_held], out[n_held:]
    v = [block.masked(ref.at[how.first + block.at], ref.dtype) for ref in given[n_fixed:]]
    spikes = block.fired(bits)
    env = plan.before([ref[0] for ref in given[:n_fixed]])
    *new, events = plan.after(env, [*map(block.load, state), *v, spikes])
    for ref, x in zip(state, new):
        block.store(ref, x)
    slots, kept = new[n_held : n_held + n_ring], new[n_held + n_ring :]
    for row, x in enumerate(slots):
        ring = rest[0]
        at = modulo(step, ring.shape[0]), row, block.at
        triton.store(ring.at[at], x, mask=block.here)
    rest = rest[n_ring > 0 :]
    if not own:
        block.log(spikes, bits, count[0], step, kept, rest)
        return
    block.store_bits(rest[0], events)
    for row, x in enumerate(kept):
        triton.store(rest[1].at[row, block.at], x, mask=block.here)
