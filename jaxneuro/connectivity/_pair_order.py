"""Pairs of indices in ascending order."""

import numpy as np

from .._kernels import stable_order

_BLOCK = 1 << 14


def pair_order(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Stable order of pairs of indices, by i and then by j.

    Where both indices and the number of the pair fit into 63 bits, one sort of such words does it:
    for 15 million pairs several times faster than two of indices.
    """
    if i.size == 0:
        return np.zeros(0, np.int64)
    n_i, n_j = int(i.max()) + 1, int(j.max()) + 1
    bits = (i.size - 1).bit_length()
    if (n_i * n_j - 1).bit_length() + bits <= 63:
        # In place, block by block: new memory is what costs most.
        words = np.empty(i.size, np.int64)
        for first in range(0, i.size, _BLOCK):
            part = words[first : first + _BLOCK]
            np.multiply(i[first : first + _BLOCK], n_j, out=part, dtype=np.int64)
            part += j[first : first + _BLOCK]
            part <<= bits
            part |= np.arange(first, first + part.size)
        words.sort()
        words &= (1 << bits) - 1
        return words
    by_j = stable_order(j, n_j)
    return by_j[stable_order(i[by_j], n_i)]
