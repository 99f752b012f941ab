"""`deliver` on a GPU: one Pallas kernel, lowered through Triton; one launch per pathway.

A *program* has some rows of one section (16 to 256 sources) and one of several segments of
them. It looks at what its sources released and, for each that is not 0, adds its segment of
the row into the ring: vectors of 128 or 256 synapses, masked loads, atomic adds. There is
no list of spikes, so no capacity and none is dropped at any rate; a program whose sources
are silent ends after two loads.

**Races.** Programs of one launch have no order. A program writes twice:

* with `clear`, zeros into the slot of `step`: each place of it by one program, at a stride;
* atomic adds into the slots step + d. Delays are 1 to slots - 1, so that step + d is never
  the slot of `step`. A ring of one slot is made empty by a launch before this one.

No program reads the ring, and all else is read only. So no element is touched by two
programs except through atomic adds, and clearing needs no launch of its own. The neuron
update reads the ring in a later launch, and launches of one stream keep their order.

The order of the adds differs from run to run, and with it the last bits of a float sum; in a
ring of int32 sums have no order.

Indices are 32 bits wide (places in memory 64 where an array is large): see `MOST_STORED`.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .clock import Clock, Step
from .deliver_reference import cleared, product_dtype
from .gpu_program import (
    WARPS,
    GpuProgram,
    ProgramGrid,
    add_alone,
    add_ordered,
    add_relaxed,
    cut,
    emptied,
    lanes,
    operand,
)
from .gpu_redraw import deliver_redrawn_row
from .spike_output import SpikeOutput
from .table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, REDRAWN, Section, Table

_MOST_SEGMENTS = 16


def grid_of(table: Table) -> ProgramGrid:
    """Sources, lanes and segments from the sizes of a table (static numbers)."""
    longest = max(table.longest_row, table.n_redrawn // max(table.n_rows, 1), 1)
    return cut(longest, table.n_rows, _MOST_SEGMENTS)


def deliver_pallas(
    ring: jax.Array,
    released: SpikeOutput,
    step: Step,
    scale: jax.Array,
    weights: jax.Array,
    table: Table,
    clear: bool,
    grid: ProgramGrid | None = None,
    interpret: bool = False,
    ordered: bool = False,
) -> jax.Array:
    """`deliver`; batch axes as `batched` gives them.

    The ring is not reshaped: XLA would copy it in every step of a loop. With `ordered` it adds as
    JAX does in public: slower, and independent of JAX's insides.
    """
    ring, clear = emptied(ring, clear)
    axes = ring.shape[:-2]
    if table.n_synapses == 0:
        return cleared(ring, Clock.of(step)) if clear else ring
    grid = grid_of(table) if grid is None else grid
    n_sections, dtype = table.sections.shape[0], product_dtype(ring)
    operands = row_operands(released, step, scale, weights, table, dtype)
    if ring.shape[-2] == 1:
        del operands["first"], operands["since"]
    kernel = functools.partial(
        _kernel,
        names=tuple(operands),
        axes=axes,
        grid=grid,
        n_sections=n_sections,
        dtype=dtype,
        clear=clear,
        add=add_alone if interpret else add_ordered if ordered else add_relaxed,
    )
    # A section of n rows has at most n / rows + 1 programs, so there are never more.
    chunks = table.n_rows // grid.rows + n_sections
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(ring.shape, ring.dtype),
        grid=(chunks, grid.segments, math.prod(axes)),
        input_output_aliases={len(operands): 0},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        name="deliver_pallas",
    )(*operands.values(), ring)


def row_operands(released: SpikeOutput, step, scale, weights, table: Table, dtype: Any) -> dict:
    """What the kernel reads, by name."""
    operands = {
        "bits": released.bits,
        **({} if released.values is None else {"values": released.values.astype(dtype)}),
        **{name: operand(x) for name, x in Clock.of(step)._asdict().items()},
        "scale": scale.astype(dtype),
        "weights": weights,
    }
    columns = ("sections", "pointers", "targets", "tags", "delays", "block_offset", "block_delay")
    operands |= {name: getattr(table, name) for name in (*columns, "draws", "draw_tables")}
    # A column that no section keeps is empty, and Pallas has no empty arrays.
    return {name: x for name, x in operands.items() if x.size}


# Ranks without batch axes of the operands that may have them.
RANKS = {"bits": 1, "values": 1, "first": 0, "since": 0, "scale": 1, "weights": 1}


def _kernel(*refs, names, axes, grid, n_sections, dtype, clear, add):
    *inputs, _, ring = refs  # the ring before and after are one array
    p = GpuProgram(dict(zip(names, inputs)), RANKS, ring, axes, grid, add)
    if clear:
        p.clear()
    walk_rows(p, n_sections, dtype)


def walk_rows(p, n_sections, dtype):
    """Hands over the rows of this program whose source released something, product by product."""
    number, first = _find_rows(p, n_sections)

    @pl.when(number < n_sections)
    def _():
        section = Section.read_low(lambda word: p.integers("sections", number, word))
        lane = lanes(p.grid.rows)
        active = (first + lane < section.rows) & _released(p, section, first + lane)

        def deliver(at):
            source = section.first_row + first + at
            p.begin(source)
            value = p.read("values", source) if p.has("values") else jnp.ones((), dtype)
            _deliver_row(p, section, first + at, value)
            return jnp.min(jnp.where(active & (lane > at), lane, p.grid.rows))

        start = jnp.min(jnp.where(active, lane, p.grid.rows))
        lax.while_loop(lambda at: at < p.grid.rows, deliver, start)


def _find_rows(p, n_sections):
    """The section of this program (`n_sections`: none is left) and its first row in there."""
    lane = lanes(pl.next_power_of_2(n_sections))
    rows = p.integers("sections", lane, 1, mask=lane < n_sections)
    ends = jnp.cumsum(lax.div(rows + (p.grid.rows - 1), jnp.int32(p.grid.rows)), dtype=jnp.int32)
    before = (ends <= p.chunk) & (lane < n_sections)
    number = jnp.sum(before.astype(jnp.int32), dtype=jnp.int32)
    return number, (p.chunk - jnp.max(jnp.where(before, ends, 0))) * p.grid.rows


def _released(p, section, row_of_section):
    """Which rows' sources released something."""
    mask = row_of_section < section.rows
    return p.released(section.first_row + row_of_section, mask)


