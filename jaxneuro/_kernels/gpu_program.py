"""What the Pallas kernels over rows of synapses share: places, reads, adds.

Imported only where a kernel is lowered for CUDA.

Adding a vector into an array on a GPU, lanes of many programs at the same places.

Pallas' own `atomic_add` orders memory (acquire and release): around every vector ptxas then
puts a fence of the whole GPU and throws away the L1 cache (MEMBAR.ALL.GPU, CCTL.IVALL). A
sum needs no order. `add_relaxed` is the same operation, lowered by JAX's own rule and then
marked as relaxed, so that it becomes a single RED instruction. This needs two names of JAX's
private modules. If they, or their results, have changed, it raises, and `deliver` is lowered
again with `add_ordered`, which uses only public names: the same sums, slower.

Every add here is `ref[index] += x` where `mask`, in no order of the lanes; `index` is any number
of scalars and two int32 vectors.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jax.extend.core import Primitive
from jax.ref import addupdate

from .._arrays import AnyArray
from .table import HAS_TAGS

WARPS = 4
# About as many programs as fill a large GPU twice; more only cost time to start them.
PROGRAMS = 4096


class ProgramGrid(NamedTuple):
    """How the work is cut: `rows` sources per program, `lanes` synapses per vector."""

    rows: int
    lanes: int
    segments: int


def cut(longest: int, n_rows: int, most_segments: int) -> ProgramGrid:
    """A grid for so many rows, the longest of so many synapses (static numbers)."""
    lanes = 128 if longest <= 128 else 256
    segments = min(-(-longest // lanes), most_segments)
    rows = 16
    while rows < 256 and n_rows * segments > rows * PROGRAMS:
        rows *= 2
    return ProgramGrid(rows, lanes, segments)


def emptied(ring: jax.Array, clear: bool) -> tuple[jax.Array, bool]:
    """The ring, and whether a kernel has still to clear: a ring of one slot must be empty before.

    Programs of one launch have no order, so none can empty what another writes.
    """
    if clear and ring.shape[-2] == 1:
        return jnp.zeros_like(ring), False
    return ring, clear


class Operands:
    """The operands of one program of a batch, and masked reads and writes of them.

    `ranks` are those without batch axes of the operands that may have them; `number` is that of
    the member in the batch.
    """

    def __init__(
        self,
        operands: Mapping[str, Any],
        ranks: Mapping[str, int],
        axes: tuple[int, ...],
        number: Any,
    ):
        self.operands, self.ranks = operands, ranks
        self.network = _index(number, axes)

    def has(self, name: str) -> bool:
        return name in self.operands

    def read(self, name: str, *index: Any, mask: Any = None) -> jax.Array:
        ref, index = self._at(name, index)
        return ref[index] if mask is None else triton.load(ref.at[index], mask=mask, other=0)

    def integers(self, name: str, *index: Any, mask: Any = None) -> jax.Array:
        return self.read(name, *index, mask=mask).astype(jnp.int32)

    def store(self, name: str, *index: Any, x: jax.Array, mask: Any) -> None:
        ref, index = self._at(name, index)
        triton.store(ref.at[index], x.astype(ref.dtype), mask=mask)

    def released(self, source: Any, mask: Any = None) -> jax.Array:
        """Which sources released something."""
        return (self.integers("bits", source >> 3, mask=mask) >> (source & 7)) & 1 != 0

    def _at(self, name: str, index: tuple) -> tuple[Any, tuple]:
        """An operand, and the index in it of an index without a batch."""
        ref = self.operands[name]
        rank = self.ranks.get(name, ref.ndim)
        if self.network and ref.ndim > rank:
            mine = (k if n > 1 else 0 for k, n in zip(self.network, ref.shape))
            return ref, (*mine, *index)
        return ref, index if rank else (0,)


class GpuProgram(Operands):
    """One program over rows of a table: its place in the grid, its operands, its adds.

    All have the operands `first` and `since`, the step, or none if it is not needed.
    """

    def __init__(
        self,
        operands: Mapping[str, Any],
        ranks: Mapping[str, int],
        ring: Any,
        axes: tuple[int, ...],
        grid: ProgramGrid,
        add: Callable,
    ):
        self.ring, self.grid, self.add_at = ring, grid, add
        # Interpreted, these are known outside of loops and branches only.
        self.chunk, self.segment, number = (pl.program_id(axis) for axis in range(3))
        super().__init__(operands, ranks, axes, number)
        self.chunks = pl.num_programs(0)
        self.slots, self.places = self.ring.shape[-2:]
        self.step = self.read("first") + self.read("since") if self.has("first") else jnp.int32(0)
        self.now = modulo(self.step, self.slots)

    def begin(self, source: Any) -> None:
        """The products that follow are of the row of `source`."""

    def slot(self, delay: Any, place: jax.Array) -> jax.Array:
        """The slot of the ring in which something arrives, `delay` steps from now."""
        slot = jnp.broadcast_to(self.now + delay, place.shape)
        return jnp.where(slot >= self.slots, slot - self.slots, slot)

    def add(self, delay: Any, place: jax.Array, x: jax.Array, mask: jax.Array) -> None:
        """Adds products where they arrive, `delay` steps from now."""
        slot = self.slot(delay, place)
        x = jnp.broadcast_to(held(x, self.ring.dtype), place.shape)
        self.add_at(self.ring, (*self.network, slot, place), x, mask)

    def clear(self) -> None:
        """Zeros in this program's share of the slot of `step`: vectors at a stride."""
        zeros = jnp.zeros(self.grid.lanes, self.ring.dtype)

        def write(at):
            place = at + lanes(self.grid.lanes)
            triton.store(
                self.ring.at[(*self.network, self.now, place)], zeros, mask=place < self.places
            )
            return at + self.chunks * (self.grid.segments * self.grid.lanes)

        first = (self.chunk * self.grid.segments + self.segment) * self.grid.lanes
        lax.while_loop(lambda at: at < self.places, write, first)

    def block_in_row(self, section: Any, entry: Any, blocks: Any, i: Any, mask: Any) -> jax.Array:
        """The number in its section of each synapse's block: by its tag, or the last block of the
        row to start at or before it, found by halving."""

        def halve(carry):
            found, width = carry
            half = width >> 1
            start = self.integers("pointers", entry + found + half, mask=mask)
            return jnp.where(start <= i, found + half, found), width - half

        block = lax.while_loop(lambda carry: carry[1] > 1, halve, (jnp.zeros_like(i), blocks))[0]
        if not self.has("tags"):
            return block
        tagged = mask & section.keeps(HAS_TAGS)
        return block + self.integers("tags", section.tags + i, mask=tagged)


