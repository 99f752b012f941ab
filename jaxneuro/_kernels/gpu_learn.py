"""`learn` on a GPU: Pallas kernels, lowered through Triton; two launches per pathway and step.

A *program* has some rows of the section and one of several segments of them, as in `deliver`. A
row is visited if its source released something, if a tick is due, or if it was visited last before
the limit. For each vector of its synapses a program walks the log back from the newest event of
every target, first to those that have reached the synapse, then to those that it has seen. It
counts the events between; then, the oldest first, it walks that many hops again and calls the rule.
An event costs as many hops as there are newer ones: the depth of the log at a synapse is about the
number of postsynaptic events per presynaptic one. Last come the tick, the presynaptic event or the
lapse of time, and the weights leave for the ring.

The functions of the rule are those that the reference calls, traced into the kernel.

**Races.** Programs of one launch have no order.

* The ring is written as in `deliver`: zeros into the slot of `step`, atomic adds into others.
* A weight, or a variable, is read and written by the one program that has its row and segment.
* The row's own numbers, the time of its last visit and its traces, are read by every program that
  has a segment of it. The kernel does not change them: `_rows_after` does, once per row, in
  operations that XLA runs after the launch.

All else is read only.
"""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from .clock import Clock
from .deliver_reference import cleared
from .event_log import LONG_AGO
from .gpu_program import (
    WARPS,
    GpuProgram,
    Operands,
    ProgramGrid,
    add_alone,
    add_ordered,
    add_relaxed,
    cut,
    emptied,
    lanes,
    modulo,
    operand,
)
from .program import Port
from .rule_programs import RulePrograms
from .table import Section, Table

# A row is visited alone, not one of many as in `deliver`: cut finely, more of the GPU works on it.
_MOST_SEGMENTS = 64

_ROWS = 256  # of a program of `_rows_after`
_SCALARS = ("first", "since", "limit", "tick", "learning")
# Ranks without batch axes of the operands that may have them.
_RANKS = {
    **{"weights": 1, "variables": 2, "row_time": 1, "row_traces": 2, "bits": 1, "values": 1},
    **dict.fromkeys(_SCALARS, 0),
    **{"scale": 1, "numbers": 1, "post": 3, "head": 2, "events": 2, "kept": 2, "shared": 2},
}


def learn_grid(table: Table) -> ProgramGrid:
    """Sources, lanes and segments from the sizes of a table (static numbers)."""
    return cut(max(table.longest_row, 1), table.n_rows, _MOST_SEGMENTS)


