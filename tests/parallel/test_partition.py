"""Partitions: who gets which neurons, and what a report says about it."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxneuro as jn
from jaxneuro import parallel
from jaxneuro._mesh.partition import owners_of
from jaxneuro.space import morton_codes
from tests.refusing import assert_refused

from .networks import delayed


@pytest.mark.parametrize(
    "partition",
    [parallel.Contiguous(), parallel.RoundRobin(), parallel.AlongAxis(0), parallel.Morton()],
)
@pytest.mark.parametrize("devices", [1, 4, 7])
def test_equal_parts_of_every_population(partition, devices):
    for name, owner in owners_of(partition, delayed(), devices).items():
        n = delayed().populations[name]
        counts = np.bincount(owner, minlength=devices)
        assert counts.sum() == n
        assert counts.max() == -(-n // devices)


class LastNeuron(parallel.Partition):
    """A partition of a user: no dataclass."""

    def owners(self, net, devices):
        return {
            name: np.where(np.arange(n) == n - 1, devices - 1, 0)
            for name, n in net.populations.items()
        }


def test_a_partition_of_ones_own():
    assert repr(LastNeuron()) == "LastNeuron()"
    report = parallel.report(delayed(), LastNeuron(), 3)
    assert report.neurons.tolist() == [delayed().n_neurons - 3, 0, 3]
    assert isinstance(parallel.best_of(delayed(), [LastNeuron()], 3), LastNeuron)


def test_slabs_follow_the_axis():
    owners = owners_of(parallel.AlongAxis(1), delayed(), 4)
    y = delayed().positions("E")[:, 1]
    for d in range(3):
        assert y[owners["E"] == d].max() <= y[owners["E"] == d + 1].min()


def test_k_means_finds_separate_clouds():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    which = rng.integers(0, 3, 90)
    points = centers[which] + rng.normal(size=(90, 2))
    d = jn.Description([jn.Population("E", 90, jn.neurons.LIF(), positions=points)])
    owner = owners_of(parallel.KMeans(), jn.build(d, key=0, dt=0.1), 3)["E"]
    for k in range(3):
        assert np.unique(owner[which == k]).size == 1
    assert np.unique(owner).size == 3


def spread_bits(cells, dimensions, bits):
    """Z-order by its definition: bit b of axis a is bit b d + a of the code."""
    return [
        sum(
            ((int(c[a]) >> b) & 1) << (b * dimensions + a)
            for b in range(bits)
            for a in range(dimensions)
        )
        for c in cells
    ]


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_morton_codes_interleave_bits(dimensions, seed):
    bits = min(64 // dimensions, 21)
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2**bits, (12, dimensions))
    cells[0], cells[1] = 0, 2**bits - 1  # the corners of the box
    points = cells + 0.5
    points[0], points[1] = 0.0, 2.0**bits
    assert morton_codes(points).tolist() == spread_bits(cells, dimensions, bits)


def test_report_counts_what_a_loop_over_all_connections_counts():
    net = delayed()
    rng = np.random.default_rng(1)
    given_ = {name: rng.integers(0, 3, n) for name, n in net.populations.items()}
    partition = parallel.Given(given_)
    r = parallel.report(net, partition, 3)
    synapses, cut = [0, 0, 0], 0
    for name in net.projections:
        c = net.connections(name)
        for i, j in zip(c.pre, c.post):
            synapses[given_[c.target][j]] += 1
            cut += given_[c.source][i] != given_[c.target][j]
    assert r.synapses.tolist() == synapses
    assert r.cut == cut
    assert r.neurons.tolist() == [sum((x == d).sum() for x in given_.values()) for d in range(3)]
    assert r.places == sum(np.bincount(x).max() for x in given_.values())
    assert r.imbalance == max(synapses) / np.mean(synapses)
    assert "over 3 devices" in repr(r)


def test_a_report_knows_lists_of_spikes_and_no_values_where_there_are_none():
    cells = jn.Population("E", 40_960, jn.neurons.LIF())
    wires = jn.Projection(
        "E",
        "E",
        jn.connectivity.OneToOne(),
        weight=1.0,
        delay=2.0,
        synapse=jn.synapses.Exponential(5.0),
    )
    net = jn.build(jn.Description([cells], [wires]), key=1, dt=0.1)
    bits, lists = (parallel.report(net, parallel.Contiguous(), 2, rate) for rate in (None, 1.0))
    assert bits.exchanges_per_s == lists.exchanges_per_s == 500.0
    assert bits.spike_bytes_per_s == 500 * 20 * 2560
    assert lists.spike_bytes_per_s == 500 * 4 * (164 + 16 + 1)
    assert bits.value_bytes_per_s == 0
    with pytest.raises(ValueError, match="report: rate must"):
        parallel.report(net, parallel.Contiguous(), 2, "1 Hz")


def test_best_of_takes_the_balanced_one_and_then_that_which_cuts_least():
    net = delayed()
    all_on_one = parallel.Given({name: np.zeros(n, int) for name, n in net.populations.items()})
    assert parallel.best_of(net, [all_on_one, parallel.RoundRobin()], 3) == parallel.RoundRobin()
    with pytest.raises(ValueError, match="best_of: partitions must be a list"):
        parallel.best_of(net, [], 3)


def test_bad_input():
    net = jn.build(jn.Description([jn.Population("E", 9, jn.neurons.LIF())]), key=0, dt=0.1)
    for partition in (parallel.AlongAxis(), parallel.Morton(), parallel.KMeans()):
        owner = type(partition).__name__
        assert_refused(lambda: parallel.report(net, partition, 2), owner, "network")  # noqa: B023
    with pytest.raises(ValueError, match="axis must be one of the 3"):
        parallel.report(delayed(), parallel.AlongAxis(3), 2)
    with pytest.raises(ValueError, match="devices must be a whole number of at least 1"):
        parallel.report(net, parallel.Contiguous(), 0)
    for why, make in (
        ("rounds must be a whole number of at least 1", lambda: parallel.KMeans(0)),
        ("seed must be a whole number of at least 0", lambda: parallel.KMeans(seed=-1)),
        ("seed must be a whole number", lambda: parallel.Metis("a")),
        ("axis must be a whole number; got 1.5", lambda: parallel.AlongAxis(1.5)),
        ("Given: devices must", lambda: parallel.Given([0, 1])),
    ):
        with pytest.raises(ValueError, match=why):
            make()
    with pytest.raises(ValueError, match="one whole number for each neuron of 'E'; got"):
        parallel.report(net, parallel.Given({"E": [0, [1]]}), 2)


def test_metis_finds_the_clusters_of_a_network():
    """Four clusters, in no order of their neurons, and one connection in ten between them."""
    pytest.importorskip("pymetis")
    rng = np.random.default_rng(2)
    cluster, pre = rng.permutation(np.arange(200) % 4), np.repeat(np.arange(200), 20)
    mates = np.stack([np.flatnonzero(cluster == k) for k in range(4)])
    post = np.where(
        rng.random(pre.size) < 0.1,
        rng.integers(0, 200, pre.size),
        mates[cluster[pre], rng.integers(0, 50, pre.size)],
    )
    synapse = jn.synapses.Exponential()
    rule = jn.connectivity.Explicit(pre, post)
    d = jn.Description(
        [jn.Population("E", 200, jn.neurons.LIF())],
        [jn.Projection("E", "E", rule, weight=1.0, delay=1.0, synapse=synapse)],
    )
    net = jn.build(d, key=0, dt=0.1)
    metis = parallel.report(net, parallel.Metis(), 4)
    assert metis.cut == np.count_nonzero(cluster[pre] != cluster[post])
    assert metis.imbalance < 1.1
    for other in (parallel.Contiguous(), parallel.RoundRobin()):
        assert parallel.report(net, other, 4).cut > 5 * metis.cut


def test_without_metis_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(ValueError, match=r"jaxneuro\[partition\]"):
        parallel.report(delayed(), parallel.Metis(), 2)
