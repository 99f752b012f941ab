"""The k-cap: which k of n neurons have the largest input.

Neurons are ordered by falling input, and those of equal input by rising index; the cap is the set
of the first k, given in rising order.  Zeros of both signs are equal.  NaN is below every number,
-inf included, and equal to every other NaN.
"""

import numpy as np


def ranks(values):
    """The place of each value among the distinct ones, from 0; -1 for NaN."""
    values = np.asarray(values)
    if values.dtype.kind not in "iu":  # bfloat16, too, for which NumPy has no kind of its own
        values = values.astype(np.float64)
        unknown = np.isnan(values)
    else:
        unknown = np.zeros(values.shape, bool)
    place = np.unique(np.where(unknown, 0, values), return_inverse=True)[1]
    return np.where(unknown, -1, place)


def k_cap(values, k):
    """The indices of the k largest of `values` [n], ascending."""
    order = np.lexsort((np.arange(len(values)), -ranks(values)))
    return np.sort(order[:k]).astype(np.int32)


def wide(words):
    """Signed integers of the words [..., 2], the low one first."""
    words = np.asarray(words, np.uint64)
    return (words[..., 1] << np.uint64(32) | words[..., 0]).astype(np.int64)
