"""`fused_scan` on a GPU: time steps of unconnected neurons in one Pallas launch (Triton lowering).

A *program* has a block of neurons. It loads their state and parameters once, keeps them in
registers through all steps, and writes the state at the end: in a step only
its input and what is recorded go through memory, and a step costs no launch.

**Races.** No program reads what any writes. Of spikes, states and samples each place belongs
to one neuron, and so to one program; values that exist once are written by the first program.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .call import for_gpu_kernel
from .fused_scan import Elementwise, NotFusedError


class FusedScan(NamedTuple):
    """What is fused: `n` neurons, `steps`, a sample after `every` so many of them.

    `kept`: which leaf of the state each sample is of, and of how many neurons, None for all;
    `spikes`: whether those of every step are wanted.
    """

    n: int
    steps: int
    every: int
    kept: tuple[tuple[int, int | None], ...]
    spikes: bool


def lanes_of(n: int) -> int:
    """Neurons of a program: few enough to give every part of a large GPU some work.

    Arithmetic, not measurement: an H200 has 528 schedulers, each with warps of 32 lanes.
    """
    return 32 if n <= 2**16 else 128


def fused_scan(
    step: Callable,
    parameters: Any,
    state: Any,
    inputs: Any,
    places: tuple,
    how: FusedScan,
    lanes: int | None = None,
    interpret: bool = False,
) -> tuple[Any, jax.Array, jax.Array | None, tuple]:
    """All steps of `step(parameters, state, now, k) -> (state, spikes)`, in one launch.

    Leaves of `parameters` and `state` are () or `(n,)`; those of `inputs` `(steps,)` or
    `(steps, n)`, of which `now` is row k. `places` has for each sample of chosen neurons the
    place of every neuron in it, int32 (n,), beyond its end for one that is left out. Returns the
    state, the spikes of the last step, those of all steps `(steps, n)` or None, and the
    samples.

    Raises:
        NotFusedError: for a step that does not act neuron by neuron, or other shapes.
    """
    lanes = lanes_of(how.n) if lanes is None else lanes
    given, tree = jax.tree.flatten((parameters, state, inputs))
    sizes = [len(jax.tree.leaves(x)) for x in (parameters, state, inputs)]
    _check_shapes(given, sizes, how)
    plan, spikes = _plan(step, given, tree, sizes, lanes)
    chosen = [x for x in places if x is not None]
    leaves = given[sizes[0] : sizes[0] + sizes[1]]
    out = [*leaves, jax.ShapeDtypeStruct((how.n,), spikes)]
    if how.spikes:
        out.append(jax.ShapeDtypeStruct((how.steps, how.n), spikes))
    for leaf, count in how.kept:
        shape = (how.steps // how.every, how.n if count is None else count)
        out.append(jax.ShapeDtypeStruct(shape, leaves[leaf].dtype))
    ranks = [x.ndim for x in given]
    kernel = functools.partial(_kernel, plan=plan, sizes=sizes, ranks=ranks, how=how, lanes=lanes)
    out = pl.pallas_call(
        kernel,
        out_shape=[jax.ShapeDtypeStruct(x.shape or (1,), x.dtype) for x in out],
        grid=(-(-how.n // lanes),),
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=max(lanes // 32, 1), num_stages=1),
        name="fused_scan",
    )(*(x if x.ndim else x[None] for x in (*given, *chosen)))
    moved = [y.reshape(x.shape) for x, y in zip(leaves, out)]
    last, *rest = out[len(leaves) :]
    every = rest.pop(0) if how.spikes else None
    return jax.tree.unflatten(tree.children()[1], moved), last, every, tuple(rest)


def _check_shapes(given: list, sizes: list[int], how: FusedScan) -> None:
    held = sizes[0] + sizes[1]
    for number, x in enumerate(given):
        first = () if number < held else (how.steps,)
        if x.shape not in (first, (*first, how.n)):
            raise NotFusedError(f"an array of shape {x.shape} is not one number per neuron")


def _plan(step: Callable, given: list, tree: Any, sizes: list[int], lanes: int) -> Any:
    """The step of a block of neurons as a list of operations, and the dtype of its spikes."""
    held = sizes[0] + sizes[1]
    spikes_dtype = []

    def flat(*values: Any) -> list:
        *now, k = values
        state, spikes = step(*jax.tree.unflatten(tree, now), k)
        spikes_dtype.append(spikes.dtype)
        new = [*jax.tree.leaves(state), spikes]
        before = [*now[sizes[0] : held], jax.ShapeDtypeStruct((lanes,), spikes.dtype)]
        return [as_before(x, y) for x, y in zip(new, before, strict=True)]

    shapes = [
        jax.ShapeDtypeStruct((lanes,) * (x.ndim - (number >= held)), x.dtype)
        for number, x in enumerate(given)
    ]
    shapes.append(jax.ShapeDtypeStruct((), jnp.int32))
    with for_gpu_kernel():
        plan = Elementwise(flat, shapes[: sizes[0]], shapes[sizes[0] :], lanes)
    if plan.tables:
        raise NotFusedError("its step takes numbers from an array")
    return plan, spikes_dtype[0]


def as_before(x: Any, before: Any) -> Any:
    if x.dtype != before.dtype:
        raise NotFusedError(f"its step turns {before.dtype} into {x.dtype}")
    return jnp.broadcast_to(x, before.shape)


class Block:
    """One program: its neurons, and masked reads and writes of their numbers."""

    def __init__(self, n: int, lanes: int):
        # Interpreted, the number of a program is known outside of loops only.
        self.program, self.n = pl.program_id(0), n
        self.at = self.program * lanes + lax.iota(jnp.int32, lanes)
        self.here = self.at < n

    def load(self, ref: Any, rank: int = 1) -> jax.Array:
        """Numbers of these neurons, or the one of all."""
        if rank == 0:
            return ref[0]
        return self.masked(ref.at[self.at], ref.dtype)

    def row(self, ref: Any, k: Any) -> jax.Array:
        """Row k of an input: of these neurons, or the one number of all."""
        return ref[k] if ref.ndim == 1 else self.masked(ref.at[k, self.at], ref.dtype)

    def place(self, ref: Any) -> jax.Array:
        """Where these neurons are in a sample; lanes without a neuron are beyond its end."""
        return jnp.where(self.here, self.masked(ref.at[self.at], ref.dtype), np.int32(2**30))

    def masked(self, ref: Any, dtype: Any) -> jax.Array:
        """Numbers at a view of these neurons, 0 for lanes without a neuron."""
        return triton.load(ref, mask=self.here, other=jnp.zeros((), dtype))

    def store(self, ref: Any, x: jax.Array) -> None:
        if x.ndim:
            triton.store(ref.at[self.at], x, mask=self.here)
        else:

            @pl.when(self.program == 0)
            def _():
                ref[0] = x

    def store_bits(self, ref: Any, fired: jax.Array) -> None:
        """Spikes as bits, 8 neurons in a byte, as `pack` makes them."""
        lanes = fired.shape[0]
        each = (fired & self.here).astype(jnp.int32).reshape(lanes // 8, 8)
        packed = jnp.sum(each << lax.broadcasted_iota(jnp.int32, each.shape, 1), axis=1)
        at = self.program * (lanes // 8) + lax.iota(jnp.int32, lanes // 8)
        triton.store(ref.at[at], packed.astype(jnp.uint8), mask=at < ref.shape[0])

    def store_row(self, ref: Any, k: Any, x: jax.Array, place: Any = None) -> None:
        if place is None:
            triton.store(ref.at[k, self.at], x, mask=self.here)
        else:
            triton.store(ref.at[k, place], x, mask=place < ref.shape[1])


def _kernel(
    *refs: Any, plan: Elementwise, sizes: list[int], ranks: list[int], how: FusedScan, lanes: int
) -> None:
    block, held = Block(how.n, lanes), sizes[0] + sizes[1]
    loaded = [block.load(ref, rank) for ref, rank in zip(refs[:held], ranks)]
    n_chosen = sum(count is not None for _, count in how.kept)
    n_in = sum(sizes) + n_chosen
    inputs, chosen, out = refs[held : sum(sizes)], refs[sum(sizes) : n_in], refs[n_in:]
    env = plan.before(loaded[: sizes[0]])
    chosen_places = iter([block.place(ref) for ref in chosen])
    places = [None if count is None else next(chosen_places) for _, count in how.kept]
    samples = out[sizes[1] + 1 + how.spikes :]

    def one(k: Any, state: list) -> list:
        now = [block.row(ref, k) for ref in inputs]
        state = plan.after(env, [*state[:-1], *now, k])
        if how.spikes:
            block.store_row(out[sizes[1] + 1], k, state[-1])
        return state

    def window(j: Any, state: list) -> list:
        first = j * np.int32(how.every)
        state = _repeat(how.every, lambda i, state: one(first + i, state), state)
        for (leaf, _), place, ref in zip(how.kept, places, samples):
            block.store_row(ref, j, state[leaf], place)
        return state

    state = [*loaded[sizes[0] :], jnp.zeros(lanes, out[sizes[1]].dtype)]
    state = _repeat(how.steps // how.every, window, state)
    for ref, x in zip(out, state):
        block.store(ref, x)


def _repeat(times: int, body: Callable, state: list) -> list:
    if times == 1:
        return body(jnp.int32(0), state)
    return lax.fori_loop(np.int32(0), np.int32(times), body, state)
