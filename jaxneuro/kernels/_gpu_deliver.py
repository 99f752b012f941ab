"""`deliver` on a GPU: one Pallas kernel, lowered through Triton; one launch per pathway.

A *program* has some rows of one section (16 to 256 sources) and one of several segments of
them. It looks at what its sources released and, for each that is not 0, adds its segment of
the row into the ring: vectors of 128 or 256 synapses, masked loads, atomic adds. There is
no list of spikes, so no capacity and none is dropped at any rate; a program whose sources
are silent ends after two loads.

**Races.** Programs of one launch have no order. A program writes twice:

* with `clear`, zeros into the slot of `step`: each place of it by one program, at a stride;
* atomic adds into the slots step + d. Delays are 1 to slots - 1, so that step + d is never
  the slot of `step`.

No program reads the ring, and all else is read only. So no element is touched by two
programs except through atomic adds, and clearing needs no launch of its own. The neuron
update reads the ring in a later launch, and launches of one stream keep their order.

The order of the adds differs from run to run, and with it the last bits of a float sum; in a
ring of int32 sums have no order.

Indices are 32 bits wide (places in memory 64 where an array is large): see `MOST_STORED`.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from ._gpu_atomic import add_alone, add_ordered, add_relaxed
from ._gpu_redraw import deliver_redrawn_row
from ._reference import clear_slot, product_dtype
from ._table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, REDRAWN, Section, Table

# About as many programs as fill a large GPU twice; more only cost time to start them.
PROGRAMS = 4096
_MOST_SEGMENTS = 16
_WARPS = 4


class Grid(NamedTuple):
    """How the work is cut: `rows` sources per program, `lanes` synapses per vector."""

    rows: int
    lanes: int
    segments: int


def grid_of(table: Table) -> Grid:
    """Sources, lanes and segments from the sizes of a table (static numbers)."""
    longest = max(table.longest_row, table.n_redrawn // max(table.n_rows, 1), 1)
    lanes = 128 if longest <= 128 else 256
    segments = min(-(-longest // lanes), _MOST_SEGMENTS)
    rows = 16
    while rows < 256 and table.n_rows * segments > rows * PROGRAMS:
        rows *= 2
    return Grid(rows, lanes, segments)


def deliver_pallas(
    ring: jax.Array,
    bits: jax.Array,
    values: jax.Array,
    step: jax.Array,
    scale: jax.Array,
    weights: jax.Array,
    table: Table,
    clear: bool,
    grid: Grid | None = None,
    interpret: bool = False,
    ordered: bool = False,
) -> jax.Array:
    """`deliver`; `values` is empty where bits say all. Batch axes as `batched` gives them.

    The ring is not reshaped: XLA would copy it in every step of a loop. With `ordered` it adds as
    JAX does in public: slower, and independent of JAX's insides.
    """
    axes = ring.shape[:-2]
    if table.n_synapses == 0:
        return _cleared(ring, step) if clear else ring
    grid = grid_of(table) if grid is None else grid
    n_sections, dtype = table.sections.shape[0], product_dtype(ring)
    operands = _operands(bits, values, step, scale, weights, table, dtype)
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
        compiler_params=triton.CompilerParams(num_warps=_WARPS, num_stages=1),
        name="deliver_pallas",
    )(*operands.values(), ring)


def _cleared(ring: jax.Array, step: jax.Array) -> jax.Array:
    one = clear_slot
    for k in range(ring.ndim - 2):
        one = jax.vmap(one, (0, 0 if step.ndim > k else None))
    return one(ring, jnp.broadcast_to(step, ring.shape[: step.ndim]))


def _operands(bits, values, step, scale, weights, table: Table, dtype: Any) -> dict[str, jax.Array]:
    """What the kernel reads, by name."""
    operands = {
        "bits": bits,
        "values": values.astype(dtype),
        "step": step if step.ndim else step[None],
        "scale": scale.astype(dtype),
        "weights": weights,
    }
    columns = ("sections", "pointers", "targets", "tags", "delays", "block_offset", "block_delay")
    operands |= {name: getattr(table, name) for name in (*columns, "draws", "draw_tables")}
    # A column that no section keeps is empty, and Pallas has no empty arrays.
    return {name: x for name, x in operands.items() if x.size}


# Ranks without batch axes of the operands that may have them.
_RANKS = {"bits": 1, "values": 1, "step": 0, "scale": 1, "weights": 1}


class _Program:
    """One program: its place in the grid, its operands, and masked reads of them."""

    def __init__(
        self,
        names: tuple[str, ...],
        refs: tuple,
        axes: tuple[int, ...],
        grid: Grid,
        add: Callable,
    ):
        *inputs, _, self.ring = refs  # the ring before and after are one array
        self.operands = dict(zip(names, inputs))
        self.grid, self.add_at = grid, add
        # Interpreted, these are known outside of loops and branches only.
        self.chunk, self.segment, number = (pl.program_id(axis) for axis in range(3))
        self.network = _index(number, axes)
        self.chunks = pl.num_programs(0)
        self.step = self.read("step")
        self.slots, self.places = self.ring.shape[-2:]
        self.now = _modulo(self.step, self.slots)

    def has(self, name: str) -> bool:
        return name in self.operands

    def read(self, name: str, *index: Any, mask: Any = None) -> jax.Array:
        ref = self.operands[name]
        if self.network and ref.ndim > _RANKS.get(name, ref.ndim):
            mine = (k if n > 1 else 0 for k, n in zip(self.network, ref.shape))
            index = (*mine, *index)
        elif name == "step":
            index = (0,)
        return ref[index] if mask is None else triton.load(ref.at[index], mask=mask, other=0)

    def integers(self, name: str, *index: Any, mask: Any = None) -> jax.Array:
        return self.read(name, *index, mask=mask).astype(jnp.int32)

    def add(self, delay: Any, place: jax.Array, x: jax.Array, mask: jax.Array) -> None:
        """Adds products where they arrive, `delay` steps from now."""
        slot = jnp.broadcast_to(self.now + delay, place.shape)
        slot = jnp.where(slot >= self.slots, slot - self.slots, slot)
        x = jnp.broadcast_to(_held(x, self.ring.dtype), place.shape)
        self.add_at(self.ring, (*self.network, slot, place), x, mask)


def _index(number: Any, axes: tuple[int, ...]) -> tuple:
    """The indices along the batch axes of network `number`."""
    out = []
    for n in reversed(axes):
        out.append(lax.rem(number, jnp.int32(n)) if len(axes) > 1 else number)
        number = lax.div(number, jnp.int32(n)) if len(axes) > 1 else number
    return tuple(reversed(out))


def _lanes(n: int) -> jax.Array:
    return lax.iota(jnp.int32, n)


def _modulo(a: Any, n: int) -> Any:
    """`a mod n`, not negative, for a that may be."""
    a = lax.rem(a, jnp.int32(n))
    return jnp.where(a < 0, a + n, a)


def _kernel(*refs, names, axes, grid, n_sections, dtype, clear, add):
    p = _Program(names, refs, axes, grid, add)
    if clear:
        _clear(p)
    number, first = _find_rows(p, n_sections)

    @pl.when(number < n_sections)
    def _():
        section = Section.read_low(lambda word: p.integers("sections", number, word))
        lane = _lanes(grid.rows)
        active = (first + lane < section.rows) & _released(p, section, first + lane)

        def deliver(at):
            source = section.first_row + first + at
            value = p.read("values", source) if p.has("values") else jnp.ones((), dtype)
            _deliver_row(p, section, first + at, value)
            return jnp.min(jnp.where(active & (lane > at), lane, grid.rows))

        start = jnp.min(jnp.where(active, lane, grid.rows))
        lax.while_loop(lambda at: at < grid.rows, deliver, start)


def _clear(p):
    """Zeros in this program's share of the slot of `step`: vectors at a stride."""
    zeros = jnp.zeros(p.grid.lanes, p.ring.dtype)

    def write(at):
        place = at + _lanes(p.grid.lanes)
        triton.store(p.ring.at[(*p.network, p.now, place)], zeros, mask=place < p.places)
        return at + p.chunks * (p.grid.segments * p.grid.lanes)

    first = (p.chunk * p.grid.segments + p.segment) * p.grid.lanes
    lax.while_loop(lambda at: at < p.places, write, first)


