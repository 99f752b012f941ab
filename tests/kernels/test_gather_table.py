"""Tables of `gather`: read back, ordered, and what makes none."""

import jax
import numpy as np
import pytest

from jaxneuro._kernels.gather import gather, make_gather_table, read_gather_table
from tests.kernels.gather_cases import LAYOUTS, NO_WEIGHTS, case_of
from tests.refusing import assert_refused


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_table_is_read_back(name):
    case = case_of(name, seed=3)
    rows, sources, at = read_gather_table(case.table)
    order = np.lexsort((case.sources, case.rows))
    np.testing.assert_array_equal(rows, case.rows[order])
    np.testing.assert_array_equal(sources, case.sources[order])
    np.testing.assert_array_equal(np.asarray(case.column)[at], case.sorted_weights())
    padding = np.ones(case.table.sources.size, bool)
    padding[at] = False
    assert not np.asarray(case.column)[padding].any()
    assert not np.asarray(case.table.sources)[padding].any()
    assert case.table.n_entries == rows.size == np.unique(at).size
    assert case.table.longest == max(LAYOUTS[name][1], default=0)


def test_equal_pairs_keep_their_order_and_sorted_pairs_make_the_same_table():
    rows, sources = np.array([1, 0, 1, 1, 0]), np.array([2, 1, 0, 2, 1])
    order = np.lexsort((sources, rows))
    weights = np.arange(1.0, 6.0, dtype=np.float32)
    table, column = make_gather_table(rows, sources, 2, 3, weights)
    again, same = make_gather_table(rows[order], sources[order], 2, 3, weights[order])
    np.testing.assert_array_equal(np.asarray(column)[read_gather_table(table)[2]], [2, 5, 3, 1, 4])
    np.testing.assert_array_equal(column, same)
    for a, b in zip(jax.tree.leaves(table), jax.tree.leaves(again)):
        np.testing.assert_array_equal(a, b)


def test_a_table_without_weights_has_none():
    table, weights = make_gather_table(np.array([0]), np.array([1]), 1, 2)
    assert weights is None
    kinds = [np.int32, np.uint16, np.int32, np.int32]
    assert [x.dtype for x in jax.tree.leaves(table)] == kinds


@pytest.mark.parametrize(
    ("rows", "sources", "weights", "field", "got"),
    [
        ([0, 2], [0, 0], None, "rows", "0 to 2"),
        ([-1, 0], [0, 0], None, "rows", "-1 to 0"),
        ([0, 0], [0, 3], None, "sources", "0 to 3"),
        ([0.0, 1.0], [0, 0], None, "rows", "float64[2]"),
        ([0, 1], [[0, 1]], None, "sources", "int64[1, 2]"),
        ([0, 1], [0], None, "pairs", "2 rows and 1 sources"),
        ([0, 1], [0, 1], [1.0], "pairs", "2 rows and 2 sources, weights (1,)"),
    ],
)
def test_pairs_that_make_no_table_are_refused(rows, sources, weights, field, got):
    assert_refused(
        lambda: make_gather_table(np.array(rows), np.array(sources), 2, 3, weights),
        "table",
        field,
        got,
    )


def test_arrays_that_do_not_fit_are_refused():
    case = case_of("ragged")
    for values in (case.values[1:], case.values.astype(np.int32), case.values[None]):
        with pytest.raises(ValueError, match=r"values must be float32 or float64 \(70,\)"):
            gather(values, NO_WEIGHTS, case.table)
    with pytest.raises(ValueError, match="weights must be"):
        gather(case.values, case.column[1:], case.table)
