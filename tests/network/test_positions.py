"""Where neurons are: layouts as descriptions give them and networks keep them."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import Sum
from tests.refusing import assert_refused

BOX = jn.space.UniformBox([0.0, -5.0, 10.0], [1.0, 5.0, 10.5])
GRID = jn.space.Grid((3, 4), spacing=(2.0, 5.0), origin=(-1.0, 100.0))


def describe(**layouts):
    """Populations of 12 neurons with the layouts given."""
    populations = [jn.Population(k, 12, Sum(), positions=x) for k, x in layouts.items()]
    return jn.Description(populations)


def build(key=0, **layouts):
    return jn.build(describe(**layouts), key, 0.1)


def test_layouts_and_arrays():
    points = np.random.default_rng(0).normal(0.0, 50.0, (12, 2))
    net = build(G=GRID, F=points, L=np.arange(12.0), B=BOX, N=None)
    lattice = [(-1.0 + 2.0 * row, 100.0 + 5.0 * column) for row in range(3) for column in range(4)]
    np.testing.assert_array_equal(net.positions("G"), lattice)
    np.testing.assert_array_equal(net.positions("F"), points.astype(np.float32))
    np.testing.assert_array_equal(net.positions("L"), np.arange(12.0)[:, None])
    x = net.positions("B")
    assert x.shape == (12, 3)
    assert ((x >= BOX.low) & (x < BOX.high)).all()
    assert len(np.unique(x)) == 36
    assert set(net.points) == {"G", "F", "L", "B"}


def test_positions_are_in_the_networks_dtype(x64):
    points = np.random.default_rng(0).normal(0.0, 50.0, (12, 2))
    net = jn.build(describe(F=points), 0, 0.1, np.float64)
    assert net.positions("F").dtype == np.float64
    np.testing.assert_array_equal(net.positions("F"), points)
    assert build(F=points).positions("F").dtype == np.float32


def test_random_positions_belong_to_the_key_and_the_name():
    alone = build(3, B=BOX).positions("B")
    others = build(3, A=BOX, C=GRID, B=BOX)
    np.testing.assert_array_equal(others.positions("B"), alone)
    np.testing.assert_array_equal(build(3, B=BOX, A=BOX).positions("A"), others.positions("A"))
    assert (others.positions("A") != alone).all()
    assert (build(4, B=BOX).positions("B") != alone).all()
    assert (build(jax.random.key(3), B=BOX).positions("B") != alone).all()


def test_projections_stimuli_and_parts_leave_positions_alone():
    alone = build(3, B=BOX).positions("B")
    half = jn.Part("B", jn.space.Area([0.5, -5.0, 10.0], [1.0, 5.0, 10.5]))
    synapse = jn.synapses.Delta()
    rule = jn.connectivity.FixedProbability(0.5)
    weight, delay = jn.space.ByDistance(lambda d: d), jn.space.ConductionDelay(speed=1.0)
    p = jn.Projection(half, "B", rule, weight=weight, delay=delay, synapse=synapse)
    s = jn.Stimulation(half, jn.stimuli.Current(1.0))
    net = jn.build(jn.Description(describe(B=BOX).populations, [p], [s]), 3, 0.1)
    np.testing.assert_array_equal(net.positions("B"), alone)
    c = net.connections("B->B")
    assert 0 < len(c) < 144
    assert (alone[c.pre, 0] >= 0.5).all()
    apart = np.linalg.norm(alone[c.pre].astype(float) - alone[c.post], axis=1)
    np.testing.assert_allclose(c.weight, apart, rtol=1e-5)
    (stimulus,) = net.groups[0].stimuli
    np.testing.assert_array_equal(stimulus.index, np.flatnonzero(alone[:, 0] >= 0.5))


def test_runs_and_new_values_keep_positions():
    net = build(B=BOX)
    np.testing.assert_array_equal(net.set("B", v_th=7.0).positions("B"), net.positions("B"))
    state, _ = jn.scan(net, net.init(0), 2)
    assert int(state.step) == 2


def test_many_uniform_positions_fill_the_box():
    n = 20_000
    population = jn.Population("B", n, Sum(), positions=BOX)
    x = jn.build(jn.Description([population]), 0, 0.1).positions("B").astype(float)
    low, width = np.array(BOX.low), np.subtract(BOX.high, BOX.low)
    u = (x - low) / width
    assert (abs(u.mean(axis=0) - 0.5) < 4.5 / np.sqrt(12 * n)).all()
    assert (abs(u.var(axis=0) - 1 / 12) < 4.5 * np.sqrt(1 / 180 / n)).all()
    corners = np.corrcoef(u.T)[np.triu_indices(3, 1)]
    assert (abs(corners) < 4.5 / np.sqrt(n)).all()


def test_nobody_somewhere():
    net = jn.build(jn.Description([jn.Population("B", 0, Sum(), positions=BOX)]), 0, 0.1)
    assert net.positions("B").shape == (0, 3)


REFUSED = {
    "grid": (
        lambda: describe(B=jn.space.Grid((3, 5))),
        *("population 'B'", "positions", "a Grid of 3 x 5 = 15"),
    ),
    "array": (lambda: describe(B=np.ones((11, 2))), "population 'B'", "positions", "11 points"),
    "no array": (lambda: describe(B="here"), "Free", "points", "'here'"),
    "three axes": (
        lambda: describe(B=np.ones((12, 2, 2))),
        *("Free", "points", "shape (12, 2, 2)"),
    ),
    "nan": (
        lambda: describe(B=np.full((12, 1), np.nan)),
        *("Free", "points", "[nan] for neuron 0"),
    ),
    "unknown": (lambda: build(B=BOX).positions("C"), "", "population", "'C'"),
    "none": (lambda: build(B=None).positions("B"), "population 'B'", "positions", "None"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    assert_refused(*REFUSED[case])


@pytest.mark.parametrize("key", [1, 2])
def test_arrays_for_an_area_that_the_key_fills_otherwise(key):
    """A matrix for the 16 neurons that are in the area under key 0 fits no other network."""
    box = jn.space.UniformBox([0.0, 0.0], [1.0, 1.0])
    area = jn.Part("A", jn.space.Area([0.0, 0.0], [0.5, 1.0]))
    inside = lambda key: (jn.build(made, key, 0.1).positions("A")[:, 0] < 0.5).sum()  # noqa: E731
    made = jn.Description([jn.Population("A", 30, Sum(), positions=box)])
    assert inside(0) == 16 != inside(key)
    values = {"delay": 0.1, "synapse": jn.synapses.Delta()}
    rule = jn.connectivity.AllToAll()
    p = jn.Projection(area, "A", rule, weight=np.ones((16, 30)), **values)
    assert_refused(
        lambda: jn.build(jn.Description(made.populations, [p]), key, 0.1),
        "projection 'A->A'",
        "weight",
        "shape (16, 30)",
    )
