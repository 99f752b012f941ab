"""Every target has exactly k sources."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_count
from ..numerics import bits
from ._rule import Chunk, Rule, row_chunks, skip_own


class FixedIndegree(Rule):
    """Fixed in-degree: each target draws exactly `k` sources, uniformly.

    With multapses with replacement; without, the first k distinct of the same sequence of
    draws. Index of a draw: the target; counter: its number in the sequence. A draw is
    `(word * n) >> 32`, uniform to n / 2^32.

    **Fields** `k` sources per target; `autapses`: whether a neuron may connect to itself;
    `multapses`: whether a pair may connect more than once.

    **Raises** `ValueError` unless k is a whole number >= 0; from `build`, where k is above
    the number of sources and multapses are off, or the only source is the target itself and
    autapses are off. A population without neurons connects to nobody.

    **Source** Senk et al. (2022), "random, fixed in-degree",
    doi:10.1371/journal.pcbi.1010086.
    """

    k: int = eqx.field(static=True)
    autapses: bool = eqx.field(static=True, default=True)
    multapses: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_count("FixedIndegree: k", self.k)

    def _candidates(self, n_pre: int, same: bool) -> int:
        return n_pre - (same and not self.autapses)

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        n = self._candidates(n_pre, same)
        if n_post == 0 or n_pre == 0:
            return
        if self.k > 0 and n <= 0:
            raise ValueError(f"{name}: an in-degree of {self.k} needs a source; there is none")
        if self.k > n and not self.multapses:
            raise ValueError(
                f"{name}: an in-degree must be at most the number of sources, {n}, without "
                f"multapses; got {self.k}. Lower it or allow multapses"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self.k * n_post) if self._candidates(n_pre, same) > 0 else 0.0

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = self._candidates(n_pre, same)
        if self.k == 0 or n <= 0:
            return
        for first, stop in row_chunks(n_post, float(self.k), at_least=4 * n_pre):
            targets = np.arange(first, stop)
            sources = self._sources(key, targets, n)
            if n != n_pre:
                sources = skip_own(sources, targets[:, None])
            sources = sources.ravel()
            order = stable_order(sources, n_pre)
            counts = np.bincount(sources, minlength=n_pre)
            yield Chunk(0, counts, order // self.k + first)

    def _sources(self, key: Any, targets: np.ndarray, n: int) -> np.ndarray:
        if self.multapses:
            return _draws(key, targets, self.k, n)
        if self.k <= n // 2:
            return _distinct(key, targets, self.k, n)
        left_out = np.zeros((targets.size, n), bool)
        np.put_along_axis(left_out, _distinct(key, targets, n - self.k, n), True, axis=1)
        return np.nonzero(~left_out)[1].reshape(targets.size, self.k)


def _draws(key: Any, targets: np.ndarray, count: int, n: int) -> np.ndarray:
    """The first `count` draws in [0, n) of each target."""
    blocks = np.arange((count + 1) // 2)
    words = np.stack(bits(key, targets[:, None], blocks[None, :]), axis=-1)
    words = words.reshape(targets.size, -1)[:, :count].astype(np.uint64)
    return ((words * np.uint64(n)) >> np.uint64(32)).astype(np.int64)


def _distinct(key: Any, targets: np.ndarray, k: int, n: int) -> np.ndarray:
    """The first k distinct draws of each target, in the order drawn."""
    if k == 0:
        return np.zeros((targets.size, 0), np.int64)
    out = np.empty((targets.size, k), np.int64)
    todo, count = np.arange(targets.size), k + int(0.75 * k * k / n) + 4
    while todo.size:
        draws = _draws(key, targets[todo], count, n)
        order = np.argsort(draws, axis=1, kind="stable")
        ranked = np.take_along_axis(draws, order, axis=1)
        new = np.ones(draws.shape, bool)
        repeated = ranked[:, 1:] == ranked[:, :-1]
        np.put_along_axis(new, order[:, 1:], ~repeated, axis=1)
        enough = new.sum(axis=1) >= k
        keep = new & (np.cumsum(new, axis=1) <= k)
        out[todo[enough]] = draws[enough][keep[enough]].reshape(-1, k)
        todo, count = todo[~enough], 2 * count
    return out


def stable_order(values: np.ndarray, n: int) -> np.ndarray:
    """Stable argsort of integers in [0, n): a radix sort by 16 bits at a time."""
    order = np.argsort((values & 0xFFFF).astype(np.uint16), kind="stable")
    for shift in range(16, max(int(n - 1).bit_length(), 1), 16):
        digit = ((values >> shift) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order
