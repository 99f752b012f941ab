"""Poisson counts: their law, their independence, and what is not a mean."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from jaxneuro._kernels.poisson import LARGEST_MEAN, MEANS, TERMS, alias_table, poisson
from jaxneuro._numerics.streams import Stream, seed_of, stream_key

N = 100_000


def stream_of(n=N, seed=0, name="x"):
    high, low = stream_key(seed_of(seed), name, "stimulus")
    return Stream(high, low, np.arange(n, dtype=np.uint32))


@jax.jit
def draw(stream, steps, mean):
    return jax.lax.map(lambda k: poisson(stream, k, mean), steps)


def counts_of(mean, n_steps=10, first=0, **where):
    steps = np.int32(first) + np.arange(n_steps, dtype=np.int32)
    return np.asarray(draw(stream_of(**where), steps, mean))


def check_law(counts, mean):
    """Chi-square over classes of at least 10 expected counts, the tails together."""
    counts = np.ravel(counts)
    assert (counts == np.rint(counts)).all()
    law = scipy.stats.poisson(mean)
    low, high = (int(law.ppf(q)) for q in (20 / counts.size, 1 - 20 / counts.size))
    expected = law.pmf(np.arange(low, high + 1))
    expected[0], expected[-1] = law.cdf(low), law.sf(high - 1)
    # Neighbours are joined where there are many classes.
    joined = max(1, expected.size // 300)
    got = np.bincount(np.clip(counts, low, high).astype(int) - low, minlength=expected.size)
    starts = np.arange(0, expected.size, joined)
    got, expected = np.add.reduceat(got, starts), np.add.reduceat(expected, starts)
    assert scipy.stats.chisquare(got, expected / expected.sum() * counts.size).pvalue > 1e-4


@pytest.mark.parametrize("mean", [0.01, 0.3, 1.0, 2.2, 3.99, 4.0, 10.0, 100.0, 1e4])
@pytest.mark.parametrize("shape", [(), (N,)])
def test_the_law(mean, shape):
    counts = counts_of(np.full(shape, mean, np.float32), first=7)
    assert counts.shape == (10, N)
    assert counts.dtype == np.float32
    check_law(counts, float(np.float32(mean)))
    assert abs(counts.mean() - mean) < 5 * np.sqrt(mean / counts.size)


def test_means_of_all_sizes_side_by_side():
    means = np.asarray([0.0, 0.02, 0.7, 5.5, 63.9, 3000.25, 16383.0], np.float32)
    counts = counts_of(np.resize(means, N))
    assert (counts[:, :: means.size] == 0).all()
    for k, mean in enumerate(means[1:], 1):
        check_law(counts[:, k :: means.size], float(mean))


@pytest.mark.parametrize("first", [2**24 + 1, 2**31 - 20, -(2**30)])
def test_the_law_at_any_step(first):
    counts = counts_of(np.float32(1.7), first=first)
    check_law(counts, 1.7)
    # float32 would take two steps for one.
    assert len({row.tobytes() for row in counts}) == 10


@pytest.mark.parametrize("mean", [0.04, 1.3, 9.0, 2222.0])
def test_counts_are_independent(mean):
    here = counts_of(np.float32(mean))
    bound = 5 / np.sqrt(here.size * 0.9)
    others = {
        "neuron": (here[:, 1:], here[:, :-1]),
        "step": (here[1:], here[:-1]),
        "name": (here, counts_of(np.float32(mean), name="y")),
        "seed": (here, counts_of(np.float32(mean), seed=1)),
    }
    for what, (a, b) in others.items():
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < bound, what


def test_a_count_does_not_depend_on_what_is_drawn_beside_it():
    """Other branches run where other means are larger: the same counts, bit for bit."""
    means = np.random.default_rng(0).uniform(0.0, 0.05, N).astype(np.float32)
    alone = counts_of(means)
    for largest in (0.4, 1.4, 2.4, 3.9, 8.0, 70.0, 1100.0, LARGEST_MEAN):
        beside = means.copy()
        beside[-1] = largest
        np.testing.assert_array_equal(counts_of(beside)[:, :-1], alone[:, :-1])
    np.testing.assert_array_equal(counts_of(means[:100], n=100), alone[:, :100])
    fours = np.full(N, 4.0, np.float32)  # where the digits begin
    alone, fours[-1] = counts_of(fours), 100.0
    np.testing.assert_array_equal(counts_of(fours)[:, :-1], alone[:, :-1])


def test_one_mean_for_all_is_as_many_equal_ones():
    for mean in (0.03, 1.1, 3.3, 321.0):
        one, many = (counts_of(np.full(shape, mean, np.float32)) for shape in ((), (N,)))
        assert (one != many).mean() < 1e-6


def test_a_batch_draws_as_each_alone():
    means = np.float32([[0.01], [0.9], [3.0], [500.0]]) * np.ones(1000, np.float32)
    stream, k = stream_of(1000), np.int32(5)
    one = jax.jit(poisson)
    loop = np.stack([one(stream, k, m) for m in means])
    batched = jax.jit(jax.vmap(poisson, in_axes=(None, None, 0)))
    np.testing.assert_array_equal(batched(stream, k, means), loop)
    np.testing.assert_array_equal(batched(stream, k, means[:, 0]), loop)


def test_a_batch_takes_one_branch():
    """A batch of different means still has a conditional, not all branches at once."""
    stream = stream_of(10)
    program = jax.make_jaxpr(jax.vmap(lambda m: poisson(stream, jnp.int32(0), m)))(jnp.ones(3))
    assert "cond[" in str(program)


@pytest.mark.parametrize("bad", [np.nan, -1e-3, -5.0, np.inf, -np.inf, LARGEST_MEAN * 1.001])
def test_what_is_no_mean_gives_nan(bad):
    assert np.isnan(counts_of(np.float32(bad), n=8)).all()
    means = np.asarray([0.5, bad, 40.0], np.float32)
    counts = counts_of(means, n=3)
    assert np.isnan(counts[:, 1]).all()
    assert np.isfinite(counts[:, ::2]).all()


def test_no_mean_no_neurons():
    assert (counts_of(np.float32(0.0)) == 0).all()
    assert counts_of(np.float32(2.0), n=0).shape == (10, 0)
    assert counts_of(np.zeros(0, np.float32), n=0).shape == (10, 0)


@pytest.mark.usefixtures("x64")
def test_float64():
    counts = counts_of(np.float64(6.5))
    assert counts.dtype == np.float64
    check_law(counts, 6.5)


def test_a_gradient_is_zero():
    stream = stream_of(100)
    grad = jax.jit(jax.grad(lambda m: poisson(stream, jnp.int32(0), m).sum()))
    for mean in (0.01, 3.0, 90.0):
        assert grad(jnp.float32(mean)) == 0.0


@pytest.mark.parametrize("place", range(6))
def test_the_tables_hold_the_law_to_two_to_the_minus_32(place):
    (threshold, outcomes), columns = alias_table(place)
    first, second = outcomes & 0xFFFF, outcomes >> 16
    size = 1 << columns
    full = 2**32 // size
    for digit in range(4):
        part = slice(digit * size, (digit + 1) * size)
        weight = np.zeros(2**17)
        np.add.at(weight, first[part], threshold[part].astype(np.float64))
        np.add.at(weight, second[part], full - threshold[part].astype(np.float64))
        law = scipy.stats.poisson(digit * 4 ** (place + 1)).pmf(np.arange(weight.size))
        assert weight.sum() == 2**32
        # Each is rounded, and the largest takes what is then left.
        wrong = np.sort(np.abs(weight - law * 2**32))
        assert wrong[-2] < 0.51
        assert wrong[-1] < 40


def test_the_terms_reach_as_far_as_the_words():
    for mean, terms in zip(MEANS, TERMS):
        pmf = scipy.stats.poisson(mean).pmf(np.arange(terms + 1, terms + 50))
        assert (pmf * 2.0**32 < 0.5).all()
