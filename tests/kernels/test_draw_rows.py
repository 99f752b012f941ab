"""Drawing rows of connections: native equals NumPy bit for bit, both equal the definition."""

import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from jaxneuro._kernels import draw as draw_file
from jaxneuro._kernels import redraw
from jaxneuro._kernels.draw import (
    count_draws,
    distinct_rows,
    draw_pairs,
    draw_values,
    place_rows,
    stable_order,
    transpose,
    uniform_rows,
)
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.redraw import gap_counts, gap_rows
from jaxneuro._numerics.draws import QUANTILES, gap_table
from tests.oracle.threefry import threefry2x32

native = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
WORD = st.integers(0, 2**32 - 1)
KEYS = st.tuples(WORD, WORD).map(lambda key: (np.uint32(key[0]), np.uint32(key[1])))
FIRST = st.sampled_from([0, 1, 77_000, 2**31 - 300])
SIZES = st.one_of(st.sampled_from([1, 2, 3, 65_536, 65_537, 2**31 - 1]), st.integers(1, 5000))


@st.composite
def counts(draw):
    """Connections of some rows: none, few, more than one vector, more than one block of words."""
    of = st.one_of(st.integers(0, 40), st.sampled_from([0, 0, 1, 255, 256, 257, 3000]))
    return np.array(draw(st.lists(of, max_size=8)), np.int64)


def equal(got, want):
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@native
@hypothesis.given(KEYS, FIRST, counts(), SIZES, st.booleans())
def test_uniform_rows(key, first, counts, n, skip_own):
    want = draw_file.uniform_rows_reference(key, first, counts, n, skip_own)
    equal(uniform_rows(key, first, counts, n, skip_own), want)
    loose, row = uniform_rows(key, first, counts, n, skip_own, ascend=False), 0
    for count in counts:  # the same draws in another order
        equal(np.sort(loose[row : row + count]), want[row : row + count])
        row += count


