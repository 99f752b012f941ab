"""A rule of plasticity at a projection: its state, and what it does in a step."""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int32

from .._arrays import AnyArray, as_array
from .._kernels.bits import packed_bytes
from .._kernels.clock import Clock
from .._kernels.event_log import EventLog, empty_log
from .._kernels.learn import LearnInputs, PlasticSynapses, learn
from .._kernels.rescale import rescale, target_sums
from .._kernels.rule_programs import RulePrograms
from .._kernels.spike_output import SpikeOutput
from .._kernels.table import Table
from .._model import Plasticity
from .._numerics.compensated import Low, no_low
from .._numerics.grid import in_steps
from .members import as_floating
from .targets import Fired, TargetNumbers, TargetStep, named, stacked, step_targets, written

EVERY_ROW = 2**31 - 1  # a limit at which all rows are visited
_LEAST_EVENTS = 32  # per target, in half of a log: fewer would be visited for too often
# Rows are visited at least every so many steps if a rule has shared numbers, which are kept so
# long; the visits are due at every quarter of that.
_SHARED_STEPS = 4096


# The fields of `PlasticState` of synapses and targets, of which a device of a mesh has its own.
OWN_FIELDS = ("synapses", "log", "targets", "low", "target_ring")


class PlasticState(NamedTuple):
    """The state of a rule at a projection.

    Attributes:
        synapses: weights and more.
        log: postsynaptic events that not all synapses have seen.
        targets: what `step_post` of the rule keeps.
        low: the digits below those of its slow variables.
        target_ring: (slots, rows, targets) its numbers in the last steps.
        shared: what `step_shared` keeps.
        shared_ring: (slots, rows) its numbers in the last steps.
        in_flight: what was released in the last steps and has not reached the synapses, None
            without an axonal delay.
        signals: named inputs of the last step.
        learning: int32 (), 1, or 0 while weights are frozen.
    """

    synapses: PlasticSynapses
    log: EventLog
    targets: Any
    low: Low
    target_ring: Float[Array, "slots rows targets"]
    shared: dict[str, Float[Array, ""]]
    shared_ring: Float[Array, "slots rows"]
    in_flight: SpikeOutput | None
    signals: dict[str, Float[Array, ""]]
    learning: Int32[Array, ""]

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """By name, the fields of which a device of a mesh has its own, and those that are equal."""
        rest = self._asdict()
        return {name: rest.pop(name) for name in OWN_FIELDS}, rest


