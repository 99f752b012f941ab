"""`past_inputs`: how many of some sources fired in each round, counted bit by bit."""

import unittest.mock

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest

from jaxneuro.kernels import past_inputs
from tests.quickly import quick_jit

# sources, words, lists, width
LAYOUTS = [(20, 1, 5, 8), (1, 3, 4, 1), (60, 4, 1, 40)]


def both(before, mask, lists):
    got = past_inputs(before, mask, lists)
    with unittest.mock.patch("jaxneuro.kernels._call.native_available", return_value=False):
        return got, past_inputs(before, mask, lists)


run = quick_jit(both)


def build(layout, seed):
    sources, words, many, width = layout
    rng = np.random.default_rng(seed)
    bits = lambda *shape: rng.integers(0, 2**32, shape, np.uint32)  # noqa: E731
    lists = rng.integers(0, sources + 1, (many, width)).astype(np.int32)  # the last is nobody
    return bits(sources, words), bits(words), lists


def expected(before, mask, lists):
    fired = (before & mask)[..., None] >> np.arange(32, dtype=np.uint32) & 1
    fired = np.concatenate([fired.reshape(len(before), -1), np.zeros((1, 32 * mask.size), int)])
    return fired[lists].sum(axis=1)


@hypothesis.given(layout=st.sampled_from(LAYOUTS), seed=st.integers(0, 2**20))
def test_equals_counting(layout, seed):
    given = build(layout, seed)
    want = expected(*given)
    for got in run(*given):
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, want)


def test_by_hand():
    before = np.array([[0b101], [0b110]], np.uint32)
    lists = np.array([[0, 1, 2], [1, 2, 2], [0, 0, 2], [2, 2, 2]], np.int32)
    for got in run(before, np.array([0b111], np.uint32), lists):
        assert np.asarray(got)[:, :4].tolist() == [
            [1, 1, 2, 0],
            [0, 1, 1, 0],
            [2, 0, 2, 0],
            [0, 0, 0, 0],
        ]


@pytest.mark.parametrize("shared", [(), (0,), (1,), (0, 1), (2,)])
def test_a_batch_is_its_members(shared):
    cases = [build(LAYOUTS[0], seed) for seed in range(3)]
    cases = [tuple((cases[0] if at in shared else c)[at] for at in range(3)) for c in cases]
    axes = tuple(None if at in shared else 0 for at in range(3))
    given = [cases[0][at] if at in shared else np.stack([c[at] for c in cases]) for at in range(3)]
    for got in quick_jit(jax.vmap(both, axes))(*given):
        np.testing.assert_array_equal(got, [expected(*c) for c in cases])
