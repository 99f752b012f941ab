"""Connections from a sparse matrix: entries, order, values, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

import jaxneuro as jn
from jaxneuro.connectivity import Explicit
from tests.refusing import assert_refused

from .drawing import P, draw
from .test_columns import build, columns

FORMATS = ["coo", "csr", "csc", "lil", "dok", "bsr"]


def dense(n_pre=9, n_post=14, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n_pre, n_post)) < 0.3) * rng.integers(1, 50, (n_pre, n_post)) * 1.0


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
def test_entries_are_connections_and_data_are_weights(kind, form):
    a = dense()
    matrix = kind(a).asformat(form)
    rule = Explicit.from_sparse(matrix)
    data = matrix.tocoo().data
    assert rule.shape == (9, 14)
    pre, post, weight, _ = columns(build(rule, 9, 14, data, 0.1), 9)
    got = np.zeros((9, 14))
    np.add.at(got, (pre, post), weight)
    np.testing.assert_array_equal(got, a)
    assert pre.size == rule.expected(9, 14, False) == data.size


def test_the_order_is_that_of_tocoo_with_zeros_and_repeats():
    row, col, value = [2, 0, 2, 2, 1], [1, 3, 1, 0, 2], [5.0, 0.0, 7.0, 9.0, 0.0]
    matrix = sp.coo_array((value, (row, col)), shape=(4, 5))
    rule = Explicit.from_sparse(matrix)
    np.testing.assert_array_equal(rule.pre, row)
    np.testing.assert_array_equal(rule.post, col)
    assert list(zip(*draw(rule, 4, 5))) == [(0, 3), (1, 2), (2, 0), (2, 1), (2, 1)]
    assert rule.arrange(np.array(value)).tolist() == [0.0, 0.0, 9.0, 5.0, 7.0]
    kept = Explicit.from_sparse(matrix.tocsr())  # sums repeats, keeps zeros
    assert kept.pre.size == matrix.tocsr().tocoo().data.size == 4


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (4, 0), (4, 3)])
def test_a_matrix_without_entries(shape):
    rule = Explicit.from_sparse(sp.csr_array(shape))
    assert rule.shape == shape
    assert draw(rule, *shape)[0].size == 0


def test_a_shape_can_be_given_with_arrays():
    rule = Explicit([0, 1], [2, 2], shape=(2, 3))
    assert list(zip(*draw(rule, 2, 3))) == [(0, 2), (1, 2)]
    assert Explicit([0], [0]).shape is None


REFUSED = [
    (lambda: draw(Explicit.from_sparse(sp.csr_array(dense())), 14, 9), P, "shape", "(9, 14)"),
    (lambda: draw(Explicit.from_sparse(sp.csr_array((4, 5))), 4, 6), P, "shape", "(4, 5)"),
    (lambda: draw(Explicit([0], [0], shape=(4, 5)), 5, 5), P, "shape", "(4, 5)"),
    (lambda: Explicit.from_sparse(dense()), "Explicit.from_sparse", "matrix", "ndarray"),
    (lambda: Explicit.from_sparse([[1.0]]), "Explicit.from_sparse", "matrix", "list"),
    (
        lambda: Explicit.from_sparse(sp.coo_array(np.ones(3))),
        "Explicit.from_sparse",
        "matrix",
        "(3,)",
    ),
    (lambda: Explicit(dense(), dense()), "Explicit", "pre", "(9, 14)"),
    (lambda: Explicit(sp.csr_array(dense()), [0]), "Explicit", "pre", "object"),
    (lambda: Explicit([0], [0], shape=3), "Explicit", "shape", "3"),
    (lambda: Explicit([0], [0], shape=(1, 2, 3)), "Explicit", "shape", "(1, 2, 3)"),
    (lambda: Explicit([0], [0], shape=(2, -1)), "Explicit", "shape", "-1"),
    (lambda: Explicit([3], [0], shape=(3, 2)).check("p", 3, 2, False), "p", "pre", "3"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)


def test_build_refuses_a_matrix_of_another_shape():
    matrix = sp.coo_array(dense())
    turned = Explicit.from_sparse(matrix.T)
    assert_refused(lambda: build(turned, 9, 14, 1.0, 0.1), "projection 'p'", "shape", "(14, 9)")
    assert_refused(
        lambda: build(Explicit.from_sparse(matrix), 9, 14, matrix.data[:-1], 0.1),
        "projection 'p'",
        "weight",
        "shape (33,)",
    )
    assert isinstance(build(Explicit.from_sparse(matrix), 9, 14, 1.0, 0.1), jn.Network)
