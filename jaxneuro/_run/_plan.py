"""Which chunks a run is made of."""

import dataclasses
from typing import NamedTuple

from ._record import Record

_CHUNK_BYTES = 64e6  # spike bits of one chunk
_CHUNK_S = 0.1  # wall time that a chunk should take at most, at _NEURON_STEP per update
_NEURON_STEP = 1.5e-9
_SAMPLE_BYTES = 4e6  # samples of one chunk: they stay in a cache until they are copied
_INPUT_BYTES = 16e6


class Part(NamedTuple):
    """A chunk of a run.

    **Fields** `steps` that are run; `room` the steps for which its program has room; `record`.
    The program of a chunk with as much room as steps may know their number when it is compiled.
    """

    steps: int
    room: int
    record: Record


class Sizes(NamedTuple):
    """What a step of a run needs, and so how long a chunk may be.

    **Fields** `neurons`; `sample_bytes` of one sample; `input_bytes` of the inputs of one step;
    `exchange` seconds that processes wait for each other in a step.
    """

    neurons: int
    sample_bytes: int = 0
    input_bytes: int = 0
    exchange: float = 0.0


def chunk_steps(sizes: Sizes, every: int) -> int:
    """Steps of a full chunk, a multiple of `every`: bounded in bytes and in wall time.

    They do not depend on the duration of a run, so that all durations have one program.
    """
    step = _NEURON_STEP * (sizes.neurons + 1000) + sizes.exchange
    most = min(_CHUNK_S / step, 8 * _CHUNK_BYTES / (sizes.neurons + 1))
    most = min(most, every * _SAMPLE_BYTES / (sizes.sample_bytes + 1))
    most = min(most, _INPUT_BYTES / (sizes.input_bytes + 1))
    return max(int(most) // every, 1) * every


def plan(
    n_steps: int, first: int, record: Record, sizes: Sizes, together: int, known: bool
) -> list[Part]:
    """The chunks of a run of `n_steps` from step `first` on.

    Up to the first sample, full chunks, what is left of them, and a rest without a sample: samples
    fall on multiples of `record.every` since the network's start. `together` so many steps are
    taken at a time where nothing is sampled. If `known`, every program knows its number of steps: a
    GPU would else ask the host before each of them.
    """
    bare = record.without_samples()
    every = record.every if record.samples else together
    head = -first % every if record.samples else 0
    if head > n_steps:
        return [Part(n_steps, n_steps if known or together > 1 else every, bare)]
    sampled, rest = (n_steps - head) // every * every, (n_steps - head) % every
    full = chunk_steps(sizes, every)
    if known:
        full = _near_divisor(sampled // every, full // every) * every
    parts = [Part(head, head, dataclasses.replace(record, every=max(head, 1)))]
    parts += [Part(full, full, record)] * (sampled // full)
    left = sampled % full
    parts.append(Part(left, left if known else full, record))
    parts.append(Part(rest, rest if known or together > 1 else every, bare))
    return [part for part in parts if part.steps] or [Part(0, 1, bare)]


def _near_divisor(windows: int, most: int) -> int:
    """A divisor of `windows` from a third of `most` on, or `most`: one program instead of two."""
    if windows <= most:
        return max(windows, 1)
    return next((k for k in range(most, most // 3, -1) if windows % k == 0), most)
