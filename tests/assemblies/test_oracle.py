"""The oracle of the assembly calculus against numbers worked out by hand."""

import numpy as np

from tests.oracle.assemblies import UNIT, Area, Brain, Fibre, largest, weights


def test_weights_grow_by_products_up_to_the_largest():
    assert weights(0.5, 3.0, 4).tolist() == [UNIT, 1.5 * UNIT, 2.25 * UNIT, 3 * UNIT, 3 * UNIT]
    assert weights(0.05, 2.0**20, 3)[3] == round(1.05**3 * UNIT)
    assert weights(1.0, 2.0**20, 30)[-1] == 2**44


def test_of_equal_inputs_the_lower_index_wins():
    assert largest(np.array([2, 5, 5, 5, 1]), 2).tolist() == [1, 2]
    assert largest(np.array([1, 1, 2, 1]), 3).tolist() == [0, 1, 2]


def small():
    """A stimulus of two onto four neurons of which two win, with recurrence."""
    from_stimulus = [[1, 1, 0, 0], [1, 0, 0, 1]]  # inputs 2, 1, 0, 1
    recurrent = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]
    fibres = [Fibre("S", "A", from_stimulus, 0.5), Fibre("A", "A", recurrent, 0.5)]
    return Brain({"A": Area(4, 2)}, {"S": 2}, fibres)


def test_two_rounds_by_hand():
    brain = small()
    brain.step([True, True])
    assert brain.areas["A"].cap.tolist() == [0, 1]  # 1 and 3 are equal
    assert brain.fibres[0].counts.tolist() == [[1, 1, 0, 0], [1, 0, 0, 0]]
    assert not brain.fibres[1].counts.any()  # nobody of A had fired
    x = brain.input("A", [True, True])
    assert (x / UNIT).tolist() == [3.0, 1.5, 0.0, 3.0]
    brain.step([True, True])
    assert brain.areas["A"].cap.tolist() == [0, 3]
    assert brain.areas["A"].support == 3
    assert brain.fibres[0].counts.tolist() == [[2, 1, 0, 0], [2, 0, 0, 1]]
    assert brain.fibres[1].counts[:, 3].tolist() == [1, 1, 0, 0]


def test_without_plasticity_only_caps_change():
    brain = small()
    brain.step([True, True], plastic=False)
    assert not brain.fibres[0].counts.any()
    assert brain.areas["A"].support == 2


def test_a_fixed_area_keeps_its_cap_and_its_edges_grow():
    brain = small()
    brain.areas["A"].cap, brain.areas["A"].fixed = np.array([1, 3]), True
    brain.step([True, True])
    assert brain.areas["A"].cap.tolist() == [1, 3]
    assert brain.fibres[0].counts.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert brain.fibres[1].counts[:, 3].tolist() == [0, 1, 0, 0]
    assert brain.areas["A"].support == 0


def test_what_nothing_drives_stays():
    brain = small()
    brain.step([False, True])
    assert brain.areas["A"].cap is None
    assert brain.input("A", [False, True]) is None


def test_areas_see_the_caps_before_the_round():
    chain = np.eye(3, dtype=bool)
    fibres = [Fibre("S", "A", [[0, 1, 0]], 0.1), Fibre("A", "B", chain, 0.1)]
    brain = Brain({"A": Area(3, 1), "B": Area(3, 1)}, {"S": 1}, fibres)
    brain.step([True, True])
    assert brain.areas["A"].cap.tolist() == [1]
    assert brain.areas["B"].cap is None
    brain.step([True, True])
    assert brain.areas["B"].cap.tolist() == [1]
    assert np.argwhere(fibres[1].counts).tolist() == [[1, 1]]


def test_refraction_lets_others_win():
    brain = small()
    brain.areas["A"].refraction = np.float32(2.5)
    brain.step([True, False], plastic=False)
    assert brain.areas["A"].wins.tolist() == [0, 0, 0, 0]  # nothing is learned, nobody tires
    brain.step([True, False])
    assert brain.areas["A"].cap.tolist() == [0, 1]
    x = brain.input("A", [True, False])
    assert (x / UNIT).tolist() == [0.5, -1.0, 0.0, 1.0]
    brain.step([True, False])
    assert brain.areas["A"].cap.tolist() == [0, 3]
    assert brain.areas["A"].wins.tolist() == [2, 1, 0, 1]


def test_homeostasis_divides_by_all_that_comes_in():
    brain = small()
    brain.areas["A"].homeostasis = True
    brain.areas["A"].cap = np.array([0, 2])
    x = brain.input("A", [True, True])
    assert x.dtype == np.float32
    assert x.tolist() == [1.0, 1.0, 0.0, 1.5]  # 3 gets all of S and half of A
