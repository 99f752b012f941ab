"""`synaptic_input` of `Hashed` rows on a GPU: one Pallas kernel, lowered through Triton.

A *program* has one place of the cap. It draws the row of the neuron there, some gaps at a time, and
adds 1 to the count of each target. If the neuron fired in a round in which the fibre learned, it
also reads the history of each target, and adds what the weight is above 1, in four parts of 16
bits, to four sums of the target. Programs of places that hold nobody, and all of a fibre that does
not drive, end after two loads.

**Races.** What is added to is read by no program, and all else is read only. Counts and parts are
integers, so no order of the adds changes a bit. A count holds 2^32 - 1 synapses, a sum of parts
65,537 potentiated ones of one target, as in the reference.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .._numerics.draws import GapTable, gap_table
from .edges import Firing, Hashed, extra_parts, sum_of_parts
from .gpu_program import Operands, ProgramGrid, add_alone, add_ordered, add_relaxed, operand
from .gpu_redraw import gap_chunk
from .redraw import GAPS, Draw, gap_words

_PARTS = 5  # of a target: the count of its synapses, and 16 bits each of what is above 1
# Ranks without batch axes.
RANKS = {"on": 0, "cap": 1, "before": 2, "after": 2, "mask": 1, "extra": 2, "key": 1}


def lanes_of(mean: float) -> int:
    """Counters drawn at a time, two gaps each, for rows of so many targets.

    Arithmetic, not measurement: most rows of up to 1000 targets are one or two vectors.
    """
    return min(max(pl.next_power_of_2(math.ceil(mean / 2)), 32), 512)


def hashed_pallas(
    firing: Firing,
    edges: Hashed,
    axes: tuple[int, ...] = (),
    lanes: int | None = None,
    interpret: bool = False,
    ordered: bool = False,
) -> jax.Array:
    """What the targets receive from the firing rows: 64-bit integers (*axes, n, 2).

    Arrays of `firing` and the key have all batch axes, of length 1 where they do not vary, or none.
    With `ordered` it adds as JAX does in public: slower, and independent of JAX's insides.
    """
    lanes = lanes_of(edges.n * edges.p) if lanes is None else lanes
    operands = {
        "on": operand(firing.on.astype(jnp.int32)),
        "cap": firing.cap,
        "before": firing.before,
        "after": firing.after,
        "mask": firing.mask,
        "extra": extra_parts(firing.weights),
        "key": edges.key,
        "draw_tables": jnp.asarray(gap_words(gap_table(edges.p))),
    }
    parts = jnp.zeros((*axes, _PARTS, edges.n), jnp.uint32)
    kernel = functools.partial(
        _kernel,
        names=tuple(operands),
        axes=axes,
        grid=ProgramGrid(1, lanes, 1),
        gaps=gap_table(edges.p),
        add=add_alone if interpret else add_ordered if ordered else add_relaxed,
    )
    parts = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(parts.shape, parts.dtype),
        grid=(firing.cap.shape[-1], math.prod(axes)),
        input_output_aliases={len(operands): 0},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=max(lanes // 64, 1), num_stages=1),
        name="hashed_pallas",
    )(*operands.values(), parts)
    return sum_of_parts(parts[..., 0, :], jnp.moveaxis(parts[..., 1:, :], -2, -1))


class _Row(Operands):
    """One program: the row that it draws, and where it adds."""

    def __init__(
        self, operands: dict, parts: Any, axes: tuple[int, ...], grid: ProgramGrid, add: Any
    ):
        # Interpreted, these are known outside of loops and branches only.
        place, number = pl.program_id(0), pl.program_id(1)
        super().__init__(operands, RANKS, axes, number)
        self.parts, self.grid, self.add_at = parts, grid, add
        self.targets = parts.shape[-1]
        self.words = operands["mask"].shape[-1]
        self.source = self.read("cap", place)
        sources = operands["before"].shape[-2]
        self.fires = (self.read("on") != 0) & (self.source < sources)

    def learned(self, word: Any) -> jax.Array:
        """The rounds of a word in which the source fired and the fibre learned."""
        return self.read("before", self.source, word) & self.read("mask", word)

    def add(self, part: int, at: jax.Array, x: jax.Array, mask: jax.Array) -> None:
        index = (*self.network, jnp.full(at.shape, part, jnp.int32), at)
        self.add_at(self.parts, index, x, mask)


def _kernel(
    *refs: Any, names: tuple, axes: tuple, grid: ProgramGrid, gaps: GapTable, add: Any
) -> None:
    *inputs, _, parts = refs  # the parts before and after are one array
    row = _Row(dict(zip(names, inputs)), parts, axes, grid, add)

    @pl.when(row.fires)
    def _():
        draw = _draw(row, gaps)
        some = lax.fori_loop(
            0, row.words, lambda word, some: some | row.learned(word), jnp.uint32(0)
        )

        def add_chunk(loop: Any) -> Any:
            chunk, last = loop
            ends, inside, last = gap_chunk(row, draw, row.source, chunk, last)
            for at, mask in zip(ends, inside):
                row.add(0, at, jnp.ones(at.shape, jnp.uint32), mask)

            @pl.when(some != 0)
            def _():
                for at, mask in zip(ends, inside):
                    _add_extra(row, at, mask)

            return chunk + 1, last

        start = jnp.int32(0), jnp.int32(-1)
        lax.while_loop(lambda loop: loop[1] < row.targets - 1, add_chunk, start)


def _draw(row: _Row, gaps: GapTable) -> Draw:
    """How the rows of the fibre are drawn, as the kernel of `deliver` takes it."""
    zero = np.uint32(0)
    key = row.read("key", 0), row.read("key", 1)
    draw = Draw(GAPS, *key, *(zero for _ in Draw._fields[3:]))
    return draw._replace(
        n=np.uint32(row.targets), gap_size=np.uint32(gaps.size), gap_shift=np.uint32(gaps.shift)
    )


def _count_ones(x: jax.Array) -> jax.Array:
    """The bits that are set: XLA's Triton lowers `population_count`, but cannot compile it."""
    x = x - ((x >> np.uint32(1)) & np.uint32(0x55555555))
    x = (x & np.uint32(0x33333333)) + ((x >> np.uint32(2)) & np.uint32(0x33333333))
    x = (x + (x >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    return (x * np.uint32(0x01010101)) >> np.uint32(24)


def _add_extra(row: _Row, at: jax.Array, inside: jax.Array) -> None:
    """Adds what the weights of some synapses are above 1, of those that ever learned."""

    def count(word: Any, times: jax.Array) -> jax.Array:
        learned = row.learned(word)
        after = row.read("after", at, word, mask=inside & (learned != 0))
        return times + _count_ones(learned & after).astype(jnp.int32)

    times = lax.fori_loop(0, row.words, count, jnp.zeros(at.shape, jnp.int32))
    grown = inside & (times > 0)
    for number in range(_PARTS - 1):
        part = row.read("extra", times, number, mask=grown)
        # The upper parts of most weights are 0: no add is the fastest.
        row.add(1 + number, at, part, grown & (part != 0))
