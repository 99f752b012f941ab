"""Runs of `learn` for its tests: tables, inputs, and a loop around any version of it."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxneuro._kernels.bits import packed_bytes
from jaxneuro._kernels.event_log import empty_log, log_events
from jaxneuro._kernels.learn import LearnInputs, PlasticSynapses
from jaxneuro._kernels.rule_programs import RulePrograms, check_rule
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._kernels.table import Table
from jaxneuro._tables.bundles import ListedBundle, Placement
from jaxneuro._tables.lay_out import lay_out

DT, STEPS, EVERY_ROW = 0.5, 60, 2**31 - 1


class Case(NamedTuple):
    """A rule over a table: what a loop needs beside its inputs."""

    rule: Any
    programs: RulePrograms
    table: Table
    weights: np.ndarray
    slots: int
    n_sources: int
    n_targets: int


def case_of(rule, n_sources=12, n_targets=9, synapses=70, delays=None, post=("y",), place=0):
    """A random table; `delays` None for individual ones of 1 to 5 steps, or one for all."""
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, n_sources, synapses), rng.integers(0, n_targets, synapses)
    own = rng.integers(1, 6, synapses) if delays is None else delays
    weights = rng.uniform(0.2, 0.8, synapses)
    bundle = ListedBundle(source, target, n_sources, n_targets, weights=weights, delays=own)
    table, column, longest = lay_out([Placement(bundle, place)], place + n_targets, np.float32)
    programs = check_rule(rule, "test", post, DT, np.float32)
    column = np.asarray(column)
    return Case(rule, programs, table, column, longest + 1, n_sources, n_targets)


class Inputs(NamedTuple):
    """What happens in every step: arrays with an axis of steps first."""

    bits: np.ndarray
    values: np.ndarray | None
    events: np.ndarray
    ring: np.ndarray
    log: np.ndarray
    signals: dict[str, np.ndarray]
    limit: np.ndarray
    tick: np.ndarray
    learning: np.ndarray


def inputs_of(case, values=False, ticks=0, frozen=8, steps=STEPS, seed=2):
    """Random events; all rows are visited before weights are frozen, and at the end."""
    rng, names = np.random.default_rng(seed), case.programs.names
    spikes = rng.random((steps, case.n_sources)) < 0.1
    padded = np.zeros((steps, 8 * packed_bytes(case.n_sources)), np.uint8)
    padded[:, : case.n_sources] = spikes
    released = (spikes * rng.uniform(0.5, 2.0, spikes.shape)).astype(np.float32)
    step = np.arange(steps)
    learning = step < steps - frozen
    tick = (step % ticks == 3) if ticks else np.zeros(steps, bool)
    last = (step == steps - frozen - 1) | (step == steps - 1)

    def numbers(rows):
        return rng.uniform(0, 1, (steps, rows, case.n_targets)).astype(np.float32)

    return Inputs(
        bits=np.packbits(padded, axis=1, bitorder="little"),
        values=released if values else None,
        events=rng.random((steps, case.n_targets)) < 0.25,
        ring=numbers(len(names.ring)),
        log=numbers(len(names.log)),
        signals={name: rng.uniform(0, 1, steps).astype(np.float32) for name in case.rule.signals},
        limit=np.where(last, EVERY_ROW, step - 25).astype(np.int32),
        tick=tick,
        learning=learning.astype(np.int32),
    )


class Carried(NamedTuple):
    """The state of the loop; `learn_inputs` those of the last step."""

    ring: jax.Array
    synapses: PlasticSynapses
    learn_inputs: LearnInputs


# Each case is another program: what is compiled badly is compiled fast.


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _loop(version, programs, shape, rule, table, weights, inputs):
    slots, n_sources, n_targets = shape
    names, f32 = programs.names, jnp.float32
    log = empty_log(n_targets, 4, len(names.log), np.float32)
    shared = jax.tree.map(lambda x: jnp.asarray(x, f32), rule.init_shared())
    synapses = PlasticSynapses(
        weights,
        jnp.zeros((len(names.variables), *weights.shape)),
        jnp.full(n_sources, -1, jnp.int32),
        jnp.zeros((len(names.traces), n_sources)),
    )
    sums = jnp.stack([shared[x] for x in names.shared]) if shared else jnp.zeros(0)
    start = (
        *(jnp.zeros((slots, table.n_targets)), synapses, log, shared, jnp.int32(0)),
        *(jnp.zeros((slots, len(names.ring), n_targets)), jnp.tile(sums, (STEPS, 1))),
    )

    def body(carry, now: Inputs):
        ring, synapses, log, shared, k, post, sums = carry
        shared = rule.step_shared(shared, now.signals, DT)
        shared = jax.tree.map(lambda x: jnp.asarray(x, f32), shared)
        for row, name in enumerate(names.shared):
            sums = sums.at[k, row].set(shared[name])
        post = post.at[k % slots].set(now.ring)
        log, limit = log_events(log, now.events, now.log, k, slots - 1)
        limit = jnp.maximum(now.limit, limit)
        scale = jnp.full(table.block_offset.shape, 0.5)
        learn_inputs = LearnInputs(
            *(SpikeOutput(now.bits, now.values), k, limit, now.tick, now.learning, scale),
            *(programs.numbers(rule), post, log, sums),
        )
        arrived = ring[k % slots]
        ring, synapses = version(ring, synapses, learn_inputs, table, programs, True)
        return (ring, synapses, log, shared, k + 1, post, sums), (arrived, learn_inputs)

    (ring, synapses, *_), (arrived, moments) = jax.lax.scan(body, start, inputs)
    last = jax.tree.map(lambda x: x[-1], moments)
    return arrived, Carried(ring, synapses, last)


def run(version, case: Case, inputs: Inputs):
    """Arrivals (steps, places) and the state after them, by one version of `learn`."""
    shape = case.slots, case.n_sources, case.n_targets
    return _loop(version, case.programs, shape, case.rule, case.table, case.weights, inputs)
