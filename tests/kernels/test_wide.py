"""64-bit integers in two words against the int64 of NumPy."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest

from jaxneuro._kernels.wide import (
    limbs,
    wide_add,
    wide_equal,
    wide_integers,
    wide_less,
    wide_multiply,
    wide_of_limbs,
    wide_subtract,
    wide_to_float,
    wide_to_number,
    wide_words,
)

SIZE = 40
EDGES = [0, 1, -1, 2**16, 2**32 - 1, 2**32, -(2**32), 2**48, 2**63 - 1, -(2**63), 2**31, 0xFFFF]
WHOLE = st.one_of(st.sampled_from(EDGES), st.integers(-(2**63), 2**63 - 1), st.integers(-9, 2**33))
many = functools.partial(st.lists, min_size=SIZE, max_size=SIZE)


@jax.jit
def everything(a, b, count, parts):
    return {
        "add": wide_add(a, b),
        "subtract": wide_subtract(a, b),
        "multiply": wide_multiply(a, count),
        "limbs": limbs(a),
        "of_limbs": wide_of_limbs(parts),
        "less": wide_less(a, b),
        "equal": wide_equal(a, b),
        "float": wide_to_float(a),
        "number": wide_to_number(a),
    }


@pytest.mark.slow
@hypothesis.given(
    a=many(WHOLE),
    b=many(WHOLE),
    count=many(st.one_of(st.sampled_from([0, 1, 65_535]), st.integers(0, 65_535))),
    parts=many(st.tuples(*[st.one_of(st.just(2**32 - 1), st.integers(0, 2**32 - 1))] * 4)),
)
def test_equals_int64(a, b, count, parts):
    b = [x if i % 5 else y for i, (x, y) in enumerate(zip(b, a))]  # some that are equal
    a, b, count = (np.array(x, np.int64) for x in (a, b, count))
    parts = np.array(parts, np.uint32)
    given = wide_words(a), wide_words(b), count.astype(np.int32), parts
    got = {name: np.asarray(x) for name, x in everything(*given).items()}
    with np.errstate(over="ignore"):
        want = {"add": a + b, "subtract": a - b, "multiply": a * count}
        shifts = np.int64(16) * np.arange(4)
        want["of_limbs"] = np.sum(parts.astype(np.int64) << shifts, axis=1)
    for name, x in want.items():
        np.testing.assert_array_equal(wide_integers(got[name]), x, err_msg=name)
    np.testing.assert_array_equal(got["limbs"], a[:, None] >> shifts & 0xFFFF)
    np.testing.assert_array_equal(got["less"], a < b)
    np.testing.assert_array_equal(got["equal"], a == b)


@pytest.mark.slow
@hypothesis.given(a=many(WHOLE))
def test_floats_are_near_and_exact_where_a_word_is(a):
    a = np.array(a, np.int64)
    none, parts = np.zeros(SIZE, np.int32), np.zeros((SIZE, 4), np.uint32)
    got = everything(wide_words(a), wide_words(a), none, parts)
    number, nearest = np.asarray(got["number"]), a.astype(np.float64) * 2.0**-24
    # Roundings of the low word and of the sum, 2^-24 each.
    np.testing.assert_allclose(number, nearest, rtol=2.0**-23)
    np.testing.assert_array_equal(number < 0, a < 0)
    small = (a >= 0) & (a < 2**32)
    np.testing.assert_array_equal(np.asarray(got["float"])[small], a[small].astype(np.float32))
    exact = np.abs(a.astype(np.float64)) <= 2**24
    np.testing.assert_array_equal(number[exact], nearest[exact])


def test_the_host_reads_what_it_wrote():
    a = np.array(EDGES, np.int64).reshape(3, 4)
    assert wide_words(a).shape == (3, 4, 2)
    np.testing.assert_array_equal(wide_integers(wide_words(a)), a)
    assert wide_words(np.array(2**32 + 5)).tolist() == [5, 1]
