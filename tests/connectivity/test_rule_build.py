"""New rules through `build`: what a network holds is what the rule draws."""

import numpy as np
import pytest
import scipy.stats

import jaxneuro as jn
from jaxneuro.connectivity import FixedOutdegree, FixedTotal, SymmetricBernoulli
from tests.oracle.quantiles import positions_in_rows, probabilities
from tests.refusing import assert_refused

from .drawing import draw, read_table, set_chunk
from .test_columns import LIF, build, columns

RULES = [
    FixedOutdegree(6),
    FixedOutdegree(9, multapses=False),
    FixedTotal(70),
    FixedTotal(50, multapses=False),
    FixedTotal(100, multapses=False),
]


def within(rule, n, part="a"):
    """A network of one projection within a population."""
    p = jn.Projection(
        part, part, rule, weight=1.0, delay=0.1, synapse=jn.synapses.Delta(), name="p"
    )
    return jn.build(jn.Description([jn.Population("a", n, LIF)], [p]), key=0, dt=0.1)


def pairs(net):
    return read_table(net.pathways[0].table)[:2]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_between_populations(monkeypatch, rule):
    want = draw(rule, 10, 12)
    for size in (None, 7):
        if size is not None:
            set_chunk(monkeypatch, size)
        net = build(rule, 10, 12, jn.Normal(3.0, 1.0), jn.Uniform(0.1, 60.0))
        got = columns(net, 10)
        np.testing.assert_array_equal(np.stack(got[:2]), np.stack(want))
        assert net.n_synapses == rule.expected(10, 12, False)
        u, t = (probabilities(0, "p", got[0], positions_in_rows(got[0]), k) for k in (0, 1))
        np.testing.assert_allclose(got[2], scipy.stats.norm(3.0, 1.0).ppf(u), rtol=1e-6)
        np.testing.assert_array_equal(got[3], np.rint((0.1 + 59.9 * t) / 0.1))


WITHIN = [
    FixedOutdegree(6, autapses=False),
    FixedOutdegree(19, autapses=False, multapses=False),
    FixedTotal(150, autapses=False),
    FixedTotal(150, autapses=False, multapses=False),
    FixedTotal(300, autapses=False, multapses=False),
    SymmetricBernoulli(0.3),
    SymmetricBernoulli(0.3, autapses=True),
]


@pytest.mark.parametrize("rule", WITHIN, ids=repr)
def test_within_a_population(rule):
    net = within(rule, 20)
    got, want = pairs(net), draw(rule, 20, 20, same=True)
    np.testing.assert_array_equal(np.stack(got), np.stack(want))
    assert net.n_synapses == want[0].size
    assert rule.autapses or (got[0] != got[1]).all()
    if isinstance(rule, SymmetricBernoulli):
        assert set(zip(*got)) == set(zip(*got[::-1]))


@pytest.mark.parametrize("rule", WITHIN, ids=repr)
def test_within_a_part_of_a_population(rule):
    part = jn.Part("a", slice(5, 25))
    got, want = pairs(within(rule, 40, part=part)), draw(rule, 20, 20, same=True)
    np.testing.assert_array_equal(np.stack(got), np.stack(want) + 5)


@pytest.mark.parametrize(
    "rule", [FixedOutdegree(200), FixedTotal(700), FixedTotal(600, multapses=False)], ids=repr
)
def test_more_than_65536_targets(rule):
    n_post = 66_000
    got = columns(build(rule, 3, n_post, 1.0, 0.1), 3)
    order = np.lexsort((got[1], got[0]))
    want = draw(rule, 3, n_post)
    np.testing.assert_array_equal(np.stack([got[0][order], got[1][order]]), np.stack(want))


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0), (0, 0)])
@pytest.mark.parametrize("rule", [FixedOutdegree(3), FixedTotal(8)], ids=repr)
def test_populations_without_neurons(rule, sizes):
    assert build(rule, sizes[0], sizes[1], 1.0, 0.1).n_synapses == 0


@pytest.mark.parametrize("n", [0, 1])
def test_a_symmetric_rule_of_no_or_one_neuron(n):
    assert within(SymmetricBernoulli(1.0), n).n_synapses == 0
    assert within(SymmetricBernoulli(1.0, autapses=True), n).n_synapses == n


REFUSED = [
    (lambda: within(FixedOutdegree(20, autapses=False, multapses=False), 20), "k", "20"),
    (lambda: within(FixedTotal(381, autapses=False, multapses=False), 20), "total", "381"),
    (lambda: build(SymmetricBernoulli(0.1), 10, 10, 1.0, 0.1), "rule", "other"),
]


@pytest.mark.parametrize(("make", "field", "got"), REFUSED)
def test_build_refuses(make, field, got):
    with pytest.raises(ValueError, match=rf"projection 'p': {field} must be .*got .*{got}"):
        make()


def test_build_refuses_weights_of_drawn_connections():
    assert_refused(
        lambda: build(FixedTotal(70), 10, 12, np.ones(70), 0.1),
        "projection 'p'",
        "weight",
        "shape (70,)",
    )