class Plastic(eqx.Module):
    """A rule at a projection.

    Attributes:
        rule: the rule, whose numbers are of shape ().
        programs: its functions for the kernels.
        name: of the projection.
        n_sources: neurons of its source population.
        n_released: neurons of the group of the sources.
        first_target, n_targets: where its target population is in its group.
        axonal: steps of the axonal delay.
        longest: steps of the longest dendritic delay.
        whole: whether it connects all neurons of both populations.
        tick_steps, sum_steps: from one tick, and one sum, to the next; 0 for never.
        slow: names of the slow variables of the targets (see `slow.py`).
        numbers: those of the programs, made once before a loop (`expand`); None before.
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
    tick_steps: int = eqx.field(static=True)
    sum_steps: int = eqx.field(static=True)
    slow: tuple[str, ...] = eqx.field(static=True)
    numbers: Float[Array, " numbers"] | None = None

    def init(
        self, weights: Float[AnyArray, " synapses"], values: bool, dtype: np.dtype
    ) -> PlasticState:
        """The state at t = 0; `values` whether sources release other numbers than 1."""
        names, slots = self.programs.names, self.longest + 1
        start = jax.eval_shape(self.rule.init_shared)
        synapses = PlasticSynapses(
            weights=jnp.array(weights),
            variables=_filled(self.rule.variables(), weights.shape[0], dtype),
            row_time=as_array(np.full(self.n_sources, -1), np.int32),
            row_traces=as_array(np.zeros((len(names.traces), self.n_sources)), dtype),
        )
        shared = as_floating(_arrays(self.rule.init_shared()), dtype)
        ring = stacked(named(shared, names.shared, dtype), dtype)
        kept = _SHARED_STEPS + 1 if start else 1
        in_flight = None
        if self.axonal:
            shape = (self.axonal, packed_bytes(self.n_released))
            bits = as_array(np.zeros(shape), np.uint8)
            many = as_array(np.zeros((self.axonal, self.n_released)), dtype) if values else None
            in_flight = SpikeOutput(bits, many)
        targets = as_floating(_arrays(self.rule.init_post(self.n_targets)), dtype)
        return PlasticState(
            synapses=synapses,
            log=self.empty_log(self.n_targets, dtype),
            targets=targets,
            low=no_low(targets, self.slow),
            target_ring=as_array(np.zeros((slots, len(names.ring), self.n_targets)), dtype),
            shared=shared,
            shared_ring=jnp.tile(ring[None], (kept, 1)),
            in_flight=in_flight,
            signals={name: as_array(0.0, dtype) for name in self.rule.signals},
            learning=as_array(1, np.int32),
        )

    def empty_log(self, n_targets: int, dtype: np.dtype) -> EventLog:
        """A log of so many targets before their first event."""
        most = max(self.longest + 1, _LEAST_EVENTS)
        return empty_log(n_targets, most, len(self.programs.names.log), dtype)

    def expand(self) -> "Plastic":
        """The rule as a loop runs it."""
        return dataclasses.replace(self, numbers=self.programs.numbers(self.rule))

    def deliver(
        self,
        ring: Float[Array, "slots places"],
        released: SpikeOutput,
        fired: Fired,
        state: PlasticState,
        clock: Clock,
        scale: Float[Array, " blocks"],
        table: Table,
        clear: bool,
    ) -> tuple[Float[Array, "slots places"], PlasticState]:
        """Ring and state after what was released in a step has arrived at the synapses."""
        step = clock.now
        assert self.numbers is not None
        rule, names = self.rule, self.programs.names
        dtype = ring.dtype
        released, in_flight = self._arrived(released, state.in_flight, step)
        before = TargetNumbers(state.targets, state.low, state.target_ring, state.log)
        (targets, low, target_ring, log), limit = step_targets(
            self._target_step(dtype), rule, before, fired, clock
        )
        shared = rule.step_shared(state.shared, state.signals, self.programs.dt)
        shared = as_floating(shared, dtype)
        shared_ring = state.shared_ring
        if names.shared:
            shared_ring = written(
                shared_ring, stacked(named(shared, names.shared, dtype), dtype), step
            )
        tick, due = (_due(step, n_steps) for n_steps in (self.tick_steps, self.sum_steps))
        limit = self._limit(limit, due, step)
        learn_inputs = LearnInputs(
            released=released,
            step=clock,
            limit=limit,
            tick=tick,
            learning=state.learning,
            scale=scale,
            numbers=self.numbers,
            post=target_ring,
            log=log,
            shared=shared_ring,
        )
        ring, synapses = learn(ring, state.synapses, learn_inputs, table, self.programs, clear)
        if self.sum_steps:
            weights = self._rescaled(synapses.weights, targets, due & (state.learning != 0), table)
            synapses = synapses._replace(weights=weights)
        new = state._replace(
            synapses=synapses,
            log=log,
            targets=targets,
            low=low,
            target_ring=target_ring,
            shared=shared,
            shared_ring=shared_ring,
            in_flight=in_flight,
        )
        return ring, new

    def _target_step(self, dtype: np.dtype) -> TargetStep:
        names = self.programs.names
        span = self.first_target, self.n_targets
        return TargetStep(*span, names.ring, names.log, self.longest, self.programs.dt, dtype)

    def flush(self, state: PlasticState, step: Int32[Array, ""], table: Table) -> PlasticState:
        """The state with every row brought up to `step`, the last one that was delivered."""
        assert self.numbers is not None
        nothing = SpikeOutput(jnp.zeros(packed_bytes(self.n_released), jnp.uint8))
        ring = jnp.zeros((1, 1), state.synapses.weights.dtype)
        scale = jnp.zeros(table.block_projection.shape, ring.dtype)
        learn_inputs = LearnInputs(
            released=nothing,
            step=step,
            limit=jnp.int32(EVERY_ROW),
            tick=jnp.bool_(False),
            learning=state.learning,
            scale=scale,
            numbers=self.numbers,
            post=state.target_ring,
            log=state.log,
            shared=state.shared_ring,
        )
        _, synapses = learn(ring, state.synapses, learn_inputs, table, self.programs, False)
        return state._replace(synapses=synapses)

    def _arrived(
        self, released: SpikeOutput, in_flight: SpikeOutput | None, step: Int32[Array, ""]
    ) -> tuple[SpikeOutput, SpikeOutput | None]:
        """What reaches the synapses in `step`, and what is on its way after it."""
        if in_flight is None:
            return released, None
        slot = jnp.mod(step, self.axonal)
        arrived = jax.tree.map(
            lambda x: lax.dynamic_index_in_dim(x, slot, 0, keepdims=False), in_flight
        )
        bits = lax.dynamic_update_index_in_dim(in_flight.bits, released.bits, slot, 0)
        values = in_flight.values
        if values is not None:
            now = released.dense(values.dtype)[: values.shape[1]]
            values = lax.dynamic_update_index_in_dim(values, now, slot, 0)
        return arrived, SpikeOutput(bits, values)

    def _limit(
        self, limit: Int32[Array, ""], due: Bool[Array, ""], step: Int32[Array, ""]
    ) -> Int32[Array, ""]:
        """Rows visited last before this step are visited now."""
        if self.programs.names.shared:
            quarter = _SHARED_STEPS // 4
            old = jnp.where(step % quarter == 0, step - 3 * quarter, limit)
            limit = jnp.maximum(limit, old)
        if self.sum_steps:  # a sum needs all weights as they are now
            limit = jnp.where(due, EVERY_ROW, limit)
        return limit

    def _rescaled(
        self, weights: Float[Array, " synapses"], targets: Any, due: Bool[Array, ""], table: Table
    ) -> Float[Array, " synapses"]:
        """The weights after the factors of the rule."""
        rule, n = self.rule, self.n_targets
        low, high = rule.bounds()
        limits = -jnp.inf if low is None else low, jnp.inf if high is None else high
        bounds = jnp.stack([jnp.asarray(x, weights.dtype) for x in limits])
        if self.programs.does("lapse"):  # then weights may have passed a bound by now
            weights = rescale(weights, jnp.ones(n, weights.dtype), bounds, due, table)
        total, synapses = target_sums(weights, due, table, n)
        factors = jnp.asarray(rule.factors(total, synapses, targets), weights.dtype)
        return rescale(weights, jnp.broadcast_to(factors, (n,)), bounds, due, table)


def interval_steps(rule: Plasticity, owner: str, dt: float) -> tuple[int, int]:
    """Steps from one tick, and from one sum, of a rule to the next; 0 for never."""
    name = f"{owner}: intervals"
    tick, total = (0 if x is None else in_steps(name, x, dt, 1).n_steps for x in rule.intervals())
    return tick, total


def _due(step: Int32[Array, ""], n_steps: int) -> Bool[Array, ""]:
    """Whether something that happens every so many steps happens in this one."""
    return jnp.bool_(False) if n_steps == 0 else ((step + 1) % n_steps == 0) & (step >= 0)


def _arrays(values: Any) -> Any:
    return jax.tree.map(jnp.asarray, values)


def _filled(values: dict[str, float], n: int, dtype: np.dtype) -> Float[Array, "variables n"]:
    rows = np.array(list(values.values()), np.float64).reshape(-1, 1)
    return as_array(np.broadcast_to(rows, (len(values), n)), dtype)
