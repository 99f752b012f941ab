"""The simulators that draw synapses as they go, against the one that lists them all."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

from tests.oracle import assembly_protocols as protocols
from tests.oracle.assemblies import Area, Brain, Fibre
from tests.oracle.assembly_halfspace import accuracy
from tests.oracle.assembly_rows import Rows
from tests.oracle.assembly_sampled import Sampled, _exact, _normal

FIBRES = [("S", "A"), ("A", "A"), ("A", "B"), ("B", "A")]
# Powers of 1 + beta are exact, so that ties fall alike however weights are summed.
N, K, SIZE, P, BETA = 400, 20, 20, 0.1, 0.5


def listed(rows):
    """The network of a finished run: whoever never fired needs no edges."""
    fibres = []
    for source, target in FIBRES:
        if source == "S":
            inputs = np.rint(rows.w[source, target] / (1 + BETA) ** rows.grown)
            edges = np.arange(SIZE)[:, None] < inputs
        else:
            edges = np.zeros((N, N), bool)
            for i, row in zip(rows.fired[source], rows.rows[source, target]):
                edges[i, row] = True
        fibres.append(Fibre(source, target, edges, BETA))
    return Brain({"A": Area(N, K), "B": Area(N, K)}, {"S": SIZE}, fibres)


@pytest.mark.parametrize("seed", range(6))
def test_rows_drawn_late_are_the_network_that_was_always_there(seed):
    rows = Rows({"A": (N, K), "B": (N, K)}, {"S": SIZE}, FIBRES, P, BETA, seed)
    rows.grown, caps, actives = np.zeros(N), [], []
    for turn in range(12):
        actives.append(FIBRES if turn % 4 else FIBRES[:3])
        rows.step(actives[-1])
        rows.grown[rows.caps["A"]] += 1
        caps.append({a: rows.caps[a] for a in "AB"})
    brain = listed(rows)
    for active, cap in zip(actives, caps):
        brain.step([f in active for f in FIBRES])
        for a in "AB":
            same = brain.areas[a].cap is None and cap[a] is None
            assert same or brain.areas[a].cap.tolist() == cap[a].tolist()
    supports = [rows.support(a) for a in "AB"]
    assert [brain.areas[a].support for a in "AB"] == supports
    assert sum(supports) > 2 * K


@pytest.mark.parametrize(("m", "p"), [(200, 0.01), (40, 0.3)])
def test_candidates_are_the_largest_of_many_binomials(m, p):
    rng = np.random.default_rng(5)
    others, k, runs = 5000, 60, 300
    drawn = np.array([_exact(rng, m, p, others, k) for _ in range(runs)])
    direct = np.sort(rng.binomial(m, p, (runs, others)), 1)[:, : -k - 1 : -1]
    error = np.sqrt((drawn.var(0) + direct.var(0)) / runs) + 1e-9
    assert np.all(np.diff(drawn, axis=1) <= 0)
    assert np.max(np.abs(drawn.mean(0) - direct.mean(0)) / error) < 5


def test_published_candidates_start_at_the_quantile():
    drawn = _normal(np.random.default_rng(0), 200, 0.01, 5000, 60)
    alpha = binom.ppf(1 - 60 / 5000, 200, 0.01)
    assert drawn.min() == alpha
    assert np.all(drawn == np.round(drawn))
    assert drawn.max() <= 200


def test_a_new_winner_has_the_edges_that_made_it_win():
    brain = Sampled({"A": (N, K), "B": (N, K)}, {"S": SIZE}, FIBRES, P, 0.0, 1)
    for _ in range(6):
        brain.step(FIBRES)
        assert all(brain.w[f].shape[-1] == brain.support(f[1]) for f in FIBRES)
    for w in (brain.w[f] for f in FIBRES[1:]):
        assert set(np.unique(w)) == {0.0, 1.0}


@pytest.mark.parametrize("fixed", [(), ("A",)])
def test_only_active_fibres_grow_and_fixed_areas_stay(fixed):
    for brain in (c({"A": (N, K)}, {"S": SIZE}, FIBRES[:2], P, 1.0, 2) for c in (Rows, Sampled)):
        brain.step(FIBRES[:1])
        cap = brain.caps["A"]
        brain.step(FIBRES[1:2], plastic=False, fixed=fixed)
        assert brain.w["A", "A"].max() == 1
        if fixed:
            assert brain.caps["A"].tolist() == cap.tolist()
        brain.step(FIBRES[1:2], fixed=fixed)
        assert brain.w["A", "A"].max() == 2


@pytest.mark.parametrize("law", [Rows, Sampled, partial(Sampled, normal=True, gaps=True)])
def test_protocols_run_to_what_they_claim(law):
    make = partial(law, p=0.2, beta=0.3, seed=3)
    support = protocols.project(make, 1000, 30, 8)[1]
    assert support[0] == 30
    assert np.all(np.diff(support) >= 0)
    assert protocols.complete(make, 1000, 30, 10, 0.5, 5) >= 27
    a, b, c = protocols.merge(make, 1000, 30, 8)
    assert 30 <= min(a, b, c) <= max(a, b, c) <= 1000
    assert protocols.associate(make, 1000, 30, 10) > protocols.associate(make, 1000, 30, 1)
    assert protocols.reciprocate(make, 1000, 30)[-1] >= 15
    assert 0.2 < protocols.density(make, 1000, 30, 8) < 1


def test_a_wide_margin_is_learnt_and_none_is_not():
    assert accuracy(0, 6, n=400, k=40, rounds=5) > 0.95
    assert accuracy(0, 0, n=400, k=40, rounds=5) < 0.6
