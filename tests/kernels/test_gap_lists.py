"""`gap_lists`: drawn rows of fixed width are the rows that the host draws, cut at that width."""

import unittest.mock

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from scipy import stats

from jaxneuro._kernels.edges import Hashed
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.new_sources import gap_lists, gap_width
from jaxneuro._kernels.redraw import gap_rows
from jaxneuro._kernels.threads import threads
from tests.kernels.firing import key_of

# n, p, width: as asked for, too narrow, all targets, one target, gaps beyond the table of gaps.
LAYOUTS = [
    (300, 0.1, gap_width(300, 0.1)),
    (300, 0.1, 25),
    (40, 1.0, gap_width(40, 1.0)),
    (1, 0.3, 1),
    (1_000_000, 1e-6, gap_width(1_000_000, 1e-6)),
]
ROWS = 7


def both(key, rows, layout):
    n, p, width = layout
    got = gap_lists(Hashed(key, n, p), rows, width)
    with unittest.mock.patch("jaxneuro._kernels.call.native_available", return_value=False):
        return got, gap_lists(Hashed(key, n, p), rows, width)


run = jax.jit(both, static_argnums=2)


def expected(key, rows, layout):
    n, p, width = layout
    out = np.full((len(rows), width), n, np.int32)
    for line, row in zip(out, rows):
        _, targets = gap_rows(key, int(row), int(row) + 1, n, p)
        line[: targets.size] = targets[:width]
    return out


@hypothesis.given(
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 2**20),
    rows=st.lists(st.integers(0, 2**30), min_size=ROWS, max_size=ROWS),
)
@hypothesis.example(layout=LAYOUTS[1], seed=0, rows=list(range(ROWS)))
@hypothesis.example(layout=LAYOUTS[4], seed=0, rows=[3] * ROWS)
def test_equals_the_rows_of_the_host(layout, seed, rows):
    key, key_array = key_of(seed)
    want = expected(key, rows, layout)
    for got in run(key_array, np.array(rows, np.int32), layout):
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, want)


def test_the_layouts_hold_what_they_say():
    key, _ = key_of(0)
    rows = range(40)
    assert np.any(expected(key, rows, LAYOUTS[1])[:, -1] < 300)  # more than there is room for
    far = expected(key, rows, LAYOUTS[4])
    assert np.any((far[:, 0] > 2**16) & (far[:, 0] < 1_000_000))
    assert np.any(far[:, 0] == 1_000_000)


@pytest.mark.parametrize("shared", ["key", "rows"])
def test_a_batch_is_its_members(shared):
    keys = [key_of(seed if shared == "rows" else 0) for seed in range(3)]
    arrays = np.stack([array for _, array in keys])
    rows = np.arange(3 * ROWS, dtype=np.int32).reshape(3, ROWS)
    axes, given = (0, 0), (arrays, rows)
    if shared == "key":
        axes, given = (None, 0), (arrays[0], rows)
    elif shared == "rows":
        rows = np.tile(rows[0], (3, 1))
        axes, given = (0, None), (arrays, rows[0])
    many = jax.jit(jax.vmap(lambda key, rows: both(key, rows, LAYOUTS[0]), axes))
    for got in many(*given):
        for member, (key, _), mine in zip(got, keys, rows):
            np.testing.assert_array_equal(member, expected(key, mine, LAYOUTS[0]))


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_threads_change_nothing():
    key, key_array = key_of(1)
    layout = (2000, 0.05, gap_width(2000, 0.05))
    rows = np.arange(900, dtype=np.int32)  # 100,000 places and more are worth threads
    assert rows.size * layout[2] > 100_000
    native = jax.jit(lambda key, rows: gap_lists(Hashed(key, *layout[:2]), rows, layout[2]))
    want, before = expected(key, rows, layout), threads()
    try:
        for n in (1, 2, 3):
            threads(n)
            np.testing.assert_array_equal(native(key_array, rows), want)
    finally:
        threads(before)


@pytest.mark.parametrize(("n", "p"), [(1000, 0.01), (10**6, 1e-3), (10**7, 1e-7), (50, 0.5)])
def test_a_row_exceeds_the_width_once_in_10_to_the_18(n, p):
    assert stats.binom.sf(gap_width(n, p), n, p) < 1e-18
