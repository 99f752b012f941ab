"""The chunks that a run is made of: which, their compiled programs, what they leave on the host."""

import dataclasses
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, Num, Shaped

from .._arrays import AnyArray, as_array, on_host
from .._kernels.native import native_available
from .._network.network import Network
from .._network.pathway import Pathway
from .._network.state import NetworkState
from .._warn import warn
from .info import RunInfo
from .record import Record
from .recording import Recording
from .scan import scan_turns
from .spikes import Events
from .statistics import SpikeSums, joined_sums, sums_of_events

# --- Which chunks a run is made of.


_CHUNK_BYTES = 64e6  # spike bits of one chunk
_CHUNK_S = 0.1  # wall time that a chunk should take at most,
_ON_CPU = 1.5e-6, 1.5e-9  # at so many seconds for a step, and for each neuron in it
_ON_GPU = 5e-6, 3e-11
_SAMPLE_BYTES = 4e6  # samples of one chunk: they stay in a cache until they are copied
_INPUT_BYTES = 16e6


class RunPart(NamedTuple):
    """A chunk of a run.

    Attributes:
        steps: how many are run.
        room: for how many its program has room. One that has as much room as steps may know their
            number when it is compiled.
        record: what is recorded.
    """

    steps: int
    room: int
    record: Record


class ChunkSizes(NamedTuple):
    """What a step of a run needs, and so how long a chunk may be.

    Attributes:
        neurons: their number.
        sample_bytes: of one sample.
        input_bytes: of the inputs of one step.
        exchange: seconds that processes wait for each other in a step.
        gpu: whether a GPU takes it.
    """

    neurons: int
    sample_bytes: int = 0
    input_bytes: int = 0
    exchange: float = 0.0
    gpu: bool = False


