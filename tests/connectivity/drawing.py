"""Draws a rule, checking what every rule promises about its chunks."""

from types import ModuleType

import numpy as np

from jaxneuro import connectivity
from jaxneuro._kernels.table import HAS_DELAYS, HAS_TAGS, HAS_WEIGHTS, Section
from jaxneuro._numerics.streams import seed_of, stream_key

P = "projection 'p'"  # what `draw` calls the projection


def key_of(seed=0, name="p"):
    return stream_key(seed_of(seed), name, "targets")


def draw(rule, n_pre, n_post, same=False, seed=0, name="p"):
    """All connections as (pre, post), sorted by row as the rule gives them."""
    rule.check(P, n_pre, n_post, same)
    pre, post = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for chunk in rule.draw(key_of(seed, name), n_pre, n_post, same):
        assert chunk.targets.shape == (chunk.counts.sum(),)
        assert chunk.first_row + chunk.counts.size <= n_pre
        rows = np.arange(chunk.first_row, chunk.first_row + chunk.counts.size)
        pre.append(np.repeat(rows, chunk.counts))
        post.append(chunk.targets)
    pre, post = np.concatenate(pre), np.concatenate(post)
    order = np.argsort(pre, kind="stable")
    pre, post = pre[order], post[order]
    assert (np.diff(post)[np.diff(pre) == 0] >= 0).all(), "targets ascend in a row"
    if post.size:
        assert post.min() >= 0
        assert post.max() < n_post
    return pre, post


def set_chunk(monkeypatch, size):
    modules = [m for m in vars(connectivity).values() if isinstance(m, ModuleType)]
    for module in modules:
        if hasattr(module, "CHUNK"):
            monkeypatch.setattr(module, "CHUNK", size)


def read_table(table):
    """(source, place, place of its weight or -1, delay) of every synapse, section by section."""
    pieces, held = [], {k: np.asarray(getattr(table, k)) for k in ("tags", "targets", "delays")}
    offset, shared = np.asarray(table.block_offset), np.asarray(table.block_delay)
    for words in np.asarray(table.sections):
        s = Section.read(words)
        tagged = bool(s.flags & HAS_TAGS)
        per_row = 1 if tagged else s.blocks
        pointers = np.asarray(table.pointers)[s.pointers :][: s.rows * per_row + 1]
        lengths = np.diff(pointers.astype(np.int64))
        entry, number = np.repeat(np.arange(lengths.size), lengths), np.arange(lengths.sum())
        block = s.first_block + (held["tags"][s.tags + number] if tagged else entry % s.blocks)
        place = offset[block].astype(np.int64) + held["targets"][s.targets + number]
        own = s.flags & HAS_DELAYS
        delay = held["delays"][s.delays + number] if own else shared[block]
        weight = s.weights + number if s.flags & HAS_WEIGHTS else np.full(number.size, -1)
        pieces.append((s.first_row + entry // per_row, place, weight, delay.astype(np.int64)))
    return tuple(np.concatenate(x) for x in zip(*pieces)) if pieces else (np.zeros(0, int),) * 4
