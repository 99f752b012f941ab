"""`fused_step` on a GPU: one time step of the neurons of a group in one Pallas launch (Triton).

A *program* has a block of neurons: it loads their state, what arrives at them and their inputs,
runs all that a step does neuron by neuron, and stores the state in place and the spikes, which it
packs. XLA makes several launches of the same, and computes the spikes again in each.

**Races.** No program reads what any other writes: of the state, the results and the bits each place
belongs to one program. What exists once (rank 0) is read only.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .._arrays import AnyArray
from .bits import packed_bytes
from .call import for_gpu_kernel
from .clock import Clock
from .fused_scan import Elementwise, NotFusedError
from .gpu_fused_scan import Block, as_before, lanes_of
from .gpu_program import modulo, operand


class PerRun:
    """Numbers given once for each run of consecutive neurons, (runs,).

    Attributes:
        x: the numbers.
        sizes: neurons of each run.
        counted: whether a neuron has the number of its run plus its place in it.
    """

    def __init__(self, x: jax.Array, sizes: tuple[int, ...], counted: bool = False):
        self.x, self.sizes, self.counted = x, sizes, counted

    def load(self, block: Block, ref: Any) -> jax.Array:
        """The numbers of the neurons of a block."""
        out, start = jnp.zeros(block.at.shape, ref.dtype), 0
        for run, size in enumerate(self.sizes):
            here = (block.at >= start) & (block.at < start + size)
            x = jnp.broadcast_to(ref[run], out.shape)
            x = x + (block.at - start).astype(x.dtype) if self.counted else x
            out, start = jnp.where(here, x, out), start + size
        return out


class Arriving(NamedTuple):
    """Where the arrivals of a step are.

    Attributes:
        ring: (slots, rows n), of which the slot of the step is read.
        quanta: (rows,) what one count stands for, None if the ring has the numbers themselves.
    """

    ring: jax.Array
    quanta: AnyArray | None


def fused_step(
    step: Callable,
    parameters: Any,
    state: Any,
    inputs: Any,
    arriving: Arriving | None,
    last: Clock,
    n: int,
    dtype: Any,
    copies: int = 1,
    interpret: bool = False,
) -> tuple[Any, tuple, jax.Array, tuple[jax.Array, ...]]:
    """`step(parameters, state, arrived, inputs, k) -> (state, results, spikes)`, in one launch.

    Leaves of `parameters`, `state` and `inputs` are () or (n,), or a `PerRun`, which the step gets
    as (n,) and does not change; `arrived` is a tuple of the rows of the ring, (n,) in `dtype`, None
    without `arriving`; k is the step after `last`. Returns the state, the results, the spikes, and
    the packed spikes as often as `copies` says: a loop copies what it carries twice.

    Raises:
        NotFusedError: for a step that does not act neuron by neuron, or other shapes.
    """
    lanes = max(lanes_of(n), 64)
    leaves, tree = jax.tree.flatten((parameters, inputs, state), is_leaf=_is_per_run)
    sizes = [x.num_leaves for x in tree.children()]
    runs = {j: x for j, x in enumerate(leaves) if _is_per_run(x)}
    given = [runs[j].x if j in runs else x for j, x in enumerate(leaves)]
    rows = 0 if arriving is None else arriving.ring.shape[-1] // n
    plan, results = _plan(step, leaves, tree, sizes, rows, n, lanes, dtype)
    first = sizes[0] + sizes[1]
    moving = plan.invars[1][sizes[1] :][: sizes[2]]
    changed = [j for j, v in enumerate(moving) if plan.jaxpr.outvars[j] is not v]
    shared = _shared(plan, given, sizes, rows, last.now)
    if any(first + j in runs for j in changed):
        raise NotFusedError("its step changes a number that neurons share")
    changed = [j for j in changed if given[first + j].ndim]
    ring = [] if arriving is None else [jnp.asarray(x) for x in arriving if x is not None]
    timed = [*last] if plan.uses(plan.invars[1][-1]) or (ring and ring[0].shape[0] > 1) else []
    operands = [operand(x) for x in (*given, *ring, *map(jnp.asarray, plan.tables), *timed)]
    out = [*(given[first + j] for j in changed)]
    out += [jax.ShapeDtypeStruct((n,), x) for x in results]
    out += [jax.ShapeDtypeStruct((packed_bytes(n),), jnp.uint8)] * copies
    how = {"sizes": sizes, "rows": rows, "changed": changed, "copies": copies, "timed": timed != []}
    how |= {"loads": [runs[j].load if j in runs else x.ndim for j, x in enumerate(given)]}
    new = pl.pallas_call(
        functools.partial(_kernel, plan=plan, n=n, lanes=lanes, dtype=dtype, **how),
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in out],
        grid=(-(-8 * packed_bytes(n) // lanes),),
        input_output_aliases={first + j: i for i, j in enumerate(changed)},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=lanes // 32, num_stages=1),
        name="fused_step",
    )(*operands)
    after = [x if y is None else y for x, y in zip(given[first:], shared)]
    for j, x in zip(changed, new):
        after[j] = x
    *made, spikes = new[len(changed) : -copies]
    return jax.tree.unflatten(tree.children()[2], after), tuple(made), spikes, tuple(new[-copies:])


def _shared(plan: Elementwise, given: list, sizes: list[int], rows: int, last: jax.Array) -> list:
    """What XLA makes of the state that is one number for all neurons, None for the rest.

    The programs of a launch have no order, so none may change what all read.
    """
    moving = [*given[sizes[0] :], *[None] * rows, last + 1]
    new = plan.shared(given[: sizes[0]], moving)[: sizes[2]]
    return [x if y.ndim == 0 else None for x, y in zip(new, given[sum(sizes[:2]) :])]


def _is_per_run(x: Any) -> bool:
    return isinstance(x, PerRun)


def _plan(
    step: Callable,
    given: list,
    tree: Any,
    sizes: list[int],
    rows: int,
    n: int,
    lanes: int,
    dtype: Any,
) -> tuple[Elementwise, list]:
    """The step of a block of neurons as a list of operations; dtypes of its results and spikes."""
    results: list = []
    n_given, first = sum(sizes), sizes[0] + sizes[1]
    for x in given:
        if not _is_per_run(x) and x.shape not in ((), (n,)):
            raise NotFusedError(f"an array of shape {x.shape} is not one number per neuron")

    def flat(*values: Any) -> list:
        *now, k = values
        parameters, inputs, state = jax.tree.unflatten(tree, now[:n_given])
        arrived = tuple(now[n_given:]) if rows else None
        state, made, spikes = step(parameters, state, arrived, inputs, k)
        if spikes.dtype != jnp.bool_:
            raise NotFusedError("its spikes are not booleans")
        results.extend(x.dtype for x in (*made, spikes))
        new = [as_before(x, y) for x, y in zip(jax.tree.leaves(state), now[first:], strict=False)]
        return [*new, *(jnp.broadcast_to(x, (lanes,)) for x in (*made, spikes))]

    known = [(x.x.dtype, 1) if _is_per_run(x) else (x.dtype, x.ndim) for x in given]
    shapes = [jax.ShapeDtypeStruct((lanes,) * rank, kind) for kind, rank in known]
    shapes += [jax.ShapeDtypeStruct((lanes,), dtype)] * rows
    shapes.append(jax.ShapeDtypeStruct((), jnp.int32))
    with for_gpu_kernel():
        return Elementwise(flat, shapes[: sizes[0]], shapes[sizes[0] :], lanes), results


def _kernel(
    *refs: Any,
    plan: Elementwise,
    n: int,
    lanes: int,
    dtype: Any,
    sizes: list[int],
    loads: list,
    rows: int,
    changed: list[int],
    copies: int,
    timed: bool,
) -> None:
    block, n_given, n_out = Block(n, lanes), sum(sizes), len(changed) + len(plan.jaxpr.outvars)
    n_out += copies - sizes[2]  # the bits, and no state that stays as it is
    given, others, out = refs[:n_given], list(refs[n_given:-n_out]), refs[-n_out:]
    k = others.pop()[0] + others.pop()[0] + 1 if timed else jnp.int32(0)
    arriving, tables = others[: len(others) - len(plan.tables)], others[-len(plan.tables) :]
    loaded = [
        load(block, ref) if callable(load) else block.load(ref, load)
        for ref, load in zip(given, loads)
    ]
    arrived = _arrived(block, k, arriving, rows, dtype) if rows else []
    moving = [*loaded[sizes[0] :], *arrived, k]

    def read(table: int, at: jax.Array) -> jax.Array:
        return tables[table][at]

    new = plan.after(plan.before(loaded[: sizes[0]], read), moving, read)
    spikes = new[-1]
    new = [*(new[j] for j in changed), *new[sizes[2] :]]
    for ref, x in zip(out, new):
        block.store(ref, x)
    for ref in out[-copies:]:
        block.store_bits(ref, spikes)


def _arrived(block: Block, k: Any, arriving: Any, rows: int, dtype: Any) -> list[jax.Array]:
    """What arrives at these neurons, row by row."""
    ring, *quanta = arriving
    slot = modulo(k, ring.shape[0])
    found = [
        block.masked(ring.at[slot, row * block.n + block.at], ring.dtype) for row in range(rows)
    ]
    if quanta:
        found = [x.astype(dtype) * quanta[0][row] for row, x in enumerate(found)]
    return found