def chunk_steps(sizes: ChunkSizes, every: int) -> int:
    """Steps of a full chunk, a multiple of `every`: bounded in bytes and in wall time.

    They do not depend on the duration of a run, so that all durations have one program.
    """
    alone, each = _ON_GPU if sizes.gpu else _ON_CPU
    step = alone + each * sizes.neurons + sizes.exchange
    most = min(_CHUNK_S / step, 8 * _CHUNK_BYTES / (sizes.neurons + 1))
    most = min(most, every * _SAMPLE_BYTES / (sizes.sample_bytes + 1))
    most = min(most, _INPUT_BYTES / (sizes.input_bytes + 1))
    return max(int(most) // every, 1) * every


def plan(
    n_steps: int,
    first: int,
    record: Record,
    sizes: ChunkSizes,
    dt: float,
    together: int,
    known: bool,
) -> list[RunPart]:
    """The chunks of a run of `n_steps` from step `first` on.

    Up to the first sample, full chunks, what is left of them, and a rest without a sample: samples
    fall on multiples of the record's interval since the network's start. `together` so many steps
    are taken at a time where nothing is sampled. If `known`, every program knows its number of
    steps: a GPU would else ask the host before each of them.
    """
    bare = record.without_samples()
    every = record.steps_between(dt) if record.has_samples else together
    head = -first % every if record.has_samples else 0
    if head > n_steps:
        return [RunPart(n_steps, n_steps if known or together > 1 else every, bare)]
    sampled, rest = (n_steps - head) // every * every, (n_steps - head) % every
    full = chunk_steps(sizes, every)
    if known:
        full = _near_divisor(sampled // every, full // every) * every
    parts = []
    if head and (known or together > 1):
        parts = [RunPart(head, head, dataclasses.replace(record, interval=head * dt))]
    elif head:  # a last step with a sample: two programs for any number of steps
        last = dataclasses.replace(record, interval=dt)
        parts = [RunPart(head - 1, every, bare), RunPart(1, 1, last)]
    parts += [RunPart(full, full, record)] * (sampled // full)
    left = sampled % full
    parts.append(RunPart(left, left if known else full, record))
    parts.append(RunPart(rest, rest if known or together > 1 else every, bare))
    return [part for part in parts if part.steps] or [RunPart(0, 1, bare)]


def _near_divisor(windows: int, most: int) -> int:
    """A divisor of `windows` from a third of `most` on, or `most`: one program instead of two."""
    if windows <= most:
        return max(windows, 1)
    return next((k for k in range(most, most // 3, -1) if windows % k == 0), most)


# --- Tables with room for more connections, so that a rebuilt network finds its compiled program.


_LARGEST = 4 << 20  # bytes of a column: above, building takes much longer than compiling


def with_room(net: Network) -> Network:
    """The same network, with columns of connections as long as the next power of two.

    Another key or another probability gives other numbers of connections; with room for them the
    arrays have the same shapes. Kernels never read beyond what row pointers name. Columns of
    plastic pathways, whose state is as long, and those above 4 MiB stay as they are: so it costs at
    most a copy of 4 MiB per column.
    """
    if net.layout is not None:
        return net
    return dataclasses.replace(net, pathways=tuple(map(_with_room, net.pathways)))


def _with_room(pathway: Pathway) -> Pathway:
    table = pathway.table
    columns = table.targets, table.tags, table.delays, pathway.weights
    too_large = any(x.nbytes > _LARGEST for x in columns)
    if pathway.plastic is not None or too_large or not native_available():
        return pathway
    targets, tags, delays, weights = map(_grown, columns)
    longest = targets.shape[0]  # of a row, at most; only the loops in jnp run so far
    table = dataclasses.replace(
        table, targets=targets, tags=tags, delays=delays, longest_row=longest
    )
    return dataclasses.replace(pathway, table=table, weights=weights)


def _grown(x: Shaped[AnyArray, " n"]) -> Shaped[AnyArray, " size"]:
    n = x.shape[0]
    size = 1 << (n - 1).bit_length() if n else 0
    return x if size == n else as_array(np.pad(np.asarray(x), (0, size - n)))


# --- Compiles the loop once per shape and record, and keeps what was compiled.


# Fewer copies of a loop carry, and 512-bit vectors where the CPU has them. Both keep
# every bit; what they gain is in docs/performance.md. Only CPUs know them.
_OPTIONS = {
    "xla_cpu_copy_insertion_use_region_analysis": True,
    "xla_cpu_prefer_vector_width": 512,
}
_KEPT = 16
_log = logging.getLogger("jaxneuro")
_programs: OrderedDict[Any, Any] = OrderedDict()


def _chunk(
    net: Network,
    state: NetworkState,
    inputs: dict[str, Num[Array, "room ..."]],
    steps: Int32[Array, ""] | None,
    room: int,
    record: Record,
) -> tuple[NetworkState, Recording, Int32[Array, ""]]:
    state, recording = scan_turns(net, state, room, inputs, record, steps)
    return state, recording, _non_finite(state)


def _non_finite(state: NetworkState) -> Int32[Array, ""]:
    """How many numbers of neurons, receptors, releases and plastic synapses are not finite."""
    models = [(group.neurons, group.receptors) for group in state.groups]
    rules = [
        (p.synapses.weights, p.synapses.variables, p.targets, p.shared)
        for p in (pathway.plastic for pathway in state.pathways)
        if p is not None
    ]
    releases = [sender.release for sender in (*state.pathways, *state.couplings)]
    leaves = jax.tree.leaves((models, rules, releases))
    floating = [x for x in leaves if jnp.issubdtype(x.dtype, jnp.floating)]
    bad = [jnp.sum(~jnp.isfinite(x), dtype=jnp.int32) for x in floating]
    return sum(bad, jnp.zeros((), jnp.int32))


def program(args: tuple, room: int, record: Record) -> tuple[Any, float]:
    """The compiled chunk `(*args) -> (state, recording, bad)` and its compile time.

    `args` are network, state, inputs of `room` steps, and how many of these are run: int32 (), or
    None for all. The time is 0 if an equal network (same shapes, any values) has run before.
    """
    leaves, structure = jax.tree.flatten(args)
    shapes = tuple(
        (x.shape, x.dtype, getattr(x, "weak_type", False), getattr(x, "sharding", None))
        for x in leaves
    )
    key = structure, shapes, room, record
    if key in _programs:
        _programs.move_to_end(key)
        return _programs[key], 0.0
    start = time.perf_counter()
    jitted = jax.jit(_chunk, static_argnums=(4, 5))
    lowered = jitted.lower(*args, room, record)
    done = compiled(lowered)
    _programs[key] = done
    _warn_of_new_function(record.function)
    if len(_programs) > _KEPT:
        _programs.popitem(last=False)
    return done, time.perf_counter() - start


# The last function of each code that was compiled, and how many there were.
_functions: dict[Any, tuple[Any, int]] = {}
_MANY_FUNCTIONS = 3


def _warn_of_new_function(function: Callable | None) -> None:
    """Warns where a record's function is written anew again and again: each compiles."""
    code = getattr(function, "__code__", None)
    last, count = _functions.get(code, (None, 0))
    if code is None or last is function:
        return
    _functions[code] = function, count + 1
    if count + 1 == _MANY_FUNCTIONS:
        warn(
            f"the function of the Record was written anew {count + 1} times, each was compiled: "
            "define it once, outside of the loop, and give the same one"
        )


def compiled(lowered: Any) -> Any:
    """A lowered program, compiled with the options that suit a loop over steps."""
    if jax.default_backend() != "cpu":
        return lowered.compile()
    try:
        return lowered.compile(compiler_options=_OPTIONS)
    except Exception as error:  # an XLA that does not know the options; a real one comes again
        done = lowered.compile()
        _log.warning("XLA refused the compile options, compiled without them: %s", error)
        return done


# --- What finished chunks leave on the host.


class Finished(NamedTuple):
    """How far a run has come. Its arrays are in a `Store`, up to these numbers.

    Attributes:
        chunks: how many are finished.
        steps: how many were run.
        samples: how many were taken.
        spikes: how many there were, by population.
        sums: the running sums of spikes, by population.
        state: after the last step.
    """

    chunks: int
    steps: int
    samples: int
    spikes: dict[str, int]
    sums: dict[str, SpikeSums]
    state: NetworkState


class Series:
    """Arrays of one structure that grow along their first axis.

    What was written stays as it is, so that a view of it is a result that nothing changes. With
    room for `rows` nothing is held twice, and NumPy asks the system for large pages: fresh memory
    in small ones costs as much time as a neuron update does.
    """

    def __init__(self, rows: int = 0):
        self._rows, self._arrays = rows, None

    def put(self, first: int, values: Any) -> None:
        """Writes arrays from row `first` on, where the rows before are those to be kept."""
        if self._arrays is None:
            new = lambda x: np.empty((max(self._rows, len(x)), *x.shape[1:]), x.dtype)  # noqa: E731
            self._arrays = jax.tree.map(new, values)
        self._arrays = jax.tree.map(lambda x, y: _written(x, first, y), self._arrays, values)

    def first(self, rows: int, otherwise: Any = None) -> Any:
        """Views of the first `rows` rows; `otherwise` if none was ever written."""
        if self._arrays is None:
            return otherwise
        return jax.tree.map(lambda x: x[:rows], self._arrays)


def _written(
    array: Shaped[np.ndarray, "room ..."], first: int, values: Shaped[np.ndarray, "rows ..."]
) -> Shaped[np.ndarray, "more ..."]:
    """The array with values from a row on; with twice the room if there is too little."""
    last = first + len(values)
    if last > len(array):
        grown = np.empty((max(last, 2 * len(array)), *array.shape[1:]), array.dtype)
        grown[:first] = array[:first]
        array = grown
    array[first:last] = values
    return array


class Store:
    """The arrays of a run: its samples, counts per step, and spikes by population."""

    def __init__(self, net: Network, record: Record, samples: int = 0):
        self.samples, self.counts = Series(samples), Series()
        self.spikes = {name: Series() for name in net.order if record.spikes}


def collect(
    store: Store, before: Finished, state: NetworkState, recording: Recording, part: RunPart
) -> Finished:
    """Copies what a chunk recorded to the host, and says how far the run has come.

    Its arrays have room for more than the steps that were run.
    """
    length, record, dt = part.steps, part.record, recording.info.dt
    spikes, sums = {}, {}
    events: dict[str, Events] = {}
    if recording.spikes is not None:
        wanted = store.spikes.keys() | before.sums.keys()
        events = recording.spikes.by_population(wanted, length, before.steps)
    for name, (steps, neurons) in events.items():
        if name in store.spikes:
            store.spikes[name].put(before.spikes[name], (steps, neurons))
            spikes[name] = before.spikes[name] + steps.size
        if name in before.sums:
            start = int(recording.first_step) - before.steps  # of the run
            found = sums_of_events(steps, neurons, before.sums[name].count.size, start)
            sums[name] = joined_sums(before.sums[name], found)
    counts = jax.tree.map(lambda x: on_host(x)[:length], recording.counts)
    store.counts.put(before.steps, counts)
    samples = length // record.steps_between(dt) if record.has_samples else 0
    if samples:
        sampled = jax.tree.map(lambda x: on_host(x)[:samples], recording.samples)
        store.samples.put(before.samples, sampled)
    return Finished(
        chunks=before.chunks + 1,
        steps=before.steps + length,
        samples=before.samples + samples,
        spikes=spikes,
        sums=sums,
        state=state,
    )


def nothing_yet(net: Network, start: NetworkState, record: Record) -> Finished:
    """A run before its first chunk."""
    nobody = np.zeros(0, np.int32)
    sums = {k: sums_of_events(nobody, nobody, net.populations[k], 0) for k in record.statistics}
    return Finished(0, 0, 0, dict.fromkeys(net.order, 0), sums, start)


def joined(
    net: Network,
    start: NetworkState,
    record: Record,
    info: RunInfo,
    finished: Finished,
    store: Store,
) -> dict[str, Any]:
    """The fields of a `Result` of the chunks that are finished; `info` is that of the run."""
    first, done, every = int(start.step), finished.steps, record.steps_between(net.dt)
    last = first + done if record.has_samples else first
    samples = np.arange(first // every, last // every, dtype=np.int64) + 1
    sampled = store.samples.first(finished.samples)
    if sampled is None:  # the run was too short for one
        none = lambda x: np.zeros((0, *x.shape), x.dtype)  # noqa: E731
        sampled = jax.tree.map(none, record.shapes(net, start))
    none = np.zeros(0, np.int32), np.zeros(0, np.int32)
    spikes = {k: x.first(finished.spikes[k], none) for k, x in store.spikes.items()}
    return {
        "network": net,
        "state": finished.state,
        "first_step": first,
        "spikes": spikes if record.spikes else None,
        "sample_times": every * samples * net.dt,
        "counts": store.counts.first(done, {}),
        "constants": record.constants(net),
        "statistics": finished.sums,
        "key": int(start.seed),
        **info._replace(n_steps=done).fields(),
        "samples": sampled,
    }
