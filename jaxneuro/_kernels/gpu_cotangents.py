"""`value_cotangents` on a GPU: the kernel of `deliver`, which reads where that adds.

Its products, of a source that counts, are those that a spike of it would add: scale times weight.
Each is multiplied by the cotangent of the place where it would arrive, and a program adds what it
has of a row to the number of its source.

**Races.** No program writes the ring. The numbers of the sources are touched by atomic adds alone.
Their order differs from run to run where a row has several programs.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .clock import Clock
from .gpu_deliver import RANKS, grid_of, row_operands, walk_rows
from .gpu_program import (
    WARPS,
    GpuProgram,
    ProgramGrid,
    add_alone,
    add_ordered,
    add_relaxed,
    lanes,
    modulo,
)
from .spike_output import SpikeOutput
from .table import Table


def values_pallas(
    ring: jax.Array,
    counted: jax.Array,
    step: Clock,
    scale: jax.Array,
    weights: jax.Array,
    table: Table,
    n: int,
    grid: ProgramGrid | None = None,
    interpret: bool = False,
    ordered: bool = False,
) -> jax.Array:
    """The cotangents of what n sources released, (..., n); batch axes as `batched` gives them."""
    axes = ring.shape[:-2]
    values = jnp.zeros((*axes, 1, n), ring.dtype)
    if table.n_synapses == 0 or n == 0:
        return values[..., 0, :]
    grid = grid_of(table) if grid is None else grid
    operands = row_operands(SpikeOutput(counted), step, scale, weights, table, ring.dtype)
    operands["ring"] = ring
    kernel = functools.partial(
        _kernel,
        names=tuple(operands),
        axes=axes,
        grid=grid,
        n_sections=table.sections.shape[0],
        add=add_alone if interpret else add_ordered if ordered else add_relaxed,
    )
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(values.shape, values.dtype),
        grid=(table.n_rows // grid.rows + table.sections.shape[0], grid.segments, math.prod(axes)),
        input_output_aliases={len(operands): 0},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        name="value_cotangents_pallas",
    )(*operands.values(), values)[..., 0, :]


def _kernel(*refs: Any, names: Any, axes: Any, grid: Any, n_sections: int, add: Any) -> None:
    *inputs, _, values = refs  # the numbers before and after are one array
    walk_rows(_Reading(dict(zip(names, inputs)), values, axes, grid, add), n_sections, values.dtype)


class _Reading(GpuProgram):
    """One program, which reads where a delivery adds; its output is a slot of sources."""

    def __init__(self, operands: Any, values: Any, axes: Any, grid: Any, add: Any):
        super().__init__(operands, {**RANKS, "ring": 2}, values, axes, grid, add)
        self.slots, self.places = operands["ring"].shape[-2:]
        self.now = modulo(self.step, self.slots)
        self.source: Any = None

    def begin(self, source: Any) -> None:
        self.source = source

    def add(self, delay: Any, place: jax.Array, x: jax.Array, mask: jax.Array) -> None:
        y = self.read("ring", self.slot(delay, place), place, mask=mask)
        total = jnp.sum(jnp.where(mask, x * y, jnp.zeros_like(y)))
        first = lanes(place.shape[0]) == 0  # the one lane that adds
        source = jnp.where(first, self.source, 0)
        total = jnp.where(first, total, jnp.zeros_like(total))
        self.add_at(self.ring, (*self.network, jnp.zeros_like(source), source), total, first)
