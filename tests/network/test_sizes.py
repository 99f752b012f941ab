"""Estimates, bytes per synapse, and how things print."""

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._text import megabytes
from tests.network.networks import balanced, description

LAW = jn.Uniform(0.5, 2.0)


def made(rule, sizes=(300, 400), weight=1.0, delay=0.1, targets=1):
    names = [f"T{k}" for k in range(targets)]
    populations = [jn.Population("S", sizes[0], jn.neurons.LIF())]
    populations += [jn.Population(k, sizes[1], jn.neurons.LIF()) for k in names]
    synapse = jn.synapses.Exponential()
    return jn.Description(
        populations,
        [jn.Projection("S", k, rule, weight=weight, delay=delay, synapse=synapse) for k in names],
    )


RULES = [
    jn.connectivity.AllToAll(),
    jn.connectivity.FixedIndegree(30),
    jn.connectivity.FixedProbability(0.2),
    jn.connectivity.Explicit(np.arange(300), np.arange(300)),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda r: type(r).__name__)
def test_estimated_synapses(rule):
    estimate = made(rule).estimate()
    net = jn.build(made(rule), 0, 0.1)
    if isinstance(rule, jn.connectivity.FixedProbability):
        assert abs(net.n_synapses - estimate.synapses) < 5 * np.sqrt(0.2 * 0.8 * 300 * 400)
    else:
        assert net.n_synapses == estimate.synapses
    assert estimate.neurons == net.n_neurons == 700


@pytest.mark.parametrize(
    ("weight", "delay", "per_synapse"), [(1.0, 0.1, 2), (LAW, 0.1, 6), (1.0, LAW, 3), (LAW, LAW, 7)]
)
@pytest.mark.parametrize("targets", [1, 5])
@pytest.mark.parametrize("p", [0.001, 0.02, 0.5])
def test_bytes_per_synapse(weight, delay, per_synapse, targets, p):
    """2 with one weight and delay, 7 with individual ones, and 8 per source and block."""
    rule = jn.connectivity.FixedProbability(p)
    net = jn.build(made(rule, (500, 2000), weight, delay, targets), 0, 0.1)
    table = net.pathways[0].table
    fixed = 1024 + 64 * targets  # section words and the vectors over blocks
    rows = 8 * 500 * targets
    assert net.connection_bytes <= per_synapse * net.n_synapses + rows + fixed
    assert net.connection_bytes >= per_synapse * net.n_synapses
    assert table.targets.dtype == np.uint16
    estimate = made(rule, (500, 2000), weight, delay, targets).estimate()
    assert estimate.bytes == pytest.approx(net.connection_bytes, rel=0.1, abs=rows + fixed)


def test_estimate_prints_a_line_per_projection():
    text = repr(balanced().estimate())
    assert [line.split()[0] for line in text.splitlines()[1:]] == [
        "E->E",
        "E->I",
        "I->E",
        "I->I",
        "total",
    ]
    assert "2,560" in text  # 0.1 * 160 * 160


def test_a_long_estimate_is_cut():
    text = repr(made(RULES[1], (10, 10), targets=40).estimate())
    assert len(text.splitlines()) == 33
    assert "... and 10 smaller projections" in text


def test_what_things_print():
    net = jn.build(made(RULES[0]), 0, 0.1)
    size = f"{net.connection_bytes / 1e6:.1f} MB"
    assert repr(net) == f"Network: 2 populations, 700 neurons, 120,000 synapses, {size}"
    one = jn.build(description(["A"]), 0, 0.1)
    assert repr(one) == "Network: 1 population, 13 neurons, 0 synapses, 0 B"
    assert repr(made(RULES[0])) == (
        "Description: 2 populations, 700 neurons, 1 projection, 0 stimulations, "
        "about 120,000 synapses"
    )
    assert "array" not in repr(net).lower()


def test_bytes_for_people():
    sizes = {800: "800 B", 28_800: "28.8 kB", 7e5: "0.7 MB", 1.3e9: "1.3 GB", 9e13: "90.0 TB"}
    assert {n: megabytes(n) for n in sizes} == sizes


def test_printing_is_short():
    result = jn.simulate(jn.build(balanced(), 0, 0.1), 5.0)
    for thing in (result, result.network, balanced()):
        assert len(repr(thing)) < 200
    assert repr(result).startswith("Result: 5 ms (50 steps) of Network: 2 populations")


def test_couplings_are_as_large_as_estimated():
    """To a tenth, with padding: one population, two ways, one way, and listed pairs."""
    cells = [jn.Population(name, n, jn.neurons.LIF()) for name, n in (("A", 600), ("B", 250))]
    rule, graded = jn.connectivity.FixedProbability(0.1), jn.release.VoltageRelease()
    pairs = jn.connectivity.Explicit(np.arange(600), (np.arange(600) + 1) % 600)
    for coupling in (
        jn.Coupling("A", "A", rule, weight=1.0),
        jn.Coupling("A", "A", rule, weight=jn.Uniform(0.0, 1.0)),
        jn.Coupling("A", "B", rule, weight=1.0),
        jn.Coupling("A", "B", rule, weight=1.0, release=graded, synapse=jn.synapses.AMPA()),
        jn.Coupling("A", "A", pairs, weight=1.0),
    ):
        description = jn.Description(cells, couplings=[coupling])
        expected, net = description.estimate(), jn.build(description, 0, 0.1)
        assert expected.synapses == 0
        assert expected.neighbours == pytest.approx(net.n_couplings, rel=0.05)
        assert expected.bytes == pytest.approx(net.connection_bytes, rel=0.1)
