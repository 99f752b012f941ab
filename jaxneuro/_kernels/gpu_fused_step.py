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

from .bits import packed_bytes
from .call import unmaterialized
from .fused_scan import Elementwise, NotFusedError
from .gpu_fused_scan import Block, as_before, lanes_of
from .gpu_program import modulo, operand


class Arriving(NamedTuple):
    """Where the arrivals of a step are.

    Attributes:
        ring: (slots, rows n), of which the slot of the step is read.
        quanta: (rows,) what one count stands for, None if the ring has the numbers themselves.
    """

    ring: jax.Array
    quanta: jax.Array | None


def fused_step(
    step: Callable,
    parameters: Any,
    state: Any,
    inputs: Any,
    arriving: Arriving | None,
    last: jax.Array,
    n: int,
    dtype: Any,
    interpret: bool = False,
) -> tuple[Any, tuple, jax.Array, jax.Array]:
    """`step(parameters, state, arrived, inputs, last + 1) -> (state, results, spikes)`, in one launch.

    Leaves of `parameters`, `state` and `inputs` are () or (n,); `arrived` is a tuple of the rows of
    the ring, (n,) in `dtype`, None without `arriving`. Returns the state, the results, the spikes,
    and the packed spikes.

    Raises:
        NotFusedError: for a step that does not act neuron by neuron, or other shapes.
    """
    lanes = max(lanes_of(n), 64)
    given, tree = jax.tree.flatten((parameters, inputs, state))
    sizes = [len(jax.tree.leaves(x)) for x in (parameters, inputs, state)]
    rows = 0 if arriving is None else arriving.ring.shape[-1] // n
    plan, results = _plan(step, given, tree, sizes, rows, n, lanes, dtype)
    first = sizes[0] + sizes[1]
    moving = plan.invars[1][sizes[1] :][: sizes[2]]
    changed = [j for j, v in enumerate(moving) if plan.jaxpr.outvars[j] is not v]
    if any(given[first + j].ndim == 0 for j in changed):
        raise NotFusedError("its step changes a number that all neurons share")
    ring = [] if arriving is None else [x for x in arriving if x is not None]
    operands = [operand(x) for x in (*given, last, *ring)]
    out = [*(given[first + j] for j in changed)]
    out += [jax.ShapeDtypeStruct((n,), x) for x in results]
    out.append(jax.ShapeDtypeStruct((packed_bytes(n),), jnp.uint8))
    how = {"sizes": sizes, "ranks": [x.ndim for x in given], "rows": rows, "changed": changed}
    new = pl.pallas_call(
        functools.partial(_kernel, plan=plan, n=n, lanes=lanes, dtype=dtype, **how),
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in out],
        grid=(-(-8 * packed_bytes(n) // lanes),),
        input_output_aliases={first + j: i for i, j in enumerate(changed)},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=lanes // 32, num_stages=1),
        name="fused_step",
    )(*operands)
    after = given[first:]
    for j, x in zip(changed, new):
        after[j] = x
    *made, spikes, bits = new[len(changed) :]
    return jax.tree.unflatten(tree.children()[2], after), tuple(made), spikes, bits


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
        if x.shape not in ((), (n,)):
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

    shapes = [jax.ShapeDtypeStruct((lanes,) * x.ndim, x.dtype) for x in given]
    shapes += [jax.ShapeDtypeStruct((lanes,), dtype)] * rows
    shapes.append(jax.ShapeDtypeStruct((), jnp.int32))
    with unmaterialized():
        return Elementwise(flat, shapes[: sizes[0]], shapes[sizes[0] :], lanes), results


def _kernel(
    *refs: Any,
    plan: Elementwise,
    n: int,
    lanes: int,
    dtype: Any,
    sizes: list[int],
    ranks: list[int],
    rows: int,
    changed: list[int],
) -> None:
    block, n_given, n_out = Block(n, lanes), sum(sizes), len(changed) + len(plan.jaxpr.outvars)
    n_out += 1 - sizes[2]  # the bits, and no state that stays as it is
    given, k, arriving, out = (
        *(refs[:n_given], refs[n_given][0] + 1),
        *(refs[n_given + 1 : -n_out], refs[-n_out:]),
    )
    loaded = [block.load(ref, rank) for ref, rank in zip(given, ranks)]
    arrived = _arrived(block, k, arriving, rows, dtype) if rows else []
    moving = [*loaded[sizes[0] :], *arrived, k]
    new = plan.after(plan.before(loaded[: sizes[0]]), moving)
    spikes = new[-1]
    new = [*(new[j] for j in changed), *new[sizes[2] :]]
    for ref, x in zip(out, new):
        block.store(ref, x)
    block.store_bits(out[-1], spikes)


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
