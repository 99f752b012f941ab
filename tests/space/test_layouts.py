"""Where layouts place neurons, and what they refuse."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.stats

from jaxneuro._numerics.streams import seed_of, stream_key
from jaxneuro.space import Area, Free, Grid, UniformBox
from tests.refusing import assert_refused


def key_of(seed=0, name="p"):
    return stream_key(seed_of(seed), name, "positions")


@pytest.mark.slow
def test_a_grid_is_row_major():
    grid = Grid((2, 3), spacing=(10.0, 1.0), origin=(5.0, -1.0))
    expected = [[5, -1], [5, 0], [5, 1], [15, -1], [15, 0], [15, 1]]
    np.testing.assert_array_equal(grid.draw(key_of(), 6), expected)
    assert (grid.dims, grid.size, grid.period) == (2, 6, None)


@hypothesis.given(shape=st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_coordinates_and_index_are_inverse(shape):
    grid = Grid(shape)
    coordinates = grid.coordinates()
    assert coordinates.shape == (np.prod(shape), len(shape))
    np.testing.assert_array_equal(grid.index(*coordinates.T), np.arange(grid.size))
    np.testing.assert_array_equal(grid.draw(key_of(), grid.size), coordinates)


def test_a_line_and_a_4d_lattice():
    np.testing.assert_array_equal(Grid(4, spacing=0.5).draw(key_of(), 4)[:, 0], [0, 0.5, 1, 1.5])
    grid = Grid((3, 4, 5, 6), periodic=(True, False, False, True), spacing=2.0)
    np.testing.assert_array_equal(grid.period, [6.0, np.inf, np.inf, 12.0])
    assert grid.index(1, 2, 3, 4) == ((1 * 4 + 2) * 5 + 3) * 6 + 4
    assert grid.index(-1, 0, 0, 6) == grid.index(2, 0, 0, 0)
    rows = grid.index(0, np.arange(4)[:, None], np.arange(5)[None, :], 0)
    assert rows.shape == (4, 5)


def test_a_box_is_filled_uniformly_and_axes_are_independent():
    box = UniformBox((0.0, -50.0, 1000.0), (100.0, 50.0, 1000.5), periodic=(True, True, False))
    x = box.draw(key_of(), 20_000)
    assert x.shape == (20_000, 3)
    assert x.dtype == np.float64
    for axis, (low, high) in enumerate(zip(box.low, box.high)):
        assert x[:, axis].min() >= low
        assert x[:, axis].max() < high
        law = scipy.stats.uniform(low, high - low)
        assert scipy.stats.kstest(x[:, axis], law.cdf).pvalue > 1e-4
        assert np.unique(x[:, axis]).size == 20_000
    assert np.abs(np.corrcoef(x.T) - np.eye(3)).max() < 5 / np.sqrt(20_000)
    np.testing.assert_array_equal(box.period, [100.0, 100.0, np.inf])


def test_a_draw_belongs_to_its_neuron_and_its_key():
    box = UniformBox((0, 0), (1, 1))
    np.testing.assert_array_equal(box.draw(key_of(), 50), box.draw(key_of(), 80)[:50])
    assert not (box.draw(key_of(), 50) == box.draw(key_of(1), 50)).any()
    assert not (box.draw(key_of(), 50) == box.draw(key_of(name="q"), 50)).any()


def test_free_points():
    points = np.array([[0.0, 1.0], [2.0, 3.0]])
    free = Free(points, period=(0.0, 10.0))
    np.testing.assert_array_equal(free.draw(key_of(), 2), points)
    np.testing.assert_array_equal(free.period, [np.inf, 10.0])
    assert Free(points).period is None
    assert Free(points, period=0.0).period is None
    assert Free([1, 2, 3]).dims == 1
    points[0, 0] = 99.0
    assert free.points[0, 0] == 0.0, "a frozen value does not follow the array it came from"


def test_free_shows_its_arguments():
    assert repr(Free(np.zeros((3, 2)))) == "Free(points=(3, 2) array, period=None)"
    shown = repr(Free(np.zeros((3, 2)), period=(0.0, 10.0)))
    assert shown == "Free(points=(3, 2) array, period=(inf, 10.0))"


def test_layouts_are_values():
    assert Grid([2, 2], spacing=2) == Grid((2, 2), spacing=(2.0, 2.0))
    assert hash(Grid((2, 2))) == hash(Grid((2, 2)))
    assert UniformBox(0, 1) != UniformBox(0, 2)


def test_an_area_is_half_open():
    area = Area((0.0, 0.0), (1.0, 2.0))
    points = [[0, 0], [1, 0], [0.5, 2], [0.999, 1.999], [-1e-9, 1]]
    assert area.contains(points).tolist() == [True, False, False, True, False]
    assert Area(-np.inf, 3.0).contains([[-1e9], [3.0]]).tolist() == [True, False]
    assert area.contains(np.zeros((0, 2))).shape == (0,)


REFUSED = [
    (lambda: Grid(()), "Grid", "shape", "()"),
    (lambda: Grid((2, 0)), "Grid", "shape", "0"),
    (lambda: Grid((2, 2), spacing=(1.0, np.nan)), "Grid", "spacing", "nan"),
    (lambda: Grid((2, 2), spacing=(1.0, 1.0, 1.0)), "Grid", "spacing", "(1.0, 1.0, 1.0)"),
    (lambda: Grid((2, 2), spacing=[[1.0]]), "Grid", "spacing", "(1, 1)"),
    (lambda: Grid((2, 2), origin="left"), "Grid", "origin", "left"),
    (lambda: Grid((2, 2), periodic=1), "Grid", "periodic", "1"),
    (lambda: Grid((2, 3)).check("population 'E'", 5), "population 'E'", "positions", "6"),
    (lambda: Grid((2, 3)).index(1), "Grid.index", "coords", "1"),
    (lambda: Grid((2, 3)).index(0, 3), "Grid.index", "coords", "from 3"),
    (lambda: Grid((2, 3)).index(0, 1.0), "Grid.index", "coords", "1.0"),
    (lambda: UniformBox((0, 0), (1, 0)), "UniformBox", "high", "0.0"),
    (lambda: UniformBox((0, 0), (1, 1, 1)), "UniformBox", "high", "(1, 1, 1)"),
    (lambda: UniformBox(0, np.inf), "UniformBox", "high", "inf"),
    (lambda: UniformBox((), ()), "UniformBox", "low", "(0,)"),
    (lambda: Free([[0.0, np.nan]]), "Free", "points", "neuron 0"),
    (lambda: Free(np.zeros((2, 2, 2))), "Free", "points", "(2, 2, 2)"),
    (lambda: Free(np.zeros((2, 0))), "Free", "points", "(2, 0)"),
    (lambda: Free([[0, 1], [2]]), "Free", "points", "[2]"),
    (lambda: Free(np.zeros((2, 2)), period=-1.0), "Free", "period", "-1.0"),
    (lambda: Free(np.zeros((2, 2)), period=(1, -np.inf)), "Free", "period", "-inf"),
    (lambda: Free(np.zeros((2, 2)), period=(1, 1, 1)), "Free", "period", "(1, 1, 1)"),
    (lambda: Free(np.zeros((2, 2))).check("population 'E'", 3), "population 'E'", "positions", "2"),
    (lambda: Free([[0.0, -1e300]]), "Free", "points", "-1e+300 um"),
    (lambda: Free([[0.0, 1.0]], period=1e15), "Free", "period", "1e+15 um"),
    (lambda: Grid(2, spacing=1e20), "Grid", "spacing", "1e+20"),
    (lambda: Grid(2, origin=-1e15), "Grid", "origin", "-1e+15 um"),
    (lambda: Grid(1001, spacing=1e12), "Grid", "spacing", "1000000000000.0"),
    (lambda: UniformBox(-1e20, 0), "UniformBox", "low", "-1e+20 um"),
    (lambda: Area((0, 0), (1, 0)), "Area", "high", "0.0"),
    (lambda: Area(0, np.nan), "Area", "high", "nan"),
    (lambda: Area((0, 0), (1, 1)).contains(np.zeros((4, 3))), "Area.contains", "points", "(4, 3)"),
]


@pytest.mark.parametrize(("make", "owner", "field", "got"), REFUSED)
def test_bad_input_is_refused(make, owner, field, got):
    assert_refused(make, owner, field, got)