def _deliver_row(p, section, row, value):
    """Adds this program's segment of a row of a section."""
    if not p.has("draws"):
        _deliver_stored_row(p, section, row, value)
    elif not p.has("targets"):
        deliver_redrawn_row(p, section, row, value)
    else:
        drawn = section.keeps(REDRAWN)
        pl.when(drawn)(lambda: deliver_redrawn_row(p, section, row, value))
        pl.when(~drawn)(lambda: _deliver_stored_row(p, section, row, value))


def _deliver_stored_row(p, section, row, value):
    blocks = jnp.where(section.keeps(HAS_TAGS), 1, section.blocks)
    entry = section.pointers + row * blocks
    start, stop = p.integers("pointers", entry), p.integers("pointers", entry + blocks)

    def add_vector(at):
        i = at + lanes(p.grid.lanes)
        mask = i < stop
        block = section.first_block + p.block_in_row(section, entry, blocks, i, mask)
        x = value * p.read("scale", block, mask=mask)
        if p.has("weights"):
            own = mask & section.keeps(HAS_WEIGHTS)
            weight = p.read("weights", section.weights + i, mask=own).astype(x.dtype)
            x = x * jnp.where(own, weight, jnp.ones_like(x))
        delay = p.integers("block_delay", block, mask=mask)
        if p.has("delays"):
            own = mask & section.keeps(HAS_DELAYS)
            delay = jnp.where(own, p.integers("delays", section.delays + i, mask=own), delay)
        target = p.integers("targets", section.targets + i, mask=mask)
        place = p.integers("block_offset", block, mask=mask) + target
        p.add(delay, place, x, mask)
        return at + p.grid.segments * p.grid.lanes

    lax.while_loop(lambda at: at < stop, add_vector, start + p.segment * p.grid.lanes)