def learn_pallas(
    ring: jax.Array,
    synapses: Any,
    learn_inputs: Any,
    table: Table,
    programs: RulePrograms,
    clear: bool,
    grid: ProgramGrid | None = None,
    interpret: bool = False,
    ordered: bool = False,
) -> tuple[jax.Array, Any]:
    """`learn`; batch axes as `batched` gives them.

    Ring, weights and variables are not reshaped: XLA would copy them in every step of a loop. With
    `ordered` it adds as JAX does in public: slower, and independent of JAX's insides.
    """
    ring, clear = emptied(ring, clear)
    axes = ring.shape[:-2]
    if table.n_stored == 0:
        return (cleared(ring, Clock.of(learn_inputs.step)) if clear else ring), synapses
    grid = learn_grid(table) if grid is None else grid
    operands = _operands(synapses, learn_inputs, table)
    changed = {"ring": ring, "weights": synapses.weights, "variables": synapses.variables}
    changed = {name: x for name, x in changed.items() if x.size}
    kernel = functools.partial(
        _kernel,
        names=(tuple(operands), tuple(changed)),
        axes=axes,
        grid=grid,
        programs=programs,
        clear=clear,
        add=add_alone if interpret else add_ordered if ordered else add_relaxed,
    )
    new = pl.pallas_call(
        kernel,
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in changed.values()],
        grid=(-(-synapses.row_time.shape[-1] // grid.rows), grid.segments, math.prod(axes)),
        input_output_aliases={len(operands) + k: k for k in range(len(changed))},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        name="learn_pallas",
    )(*operands.values(), *changed.values())
    new = dict(zip(changed, new))
    synapses = _rows_after(synapses, learn_inputs, table, programs, interpret)
    return new.pop("ring"), synapses._replace(**new)


def _operands(synapses: Any, learn_inputs: Any, table: Table) -> dict:
    """What the kernel only reads, by name."""
    bits, values = learn_inputs.released[:2]
    operands = {
        "bits": bits,
        **({} if values is None else {"values": values}),
        **_scalars(learn_inputs),
        **{name: getattr(learn_inputs, name) for name in ("scale", "numbers", "post", "shared")},
        **{
            "head": learn_inputs.log.head,
            "events": learn_inputs.log.events,
            "kept": learn_inputs.log.numbers,
        },
        **{"row_time": synapses.row_time, "row_traces": synapses.row_traces},
    }
    columns = ("sections", "pointers", "targets", "tags", "delays", "block_offset", "block_delay")
    operands |= {name: getattr(table, name) for name in columns}
    # Pallas has no empty arrays. One section keeps a column, or the table has none.
    return {name: x for name, x in operands.items() if x.size}


def _scalars(learn_inputs: Any) -> dict[str, jax.Array]:
    """The operands that are one number."""
    numbers = Clock.of(learn_inputs.step)._asdict()
    numbers |= {name: getattr(learn_inputs, name) for name in ("limit", "tick", "learning")}
    return {name: operand(x) for name, x in numbers.items()}


def _rows_after(
    synapses: Any, learn_inputs: Any, table: Table, programs: RulePrograms, interpret: bool
) -> Any:
    """The synapses with the time of the last visit of each row, and the traces of its source."""
    reads = {"bits": learn_inputs.released.bits, "numbers": learn_inputs.numbers}
    reads |= {name: x for name, x in _scalars(learn_inputs).items() if name != "learning"}
    reads = {name: x for name, x in (reads | {"sections": table.sections}).items() if x.size}
    changed = {"row_time": synapses.row_time, "row_traces": synapses.row_traces}
    changed = {name: x for name, x in changed.items() if x.size}
    axes, n = synapses.row_time.shape[:-1], synapses.row_time.shape[-1]
    new = pl.pallas_call(
        functools.partial(
            _rows_kernel, names=(tuple(reads), tuple(changed)), axes=axes, programs=programs
        ),
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in changed.values()],
        grid=(-(-n // _ROWS), math.prod(axes)),
        input_output_aliases={len(reads) + k: k for k in range(len(changed))},
        interpret=interpret,
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        name="learn_rows",
    )(*reads.values(), *changed.values())
    return synapses._replace(**dict(zip(changed, new)))


def _rows_kernel(*refs, names, axes, programs):
    reads, writes = names
    out = dict(zip(writes, refs[len(reads) + len(writes) :]))
    p = Operands({**dict(zip(reads, refs)), **out}, _RANKS, axes, pl.program_id(1))
    row = pl.program_id(0) * _ROWS + lanes(_ROWS)
    here = row < out["row_time"].shape[-1]
    step = p.integers("first") + p.integers("since")
    before = p.integers("row_time", row, mask=here)
    first = Section.read_low(lambda word: p.integers("sections", 0, word)).first_row
    event = here & p.released(first + row, here)
    visited = here & (event | p.read("tick") | (before < p.integers("limit")))
    traces = [p.read("row_traces", k, row, mask=here) for k in range(len(programs.names.traces))]
    since = (step - before).astype(programs.dtype) * programs.dt
    given = [*_parameters(p, programs), *traces, since]
    given = [jnp.broadcast_to(x.astype(programs.dtype), row.shape) for x in given]
    for phase, where in (("advance", visited & ~event), ("jump", event)) if traces else ():
        new = programs.call(phase, given[: -len(traces) - 1], *given[-len(traces) - 1 :])
        for k in range(len(traces)):
            x = jnp.broadcast_to(new[Port("trace", k, True)], row.shape)
            p.store("row_traces", k, row, x=x, mask=where)
    p.store("row_time", row, x=jnp.broadcast_to(step, row.shape), mask=visited)


def _parameters(p: Operands, programs: RulePrograms) -> list[jax.Array]:
    """Those of the rule."""
    count = p.operands["numbers"].shape[-1] if p.has("numbers") else 0
    places: Any = np.arange(count)
    return [p.read("numbers", int(k)) for k in programs.parameters(places)]


class _Vector(NamedTuple):
    """Some synapses of a row.

    Attributes:
        at: where they are.
        mask: which there are.
        block: its number.
        target: in the projection.
        delay: [steps], one for all or one for each.
    """

    at: jax.Array
    mask: jax.Array
    block: Any
    target: jax.Array
    delay: jax.Array


class _Now(NamedTuple):
    """Numbers of a vector of synapses on their way through a visit; when they were touched."""

    weight: jax.Array
    variables: tuple[jax.Array, ...]
    touched: jax.Array


def _kernel(*refs, names, axes, grid, programs, clear, add):
    reads, writes = names
    # What is changed is one array before and after; the references to those before are left out.
    out = dict(zip(writes, refs[len(reads) + len(writes) :]))
    ring = out.pop("ring")
    p = GpuProgram({**dict(zip(reads, refs)), **out}, _RANKS, ring, axes, grid, add)
    if clear:
        p.clear()
    section = Section.read_low(lambda word: p.integers("sections", 0, word))
    lane, first = lanes(grid.rows), p.chunk * grid.rows
    here = first + lane < section.rows
    event = p.released(section.first_row + first + lane, here)
    old = p.integers("row_time", first + lane, mask=here) < p.integers("limit")
    active = here & (event | old | p.read("tick"))

    def visit(at):
        _GpuVisit(p, section, programs, first + at).run()
        return jnp.min(jnp.where(active & (lane > at), lane, grid.rows))

    start = jnp.min(jnp.where(active, lane, grid.rows))
    lax.while_loop(lambda at: at < grid.rows, visit, start)


class _GpuVisit:
    """The visit of a row by one program: its segment of it, vector by vector."""

    def __init__(self, p: GpuProgram, section: Section, programs: RulePrograms, row: Any) -> None:
        self.p, self.section, self.programs = p, section, programs
        self.dtype = programs.dtype
        self.tick, self.learning = p.read("tick"), p.read("learning") != 0
        # The only section has all blocks; its rows have one pointer each if there are tags.
        self.blocks = p.operands["block_offset"].shape[0]
        entries = 1 if p.has("tags") else self.blocks
        self.entry = section.pointers + row * entries
        self.start, self.stop = (p.integers("pointers", self.entry + k) for k in (0, entries))
        source = section.first_row + row
        self.event = p.released(source)
        self.value = self.event.astype(self.dtype)
        if p.has("values"):
            self.value = jnp.where(self.event, p.read("values", source).astype(self.dtype), 0)
        self.before = p.integers("row_time", row)
        names = programs.names
        self.traces = [p.read("row_traces", k, row) for k in range(len(names.traces))]
        self.parameters = _parameters(p, programs)

    def run(self) -> None:
        """Brings this program's synapses of the row up to date, and delivers."""
        grid = self.p.grid

        def one(at):
            self._visit(self._vector(at + lanes(grid.lanes)))
            return at + grid.segments * grid.lanes

        lax.while_loop(lambda at: at < self.stop, one, self.start + self.p.segment * grid.lanes)

    def _vector(self, at: jax.Array) -> _Vector:
        p, mask, block = self.p, at < self.stop, jnp.int32(0)
        offset, delay = (p.integers(name, 0) for name in ("block_offset", "block_delay"))
        target = p.integers("targets", self.section.targets + at, mask=mask)
        if self.blocks > 1:
            entries = 1 if p.has("tags") else self.blocks
            block = p.block_in_row(self.section, self.entry, jnp.int32(entries), at, mask)
            target = target + p.integers("block_offset", block, mask=mask) - offset
            delay = p.integers("block_delay", block, mask=mask)
        if p.has("delays"):
            delay = p.integers("delays", self.section.delays + at, mask=mask)
        return _Vector(at, mask, block, target, delay)

    def _visit(self, v: _Vector) -> None:
        p, does = self.p, self.programs.does
        weight = p.read("weights", v.at, mask=v.mask).astype(self.dtype)
        variables = tuple(
            p.read("variables", k, v.at, mask=v.mask).astype(self.dtype)
            for k in range(len(self.programs.names.variables))
        )
        now = _Now(weight, variables, jnp.full(v.at.shape, self.before, jnp.int32))
        if does("post"):
            now = self._past(v, now)
        due = {"tick": self.tick, "pre": self.event, "lapse": ~(self.event | self.tick)}
        for phase, happens in due.items():
            if does(phase):
                change = functools.partial(self._present, phase, v)
                now = lax.cond(happens & self.learning, change, lambda now: now, now)
        self._store(v, now)

        @pl.when(self.event)
        def _():
            scale = p.read("scale", v.block, mask=v.mask if v.block.ndim else None)
            x = (self.value * scale.astype(self.dtype)) * now.weight
            place = p.integers("block_offset", 0) + v.target
            p.add(v.delay, place, x.astype(p.ring.dtype), v.mask)

    def _store(self, v: _Vector, now: _Now) -> None:
        """Writes back what the rule changes."""
        p, writes = self.p, self.programs.writes
        changed = {port for phase in ("post", "pre", "tick", "lapse") for port in writes[phase]}
        mask = v.mask & self.learning
        if Port("weight") in changed:
            p.store("weights", v.at, x=now.weight, mask=mask)
        for k, x in enumerate(now.variables):
            if Port("variable", k) in changed:
                p.store("variables", k, v.at, x=x, mask=mask)

    def _past(self, v: _Vector, now: _Now) -> _Now:
        """All postsynaptic events that the synapses have not seen, the oldest first."""
        p, lower = self.p, self.before - v.delay
        mask = v.mask & self.learning
        time = jnp.where(mask, p.integers("head", v.target, 0, mask=mask), LONG_AGO)
        number = p.integers("head", v.target, 1, mask=mask)

        def on_its_way(time):
            return time > p.step - v.delay

        newest = lax.while_loop(
            lambda event: _any(on_its_way(event[0])),
            lambda event: self._previous(event, on_its_way(event[0])),
            (time, number),
        )

        def count(x):
            event, n = x[:2], x[2]
            unseen = event[0] > lower
            return *self._previous(event, unseen), n + unseen.astype(jnp.int32)

        start = *newest, jnp.zeros_like(number)
        depth = lax.while_loop(lambda x: _any(x[0] > lower), count, start)[-1]

        def one(x):
            newer, now = x
            has = depth > newer
            event = lax.fori_loop(0, newer, lambda _, event: self._previous(event, has), newest)
            return newer - 1, self._event(v, now, has, *event)

        return lax.while_loop(lambda x: x[0] >= 0, one, (jnp.max(depth) - 1, now))[1]

    def _entry(self, number: jax.Array) -> jax.Array:
        """Where an event is in the log."""
        return number & (self.p.operands["events"].shape[-2] - 1)

    def _previous(self, event: tuple, where: jax.Array) -> tuple:
        """The event before one of the same target, where it is wanted; else the same one.

        An event is its time and its number.
        """
        entry = self._entry(event[1])
        before = (self.p.integers("events", entry, k, mask=where) for k in (1, 2))
        return tuple(jnp.where(where, new, old) for new, old in zip(before, event))

    def _event(self, v: _Vector, now: _Now, has: Any, time: Any, number: Any) -> _Now:
        """The synapses after a postsynaptic event, where they have one."""
        seen, entry = time + v.delay, self._entry(number)
        own = [self.p.read("kept", k, entry, mask=has) for k in range(len(self.programs.names.log))]
        arriving = (self.event & (seen == self.p.step)).astype(self.dtype)
        nothing = jnp.zeros((), self.dtype)
        return self._applied("post", now, has, seen, (nothing, arriving, *own))

    def _present(self, phase: str, v: _Vector, now: _Now) -> _Now:
        """The synapses after what happens in this step."""
        p, own = self.p, []
        for k in range(len(self.programs.names.ring)):
            if "post" in self.programs.reads[phase]:
                then = modulo(p.step - v.delay, p.operands["post"].shape[-3])
                own.append(p.read("post", then, k, v.target, mask=v.mask))
            else:
                own.append(jnp.zeros((), self.dtype))
        arriving = self.event.astype(self.dtype)
        return self._applied(phase, now, v.mask, p.step, (self.value, arriving, *own))

    def _applied(self, phase: str, now: _Now, where: Any, time: Any, given: tuple) -> _Now:
        """The synapses after a phase that happens at `time`, where it does.

        `given` is what was released, whether an event arrives, and the numbers of the targets.
        """
        touched = jnp.where(where, now.touched, time)
        values = [
            *(now.weight, *now.variables, *self.traces, self._ms(time - self.before)),
            *(*given, self._ms(time - touched)),
            *self._shared(phase, "start", touched, where),
            *self._shared(phase, "stop", time, where),
        ]
        # Also what is one number for all, since Triton's lowering in jax 0.10 makes truth values of
        # the floats of `jnp.where(condition, 1.0, 0.0)` if the condition is one.
        parameters, values = (
            [jnp.broadcast_to(x.astype(self.dtype), now.weight.shape) for x in group]
            for group in (self.parameters, values)
        )
        out = self.programs.call(phase, parameters, *values)

        def new(port, old):
            x = jnp.broadcast_to(jnp.asarray(out[port], self.dtype), old.shape)
            return jnp.where(where, x, old)

        variables = tuple(new(Port("variable", k), x) for k, x in enumerate(now.variables))
        touched = jnp.where(where, time, now.touched)
        return _Now(new(Port("weight"), now.weight), variables, touched)

    def _shared(self, phase: str, kind: str, time: Any, where: Any) -> list[jax.Array]:
        """The shared numbers at a time, one for all synapses or one for each."""
        n = len(self.programs.names.shared)
        if kind not in self.programs.reads[phase]:
            return [jnp.zeros((), self.dtype)] * n
        p = self.p
        slot = modulo(time, p.operands["shared"].shape[-2])
        mask = where if slot.ndim else None
        return [p.read("shared", slot, k, mask=mask) for k in range(n)]

    def _ms(self, steps: jax.Array) -> jax.Array:
        return steps.astype(self.dtype) * self.programs.dt


def _any(x: jax.Array) -> jax.Array:
    return jnp.max(x.astype(jnp.int32)) > 0
