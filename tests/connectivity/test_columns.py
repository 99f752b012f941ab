"""From a rule to the columns of a table: values stay with their connections."""

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._numerics.distributions import Normal, Uniform
from jaxneuro.connectivity import AllToAll, Explicit, FixedIndegree, FixedProbability, OneToOne
from tests.refusing import assert_refused

from .drawing import draw, read_table, set_chunk

LIF = jn.neurons.LIF()


def build(rule, n_pre, n_post, weight, delay, extra=(), name="p", key=0):
    """A network of one projection between two populations, and perhaps more."""
    populations = [jn.Population("a", n_pre, LIF), jn.Population("b", n_post, LIF)]
    projection = jn.Projection(
        "a", "b", rule, weight=weight, delay=delay, synapse=jn.synapses.Delta(), name=name
    )
    return jn.build(jn.Description(populations, [projection, *extra]), key=key, dt=0.1)


def columns(net, n_pre):
    """(pre, post, weight, delay) of every synapse of a network of one projection."""
    pathway = net.pathways[0]
    source, place, index, delay = read_table(pathway.table)
    one = float(np.asarray(pathway.weight)[0])
    weight = np.where(index < 0, one, np.append(pathway.weights, 0.0)[index])
    return source, place - n_pre, weight, delay


RULES = [
    AllToAll(),
    FixedProbability(0.3),
    FixedIndegree(6),
    FixedIndegree(9, multapses=False),
    Explicit([3, 3, 0, 9, 3], [11, 11, 2, 0, 1]),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_matrix_gives_every_pair_its_values(rule):
    rng = np.random.default_rng(0)
    weight = rng.integers(-50, 50, (10, 12)) * 1.0
    steps = rng.integers(1, 400, (10, 12))
    pre, post, w, d = columns(build(rule, 10, 12, weight, steps * 0.1), 10)
    want = draw(rule, 10, 12)
    np.testing.assert_array_equal(pre, want[0])
    np.testing.assert_array_equal(post, want[1])
    np.testing.assert_array_equal(w, weight[pre, post])
    np.testing.assert_array_equal(d, steps[pre, post])


def test_one_value_per_connection_stays_with_it_over_blocks_of_65536_targets():
    rng = np.random.default_rng(0)
    n_post = 140_000
    pre, post = rng.integers(0, 4, 500), rng.integers(0, n_post, 500)
    post[:5] = (65_535, 65_536, 131_071, 131_072, 139_999)
    weight, steps = np.arange(500) * 1.0, rng.integers(1, 300, 500)
    net = build(Explicit(pre, post), 4, n_post, weight, steps * 0.1)
    assert net.pathways[0].table.block_offset.shape == (3,)
    got = columns(net, 4)
    number = got[2].astype(int)
    assert sorted(number) == list(range(500))
    np.testing.assert_array_equal(got[0], pre[number])
    np.testing.assert_array_equal(got[1], post[number])
    np.testing.assert_array_equal(got[3], steps[number])


def test_one_to_one_takes_one_value_per_connection():
    got = columns(build(OneToOne(), 7, 7, np.arange(7) * 1.0, np.arange(1, 8) * 0.1), 7)
    np.testing.assert_array_equal(np.stack(got), [range(7), range(7), range(7), range(1, 8)])


@pytest.mark.parametrize(
    "rule", [FixedProbability(2e-3), FixedIndegree(1), AllToAll()], ids=["p", "k", "all"]
)
def test_more_than_65536_targets(rule):
    n_post = 66_000
    net = build(rule, 3, n_post, 1.0, 0.1)
    got = columns(net, 3)
    want = draw(rule, 3, n_post)
    order = np.lexsort((got[1], got[0]))
    np.testing.assert_array_equal(np.stack([got[0][order], got[1][order]]), np.stack(want))


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_drawn_values_do_not_depend_on_the_chunk(monkeypatch, rule):
    weight, delay = Normal(3.0, 1.0), Uniform(0.1, 60.0)
    whole = columns(build(rule, 10, 12, weight, delay), 10)
    set_chunk(monkeypatch, 7)
    chunked = columns(build(rule, 10, 12, weight, delay), 10)
    for a, b in zip(whole, chunked):
        np.testing.assert_array_equal(a, b)


def test_drawn_values_do_not_depend_on_other_projections():
    rule = FixedProbability(0.4)
    weight, delay = Normal(3.0, 1.0), Uniform(0.1, 3.0)
    alone = columns(build(rule, 10, 12, weight, delay), 10)
    other = jn.Projection(
        "b", "a", rule, weight=weight, delay=delay, synapse=jn.synapses.Delta(), name="other"
    )
    net = build(rule, 10, 12, weight, delay, extra=[other])
    both = columns(net, 10)
    mine = np.asarray(both[0]) < 10
    for a, b in zip(alone, both):
        np.testing.assert_array_equal(a, b[mine])


def test_drawn_values_follow_their_distributions():
    net = build(AllToAll(), 200, 300, Normal(3.0, 1.0, low=2.0), Uniform(0.5, 2.5))
    _, _, w, d = columns(net, 200)
    assert w.min() >= 2.0
    z = (w.mean() - 3.2876) / (0.7935 / np.sqrt(w.size))  # moments of the truncated law
    assert abs(z) < 5
    counts = np.bincount(d, minlength=26)[5:26]
    share = np.full(21, 1 / 20)
    share[[0, -1]] /= 2  # half a step falls to the first and the last
    assert (np.abs(counts - share * d.size) < 5 * np.sqrt(share * d.size)).all()
    assert abs(np.corrcoef(w, d)[0, 1]) < 5 / np.sqrt(w.size)


def test_drawn_delays_are_at_least_one_step():
    d = columns(build(AllToAll(), 20, 30, 1.0, Normal(0.1, 1.0, low=0.05)), 20)[3]
    assert d.min() == 1


@pytest.mark.parametrize(
    ("delay", "field", "got"),
    [
        (0.15, "delay", "0.15 ms, between 0.1 and 0.2 ms"),
        (np.full((10, 12), 0.15), "delay", "0.15 ms, between 0.1 and 0.2 ms"),
        (0.0, "delay", "0.0"),
        (7000.0, "delay", "7000 ms"),
        (Uniform(1.0, 1e5), "delay", "100000 ms"),
    ],
)
def test_bad_delays_are_refused(delay, field, got):
    assert_refused(lambda: build(AllToAll(), 10, 12, 1.0, delay), "projection 'p'", field, got)
