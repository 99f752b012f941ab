"""Rules that draw, against the same law in plain Python: one connection after the other."""

import collections
import itertools

import numpy as np
import pytest

from jaxneuro._kernels.draw import counter_words
from jaxneuro.connectivity import FixedOutdegree, FixedTotal, SymmetricBernoulli
from tests.oracle.threefry import threefry2x32

from .drawing import draw, key_of

KEY = int(key_of()[0]), int(key_of()[1])
PAIRS = KEY[0], KEY[1] ^ 0x9E3779B9


def words(index, key=KEY):
    """The words of an index, one after the other."""
    for counter in itertools.count():
        yield from threefry2x32(key[0], key[1], index, counter)


def numbers(index, n, key=KEY):
    return ((word * n) >> 32 for word in words(index, key))


def first_distinct(values, count):
    found = {}
    while len(found) < count:
        found[next(values)] = None
    return list(found)


def others(i, targets, skip):
    return [j + (skip and j >= i) for j in targets]


def outdegree(k, autapses, multapses, n_pre, n_post):
    n = n_post - (not autapses)
    for i in range(n_pre):
        if multapses:
            targets = list(itertools.islice(numbers(i, n), k))
        elif k <= n // 2:
            targets = first_distinct(numbers(i, n), k)
        else:
            targets = set(range(n)) - set(first_distinct(numbers(i, n), n - k))
        yield from ((i, j) for j in others(i, targets, not autapses))


def total(count, autapses, multapses, n_pre, n_post):
    n = n_post - (not autapses)
    if multapses:
        rows = collections.Counter(itertools.islice(numbers(0, n_pre, PAIRS), count))
        pairs = [(i, j) for i in rows for j in itertools.islice(numbers(i, n), rows[i])]
    else:
        both = iter(words(0, PAIRS))
        sequence = (((a * n_pre) >> 32, (b * n) >> 32) for a, b in zip(both, both))
        few = min(count, n_pre * n - count)
        pairs = first_distinct(sequence, few)
        if count > n_pre * n // 2:
            pairs = set(itertools.product(range(n_pre), range(n))) - set(pairs)
    return [(i, j + (not autapses and j >= i)) for i, j in pairs]


def symmetric(p, autapses, n, _):
    thresholds = [int((1 - (1 - p) ** (g + 1)) * 2**32) for g in range(int(25 / p) + 1)]
    for i in range(n):
        j = i - 1 if autapses else i
        for word in words(i):
            j += 1 + sum(t <= word for t in thresholds)
            if j >= n:
                break
            yield from {(i, j), (j, i)}


CASES = [
    (FixedOutdegree(5), outdegree, (5, True, True)),
    (FixedOutdegree(8, autapses=False), outdegree, (8, False, True)),
    (FixedOutdegree(7, multapses=False), outdegree, (7, True, False)),
    (FixedOutdegree(17, autapses=False, multapses=False), outdegree, (17, False, False)),
    (FixedTotal(301), total, (301, True, True)),
    (FixedTotal(300, autapses=False), total, (300, False, True)),
    (FixedTotal(150, multapses=False), total, (150, True, False)),
    (FixedTotal(181, autapses=False, multapses=False), total, (181, False, False)),
    (FixedTotal(333, autapses=False, multapses=False), total, (333, False, False)),
    (SymmetricBernoulli(0.2), symmetric, (0.2, False)),
    (SymmetricBernoulli(0.6, autapses=True), symmetric, (0.6, True)),
]


@pytest.mark.parametrize(
    ("rule", "oracle", "values"), CASES, ids=lambda x: getattr(x, "__name__", repr(x))
)
def test_same_connections(rule, oracle, values):
    got = draw(rule, 20, 20, same=True)
    assert list(zip(*(x.tolist() for x in got))) == sorted(oracle(*values, 20, 20))


@pytest.mark.parametrize("multapses", [True, False])
def test_more_pairs_than_32_bits_hold(multapses):
    got = draw(FixedTotal(500, multapses=multapses), 70_000, 90_000)
    want = sorted(total(500, True, multapses, 70_000, 90_000))
    assert list(zip(*(x.tolist() for x in got))) == want


def test_more_draws_than_32_bits_count():
    got = np.stack(counter_words(key_of(), 2**32 - 2, 2**32 + 2), axis=-1)
    at = [(0, 2**32 - 2), (0, 2**32 - 1), (1, 0), (1, 1)]
    assert got.tolist() == [list(threefry2x32(KEY[0], KEY[1], i, c)) for i, c in at]
