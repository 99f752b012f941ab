"""Threefry and its streams: the same bits everywhere, and different where they should be."""

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32

import jaxneuro as jn
from jaxneuro._numerics.streams import bits, seed_of, stream_key, threefry2x32
from tests.oracle import threefry as oracle

WORDS = st.integers(0, 2**32 - 1)
# Random123's kat_vectors: rounds, key, counter, result of threefry2x32.
KNOWN = [
    (20, (0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    (20, (0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    (20, (0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    (13, (0, 0), (0, 0), (0x9D1C5EC6, 0x8BD50731)),
    (13, (0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0xFD36D048, 0x2D17272C)),
    (13, (0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xBA3E4725, 0xF27D669E)),
]


def words(values):
    return tuple(np.array([v], np.uint32) for v in values)


@pytest.mark.parametrize(("rounds", "key", "counter", "result"), KNOWN)
def test_known_answers(rounds, key, counter, result):
    assert oracle.threefry2x32(*key, *counter, rounds) == result
    got = threefry2x32(words(key), words(counter), rounds)
    assert tuple(int(x[0]) for x in got) == result


@hypothesis.given(key=st.tuples(WORDS, WORDS), counter=st.tuples(WORDS, WORDS))
def test_numpy_and_jax_equal_the_oracle(key, counter):
    want = oracle.threefry2x32(*key, *counter)
    for convert in (lambda x: x, jnp.asarray):
        got = threefry2x32(*(tuple(convert(w) for w in words(p)) for p in (key, counter)))
        assert tuple(int(x[0]) for x in got) == want
        assert all(x.dtype == np.uint32 for x in got)


def test_broadcasts_and_equals_jax_at_own_indices():
    key = np.array([7, 2**31 + 5], np.uint32)
    index, counter = np.arange(50, dtype=np.uint32), np.arange(2**32 - 9, 2**32, dtype=np.uint32)
    got = threefry2x32((key[0], key[1]), (index[:, None], counter[None, :]))
    assert got[0].shape == (50, 9)
    pairs = np.stack(np.broadcast_arrays(index[:, None], counter[None, :])).reshape(2, -1)
    own = np.asarray(threefry_2x32(jnp.asarray(key), jnp.asarray(pairs.ravel()))).reshape(2, 50, 9)
    np.testing.assert_array_equal(own, np.stack(got))


def test_bits_are_the_same_in_numpy_jax_and_jit():
    key = stream_key(seed_of(3), "E", "targets")
    index, counter = np.arange(1000), 17
    plain = bits(key, index, counter)
    assert all(isinstance(x, np.ndarray) for x in plain)
    others = (
        bits(key, jnp.arange(1000), jnp.int32(counter)),
        jax.jit(lambda i, c: bits(key, i, c))(index, counter),
        jax.vmap(lambda i: bits(key, i, counter))(jnp.arange(1000)),
    )
    for other in others:
        for a, b in zip(plain, other):
            np.testing.assert_array_equal(a, b)
    one = bits(key, 531, counter)
    assert (int(one[0]), int(one[1])) == (int(plain[0][531]), int(plain[1][531]))
    at = (int(key[0]), int(key[1]), 531, counter)
    assert oracle.threefry2x32(*at) == (int(one[0]), int(one[1]))


def test_streams_differ_by_seed_name_and_purpose():
    keys = {
        tuple(int(w) for w in stream_key(seed_of(seed), name, purpose))
        for seed in (0, 1, 2**32)
        for name in ("E", "I", "", "E ", "Et")
        for purpose in ("targets", "values 0", "argets")
    }
    assert len(keys) == 3 * 5 * 3


def test_a_stream_of_a_traced_seed_is_that_of_the_known_one():
    known = stream_key(seed_of(5), "E", "values")
    traced = jax.jit(lambda seed: stream_key(seed, "E", "values"))(jnp.uint32(5))
    assert [int(w) for w in known] == [int(w) for w in traced]


def test_the_bits_look_uniform_and_uncorrelated():
    key = stream_key(seed_of(0), "E", "x")
    first, second = bits(key, np.arange(300)[:, None], np.arange(300)[None, :])
    n = first.size
    for word in (
        first,
        second,
        first ^ second,
        first[1:] ^ first[:-1],
        first[:, 1:] ^ first[:, :-1],
    ):
        shifts = np.arange(32, dtype=np.uint32)
        ones = ((word.ravel()[:, None] >> shifts) & 1).sum(axis=0)
        assert (np.abs(ones - word.size / 2) < 5 * np.sqrt(n) / 2).all()


@pytest.mark.parametrize("seed", [0, 1, 5, 2**31, 2**32 - 1])
def test_the_seed_of_a_small_integer_is_that_integer(seed):
    assert int(seed_of(seed)) == seed
    assert int(seed_of(np.uint32(seed))) == seed
    assert seed_of(seed).dtype == np.uint32


def test_seeds_of_large_integers_are_not_cut_to_32_bits():
    large = [0, 1, 2**32, 2**32 + 1, 2**33, 2**64, 2**64 + 2**32, 2**127 + 1]
    assert len({int(seed_of(x)) for x in large}) == len(large)
    assert int(seed_of(2**40)) == int(seed_of(np.int64(2**40)))


def test_the_seed_of_a_key_is_one_in_every_form():
    new, raw = jax.random.key(9), jax.random.PRNGKey(9)
    assert int(seed_of(new)) == int(seed_of(raw)) == int(jax.jit(seed_of)(new))
    split = jax.random.split(new, 64)
    assert len({int(seed_of(k)) for k in split}) == 64
    batch = jax.vmap(seed_of)(split)
    assert [int(x) for x in batch] == [int(seed_of(k)) for k in split]
    assert int(seed_of(raw)) == oracle.threefry2x32(*(int(w) for w in raw), 0, 0)[0]


@pytest.mark.parametrize("key", [-1, -(2**40), np.int64(-3)])
def test_a_negative_seed_is_refused(key):
    with pytest.raises(jn.InvalidValueError) as caught:
        seed_of(key)
    assert caught.value.field == "key"


def test_what_is_no_key_is_refused():
    keys = jax.random.split(jax.random.key(0), 3)
    rbg = jax.random.key(0, impl="rbg")
    bad = [1.5, True, "seed", None, np.zeros(2, np.uint32), keys, rbg]
    for key in [*bad, jax.random.key_data(keys)]:
        with pytest.raises(jn.InvalidValueError) as caught:
            seed_of(key)
        assert caught.value.field == "key"
