"""The table of a pathway: which source reaches which target, block by block.

A *block* holds the connections that one projection makes between one source population and up to
65,536 targets of one population, so that a target is a 16-bit offset. A *section*
is the rows of one source population for the blocks that keep the same columns. In
a row (one source neuron) of a section the blocks come one after the other,
targets ascending in a block.

Columns, one entry per synapse: `targets` always; `weights` and `delays` only in
sections whose blocks have individual ones; `tags` (the number of the block in its
section) only in sections whose rows hold a few synapses per block, where a
pointer per block would cost more. Where the blocks of such a section have one delay
and one offset, the section has a flag (`ONE_PLACE`: targets then count from the start of
the group, which must have at most 65,536 neurons), and only the scale is looked up by
tag. Values of which a block has one are entries of vectors over blocks. Row pointers
are uint32, relative to the section; a section keeps 64-bit starts of its columns. A section
that is `REDRAWN` has neither synapses nor pointers: its rows are drawn whenever they are needed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import AnyArray
from ..spec import InvalidValueError

# What a section keeps: bits of its flags.
HAS_WEIGHTS, HAS_DELAYS, HAS_TAGS, ONE_PLACE, REDRAWN = 1, 2, 4, 8, 16
BLOCK_TARGETS = 65_536


class Table(eqx.Module):
    """The connections of a pathway; see the module docstring for the layout.

    Attributes:
        sections: uint32 (sections, 16).
        pointers: uint32.
        targets: uint16 (synapses,).
        tags: uint16.
        delays: uint8 or uint16 [steps].
        block_offset: int32 (blocks,) place of the block's target 0 in a slot of the ring (see
            `ring_place`).
        block_delay: int32 (blocks,) [steps].
        block_span: int32 (blocks, 2) first and last + 1 neuron of the block in the target group.
        block_projection: int32 (blocks,).
        draws: uint32 (blocks, 20), or (0, 20) where all is stored: see `Draw`.
        draw_tables: uint32, what draws look up: see `Draw`.
        n_rows: pairs of section and row.
        longest_row: synapses of the longest row that is stored.
        n_redrawn: (expected) synapses that are not stored.
        n_targets: the neurons that it may reach.
    """

    sections: AnyArray
    pointers: AnyArray
    targets: AnyArray
    tags: AnyArray
    delays: AnyArray
    block_offset: AnyArray
    block_delay: AnyArray
    block_span: AnyArray
    block_projection: AnyArray
    draws: AnyArray
    draw_tables: AnyArray
    n_rows: int = eqx.field(static=True)
    longest_row: int = eqx.field(static=True)
    n_redrawn: int = eqx.field(static=True)
    n_targets: int = eqx.field(static=True)

    @property
    def columns(self) -> tuple[AnyArray, ...]:
        """What native code reads, in the order of `native/table_operands.h`."""
        return (
            *(self.sections, self.pointers, self.targets, self.tags, self.delays),
            *(self.block_offset, self.block_delay, self.block_span),
            *(self.draws, self.draw_tables),
        )

    @property
    def n_stored(self) -> int:
        """Synapses in the columns."""
        return self.targets.shape[0]

    @property
    def n_synapses(self) -> int:
        return self.n_stored + self.n_redrawn


def ring_place(receptor: Any, target: Any, n_targets: int) -> Any:
    """The place in a slot of the ring of what arrives at a receptor of a target.

    A slot holds the arrivals of one time step: those of all targets at receptor 0, then at
    receptor 1, and so on.
    """
    return receptor * n_targets + target


def ring_slots(longest: int) -> int:
    """How many slots a ring has whose longest delay are so many steps.

    One more than that: what a step writes and what it empties are two slots, so that a GPU does
    both in one launch. Where all delays are one step there is one slot, half the memory, and what
    is emptied is what is written next.
    """
    return 1 if longest <= 1 else longest + 1


class Section(NamedTuple):
    """One section of a table: numbers on the host, arrays when traced.

    The words that kernels read are these fields in this order; `native/layout.h` is made from
    them (`python -m scripts.native_layout`). Those from `pointers` on are 64 bits wide.

    Attributes:
        first_row, rows: its first source, and how many it has.
        first_block, blocks: its first block among those of the table, and how many it has.
        flags: what it keeps (`HAS_WEIGHTS`, `HAS_DELAYS`, `HAS_TAGS`, `ONE_PLACE`, `REDRAWN`).
        pointers, targets, weights, delays, tags: where it starts in each column.
    """

    first_row: Any
    rows: Any
    first_block: Any
    blocks: Any
    flags: Any
    pointers: Any
    targets: Any
    weights: Any
    delays: Any
    tags: Any

    def keeps(self, flag: int) -> Any:
        """Whether the section keeps a column."""
        return (self.flags & flag) != 0

    def words(self) -> np.ndarray:
        """The section as the uint32 words that the kernels read, lower halves first."""
        small = [int(x) for x in self[:SECTION_NARROW]]
        wide = [w for x in self[SECTION_NARROW:] for w in (int(x) & 0xFFFFFFFF, int(x) >> 32)]
        padding = [0] * (SECTION_WORDS - len(small) - len(wide))
        return np.array(small + wide + padding, dtype=np.uint32)

    @classmethod
    def read(cls, words: np.ndarray) -> "Section":
        """The section that `words` describe."""
        w = [int(x) for x in words]
        wide = range(SECTION_NARROW, 2 * len(cls._fields) - SECTION_NARROW, 2)
        return cls(*w[:SECTION_NARROW], *(w[k] | w[k + 1] << 32 for k in wide))

    @classmethod
    def read_low(cls, word: Callable[[int], Any]) -> "Section":
        """The section of the lower 32 bits of every field; `word(k)` reads word k."""
        wide = range(SECTION_NARROW, 2 * len(cls._fields) - SECTION_NARROW, 2)
        return cls(*(word(k) for k in (*range(SECTION_NARROW), *wide)))


SECTION_NARROW = Section._fields.index("pointers")  # fields of 32 bits
SECTION_WORDS = 16


def read_sections(table: Table) -> Section:
    """All sections as int32 arrays (sections,), for code that runs in `jnp`."""
    if table.n_stored >= 2**31 or table.pointers.shape[0] >= 2**31:
        must = "below 2^31 for the kernels in jnp (native ones need a C++ compiler to install)"
        raise InvalidValueError("pathway", "stored synapses", must, f"{table.n_stored:,}")
    words = table.sections.astype(jnp.int32)
    return Section.read_low(lambda k: words[:, k])


class Rows(NamedTuple):
    """Every row of every section, ascending by source neuron: its span of synapses.

    A row of a section that is drawn has none; its number in the section says which it is.
    """

    section: jax.Array
    number: jax.Array
    source: jax.Array
    start: jax.Array
    stop: jax.Array


def expand_rows(table: Table) -> Rows:
    """The rows of a table as int32 arrays of length `n_rows`, in `jnp`."""
    s = read_sections(table)
    section = jnp.repeat(
        jnp.arange(s.rows.shape[0], dtype=jnp.int32), s.rows, total_repeat_length=table.n_rows
    )
    first = jnp.cumsum(s.rows) - s.rows
    row = jnp.arange(table.n_rows, dtype=jnp.int32) - first[section]
    tagged = (s.flags[section] & HAS_TAGS) != 0
    per_row = jnp.where(tagged, 1, s.blocks[section])
    entry = s.pointers[section] + row * per_row
    base = s.targets[section]
    pointers = table.pointers.astype(jnp.int32)
    source = s.first_row[section] + row
    # Row by row, as the native kernel goes: a source may have rows in several sections.
    order = jnp.argsort(source, stable=True)
    stored = (s.flags[section] & REDRAWN) == 0
    if pointers.shape[0]:
        ends = (
            jnp.asarray(pointers).at[e].get(mode="fill", fill_value=0)
            for e in (entry, entry + per_row)
        )
        start, stop = (jnp.where(stored, base + end, 0) for end in ends)
    else:
        start = stop = jnp.zeros(row.shape, jnp.int32)
    return Rows(*(x[order] for x in (section, row, source, start, stop)))


class Synapses(NamedTuple):
    """Every synapse of a table: int32 arrays (synapses,)."""

    source: jax.Array
    block: jax.Array
    delay: jax.Array
    place: jax.Array
    weight_index: jax.Array  # -1 without an individual weight


def _entries(table: Table) -> tuple[jax.Array, jax.Array, jax.Array]:
    """For every pointer: its section, its absolute synapse, its number in the section."""
    s = read_sections(table)
    n = table.pointers.shape[0]
    index = jnp.arange(n, dtype=jnp.int32)
    section = jnp.searchsorted(s.pointers, index, side="right").astype(jnp.int32) - 1
    start = s.targets[section] + table.pointers.astype(jnp.int32)
    return section, start, index - s.pointers[section]


def expand(table: Table) -> Synapses:
    """All stored synapses, in `jnp` (loop invariant: XLA does it once, before a scan)."""
    s = read_sections(table)
    section_of, start, number = _entries(table)
    length = jnp.diff(start, append=jnp.int32(table.n_stored))
    entry = jnp.repeat(
        jnp.arange(start.shape[0], dtype=jnp.int32), length, total_repeat_length=table.n_stored
    )
    section, number = section_of[entry], number[entry]
    within = jnp.arange(table.n_stored, dtype=jnp.int32) - s.targets[section]
    tagged, own_delay, own_weight = (
        (s.flags[section] & flag) != 0 for flag in (HAS_TAGS, HAS_DELAYS, HAS_WEIGHTS)
    )
    blocks = s.blocks[section]
    tag = _column(jnp.asarray(table.tags), s.tags[section] + within, tagged)
    block = s.first_block[section] + jnp.where(tagged, tag, number % blocks)
    delay = _column(jnp.asarray(table.delays), s.delays[section] + within, own_delay)
    return Synapses(
        source=s.first_row[section] + jnp.where(tagged, number, number // blocks),
        block=block,
        delay=jnp.where(own_delay, delay, table.block_delay[block]),
        place=jnp.asarray(table.block_offset)[block] + table.targets.astype(jnp.int32),
        weight_index=jnp.where(own_weight, s.weights[section] + within, -1),
    )


def _column(column: jax.Array, index: jax.Array, wanted: jax.Array) -> jax.Array:
    """`column[index]` where wanted; a column that no section keeps is empty."""
    if column.shape[0] == 0:
        return jnp.zeros(index.shape, jnp.int32)
    return column[jnp.where(wanted, index, 0)].astype(jnp.int32)
