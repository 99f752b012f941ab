"""The synapses of neurons that could fire for the first time: drawn, chosen, kept, counted."""

import unittest.mock

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest

from jaxneuro._kernels.new_sources import NewNeurons, gap_width, new_past_inputs, write_new_sources
from jaxneuro._kernels.redraw import gap_rows

# places, k, p, words, neurons
LAYOUTS = [(60, 12, 0.2, 1, 9), (30, 5, 1.0, 2, 4), (400, 20, 0.02, 3, 7)]
KEY = np.array([[11, 12], [21, 22]], np.uint32)


def build(layout, seed, on):
    places, k, p, words, many = layout
    rng = np.random.default_rng(seed)
    firing = int(rng.integers(1, k + 1))
    cap = np.full(k, places, np.int32)
    cap[:firing] = np.sort(rng.choice(places, firing, replace=False))
    part = rng.integers(0, firing + 1, many).astype(np.int32) * on
    number = rng.permutation(50)[:many].astype(np.int32)
    number[0] = -1  # nobody
    widths = gap_width(places, p), gap_width(k, p) if p < 1 else k
    part = np.minimum(part, widths[1])
    before = rng.integers(0, 2**32, (places, words), np.uint32)
    mask = rng.integers(0, 2**32, words, np.uint32)
    return (number, part, np.bool_(on), cap, KEY), (before, mask), (places, p, *widths)


def both(arrays, past, place, static):
    new = NewNeurons(*arrays, *static)
    lists = np.full((12, static[2] + static[3]), static[0], np.int32)

    def once():
        return write_new_sources(jax.numpy.asarray(lists), place, new), new_past_inputs(new, *past)

    got = once()
    with unittest.mock.patch("jaxneuro._kernels.call.native_available", return_value=False):
        return got, once()


run = jax.jit(both, static_argnums=3)


@pytest.mark.slow(but=["layout1"])
@pytest.mark.parametrize("layout", LAYOUTS)
@hypothesis.settings(max_examples=10)
@hypothesis.given(seed=st.integers(0, 2**20), on=st.booleans())
def test_drawn_and_chosen(layout, seed, on):
    arrays, past, static = build(layout, seed, on)
    number, part, _, cap, _ = arrays
    many, places = len(number), static[0]
    place = np.arange(many, dtype=np.int32) + 1
    place[0] = place[-1] = 12  # not kept
    native, reference = jax.tree.map(np.asarray, run(arrays, past, place, static))
    for a, b in zip(native, reference):
        np.testing.assert_array_equal(a, b)
    lists, counts = native
    fires = np.isin(np.arange(places), cap) & on
    rounds = np.arange(32, dtype=np.uint32)
    history = ((past[0] & past[1])[..., None] >> rounds & 1).reshape(places, -1)
    kept = set(place.tolist()) - {12}
    for row in set(range(12)) - kept:
        assert (lists[row] == places).all()
    for i in range(1, many - 1):
        mine = lists[place[i]]
        there = mine[mine < places]
        assert (mine[there.size :] == places).all()  # what is none comes last
        assert np.unique(there).size == there.size
        assert fires[there].sum() == (part[i] if on else 0)
        _, drawn = gap_rows(tuple(KEY[0]), int(number[i]), int(number[i]) + 1, places, static[1])
        others = there[~fires[there]]
        np.testing.assert_array_equal(np.sort(others), drawn[~fires[drawn]])
        np.testing.assert_array_equal(counts[i], history[there].sum(axis=0))
    assert not counts[0].any()
