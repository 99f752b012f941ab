"""What a finished chunk gave, on the host, and all chunks of a run end to end."""

from typing import Any, NamedTuple

import jax
import numpy as np

from ..kernels import unpack
from ..network import Network, NetworkState
from ._record import Record
from ._scan import Recording
from ._spikes import layout

Events = tuple[np.ndarray, np.ndarray]


class Chunk(NamedTuple):
    """What one finished chunk gave; spikes per group, their steps counted from the run's first.

    `state` is None once a later chunk is there.
    """

    length: int
    samples: bool
    state: NetworkState | None
    events: tuple[Events, ...]
    recording: Recording


def collect(
    net: Network, state: NetworkState, recording: Recording, done: int, length: int, samples: bool
) -> Chunk:
    """Takes what a chunk recorded to the host; `done` steps came before it."""
    bits = () if recording.spikes is None else recording.spikes.bits
    events = tuple(unpack(np.asarray(b), 0, g.n, done) for b, g in zip(bits, net.groups))
    host = jax.tree.map(np.asarray, recording._replace(spikes=None))
    return Chunk(length, samples, state, events, host)


def joined(
    net: Network, start: NetworkState, record: Record, chunks: list[Chunk]
) -> dict[str, Any]:
    """The fields of a `Result` from the chunks of a run."""
    first, done = int(start.step), sum(c.length for c in chunks)
    every = record.every
    samples = range(first // every + 1, (first + done) // every + 1) if record.samples else ()
    parts = [c.recording for c in chunks if c.samples]
    sampled = {
        name: _join([getattr(r, name) for r in parts])
        for name in ("traces", "means", "lfp", "function")
    }
    if not parts:
        sampled |= _no_samples(net, start, record)
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
        "counts": _join([c.recording.counts for c in chunks]) or {},
        "neurons": _neurons(net, start, record),
        **sampled,
    }


def _neurons(net: Network, start: NetworkState, record: Record) -> dict[str, np.ndarray]:
    """The numbers of the recorded neurons, where not all are."""
    out = {}
    for name in record.neurons:
        for variable in record.variables[name][:1]:
            index = record.chosen(name, net.read(start, name, variable).shape[-1])
            if index is not None:
                out[name] = index
    return out


def _no_samples(net: Network, start: NetworkState, record: Record) -> dict[str, Any]:
    """The samples of a run that was too short for one: arrays of no rows."""
    traces: dict[str, dict[str, np.ndarray]] = {}
    for name, variables in record.variables.items():
        for variable in variables:
            x = net.read(start, name, variable)
            index = record.chosen(name, x.shape[-1])
            n = x.shape[-1] if index is None else len(index)
            traces.setdefault(name, {})[variable] = np.zeros((0, n), x.dtype)
    nothing = np.zeros(0, net.dtype)
    means = {name: dict.fromkeys(variables, nothing) for name, variables in record.means.items()}
    return {"traces": traces, "means": means, "lfp": dict.fromkeys(record.lfp, nothing)}


def _join_events(chunks: list[Events]) -> Events:
    if not chunks:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    steps, neurons = zip(*chunks)
    return _concatenate(*steps), _concatenate(*neurons)


def _join(chunks: list[Any]) -> Any:
    """Chunks of one structure, end to end along their first axis."""
    return jax.tree.map(_concatenate, *chunks) if chunks else None


def _concatenate(*parts: np.ndarray) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
