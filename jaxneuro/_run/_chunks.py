"""The results of finished chunks on the host, and their concatenation over a run."""

from typing import Any, NamedTuple

import jax
import numpy as np

from .._kernels import unpack
from .._network import Network, NetworkState, value_of
from ._plan import Part
from ._record import Record
from ._scan import Recording
from ._spikes import layout
from ._weight_samples import bin_edges, chosen_synapses, number_of_weights

Events = tuple[np.ndarray, np.ndarray]


SAMPLED = ("traces", "means", "lfp", "function", "weights", "weight_histograms")


class Chunk(NamedTuple):
    """The results of one finished chunk; steps of spikes count from the first of the run.

    `samples` is the number of its samples, which are in the `Store`. `state` is None once a later
    chunk is collected.
    """

    length: int
    samples: int
    state: NetworkState | None
    events: tuple[Events, ...]
    counts: dict[str, np.ndarray]


class Store:
    """The samples of a run: arrays of their final length, filled chunk by chunk.

    Nothing is held twice, and NumPy asks the system for large pages: fresh memory in small ones
    costs as much time as a neuron update does.
    """

    def __init__(self, rows: int):
        self.rows = rows
        self.arrays: dict[str, Any] | None = None

    def put(self, first: int, sampled: dict[str, Any]) -> None:
        """Writes the samples of a chunk from row `first` on."""
        if self.arrays is None:
            new = lambda x: np.empty((self.rows, *x.shape[1:]), x.dtype)  # noqa: E731
            self.arrays = jax.tree.map(new, sampled)
        for array, x in zip(jax.tree.leaves(self.arrays), jax.tree.leaves(sampled)):
            array[first : first + len(x)] = x

    def taken(self, rows: int) -> dict[str, Any] | None:
        """The first `rows` samples, or None if none was written."""
        if self.arrays is None:
            return None
        return jax.tree.map(lambda x: x[:rows], self.arrays)


def collect(
    net: Network,
    state: NetworkState,
    recording: Recording,
    before: list[Chunk],
    part: Part,
    store: Store,
) -> Chunk:
    """Copies what a chunk recorded to the host, its samples into `store`.

    `before` are the chunks before it. Its arrays have room for more than the steps that were run.
    """
    length, record = part.steps, part.record
    done, rows = sum(c.length for c in before), sum(c.samples for c in before)
    bits = () if recording.spikes is None else recording.spikes.bits
    events = tuple(unpack(np.asarray(b)[:length], 0, g.n, done) for b, g in zip(bits, net.groups))
    counts = jax.tree.map(lambda x: np.asarray(x)[:length].copy(), recording.counts)
    samples = length // record.every if record.samples else 0
    if samples:
        sampled = {name: getattr(recording, name) for name in SAMPLED}
        store.put(rows, jax.tree.map(lambda x: np.asarray(x)[:samples], sampled))
    return Chunk(length, samples, state, events, counts)


def joined(
    net: Network, start: NetworkState, record: Record, chunks: list[Chunk], store: Store
) -> dict[str, Any]:
    """The fields of a `Result` from the chunks of a run."""
    first, done = int(start.step), sum(c.length for c in chunks)
    every = record.every
    samples = range(first // every + 1, (first + done) // every + 1) if record.samples else ()
    sampled = store.taken(sum(c.samples for c in chunks))
    if sampled is None:
        sampled = {"function": None, **_no_samples(net, start, record)}
    spikes = None
    if record.spikes:
        groups = range(len(net.groups))
        spikes = tuple(_join_events([c.events[g] for c in chunks]) for g in groups)
    return {
        "network": net,
        "state": chunks[-1].state if chunks else start,
        "dt": net.dt,
        "layout": layout(net),
        "first_step": first,
        "n_steps": done,
        "spikes": spikes,
        "sample_times": every * np.asarray(samples, np.int64) * net.dt,
        "every": every,
        "counts": _join([c.counts for c in chunks]) or {},
        "neurons": _neurons(net, start, record),
        "shared": record.shared(net, start),
        "synapses": _synapses(net, record),
        "weight_edges": {k: bin_edges(net, k, b) for k, b in record.weight_histograms.items()},
        **sampled,
    }


def _neurons(net: Network, start: NetworkState, record: Record) -> dict[str, np.ndarray]:
    """The numbers of the recorded neurons, if not all are."""
    out = {}
    for name in record.neurons:
        for variable in record.variables[name][:1]:
            index = record.chosen(name, _read_shape(net, start, name, variable).shape[-1])
            if index is not None:
                out[name] = index
    return out


def _read_shape(net: Network, state: NetworkState, name: str, variable: str) -> Any:
    """Shape and dtype of a variable; nothing is computed, and no device is asked."""
    return jax.eval_shape(lambda net, state: value_of(net, state, name, variable), net, state)


def _synapses(net: Network, record: Record) -> dict[str, np.ndarray]:
    """The numbers of the synapses whose weights are recorded, if not all are."""
    numbers = {name: chosen_synapses(net, name, x) for name, x in record.weights.items()}
    return {name: x for name, x in numbers.items() if x is not None}


def _no_samples(net: Network, start: NetworkState, record: Record) -> dict[str, Any]:
    """The samples of a run that was too short for one: arrays of no rows."""
    traces: dict[str, dict[str, np.ndarray]] = {}
    for name, variables in record.variables.items():
        for variable in variables:
            x = _read_shape(net, start, name, variable)
            index = record.chosen(name, x.shape[-1])
            n = x.shape[-1] if index is None else len(index)
            traces.setdefault(name, {})[variable] = np.zeros((0, n), x.dtype)
    nothing = np.zeros(0, net.dtype)
    means = {name: dict.fromkeys(variables, nothing) for name, variables in record.means.items()}
    weights = {
        name: np.zeros((0, number_of_weights(net, name, which)), net.dtype)
        for name, which in record.weights.items()
    }
    bins = record.weight_histograms
    return {
        "traces": traces,
        "means": means,
        "lfp": dict.fromkeys(record.lfp, nothing),
        "weights": weights,
        "weight_histograms": {k: np.zeros((0, b.count), np.int32) for k, b in bins.items()},
    }


def _join_events(chunks: list[Events]) -> Events:
    if not chunks:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    steps, neurons = zip(*chunks)
    return _concatenate(*steps), _concatenate(*neurons)


def _join(chunks: list[Any]) -> Any:
    """Chunks of one structure, concatenated along their first axis."""
    return jax.tree.map(_concatenate, *chunks) if chunks else None


def _concatenate(*parts: np.ndarray) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
