"""Sums that are equal in exact arithmetic tie, and the lower index wins."""

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from jaxneuro._kernels.wide import wide_integers, wide_words
from jaxneuro.assemblies._weights import nearly, on_grid, weight_tables
from tests.oracle.assemblies import decimal, weights

LOWER, FIRST, HIGHER = 3, 5, 7


def brain(form, **how):
    areas = [ac.Area("A", 10, 1, form, **how)]
    return ac.Brain(areas, [ac.Stimulus("S", 2000)], [ac.Fibre("S", "A")], p=0.5)


def with_synapses(state, synapses):
    """So many synapses from the stimulus onto each neuron."""
    counts = np.zeros(10, np.int32)
    counts[list(synapses)] = list(synapses.values())
    fibre = state.fibres[0]._replace(synapses=jnp.asarray(counts))
    return state._replace(fibres=(fibre,))


def winner_of_a_tie(brain, grown, other, times, place):
    """Who wins: neuron 5 of `grown` synapses after so many rounds, or another one."""
    state, active = brain.init(0), np.ones(1, bool)
    for _ in range(times):
        state = brain.step(with_synapses(state, {FIRST: grown}), active)
    state = with_synapses(state, {FIRST: grown, place: other})
    return int(brain.cap(brain.step(state, active), "A")[0])


# Ten synapses of 1.1 weigh eleven; (1 + beta)^times is other / grown in each.
TIES = [(0.1, 10, 11, 1), (0.05, 20, 21, 1), (0.1, 1000, 1331, 3), (0.075, 1600, 1849, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("beta", "grown", "other", "times"), [*TIES, (0.2, 5, 6, 1)])
@pytest.mark.parametrize("form", ["hashed", "explicit"])
def test_a_tie_goes_to_the_lower_index(form, beta, grown, other, times, traced):
    one = brain(form)
    if traced:
        tables = jax.jit(lambda beta: one.with_beta(beta).weights)(beta)
        one = one.with_beta(beta)
        np.testing.assert_array_equal(tables, one.weights)
    for place, wins in ((LOWER, LOWER), (HIGHER, FIRST)):
        assert winner_of_a_tie(one.with_beta(beta), grown, other, times, place) == wins
        assert winner_of_a_tie(one.with_beta(beta), grown, other + 1, times, place) == place
        assert winner_of_a_tie(one.with_beta(beta), grown, other - 1, times, place) == FIRST


def test_equal_shares_of_balanced_neurons_tie():
    """s of t synapses are the same share, whether they have grown or not."""
    table = wide_integers(weight_tables(np.float32([0.1]), np.float32([100.0]), 12))[0]
    s, t = np.array([(s, t) for t in range(1, 21) for s in range(1, t + 1)], np.float32).T
    shares = [np.float32(s * w) / np.float32(t * w) for w in table]
    assert len(np.unique(shares)) > len(np.unique(s / t))  # plain quotients fall apart
    near = np.array([nearly(jnp.asarray(x, jnp.float32)) for x in shares])
    np.testing.assert_array_equal(near, np.broadcast_to(near[0], near.shape))
    assert len(np.unique(near)) == len(np.unique(s / t))


@pytest.mark.slow
@hypothesis.given(
    beta=st.one_of(st.sampled_from([0.05, 0.1, 0.2, 1 / 3, 99.9]), st.floats(0, 1000, width=32)),
    w_max=st.floats(1, 2**20, width=32),
)
def test_the_table_of_weights_is_that_of_fractions(beta, w_max):
    table = weight_tables(np.float32([beta]), np.float32([w_max]), 40)
    np.testing.assert_array_equal(wide_integers(table)[0], weights(beta, w_max, 40))
    traced = jax.jit(lambda x: weight_tables(x, np.float32([w_max]), 40))(np.float32([beta]))
    np.testing.assert_array_equal(traced, table)


@hypothesis.given(x=st.lists(st.integers(-(2**62), 2**62), min_size=5, max_size=5))
def test_the_grid_is_the_nearest_multiple(x):
    want = (np.array(x, np.int64) + 2**11) // 2**12 * 2**12
    np.testing.assert_array_equal(wide_integers(on_grid(jnp.asarray(wide_words(x)))), want)


def test_beta_is_its_decimal():
    assert str(decimal(0.1)) == "1/10"
