"""The law of the input of a neuron that never fired, against exact probabilities of SciPy.

Statistical bounds: each raises a false alarm once in 10^4 seeds or less; the seeds are fixed.
"""

from types import SimpleNamespace

import jax
import numpy as np
import pytest
from scipy import stats

from jaxneuro import assemblies as ac
from jaxneuro._kernels.new_sources import _choice
from jaxneuro.assemblies._sampled import _next_inputs, divided, input_law, largest

ALARM = 1e-4
WIRES = ac.Brain(
    [ac.Area("A", 500, 8, "sampled"), ac.Area("B", 60, 8), ac.Area("C", 30, 4)],
    [ac.Stimulus("S", 30)],
    [ac.Fibre("S", "A", p=0.2), ac.Fibre("B", "A", p=0.35), ac.Fibre("C", "A", p=1.0)],
).wires
GRID = 2048
UNIFORM = ((np.arange(GRID) + 0.5) / GRID).astype(np.float32)


@jax.jit
def law_of(on, firing):
    return input_law(list(WIRES), list(on), list(firing))


def exact(on, firing):
    """The binomial laws of the fibres."""
    numbers = np.arange(31)
    none = (numbers == 0).astype(float)
    laws = [stats.binom.pmf(numbers, m, wire.p) for m, wire in zip(firing, WIRES)]
    return [law if yes else none for law, yes in zip(laws, on)]


@pytest.mark.parametrize("on", [(True, True, True), (True, False, True), (False, True, False)])
@pytest.mark.parametrize("firing", [(30, 8, 4), (30, 5, 4), (30, 1, 2), (30, 0, 0)])
def test_the_law_is_a_convolution_of_binomials(on, firing):
    law = law_of(np.array(on), np.array(firing, np.int32))
    a, b, c = exact(on, firing)
    whole = np.convolve(np.convolve(a, b), c)
    for got, want in (
        (law.shares[0][:, -1], whole),
        (law.shares[1][:, -1], np.convolve(b, c)),
        (law.tail, np.cumsum(whole[::-1])[::-1]),
    ):
        want = want[: got.size]
        # Of caps of fewer neurons, to 1e-5. What comes once in 10^18 is cut off.
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-18)


def test_the_input_of_a_tail_and_its_place():
    law = law_of(np.ones(3, bool), np.array([30, 8, 4], np.int32))
    tails = np.float32(10.0) ** -np.linspace(0.01, 9, 400, dtype=np.float32)
    x, place = map(np.asarray, jax.jit(largest)(law, tails))
    tail = np.append(np.asarray(law.tail), 0)
    assert np.all((tail[x] >= tails) & (tails > tail[x + 1]))
    want = (tails - tail[x + 1]) / (tail[x] - tail[x + 1])
    np.testing.assert_allclose(place, want, atol=1e-6)
    assert np.ptp(x) > 10


@pytest.mark.parametrize("total", [4, 5, 9, 17, 34])
def test_an_input_is_divided_by_its_conditional_probabilities(total):
    on, firing = np.ones(3, bool), np.array([30, 8, 4], np.int32)
    law = law_of(on, firing)
    half = np.full(GRID, 0.5, np.float32)
    run = jax.jit(divided)
    a, b, c = exact(on, firing)
    x = np.full(GRID, total, np.int32)
    first = run(law, x, np.stack([UNIFORM, half, half]))
    second = run(law, x, np.stack([half, UNIFORM, half]))
    for parts in (first, second):
        np.testing.assert_array_equal(np.sum(parts, axis=0), total)
    left = total - int(second[0][0])
    assert np.all(np.asarray(second[0]) == total - left)
    for got, mine, others, whole in (
        (first[0], a, np.convolve(b, c), total),
        (second[1], b, c, left),
    ):
        law_here = [
            mine[i] * others[whole - i] if 0 <= whole - i < others.size and i < mine.size else 0.0
            for i in range(whole + 1)
        ]
        want = np.array(law_here) / np.sum(law_here)
        share = np.bincount(got, minlength=whole + 1) / GRID
        # Of a grid, each interval holds its share up to one point.
        np.testing.assert_allclose(share, want, atol=1.1 / GRID)


N, K, SETS = 40, 10, 3000


@jax.jit
def all_inputs(law, order, more):
    """All N order statistics, K at a time."""
    search = SimpleNamespace(n=N, law=law)
    time, found = np.float32(0), []
    for first in range(0, N, K):
        words = SimpleNamespace(order=order[first : first + K], rank=more[first : first + K])
        x, rank, time = _next_inputs(search, words, first + np.arange(K, dtype=np.int32), time)
        found.append((x, rank))
    return [jax.numpy.concatenate(x) for x in zip(*found)]


@pytest.mark.slow
def test_the_largest_of_n_are_order_statistics():
    law = law_of(np.ones(3, bool), np.array([30, 8, 4], np.int32))
    rng = np.random.default_rng(0)
    order, more = (rng.integers(0, 2**32, (SETS, N), np.uint32) for _ in range(2))
    x, rank = map(np.asarray, jax.vmap(all_inputs.__wrapped__, (None, 0, 0))(law, order, more))
    # Largest first; among equal ones the lower rank.
    down = (x[:, :-1] > x[:, 1:]) | ((x[:, :-1] == x[:, 1:]) & (rank[:, :-1] <= rank[:, 1:]))
    assert down.all()
    tail = np.asarray(law.tail, float)
    bound = stats.norm.isf(ALARM / 8)
    for place in (0, 1, K - 1, K, N - 1):
        at_least = stats.binom.sf(place, N, np.minimum(tail, 1))  # P(this one >= x)
        mean = at_least[1:].sum()
        second = np.sum((2 * np.arange(1, tail.size) - 1) * at_least[1:])
        error = np.sqrt((second - mean**2) / SETS)
        assert abs(x[:, place].mean() - mean) < bound * error
    # Taken together they are n independent inputs, with ranks that say nothing.
    chance = tail - np.append(tail[1:], 0)
    counts = np.bincount(x.ravel(), minlength=tail.size)
    some = chance * x.size > 10
    observed = np.append(counts[some], counts[~some].sum())
    wanted = np.append(chance[some], chance[~some].sum())
    wanted *= observed.sum() / wanted.sum()
    assert stats.chisquare(observed, wanted).pvalue > ALARM
    assert stats.kstest(rank.ravel() / 2.0**32, "uniform").pvalue > ALARM


def test_the_largest_word_is_no_largest_input():
    law = law_of(np.ones(3, bool), np.array([30, 8, 4], np.int32))
    order = np.full(N, 2**32 - 1, np.uint32)
    x, _ = all_inputs(law, order, order)
    assert np.asarray(law.tail)[int(x[0])] > 1e-10


def test_choices_are_subsets_of_equal_chance():
    most, draws, m = 5, 6000, 6
    part = np.tile(np.arange(4, dtype=np.int32), draws)  # 0 ... 3 of 6
    words = np.random.default_rng(1).integers(0, 2**32, (most, part.size), np.uint32)
    chosen = np.asarray(jax.jit(_choice, static_argnums=2)(words, np.int32(m), 9, part))
    for size in range(4):
        mine = chosen[part == size]
        assert np.all(mine[:, size:] == 9)
        assert np.all((mine[:, :size] >= 0) & (mine[:, :size] < m))
        subsets, counts = np.unique(np.sort(mine[:, :size], axis=1), axis=0, return_counts=True)
        assert len(subsets) == [1, 6, 15, 20][size]
        assert all(len(set(subset)) == size for subset in subsets.tolist())
        if size:
            assert stats.chisquare(counts).pvalue > ALARM
