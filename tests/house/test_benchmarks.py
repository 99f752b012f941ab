"""The benchmarks of a feature: their variants differ in nothing else, and peers run the same."""

import argparse
import importlib
import json
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxneuro as jn
from benchmarks import _bandwidth, flybrain, gap, lattices, nmda, stp
from jaxneuro.io import format_description

PEERS = Path(__file__).parents[2] / "benchmarks" / "peers"
# What may differ between a network with the feature and the same without, by benchmark.
DIFFERENT = {
    "gap": (lambda feature: gap.description(10, feature), {"couplings"}),
    "stp": (lambda feature: stp.description(100, feature), {"release", "gain", "initial"}),
    "nmda": (
        lambda feature: nmda.description(100, feature),
        {"synapse", "release", "weight", "initial"},
    ),
}


def differing(a, b):
    """In which fields two descriptions differ; of projections, in which fields of theirs."""
    names = {key for key in a.keys() | b.keys() if a.get(key) != b.get(key)}
    if "projections" not in names:
        return names
    pairs = zip(a["projections"], b["projections"], strict=True)
    return set().union(names - {"projections"}, *(differing(x, y) for x, y in pairs))


@pytest.mark.slow(but=["stp"])
@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_variants_differ_only_in_the_feature(name):
    describe, allowed = DIFFERENT[name]
    with_it, without = (json.loads(format_description(describe(x), "json")) for x in (True, False))
    assert differing(with_it, without) == allowed


def test_gap_prints_both_variants_and_the_bound(monkeypatch, capsys):
    monkeypatch.setattr(gap, "cached_bytes_per_s", lambda *_: ("L2", 4e9))
    monkeypatch.setattr(gap, "memory_bytes_per_s", lambda *_: 1e9)
    monkeypatch.setattr(gap, "gather_us", lambda *_: 2.0)
    options = argparse.Namespace(
        side=6, individual=False, seconds=0.002, repeats=1, seed=1, threads=1, against=[]
    )
    gap.run(options)
    with_it, without = map(json.loads, capsys.readouterr().out.splitlines())
    assert [with_it["variant"], without["variant"]] == ["with", "without"]
    # 36 neurons; pairs of a side of 6 at distances 1, sqrt 2 and 2, both ways.
    assert with_it["synapses"] == 2 * (60 + 50 + 48)
    assert without["synapses"] == 0
    moved = {"indices": 2 * 316, "weights": 0, "voltages": 4 * 36, "sums": 4 * 36}
    assert with_it["bytes_per_step"] == moved
    assert with_it["cache_bound_s"] == pytest.approx(20 * 920 / 4e9)
    assert with_it["gather_s"] == pytest.approx(20 * 2e-6, rel=1e-3)
    assert "memory_bound_s" not in without


def test_flybrain_loads_what_peers_connect(capsys):
    options = argparse.Namespace(
        neurons=50, edges=300, seconds=0.01, repeats=1, seed=3, threads=1, against=[]
    )
    flybrain.run(options)
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert line["synapses"] == 300
    assert line["load_s"] > 0
    assert line["read"] in ("parquet", "arrays")
    edges = flybrain.fly.random_edges(50, 300, 3)
    read, *_ = flybrain.load(edges, 50)
    np.testing.assert_array_equal(read.rule.pre, edges["pre"])
    np.testing.assert_array_equal(read.rule.post, edges["post"])
    np.testing.assert_array_equal(read.weight, edges["weight"])


def test_lattices_are_those_of_lixirnet():
    net = jn.build(lattices.description(20), key=1, dt=0.1)
    c = net.connections("lattice~lattice")
    y, x = np.divmod(np.arange(400), 20)
    distance = np.hypot(x[c.pre] - x[c.post], y[c.pre] - y[c.post])
    assert distance.min() == 1
    assert distance.max() == 2
    assert 0.75 < c.pre.size / 4404 < 0.85
    one_way = ~np.isin(c.pre * 400 + c.post, c.post * 400 + c.pre)
    assert 0.15 < one_way.mean() < 0.25


@pytest.fixture
def peer(monkeypatch):
    """Imports a script of a peer, which imports its simulator only when it runs."""
    monkeypatch.syspath_prepend(PEERS)
    return importlib.import_module


def test_brian2_couples_the_same_pairs(peer):
    i, j = peer("brian2_gap").pairs(7)
    net = jn.build(gap.description(7), key=1, dt=0.1)
    c = net.connections("gap")
    assert set(zip(i.tolist(), j.tolist())) == set(zip(c.pre.tolist(), c.post.tolist()))
    assert i.size == c.pre.size


def test_brian2_has_the_same_constants(peer):
    theirs = peer("brian2_stp")
    constants = theirs.U, theirs.TAU_REC, theirs.TAU_FAC, 1e3 * theirs.RATE
    assert constants == pytest.approx((stp.U, stp.TAU_REC, stp.TAU_FAC, stp.RATE))
    theirs = peer("brian2_nmda")
    gate = jn.release.NMDAGate()
    np.testing.assert_allclose(theirs.jumps(), jax.tree.map(float, gate.jumps()), rtol=1e-6)
    constants = 1e3 * theirs.RATE, theirs.V
    assert constants == pytest.approx((nmda.RATE, nmda.V))
    assert nmda.AMPA * float(jn.synapses.AMPA().tau_syn) == theirs.AMPA_CHARGE


def test_the_level_is_the_smallest_cache_that_holds_the_bytes(monkeypatch):
    monkeypatch.setattr(_bandwidth, "cache_bytes", lambda: {"L1": 100, "L2": 1000, "L3": 5000})
    level = _bandwidth.level_of
    assert [level(x) for x in (100, 101, 1001, 5001)] == ["L1", "L2", "L3", "memory"]
    assert level(2000, threads=2) == "L2"  # each core has one
    assert level(5001, threads=2) == "memory"
