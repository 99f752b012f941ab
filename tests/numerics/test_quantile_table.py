"""The table of quantiles: the cells of the definition, the same in NumPy and JAX, the law."""

import itertools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from jaxneuro._numerics.distributions import LogNormal, Normal, Uniform
from jaxneuro._numerics.draws import QUANTILES, drawn, quantile_index, quantile_table
from tests.oracle.quantiles import WORDS, cell, probability

EDGES = [0, 1, 2, WORDS // 2 - 1, WORDS // 2, WORDS - 2, WORDS - 1]
EDGES += [word for k in range(10, 32) for word in (2**k - 1, 2**k, 2**k + 1, WORDS - 2**k)]
LAWS = {
    "normal": (Normal(87.8, 8.78), scipy.stats.norm(87.8, 8.78)),
    "bounded": (
        Normal(1.5, 0.75, low=0.05),
        scipy.stats.truncnorm(-1.45 / 0.75, np.inf, 1.5, 0.75),
    ),
    "log-normal": (LogNormal(0.2, 0.4), scipy.stats.lognorm(0.4, scale=np.exp(0.2))),
    "uniform": (Uniform(-2.0, 3.0), scipy.stats.uniform(-2.0, 5.0)),
}
laws = pytest.mark.parametrize(("law", "same"), LAWS.values(), ids=LAWS)


@hypothesis.given(st.lists(st.integers(0, WORDS - 1), max_size=50))
def test_words_share_an_index_where_they_share_a_cell(more):
    words = sorted(EDGES + more)
    index = quantile_index(np.array(words, np.uint32))
    assert index.dtype == np.int32
    cells = [cell(word) for word in words]
    assert (np.diff(index) >= 0).all()
    same = [a == b for a, b in itertools.pairwise(cells)]
    np.testing.assert_array_equal(np.diff(index) == 0, same)


def test_every_cell_is_there_once():
    """From end to end, each cell begins where the one before it stops."""
    word, cells = 0, []
    while word < WORDS:
        first, size = cell(word)
        assert first == word
        cells.append(first)
        word += size
    np.testing.assert_array_equal(cells, _firsts())
    assert len(cells) == QUANTILES
    index = quantile_index(np.array(cells, np.uint32))
    np.testing.assert_array_equal(index, np.arange(QUANTILES))
    table = quantile_table(Uniform(0.0, 1.0))
    some = np.random.default_rng(0).integers(0, QUANTILES, 3000)
    np.testing.assert_array_equal(table[some], [probability(cells[k]) for k in some])


@pytest.mark.parametrize("jit", [False, True])
def test_jax_has_the_same_index(jit):
    random = np.random.default_rng(1).integers(0, WORDS, 100_000, dtype=np.uint32)
    words = np.concatenate([np.array(EDGES, np.uint32), random])
    index = (jax.jit(quantile_index) if jit else quantile_index)(jnp.asarray(words))
    assert index.dtype == jnp.int32
    np.testing.assert_array_equal(index, quantile_index(words))


@laws
def test_the_values_are_quantiles(law, same):
    words = np.random.default_rng(2).integers(0, WORDS, 2000, dtype=np.uint32)
    want = same.ppf([probability(int(word)) for word in words])
    np.testing.assert_allclose(drawn(law, words), want, rtol=1e-9, atol=1e-9)
    ends = drawn(law, np.array([0, WORDS - 1], np.uint32))
    np.testing.assert_allclose(ends, same.ppf([0.5 / WORDS, 1 - 0.5 / WORDS]), rtol=1e-7, atol=1e-6)


@laws
def test_few_values_are_those_of_the_table(law, same):
    words = np.random.default_rng(3).integers(0, WORDS, QUANTILES, dtype=np.uint32)
    np.testing.assert_array_equal(drawn(law, words[:777]), drawn(law, words)[:777])
    np.testing.assert_array_equal(drawn(law, words), quantile_table(law)[quantile_index(words)])


@laws
def test_the_table_keeps_the_moments(law, same):
    """Mean and spread of what is drawn, exactly: every cell with its number of words."""
    table, share = quantile_table(law), np.diff(_firsts(), append=WORDS) / WORDS
    mean = (table * share).sum()
    assert mean == pytest.approx(same.mean(), rel=1e-6)
    assert np.sqrt(((table - mean) ** 2 * share).sum()) == pytest.approx(same.std(), rel=2e-6)


def _firsts():
    """The first word of every cell: 2^11 of one word, and 20 octaves of 2^11."""
    octaves = [(2**11 + np.arange(2**11)) * 2**k for k in range(20)]
    half = np.concatenate([np.arange(2**11), *octaves])
    return np.concatenate([half, WORDS - np.append(half[1:], WORDS // 2)[::-1]])


def test_equal_laws_share_a_table_that_nobody_changes():
    table = quantile_table(Normal(1.0, 2.0))
    assert quantile_table(Normal(1.0, 2.0)) is table
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1.0
