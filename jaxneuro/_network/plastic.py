"""A rule at a projection: its state, and what it does in a step."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._arrays import as_array
from .._kernels.bits import packed_bytes
from .._kernels.event_log import empty_log, flush_limit, log_events
from .._kernels.learn import LearnInputs, PlasticSynapses, learn
from .._kernels.rescale import rescale, target_sums
from .._kernels.rule_programs import RulePrograms
from .._kernels.spike_output import SpikeOutput
from .._kernels.table import Table
from .._model import Plasticity
from .members import as_floating
from .state import PlasticState

EVERY_ROW = 2**31 - 1  # a limit at which all rows are visited
_LEAST_EVENTS = 32  # per target, in half of a log: fewer would be visited for too often
# Rows are visited at least every so many steps if a rule has shared numbers, which are kept so
# long; the visits are due at every quarter of that.
_SHARED_STEPS = 4096


class Plastic(eqx.Module):
    """A rule at a projection.

    **Fields** `rule`; static `programs` its functions for the kernels; `name` of the projection;
    `n_sources` of all its population, and of its group (`n_released`); `first_target`, `n_targets`
    where its target population is in its group; `axonal`, `longest` steps of axonal delay, and of
    the longest dendritic delay; `whole` whether it connects all neurons of both populations.
    """

    rule: Plasticity
    programs: RulePrograms = eqx.field(static=True)
    name: str = eqx.field(static=True)
    n_sources: int = eqx.field(static=True)
    n_released: int = eqx.field(static=True)
    first_target: int = eqx.field(static=True)
    n_targets: int = eqx.field(static=True)
    axonal: int = eqx.field(static=True)
    longest: int = eqx.field(static=True)
    whole: bool = eqx.field(static=True)

    def init(self, weights: jax.Array, values: bool, dtype: Any) -> PlasticState:
        """The state at t = 0; `values` whether sources release other numbers than 1."""
        names, slots, most = self.programs.names, self.longest + 1, _LEAST_EVENTS
        start = jax.eval_shape(self.rule.init_shared)
        synapses = PlasticSynapses(
            weights=jnp.array(weights),
            variables=_filled(self.rule.variables(), weights.shape[0], dtype),
            row_time=as_array(np.full(self.n_sources, -1), np.int32),
            row_traces=as_array(np.zeros((len(names.traces), self.n_sources)), dtype),
        )
        shared = as_floating(_arrays(self.rule.init_shared()), dtype)
        ring = _stacked(shared, names.shared, dtype)
        kept = _SHARED_STEPS + 1 if start else 1
        in_flight = None
        if self.axonal:
            shape = (self.axonal, packed_bytes(self.n_released))
            bits = as_array(np.zeros(shape), np.uint8)
            many = as_array(np.zeros((self.axonal, self.n_released)), dtype) if values else None
            in_flight = SpikeOutput(bits, many)
        return PlasticState(
            synapses=synapses,
            log=empty_log(self.n_targets, max(slots, most), len(names.log), dtype),
            targets=as_floating(_arrays(self.rule.init_post(self.n_targets)), dtype),
            target_ring=as_array(np.zeros((slots, len(names.ring), self.n_targets)), dtype),
            shared=shared,
            shared_ring=jnp.tile(ring[None], (kept, 1)),
            in_flight=in_flight,
            signals={name: as_array(0.0, dtype) for name in self.rule.signals},
            learning=as_array(1, np.int32),
        )

    def expand(self) -> "RuntimePlastic":
        """The rule as a loop runs it."""
        return RuntimePlastic(self, self.programs.numbers(self.rule))


class RuntimePlastic(eqx.Module):
    """A rule as a loop runs it: `numbers` are those of its programs, made once."""

    plastic: Plastic
    numbers: jax.Array

    def deliver(
        self,
        ring: jax.Array,
        released: SpikeOutput,
        fired: tuple[jax.Array, Any],
        state: PlasticState,
        step: jax.Array,
        scale: jax.Array,
        table: Table,
        clear: bool,
    ) -> tuple[jax.Array, PlasticState]:
        """Ring and state after what was released in `step` has arrived at the synapses.

        `fired` are the packed spikes of the target group in that step, and its voltage after it.
        """
        p, rule, names = self.plastic, self.plastic.rule, self.plastic.programs.names
        dt, dtype = p.programs.dt, ring.dtype
        released, in_flight = self._arrived(released, state.in_flight, step)
        span = slice(p.first_target, p.first_target + p.n_targets)
        spikes = jnp.unpackbits(fired[0], bitorder="little")[span] != 0
        v = None if fired[1] is None else fired[1][span]
        numbers, events, targets = rule.step_post(state.targets, spikes, v, dt)
        target_ring = _written(state.target_ring, _stacked(numbers, names.ring, dtype), step)
        log = log_events(state.log, events, _rows(numbers, names.log, p.n_targets, dtype), step)
        shared = rule.step_shared(state.shared, state.signals, dt)
        shared = as_floating(shared, dtype)
        shared_ring = state.shared_ring
        if names.shared:
            shared_ring = _written(shared_ring, _stacked(shared, names.shared, dtype), step)
        tick, due = (_due(step, every) for every in rule.schedule())
        limit = flush_limit(state.log, log, p.n_targets, p.longest)
        limit = self._limit(limit, due, step)
        flags = jnp.stack([tick.astype(jnp.int32), state.learning])
        learn_inputs = LearnInputs(
            *(released, step, limit, flags, scale, self.numbers),
            *(target_ring, log, shared_ring),
        )
        ring, synapses = learn(ring, state.synapses, learn_inputs, table, p.programs, clear)
        if rule.schedule()[1]:
            weights = self._rescaled(synapses.weights, targets, due & (state.learning != 0), table)
            synapses = synapses._replace(weights=weights)
        new = state._replace(
            synapses=synapses,
            log=log,
            targets=as_floating(targets, dtype),
            target_ring=target_ring,
            shared=shared,
            shared_ring=shared_ring,
            in_flight=in_flight,
        )
        return ring, new

    def flush(self, state: PlasticState, step: jax.Array, table: Table) -> PlasticState:
        """The state with every row brought up to `step`, the last one that was delivered."""
        p = self.plastic
        nothing = SpikeOutput(jnp.zeros(packed_bytes(p.n_released), jnp.uint8))
        ring = jnp.zeros((1, 1), state.synapses.weights.dtype)
        flags = jnp.stack([jnp.int32(0), state.learning])
        scale = jnp.zeros(table.block_projection.shape, ring.dtype)
        learn_inputs = LearnInputs(
            *(nothing, step, jnp.int32(EVERY_ROW), flags, scale, self.numbers),
            *(state.target_ring, state.log, state.shared_ring),
        )
        _, synapses = learn(ring, state.synapses, learn_inputs, table, p.programs, False)
        return state._replace(synapses=synapses)

    def _arrived(
        self, released: SpikeOutput, in_flight: SpikeOutput | None, step: jax.Array
    ) -> tuple[SpikeOutput, SpikeOutput | None]:
        """What reaches the synapses in `step`, and what is on its way after it."""
        if in_flight is None:
            return released, None
        slot = jnp.mod(step, self.plastic.axonal)
        arrived = jax.tree.map(
            lambda x: lax.dynamic_index_in_dim(x, slot, 0, keepdims=False), in_flight
        )
        bits = lax.dynamic_update_index_in_dim(in_flight.bits, released.bits, slot, 0)
        values = in_flight.values
        if values is not None:
            now = released.dense(values.dtype)[: values.shape[1]]
            values = lax.dynamic_update_index_in_dim(values, now, slot, 0)
        return arrived, SpikeOutput(bits, values)

    def _limit(self, limit: jax.Array, due: jax.Array, step: jax.Array) -> jax.Array:
        """Rows visited last before this step are visited now."""
        if self.plastic.programs.names.shared:
            quarter = _SHARED_STEPS // 4
            old = jnp.where(step % quarter == 0, step - 3 * quarter, limit)
            limit = jnp.maximum(limit, old)
        if self.plastic.rule.schedule()[1]:  # a sum needs all weights as they are now
            limit = jnp.where(due, EVERY_ROW, limit)
        return limit

    def _rescaled(self, weights: jax.Array, targets: Any, due: Any, table: Table) -> jax.Array:
        """The weights after the factors of the rule."""
        rule, n = self.plastic.rule, self.plastic.n_targets
        low, high = rule.bounds()
        limits = -jnp.inf if low is None else low, jnp.inf if high is None else high
        bounds = jnp.stack([jnp.asarray(x, weights.dtype) for x in limits])
        if self.plastic.programs.does("lapse"):  # then weights may have passed a bound by now
            weights = rescale(weights, jnp.ones(n, weights.dtype), bounds, due, table)
        total, synapses = target_sums(weights, due, table, n)
        factors = jnp.asarray(rule.factors(total, synapses, targets), weights.dtype)
        return rescale(weights, jnp.broadcast_to(factors, (n,)), bounds, due, table)


def _due(step: jax.Array, every: int) -> jax.Array:
    """Whether something that happens every so many steps happens in this one."""
    return jnp.bool_(False) if every == 0 else ((step + 1) % every == 0) & (step >= 0)


def _arrays(values: Any) -> Any:
    return jax.tree.map(jnp.asarray, values)


def _filled(values: dict[str, float], n: int, dtype: Any) -> jax.Array:
    rows = np.array(list(values.values()), np.float64).reshape(-1, 1)
    return as_array(np.broadcast_to(rows, (len(values), n)), dtype)


def _stacked(values: Any, names: tuple[str, ...], dtype: Any) -> jax.Array:
    rows = [jnp.asarray(values[name], dtype) for name in names]
    return jnp.stack(rows) if rows else jnp.zeros(0, dtype)


def _rows(values: Any, names: tuple[str, ...], n: int, dtype: Any) -> jax.Array:
    return _stacked(values, names, dtype).reshape(len(names), n)


def _written(ring: jax.Array, row: jax.Array, step: jax.Array) -> jax.Array:
    slot = jnp.mod(step, ring.shape[0])
    return lax.dynamic_update_index_in_dim(ring, row.reshape(ring.shape[1:]), slot, 0)