def _find_rows(p, n_sections):
    """The section of this program (`n_sections`: none is left) and its first row in there."""
    lane = _lanes(pl.next_power_of_2(n_sections))
    rows = p.integers("sections", lane, 1, mask=lane < n_sections)
    ends = jnp.cumsum(lax.div(rows + (p.grid.rows - 1), jnp.int32(p.grid.rows)), dtype=jnp.int32)
    before = (ends <= p.chunk) & (lane < n_sections)
    number = jnp.sum(before.astype(jnp.int32), dtype=jnp.int32)
    return number, (p.chunk - jnp.max(jnp.where(before, ends, 0))) * p.grid.rows


def _released(p, section, row_of_section):
    """Which rows' sources released something."""
    mask = row_of_section < section.rows
    source = section.first_row + row_of_section
    return (p.integers("bits", source >> 3, mask=mask) >> (source & 7)) & 1 != 0


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
        i = at + _lanes(p.grid.lanes)
        mask = i < stop
        block = section.first_block + _block_in_row(p, section, entry, blocks, i, mask)
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


def _block_in_row(p, section, entry, blocks, i, mask):
    """The number in its section of each synapse's block: by its tag, or the last block of the
    row to start at or before it, found by halving."""

    def halve(carry):
        found, width = carry
        half = width >> 1
        start = p.integers("pointers", entry + found + half, mask=mask)
        return jnp.where(start <= i, found + half, found), width - half

    block = lax.while_loop(lambda carry: carry[1] > 1, halve, (jnp.zeros_like(i), blocks))[0]
    if not p.has("tags"):
        return block
    tagged = mask & section.keeps(HAS_TAGS)
    return block + p.integers("tags", section.tags + i, mask=tagged)


def _held(x: jax.Array, dtype: Any) -> jax.Array:
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