def _index(number: Any, axes: tuple[int, ...]) -> tuple:
    """The indices along the batch axes of network `number`."""
    out = []
    for n in reversed(axes):
        out.append(lax.rem(number, jnp.int32(n)) if len(axes) > 1 else number)
        number = lax.div(number, jnp.int32(n)) if len(axes) > 1 else number
    return tuple(reversed(out))


def operand(x: AnyArray) -> jax.Array:
    """An array as a kernel takes it, which has no arrays of rank 0."""
    return jnp.asarray(x) if x.ndim else jnp.asarray(x)[None]


def lanes(n: int) -> jax.Array:
    return lax.iota(jnp.int32, n)


def modulo(a: Any, n: int) -> Any:
    """`a mod n`, not negative, for a that may be."""
    a = lax.rem(a, jnp.int32(n))
    return jnp.where(a < 0, a + n, a)


def held(x: jax.Array, dtype: Any) -> jax.Array:
    """Products as the ring holds them: whole quanta, rounded half to even, if it is integer.

    By `floor`, as Triton's lowering has no `rint`; every difference here is exact.
    """
    if not jnp.issubdtype(dtype, jnp.integer):
        return x
    below = jnp.floor(x)
    rest = x - below
    odd = below - 2 * jnp.floor(below * 0.5) == 1
    up = (rest > 0.5) | ((rest == 0.5) & odd)
    return (below + up.astype(x.dtype)).astype(dtype)


def add_alone(ref: Any, index: tuple, x: jax.Array, mask: jax.Array) -> None:
    """For interpreting, where a program is alone: reads and writes all that the scalars leave."""
    *scalars, slot, place = index
    x = jnp.where(mask, x, jnp.zeros_like(x))
    whole = (*scalars, slice(None), slice(None))
    ref[whole] = ref[whole].at[slot, place].add(x)


def add_ordered(ref: Any, index: tuple, x: jax.Array, mask: jax.Array) -> None:
    """Each add atomic, in JAX's memory order."""
    if not jnp.issubdtype(x.dtype, jnp.integer):
        triton.atomic_add(ref, index, x, mask=mask)
        return
    # jax 0.10 and 0.11 lower `atomic_add` of a vector of integers as an add of floats. This
    # add has no mask: the other lanes add 0 where one of the masked ones may add.
    *scalars, slot, place = index
    vectors = (jnp.where(mask, v, jnp.max(jnp.where(mask, v, 0))) for v in (slot, place))
    addupdate(ref, (*scalars, *vectors), jnp.where(mask, x, jnp.zeros_like(x)))


def add_relaxed(ref: Any, index: tuple, x: jax.Array, mask: jax.Array) -> None:
    """Each add atomic, in no memory order; raises if JAX's internals have changed."""
    add, parameters = _relaxed_add()
    view = ref.at[index]
    args, args_tree = jax.tree.flatten((view.ref, view.transforms, x, mask))
    add.bind(*args, args_tree=args_tree, **parameters)


@functools.cache
def _relaxed_add() -> tuple[Primitive, dict[str, Any]]:
    """What `atomic_add` binds, under another name, and the parameters that make it an add."""
    from jax._src.pallas.triton.lowering import register_lowering, triton_lowering_rules
    from jax._src.pallas.triton.primitives import AtomicOpType, atomic_rmw_p

    lower_ordered = triton_lowering_rules[atomic_rmw_p]
    relaxed_add = Primitive("relaxed_add")
    relaxed_add.def_effectful_abstract_eval(atomic_rmw_p.abstract_eval)

    @register_lowering(relaxed_add)
    def _(ctx: Any, *args: Any, **parameters: Any) -> Any:
        before = lower_ordered(ctx, *args, **parameters)
        _relax(before.owner, jnp.issubdtype(ctx.avals_in[0].dtype, jnp.integer))
        return before

    return relaxed_add, {"atomic_type": AtomicOpType.ADD}


def _relax(operation: Any, integer: bool) -> None:
    """Takes the memory order from one `tt.atomic_rmw`, and makes integers add as integers."""
    from jaxlib.triton.dialect import MemSemantic, RMWOp

    words = {"sem": MemSemantic.RELAXED, "atomic_rmw_op": RMWOp.ADD if integer else RMWOp.FADD}
    for name, word in words.items():
        now = operation.attributes[name]
        operation.attributes[name] = type(now).get(now.type, int(word))
