"""`learn`: delivers what plastic synapses send, and changes their weights.

In step k, for each source i whose event arrives at its synapses (and each row that waits no
longer), for each of its synapses with weight w, target j and dendritic delay d:

* the postsynaptic events of j that reached the synapse since it was visited last, in their
  order: those of the steps up to k - d;
* what happens now: a tick, the presynaptic event;
* `ring[(k + d) mod slots, place of j] += released_i * scale * w`.

So a row is read and written once for each of its presynaptic events, in order, and no index by
target is needed. The result is that of doing everything when it happens, up to rounding.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from .call import batched, by_platform, native_update, over_batch
from .clock import Clock, Step
from .event_log import EventLog
from .gpu import learn_on_gpu
from .learn_reference import learn_reference
from .native import native_available
from .rule_programs import RulePrograms
from .spike_output import SpikeOutput
from .table import Table


class PlasticSynapses(NamedTuple):
    """What `learn` changes, beside the ring.

    Attributes:
        weights: (synapses,).
        variables: (variables, synapses).
        row_time: int32 (sources,) the step in which the row of each source was visited last.
        row_traces: (traces, sources) of the source, just after that step.
    """

    weights: Float[Array, " synapses"]
    variables: Float[Array, "variables synapses"]
    row_time: Int32[Array, " sources"]
    row_traces: Float[Array, "traces sources"]


class LearnInputs(NamedTuple):
    """What `learn` reads of a time step.

    Attributes:
        released: what arrives at the synapses.
        step: k.
        limit: int32 (): rows visited last before it are visited now.
        tick: bool () whether one is due.
        learning: int32 () whether weights may change.
        scale: (blocks,).
        numbers: of the rule (`RulePrograms.numbers`).
        post: (slots, rows, targets) numbers of the targets in the last steps, that of step k in
            slot k mod slots.
        log: their events.
        shared: (slots, rows) shared numbers in the last steps.
    """

    released: SpikeOutput
    step: Step
    limit: jax.Array
    tick: jax.Array
    learning: jax.Array
    scale: jax.Array
    numbers: jax.Array
    post: jax.Array
    log: EventLog
    shared: jax.Array


# Axes, without a batch, of ring, weights, variables, row_time, row_traces, and of what is read:
# bits, values, first, since, limit, tick, learning, scale, numbers, post, head, events, numbers of
# the log, shared.
_RANKS = (2, 1, 2, 1, 2, 1, 1, 0, 0, 0, 0, 0, 1, 1, 3, 2, 2, 2, 2)
_CHANGED, _STEP = 5, 7


def learn(
    ring: Float[Array, "slots places"],
    synapses: PlasticSynapses,
    learn_inputs: LearnInputs,
    table: Table,
    programs: RulePrograms,
    clear: bool,
) -> tuple[Float[Array, "slots places"], PlasticSynapses]:
    """The ring and the synapses after a step; see the module docstring.

    `ring` (slots, places) float32 or float64; with `clear` the slot of the step itself, which has
    been read, is emptied first. `table` has one section, of one projection.

    Derivatives visit all synapses in every step.

    Raises:
        InvalidValueError: for a batched table.
    """
    return _learn(ring, synapses, learn_inputs, table, programs, clear)


@functools.partial(jax.custom_jvp, nondiff_argnums=(4, 5))
def _learn(ring, synapses, learn_inputs, table, programs, clear):
    released = learn_inputs.released.operands(ring.dtype)
    log = learn_inputs.log
    operands = (
        *(ring, *synapses, *released, *Clock.of(learn_inputs.step)),
        *(learn_inputs.limit, learn_inputs.tick, learn_inputs.learning),
        *(learn_inputs.scale, learn_inputs.numbers, learn_inputs.post),
        *(log.head, log.events, log.numbers, learn_inputs.shared),
    )
    call = _batched(programs, clear, native_available())
    ring, *changed = call(*operands, table)
    return ring, PlasticSynapses(*changed)


@_learn.defjvp
def _slope(programs, clear, primals, tangents):
    ring, synapses, learn_inputs, table = primals

    # The reference visits every row in every step, so that one step can be differentiated.
    def again(ring, synapses, learn_inputs):
        return learn_reference(ring, synapses, learn_inputs, table, programs, clear)

    return jax.jvp(again, (ring, synapses, learn_inputs), tangents[:3])


@functools.lru_cache(maxsize=64)
def _batched(programs: RulePrograms, clear: bool, native: bool) -> Any:
    """The call for one network or for a batch of them over one table."""
    del native  # another key: what was traced without the native library stays without it

    # Traced on every platform, once in each transformation: `jit` remembers what it traced.
    @jax.jit
    def one(*operands: Any) -> Any:
        *arrays, table = operands
        return _flat(learn_reference(*unpacked(arrays), table, programs, clear))

    def call(*operands: Any) -> Any:
        reference = over_batch(one, _RANKS)
        known = programs.words is not None
        # The reference indexes with 32 bits.
        beyond = known and native_available() and operands[-1].n_stored >= 2**31
        return by_platform(
            *operands,
            default=None if beyond else reference,
            cpu=_native(programs, clear) if known else None,
            cuda=learn_on_gpu(programs, clear, _CHANGED, unpacked, reference),
        )

    return batched(
        call,
        _RANKS,
        "learn: the table of connections must not be batched by vmap; map over the state or the "
        "parameters of the rule and share one network",
        in_place=_CHANGED,
    )


def unpacked(arrays: Any) -> tuple[jax.Array, PlasticSynapses, LearnInputs]:
    """Ring, synapses and inputs from the flat operands of a call."""
    ring, weights, variables, row_time, row_traces, *read = arrays
    bits, values, first, since, *now, head, events, kept, shared = read
    log = EventLog(jnp.zeros((), jnp.int32), head, events, kept)
    released, clock = SpikeOutput.of_operands(bits, values), Clock(first, since)
    learn_inputs = LearnInputs._make([released, clock, *now, log, shared])
    return ring, PlasticSynapses(weights, variables, row_time, row_traces), learn_inputs


def _flat(out: Any) -> tuple:
    ring, synapses = out
    return (ring, *synapses)


def _native(programs: RulePrograms, clear: bool) -> Any:
    def run(*operands: Any) -> Any:
        *arrays, table = operands
        dtype = arrays[0].dtype
        first, since, limit, tick, learning = arrays[_STEP : _STEP + 5]
        tick, learning = jnp.broadcast_arrays(tick.astype(jnp.int32), learning)
        arrays[_STEP : _STEP + 5] = [first + since, limit, jnp.stack([tick, learning], -1)]
        floating = [x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x for x in arrays]
        columns = (
            *(table.sections, table.pointers, table.targets, table.tags, table.delays),
            *(table.block_offset, table.block_delay, table.block_span),
        )
        return native_update(
            "jaxneuro_learn",
            (*floating, jnp.asarray(programs.words, jnp.int32), *columns),
            _CHANGED,
            parameters=programs.n_parameters,
            dt=programs.dt,
            clear=clear,
        )

    return run
