"""`learn` in `jnp`: it visits every synapse in every step, runs anywhere and can be differentiated.

It defines what the others must equal, up to rounding: visits cut a decay into more pieces.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .clock import Clock
from .deliver_reference import clear_slot
from .linear import linear
from .program import Port
from .rule_programs import RulePrograms
from .table import Section, Table, expand, read_sections


class _Places(NamedTuple):
    """Every synapse: its row, target in the projection, delay, block and place in the ring."""

    row: jax.Array
    target: jax.Array
    delay: jax.Array
    block: jax.Array
    place: jax.Array


class _Synapses(NamedTuple):
    """Numbers of every synapse on the way through a step, and when they were touched."""

    weights: jax.Array
    variables: jax.Array
    touched: jax.Array


def learn_reference(
    ring, synapses, learn_inputs, table: Table, programs: RulePrograms, clear: bool
):
    """`learn`; see there."""
    learn_inputs = learn_inputs._replace(step=Clock.of(learn_inputs.step).now)
    if clear:
        ring = clear_slot(ring, learn_inputs.step)
    if table.n_stored == 0:
        return ring, synapses
    section = Section(*(x[0] for x in read_sections(table)))
    every = expand(table)
    place = _Places(
        every.source - section.first_row,
        every.place - table.block_offset[0],
        every.delay,
        every.block,
        every.place,
    )
    n_rows = synapses.row_time.shape[0]
    value = learn_inputs.released.dense(ring.dtype)
    value = lax.dynamic_slice_in_dim(value, section.first_row, n_rows)
    bits = learn_inputs.released._replace(values=None).dense(jnp.float32)
    event = lax.dynamic_slice_in_dim(bits, section.first_row, n_rows) > 0
    visit = _Visit(programs, learn_inputs, synapses, place, event, value)
    now = visit.run()
    slot = jnp.mod(learn_inputs.step + place.delay, ring.shape[0])
    scale = learn_inputs.scale.astype(ring.dtype)[place.block]
    sent = jnp.where(event, value, 0)[place.row] * scale * now.weights.astype(ring.dtype)
    ring = ring.at[slot, place.place].add(sent)
    return ring, visit.finished(now)


def _no_gradient(lost: jax.Array, x: jax.Array) -> jax.Array:
    """0, whose gradient is NaN if it is `lost`: a loop of unknown length has none to make up."""

    def unknown(lost: jax.Array, bar: jax.Array) -> list[jax.Array]:
        return [jnp.where(lost, jnp.full_like(bar, jnp.nan), 0)]

    return linear(lambda _, x: [jnp.zeros_like(x)], unknown, (lost,), (x,))[0]


class _Visit:
    """A visit of all rows: what each phase of the rule needs, synapse by synapse."""

    def __init__(self, programs, learn_inputs, synapses, place: _Places, event, value) -> None:
        self.programs, self.learn_inputs, self.synapses = programs, learn_inputs, synapses
        self.place, self.event, self.value = place, event, value
        self.parameters = programs.parameters(learn_inputs.numbers)
        self.before = synapses.row_time[place.row]
        self.learning = learn_inputs.learning != 0

    def run(self) -> _Synapses:
        """The synapses after everything up to now."""
        s = self.synapses
        now = _Synapses(s.weights, s.variables, self.before)
        if self.programs.does("post"):
            now = self._past(self._caught_up(now), self.learn_inputs.step)
        tick = self.learn_inputs.tick
        if self.programs.does("tick"):
            now = self._phase("tick", now, jnp.broadcast_to(tick, self.event.shape), 0)
        now = self._phase("pre", now, self.event, self.value)
        if self.programs.does("lapse"):
            now = self._phase("lapse", now, ~(self.event | tick), 0)
        return now

    def finished(self, now: _Synapses):
        """What is kept: the traces of the sources too, after their events."""
        p, s = self.programs, self.synapses
        since = self._ms(self.learn_inputs.step - s.row_time)
        traces = s.row_traces
        for phase, rows in (("advance", ~self.event), ("jump", self.event)):
            if len(p.names.traces):
                out = p.call(phase, self.parameters, *s.row_traces, since)
                new = [out[Port("trace", k, True)] for k in range(len(p.names.traces))]
                new = [jnp.broadcast_to(x, rows.shape) for x in new]
                traces = jnp.where(rows, jnp.stack(new).astype(traces.dtype), traces)
        time = jnp.full_like(s.row_time, self.learn_inputs.step)
        return s._replace(
            weights=now.weights, variables=now.variables, row_time=time, row_traces=traces
        )

    def _ms(self, steps: Any) -> jax.Array:
        return steps.astype(self.programs.dtype) * self.programs.dt

    def _shared(self, step: Any) -> list[jax.Array]:
        shared = self.learn_inputs.shared
        return list(jnp.moveaxis(shared[jnp.mod(step, shared.shape[0])], -1, 0))

    def _phase(self, phase: str, now: _Synapses, rows: Any, value: Any) -> _Synapses:
        """What happens in this step, at the synapses of some rows.

        Values stand in the order of `RulePrograms.ports`, here and in `_past`.
        """
        if not self.programs.does(phase):
            return now
        inputs, place = self.learn_inputs, self.place
        here = jnp.mod(inputs.step - place.delay, inputs.post.shape[0])
        row = place.row
        released = jnp.broadcast_to(value, self.event.shape).astype(self.programs.dtype)
        values = [
            *(now.weights, *now.variables, *self.synapses.row_traces[:, row]),
            self._ms(inputs.step - self.before),
            jnp.where(self.event, released, 0)[row],
            self.event.astype(self.programs.dtype)[row],
            *(inputs.post[here, k, place.target] for k in range(inputs.post.shape[1])),
            self._ms(inputs.step - now.touched),
            *self._shared(now.touched),
            *self._shared(inputs.step),
        ]
        return self._applied(phase, now, rows[row], values, inputs.step)

    def _caught_up(self, now: _Synapses) -> _Synapses:
        """Synapses that other kernels have left behind, brought to the step before this one."""
        until = self.learn_inputs.step - 1
        behind = jnp.any(self.synapses.row_time < until)
        fixed = lax.stop_gradient((self.learn_inputs, self.synapses, now))
        visit = _Visit(self.programs, *fixed[:2], self.place, self.event, self.value)

        def more(now: _Synapses) -> jax.Array:
            return jnp.any(visit._oldest(now.touched, until)[0])

        out = lax.while_loop(more, lambda now: visit._past(now, until), fixed[2])
        # Not `lax.cond`, of which `vmap` makes what JAX cannot transpose.
        out = jax.tree.map(lambda x, y: jnp.where(behind, x, y), out, now)
        numbers = jnp.sum(self.learn_inputs.numbers)
        lost = _no_gradient(behind, now.weights) + _no_gradient(behind, numbers)
        return out._replace(weights=out.weights + lost.astype(out.weights.dtype))

    def _past(self, now: _Synapses, until: Any) -> _Synapses:
        """Synapses after the oldest event that they have not seen, if that is there by `until`."""
        has, event, time = self._oldest(now.touched, until)
        inputs, place = self.learn_inputs, self.place
        # Where there is no event, times at which nothing overflows: gradients pass through both.
        seen = jnp.where(has, time + place.delay, now.touched)
        row, entry = place.row, event & (inputs.log.capacity - 1)
        dtype = self.programs.dtype
        values = [
            *(now.weights, *now.variables, *self.synapses.row_traces[:, row]),
            self._ms(seen - self.before),
            jnp.zeros(row.shape, dtype),
            (self.event[row] & (seen == inputs.step)).astype(dtype),
            *inputs.log.numbers[:, entry],
            self._ms(seen - now.touched),
            *self._shared(now.touched),
            *self._shared(seen),
        ]
        return self._applied("post", now, has, values, seen)

    def _oldest(self, touched: Any, until: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The oldest event that reached each synapse after `touched`: whether, which, when."""
        log, place = self.learn_inputs.log, self.place
        lower, upper = touched - place.delay, until - place.delay

        def older(x: Any) -> Any:
            time, event = x
            entry = event & (log.capacity - 1)
            return (time > upper) | (log.events[entry, 1] > lower)

        def walk(x: Any) -> Any:
            time, event = x
            entry = event & (log.capacity - 1)
            back = older(x) & (time > lower)
            return (
                jnp.where(back, log.events[entry, 1], time),
                jnp.where(back, log.events[entry, 2], event),
            )

        start = log.head[place.target, 0], log.head[place.target, 1]
        time, event = lax.while_loop(lambda x: jnp.any(older(x) & (x[0] > lower)), walk, start)
        return (time > lower) & (time <= upper), event, time

    def _applied(
        self, phase: str, now: _Synapses, where: Any, values: list, time: Any
    ) -> _Synapses:
        """The synapses after a phase, where it happens."""
        values = [jnp.asarray(x, self.programs.dtype) for x in values]
        out = self.programs.call(phase, self.parameters, *values)
        changes = where & self.learning
        variables = [
            jnp.where(changes, out[Port("variable", k)], x) for k, x in enumerate(now.variables)
        ]
        return _Synapses(
            jnp.where(changes, out[Port("weight")], now.weights),
            jnp.stack(variables).astype(now.variables.dtype) if variables else now.variables,
            jnp.where(where, time, now.touched).astype(jnp.int32),
        )
