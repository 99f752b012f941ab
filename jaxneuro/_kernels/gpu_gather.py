"""`gather` on a GPU: one Pallas kernel, lowered through Triton; one launch per table.

A *program* has some rows, a lane each, and goes through their entries as the other versions do: in
the order of k, so no add is atomic and every run has the same bits. The lanes of a slice read
neighbouring places. It ends after the longest of its own rows. A product may be added without being
rounded first (a fused multiply-add): the last bits may differ from those on a CPU.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .gather import LANES, GatherTable
from .gpu_program import Operands

# Rows of one program, of one warp: few, as most couplings have fewer than 100,000 rows. Not
# measured.
ROWS = 32
# Ranks without batch axes.
_RANKS = {"values": 1, "weights": 1}


def gather_pallas(
    values: jax.Array, weights: jax.Array, table: GatherTable, interpret: bool = False
) -> jax.Array:
    """`gather` of a table with entries; batch axes as `batched` gives them."""
    axes = values.shape[:-1]
    operands = {
        "values": values,
        "weights": weights,
        "starts": table.starts,
        "sources": table.sources,
        "counts": table.counts,
    }
    operands = {name: x for name, x in operands.items() if x.size}  # Pallas has no empty arrays
    # Interpreted, a masked store writes back what was there: to a place that nobody needs.
    shape = math.prod(axes), table.n_rows + interpret
    out = pl.pallas_call(
        functools.partial(_kernel, names=tuple(operands), axes=axes, n_rows=table.n_rows),
        out_shape=jax.ShapeDtypeStruct(shape, values.dtype),
        grid=(pl.cdiv(table.n_rows, ROWS), math.prod(axes)),
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=1, num_stages=1),
        name="gather_pallas",
    )(*operands.values())
    return out[:, : table.n_rows].reshape(*axes, table.n_rows)


def _kernel(*refs: Any, names: tuple[str, ...], axes: tuple[int, ...], n_rows: int) -> None:
    *inputs, out = refs
    # Interpreted, these are known outside of loops and branches only.
    block, number = pl.program_id(0), pl.program_id(1)
    p = Operands(dict(zip(names, inputs)), _RANKS, axes, number)
    row = block * ROWS + lax.iota(jnp.int32, ROWS)
    inside = row < n_rows
    count = p.read("counts", row, mask=inside)
    first = LANES * p.read("starts", row // LANES, mask=inside) + row % LANES

    def add(k: Any, total: jax.Array) -> jax.Array:
        has = k < count
        at = first + LANES * k
        x = p.read("values", p.integers("sources", at, mask=has), mask=has)
        if p.has("weights"):
            x = p.read("weights", at, mask=has) * x
        return jnp.where(has, total + x, total)

    longest = jnp.max(count)
    total = lax.fori_loop(jnp.int32(0), longest, add, jnp.zeros(ROWS, out.dtype))
    triton.store(out.at[number, jnp.where(inside, row, n_rows)], total, mask=inside)