@hypothesis.given(KEYS, FIRST, st.integers(0, 30), SIZES)
def test_uniform_rows_against_the_definition(key, first, count, n):
    words = (threefry2x32(int(key[0]), int(key[1]), first, k) for k in range(-(-count // 2)))
    want = sorted(word * n >> 32 for word in list(itertools.chain(*words))[:count])
    assert uniform_rows(key, first, np.array([count]), n).tolist() == want


@native
@hypothesis.given(
    KEYS,
    st.sampled_from([0, 2, 1000, 2**33 - 600, 2**33 - 2]),
    st.integers(0, 3000),
    st.integers(1, 400),
)
def test_count_draws(key, first, many, n):
    want = draw_file.count_draws_reference(key, first, first + many, n)
    equal(count_draws(key, first, first + many, n), want)
    assert want.sum() == many


@native
@hypothesis.given(
    KEYS, st.sampled_from([0, 7, 2**32 - 300, 2**33 - 1]), st.integers(0, 1500), SIZES, SIZES
)
def test_draw_pairs(key, first, many, n_first, n_second):
    want = draw_file.draw_pairs_reference(key, first, first + many, n_first, n_second)
    equal(draw_pairs(key, first, first + many, n_first, n_second), want)


@native
@hypothesis.given(
    KEYS, st.integers(0, 3000), st.one_of(st.integers(1, 400), st.sampled_from([65_537, 10**6]))
)
def test_stable_order(key, many, n):
    values = np.random.default_rng(int(key[0])).integers(0, n, many)
    want = np.argsort(values, kind="stable")
    equal(stable_order(values, n), want)
    equal(draw_file.stable_order_reference(values, n), want)


@native
@hypothesis.given(KEYS, FIRST, st.integers(0, 4), st.integers(1, 700), st.data(), st.booleans())
def test_distinct_rows(key, first, rows, n, data, skip_own):
    edge = st.sampled_from([0, 1, n // 2, n // 2 + 1, n])
    k = data.draw(st.one_of(edge, st.integers(0, n)))
    want = draw_file.distinct_rows_reference(key, first, rows, k, n, skip_own)
    equal(distinct_rows(key, first, rows, k, n, skip_own), want)
    assert (np.diff(want, axis=1) > 0).all()


@native
@hypothesis.given(
    KEYS,
    FIRST,
    st.integers(0, 4),
    st.one_of(st.sampled_from([1, 2, 70_000]), st.integers(1, 2000)),
    st.sampled_from([1.0, 0.97, 0.5, 0.1, 0.01, 3e-4, 1e-6, 5e-324]),
    st.booleans(),
)
def test_gap_rows(key, first, rows, n, p, skip_own):
    want = redraw.gap_rows_reference(key, first, first + rows, n, p, skip_own)
    got = gap_rows(key, first, first + rows, n, p, skip_own)
    for x, y in zip(got, want, strict=True):
        equal(x, y)
    equal(gap_counts(key, first, first + rows, n, p), want[0])


@native
def test_more_targets_than_there_is_room_for(monkeypatch):
    """The room for targets is a guess: with more of them rows are drawn again."""
    key = np.uint32(5), np.uint32(6)
    want = redraw.gap_rows_reference(key, 0, 3, 5000, 0.5, True)
    for room in (0, 1, 4000):
        monkeypatch.setattr(redraw, "_room", lambda mean, room=room: room)
        got = gap_rows(key, 0, 3, 5000, 0.5, True)
        for x, y in zip(got, want, strict=True):
            equal(x, y)
    assert want[1].size > 4000


@pytest.mark.parametrize("p", [1.0, 0.3, 1e-3, 1e-7])
def test_gap_table(p):
    table = gap_table(p)
    g = np.array([0, 1, 7, table.size - 1])
    exact = -np.expm1((g + 1) * np.log1p(-p)) if p < 1 else np.ones(4)
    np.testing.assert_allclose(table.thresholds[g] * 2.0**-32, exact, rtol=0, atol=2.0**-31)
    edges = np.arange(table.guide.size, dtype=np.uint64) << np.uint64(table.shift)
    want = np.searchsorted(table.thresholds, edges, side="right")
    np.testing.assert_array_equal(table.guide, want)
    assert int(edges[-1]) == 2**32


@native
@hypothesis.given(
    st.integers(0, 99), st.integers(0, 9), st.integers(1, 300), st.integers(1, 70_000)
)
def test_transpose(seed, rows, k, n):
    sources = np.random.default_rng(seed).integers(0, n, (rows, k)).astype(np.int32)
    got, want = transpose(sources, 11, n), draw_file.transpose_reference(sources, 11, n)
    for x, y in zip(got, want, strict=True):
        equal(x, y)
    row = np.repeat(np.arange(n), want[0])
    pairs = sorted((s, 11 + t) for t, mine in enumerate(sources.tolist()) for s in mine)
    assert list(zip(row.tolist(), want[1].tolist())) == pairs


TYPES = st.sampled_from([np.uint8, np.uint16, np.float32, np.float64])


@native
@hypothesis.given(KEYS, FIRST, counts(), st.tuples(st.none() | TYPES, st.none() | TYPES))
def test_draw_values(key, first, counts, types):
    rng = np.random.default_rng(counts.size)
    first_table, second = (
        None if t is None else np.asarray(rng.integers(0, 250, QUANTILES), t) for t in types
    )
    tables = first_table, second
    rows, used = first + 3 * np.arange(counts.size), rng.integers(0, 2000, counts.size)
    got = draw_values(key, rows, counts, used, tables)
    want = draw_file.draw_values_reference(key, rows, counts, used, tables)
    for x, y in zip(got, want, strict=True):
        assert (x is None) == (y is None)
        if x is not None:
            equal(x, y)


@native
@hypothesis.given(counts(), st.sampled_from([np.uint8, np.uint16, np.float32, np.float64]))
def test_place_rows(counts, dtype):
    rng = np.random.default_rng(counts.size)
    begin = np.cumsum(counts + rng.integers(0, 3, counts.size)) - counts
    values = rng.integers(1, 250, counts.sum()).astype(dtype)
    columns = [np.zeros(int(counts.sum()) + 30, dtype) for _ in range(3)]
    place_rows(counts, begin, values, columns[0])
    draw_file.place_rows_reference(counts, begin, values, columns[1])
    at = 0
    for start, count in zip(begin, counts):
        columns[2][start : start + count] = values[at : at + count]
        at += count
    equal(columns[0], columns[2])
    equal(columns[1], columns[2])


def test_without_the_library_it_is_the_reference(monkeypatch):
    key, counts = (np.uint32(1), np.uint32(2)), np.array([3, 0, 400])
    rows, tables = np.arange(3), (np.arange(QUANTILES, dtype=np.float32), None)
    calls = {
        "uniform": lambda: uniform_rows(key, 0, counts, 1000, True),
        "counts": lambda: count_draws(key, 0, 999, 30),
        "distinct": lambda: distinct_rows(key, 0, 3, 70, 100),
        "pairs": lambda: draw_pairs(key, 5, 300, 30, 40),
        "order": lambda: stable_order(np.arange(90) * 7 % 30, 30),
        "gaps": lambda: gap_rows(key, 0, 3, 1000, 0.1)[1],
        "gap counts": lambda: gap_counts(key, 0, 3, 1000, 0.1),
        "transpose": lambda: transpose(np.ones((3, 4), np.int32), 0, 5)[1],
        "values": lambda: draw_values(key, rows, counts, rows, tables)[0],
    }
    want = {name: call() for name, call in calls.items()}
    for module in (draw_file, draw_file, redraw):
        monkeypatch.setattr(module, "native_library", lambda: None)
    for name, call in calls.items():
        equal(call(), want[name])
        assert want[name].size > 0
