"""`poisson`: the native kernel against the reference, bit for bit, and its transformations."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.poisson import (
    LARGEST_MEAN,
    _native,
    counts,
    counts_by_branches,
    poisson,
    split,
)
from jaxneuro._numerics.streams import Stream, stream_keys
from tests.oracle.threefry import step_word

NATIVE = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
SPECIAL = [0.0, 1e-30, 1e-9, 0.05, 0.5, 1.5, 2.5, 3.9999998, 4.0, 16.0, 100.0, LARGEST_MEAN]
WRONG = [np.nan, -1.0, np.inf, 1e30]
MEANS = st.one_of(
    st.sampled_from(SPECIAL + WRONG),
    st.floats(0.0, 4.0, width=32),
    st.floats(0.0, LARGEST_MEAN, width=32),
)
STEPS = st.one_of(st.integers(0, 100), st.integers(-(2**31), 2**31 - 1))
# Few of them, for each is compiled: below, at and above whole words and blocks, none, and many.
SIZES = st.sampled_from([(1,), (1, 1, 1), (31, 32, 33, 90, 389, 380), (256, 0, 257, 64, 378)])
FIRST = st.one_of(st.integers(0, 70), st.integers(0, 2**31), st.just(2**32 - 40))


def stream_of(sizes, firsts, seed=0):
    """Runs of populations, each numbered from its first."""
    high, low = stream_keys(np.uint32(seed), [f"p{k}" for k in range(len(sizes))], "stimulus")
    index = np.asarray([f % 2**32 for f in firsts[: len(sizes)]], np.uint32)
    return Stream(high, low, index, tuple(sizes))


SPLIT = jax.jit(split)
VERSIONS = [jax.jit(f) for f in (_native, counts, counts_by_branches)]


def agree(stream, step, mean):
    """The counts of every version, which are one."""
    parts, step = SPLIT(mean), np.int32(step)
    got = [version(stream, step, parts) for version in VERSIONS]
    for x in got[1:]:
        np.testing.assert_array_equal(np.asarray(got[0]), np.asarray(x))
    return np.asarray(got[0])


@pytest.mark.slow
@NATIVE
@hypothesis.given(data=st.data(), sizes=SIZES, step=STEPS)
def test_equals_the_reference_for_runs(data, sizes, step):
    firsts = data.draw(st.lists(FIRST, min_size=len(sizes), max_size=len(sizes)))
    stream = stream_of(sizes, firsts)
    means = data.draw(st.lists(MEANS, min_size=len(sizes), max_size=len(sizes)))
    mean = np.asarray(means, np.float32)
    if len(sizes) == sum(sizes):  # then one per run is one per unit
        stream, mean = Stream(*spread(stream)), np.repeat(mean, sizes)
    got = agree(stream, step, mean)
    if stream.sizes is not None:
        one_by_one = agree(Stream(*spread(stream)), step, np.repeat(mean, sizes))
        np.testing.assert_array_equal(got, one_by_one)


def spread(stream):
    """Keys and numbers of all units, in NumPy."""
    if stream.sizes is None:
        return stream.high, stream.low, stream.index
    high, low = (np.repeat(x, stream.sizes) for x in (stream.high, stream.low))
    first = np.repeat(np.asarray(stream.index), stream.sizes)
    count = np.concatenate([np.arange(n, dtype=np.uint32) for n in stream.sizes])
    return high, low, first + count


@pytest.mark.slow(but=["counted-0.05-float64"])
@NATIVE
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("largest", [0.05, 0.5, 1.5, 2.5, 4.0, 300.0, LARGEST_MEAN])
@pytest.mark.parametrize("order", ["counted", "shuffled", "the same"])
def test_equals_the_reference_for_a_mean_per_unit(dtype, largest, order, request):
    if dtype == "float64":
        request.getfixturevalue("x64")
    rng = np.random.default_rng(0)
    n = 5_000
    index = {"counted": np.arange(n) + 7, "shuffled": rng.permutation(n), "the same": np.full(n, 3)}
    stream = stream_of([n], [0])
    stream = Stream(stream.high[0], stream.low[0], index[order].astype(np.uint32))
    mean = rng.uniform(0, largest, n)
    mean[::97] = np.nan
    mean[1000:2000] = largest / 2  # stretches of one mean
    got = agree(stream, 12, mean.astype(dtype))
    known = ~np.isnan(mean)
    assert ((got == 65535) == ~known).all()
    if order != "the same":
        expected = mean[known].sum()
        assert abs(got[known].sum() - expected) < 5 * np.sqrt(expected)


@pytest.mark.slow
@NATIVE
@pytest.mark.parametrize("mean", [0.001, 0.04, 0.3, 1.0, 2.0, 3.0, 3.99])
def test_the_rare_counts_of_a_table(mean):
    """The thresholds behind the first ones, which few groups reach."""
    stream = stream_of([2_000_000], [0])
    got = agree(stream, 5, np.float32(mean))
    # A count that 0.2 units are expected to reach.
    p, k = np.exp(-mean), 0
    while 2e6 * p > 0.2:
        k, p = k + 1, p * mean / (k + 1)
    assert k - 4 < got.max() <= k + 4


def test_one_word_for_each_unit():
    """The law of words, from the oracle."""
    index = np.asarray([0, 1, 15, 16, 17, 31, 32, 47, 48, 1000, 2**31 + 5, 2**32 - 1])
    high, low = (int(x[0]) for x in stream_keys(np.uint32(3), ["x"], "stimulus"))
    want = [step_word((high, low), int(i), 77, 2) for i in index]
    stream = Stream(np.uint32(high), np.uint32(low), index.astype(np.uint32))
    np.testing.assert_array_equal(stream.word(77, purpose=2), want)
    traced = jax.jit(lambda s, k: s.word(k, purpose=2))
    np.testing.assert_array_equal(traced(jax.tree.map(jnp.asarray, stream), jnp.int32(77)), want)


def test_runs_draw_as_each_population_alone():
    sizes, mean = (300, 40, 1000), np.float32([0.7, 3.0, 120.0])
    stream = stream_of(sizes, [0, 16, 5])
    together = np.asarray(jax.jit(poisson)(stream, 9, mean))
    stop = np.cumsum(sizes)
    for k, n in enumerate(sizes):
        own = Stream(stream.high[k], stream.low[k], stream.index[k] + np.arange(n, dtype="uint32"))
        alone = jax.jit(poisson)(own, 9, mean[k])
        np.testing.assert_array_equal(together[stop[k] - n : stop[k]], alone)


@pytest.mark.parametrize("sizes", [(200, 300, 100), (3, 5, 4)], ids=["long", "short"])
def test_a_batch_of_seeds_and_means_equals_the_loop(sizes):
    means = np.float32([[0.5, 1.0, 2.0], [3.0, 4.0, 70.0]])
    seeds = np.arange(3, dtype=np.uint32)

    def one(seed, mean, step):
        high, low = stream_keys(seed, ["a", "b", "c"], "stimulus")
        return poisson(Stream(high, low, np.zeros(3, np.uint32), sizes), step, mean)

    steps = np.int32([4, 5])
    over_means = jax.vmap(one, (None, 0, 0))
    got = jax.jit(jax.vmap(over_means, (0, None, None)))(seeds, means, steps)
    alone = jax.jit(one)
    want = [[alone(s, m, k) for m, k in zip(means, steps)] for s in seeds]
    np.testing.assert_array_equal(got, np.asarray(want))
    only_seeds = jax.jit(jax.vmap(one, (0, None, None)))(seeds, means[1], steps[1])
    np.testing.assert_array_equal(only_seeds, np.asarray(want)[:, 1])


def test_a_gradient_through_a_batch_is_zero():
    stream = stream_of((100, 100), [0, 0])

    @functools.partial(jax.vmap, in_axes=0)
    @jax.grad
    def gradient(mean):
        return jax.lax.scan(lambda c, k: (c + poisson(stream, k, mean).sum(), None), 0.0, STEPS_4)[
            0
        ]

    np.testing.assert_array_equal(jax.jit(gradient)(np.ones((3, 2), np.float32)), 0.0)


STEPS_4 = np.arange(4, dtype=np.int32)


@NATIVE
def test_the_native_kernel_is_what_runs():
    """With one call in the loop, and all that does not change before it."""

    def run(stream, mean):
        steps = jnp.arange(5, dtype=jnp.int32)
        return jax.lax.scan(
            lambda c, k: (c + poisson(stream, k, mean), None), jnp.zeros(2000), steps
        )

    text = jax.jit(run).lower(stream_of([2000], [0]), np.ones(2000, np.float32)).compile().as_text()
    assert text.count('custom_call_target="jaxneuro_poisson"') == 1
    body = next(p for p in text.split("\n\n") if "jaxneuro_poisson" in p)
    assert "exponential" not in body
    assert "conditional" not in text


def test_it_lowers_for_cuda_without_a_branch():
    stream, step, mean = stream_of([2000], [0]), np.int32(3), np.ones(2000, np.float32)
    traced = jax.jit(poisson).trace(stream, step, mean)
    assert "jaxneuro_poisson" not in traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "cond[" not in str(jax.make_jaxpr(counts)(stream, step, split(mean)))
    assert "cond[" in str(jax.make_jaxpr(counts_by_branches)(stream, step, split(mean)))
