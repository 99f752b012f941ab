"""Uniform draws from counter-based bits, with and without replacement."""

from typing import Any

import numpy as np

from ..numerics import bits


def below(words: np.ndarray, n: int) -> np.ndarray:
    """Words of 32 random bits as whole numbers in [0, n): `(word * n) >> 32`."""
    return ((words.astype(np.uint64) * np.uint64(n)) >> np.uint64(32)).astype(np.int64)


def choices(key: Any, index: np.ndarray, k: int, n: int, multapses: bool) -> np.ndarray:
    """k draws in [0, n) per index: with replacement, or the first k distinct ones."""
    if multapses:
        return draws(key, index, k, n)
    if k <= n // 2:
        return distinct(key, index, k, n)
    left_out = np.zeros((index.size, n), bool)
    np.put_along_axis(left_out, distinct(key, index, n - k, n), True, axis=1)
    return np.nonzero(~left_out)[1].reshape(index.size, k)


def draws(key: Any, index: np.ndarray, count: int, n: int) -> np.ndarray:
    """The first `count` draws in [0, n) of each index."""
    blocks = np.arange((count + 1) // 2)
    words = np.stack(bits(key, index[:, None], blocks[None, :]), axis=-1)
    return below(words.reshape(index.size, -1)[:, :count], n)


def distinct(key: Any, index: np.ndarray, k: int, n: int) -> np.ndarray:
    """The first k distinct draws of each index, in the order drawn."""
    if k == 0:
        return np.zeros((index.size, 0), np.int64)
    out = np.empty((index.size, k), np.int64)
    todo, count = np.arange(index.size), k + int(0.75 * k * k / n) + 4
    while todo.size:
        drawn = draws(key, index[todo], count, n)
        order = np.argsort(drawn, axis=1, kind="stable")
        ranked = np.take_along_axis(drawn, order, axis=1)
        new = np.ones(drawn.shape, bool)
        repeated = ranked[:, 1:] == ranked[:, :-1]
        np.put_along_axis(new, order[:, 1:], ~repeated, axis=1)
        enough = new.sum(axis=1) >= k
        keep = new & (np.cumsum(new, axis=1) <= k)
        out[todo[enough]] = drawn[enough][keep[enough]].reshape(-1, k)
        todo, count = todo[~enough], 2 * count
    return out


def stable_order(values: np.ndarray, n: int) -> np.ndarray:
    """Stable argsort of integers in [0, n): a radix sort by 16 bits at a time."""
    order = np.argsort((values & 0xFFFF).astype(np.uint16), kind="stable")
    for shift in range(16, max(int(n - 1).bit_length(), 1), 16):
        digit = ((values >> shift) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order
