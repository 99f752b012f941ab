"""What a drawn weight or delay is for a word of 32 random bits, by halving intervals.

The words 0 ... 2^32 - 1 stand for the probabilities 0 to 1. The lower half of the words is cut
into the octaves [2^30, 2^31), [2^29, 2^30), ... down to [2^11, 2^12) and what is left,
[0, 2^11); each of these 21 intervals into 2^11 cells of one size. The upper half mirrors the
lower. A word gives the quantile at the middle of its cell.

Weights and delays of a projection: the key of the stream "values", the index the source
neuron, the counter the position of the connection in its row (targets ascending); the first
word is for the weight, the second for the delay.
"""

from fractions import Fraction

import numpy as np

from .threefry import stream_key, threefry2x32

CELLS = 2**11
WORDS = 2**32


def cell(word):
    """First word and number of words of the cell of a word."""
    if word >= WORDS // 2:
        first, size = cell(WORDS - 1 - word)
        return WORDS - first - size, size
    begin = length = 2**30
    while word < begin and length > CELLS:
        begin, length = begin // 2, length // 2
    if word < begin:
        begin = 0
    size = length // CELLS
    return begin + (word - begin) // size * size, size


def probability(word):
    """The probability in the middle of the cell of a word, as a float (exact)."""
    first, size = cell(int(word))
    return float((first + Fraction(size, 2)) / WORDS)


def probabilities(seed, name, rows, positions, which):
    """Of the weights (which = 0) or delays (1) of connections of a projection."""
    key = [int(word) for word in stream_key(seed, name, "values")]
    words = (threefry2x32(*key, int(r), int(p))[which] for r, p in zip(rows, positions))
    return np.array([probability(word) for word in words])


def positions_in_rows(pre):
    """The position of each connection in its row; `pre` ascends."""
    pre = np.asarray(pre)
    return np.arange(pre.size) - np.searchsorted(pre, pre)
