"""Fibres for the kernels of assemblies: their synapses in all four forms, and a history."""

from typing import NamedTuple

import numpy as np

from jaxneuro._kernels.edges import Counts, Firing, Hashed, Lists, Stored
from jaxneuro._kernels.new_sources import gap_width
from jaxneuro._kernels.redraw import gap_rows
from jaxneuro._kernels.wide import wide_words
from jaxneuro._numerics.streams import seed_of, stream_key


class Layout(NamedTuple):
    """What a program is compiled for. `narrow`: stored targets are uint16."""

    sources: int
    targets: int
    k: int
    words: int
    p: float
    narrow: bool = True


class Case(NamedTuple):
    """Operands, and as NumPy sees them: `dense` bool (sources, targets), `weights` int64."""

    firing: Firing
    hashed: Hashed
    stored: Stored
    lists: Lists
    counts: Counts
    sums: np.ndarray
    dense: np.ndarray
    weights: np.ndarray

    @property
    def forms(self):
        return self.hashed, self.stored, self.lists, self.counts


def key_of(seed):
    """The key of a fibre, as words of a host and as an array."""
    key = stream_key(seed_of(seed), "X->A", "synapses")
    return key, np.array([int(word) for word in key], np.uint32)


def dense_rows(key, sources, targets, p):
    counts, at = gap_rows(key, 0, sources, targets, p)
    dense = np.zeros((sources, targets), bool)
    dense[np.repeat(np.arange(sources), counts), at] = True
    return dense


def padded(lists, width, nothing):
    out = np.full((len(lists), width), nothing, np.int32)
    for line, some in zip(out, lists):
        line[: len(some)] = some
    return out


def build(layout, seed=0, on=True, nobody=0):
    """A case; `nobody` of the places of the cap are empty."""
    rng = np.random.default_rng(seed)
    sources, targets, k, words, p, narrow = layout
    key, key_array = key_of(seed)
    dense = dense_rows(key, sources, targets, p)
    rows = [np.flatnonzero(row) for row in dense]
    columns = [rng.permutation(np.flatnonzero(column)) for column in dense.T]
    # Sources are in any order, empty places at the end.
    lists = padded(columns, max(gap_width(sources, p), *map(len, columns)), sources)
    stored = padded(rows, max(gap_width(targets, p), *map(len, rows)), targets)
    cap = np.full(k, sources, np.int32)
    cap[: k - nobody] = np.sort(rng.choice(sources, k - nobody, replace=False))
    bits = lambda *shape: rng.integers(0, 2**32, shape, np.uint32)  # noqa: E731
    before, after = bits(sources, words), bits(targets, words)
    before[rng.random(sources) < 0.3] = 0
    after[rng.random(targets) < 0.5] = 0
    weights = np.cumsum(np.append(2**24, rng.integers(0, 2**38, 32 * words)))
    sums = rng.integers(-(2**40), 2**40, targets)
    counts = rng.integers(0, 65_536, targets).astype(np.int32)
    firing = Firing(np.array(on), cap, before, after, bits(words), wide_words(weights))
    return Case(
        firing,
        Hashed(key_array, targets, p),
        Stored(stored.astype(np.uint16 if narrow else np.int32)),
        Lists(lists),
        Counts(counts),
        sums,
        dense,
        weights,
    )


def expected(case):
    """The sums of each form, int64 (4, targets): three of the same synapses, and counts."""
    f = case.firing
    if not f.on:
        return np.tile(case.sums, (4, 1))
    learned = f.after & f.mask
    fires = f.cap[f.cap < len(case.dense)]
    total = case.sums.copy()
    for i in fires:
        times = np.bitwise_count(f.before[i] & learned).sum(axis=1)
        total += np.where(case.dense[i], case.weights[times], 0)
    together = case.weights[np.bitwise_count(learned).sum(axis=1)]
    return np.stack([total] * 3 + [case.sums + together * case.counts.counts])
