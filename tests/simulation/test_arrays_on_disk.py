"""An array in parts on disk is indexed as NumPy's, and reads the parts that it needs."""

import numpy as np
import pytest

from jaxneuro._disk.parts import OnDisk

X = np.random.default_rng(0).normal(size=(57, 4, 3))


def on_disk(*ends):
    reads, parts = [], np.split(X, ends[:-1])
    return OnDisk(np.array(ends), (4, 3), X.dtype, lambda k: (reads.append(k), parts[k])[1]), reads


@pytest.mark.slow
@pytest.mark.parametrize("ends", [(57,), (0, 10, 10, 11, 30, 57, 57), (20, 57)], ids=str)
def test_any_index_gives_what_numpy_gives(ends):
    x, _ = on_disk(*ends)
    rng = np.random.default_rng(1)
    nobody = np.zeros(0, int)
    indices = [3, -1, np.int32(5), nobody, rng.random(57) < 0.3, slice(None), slice(None, None, -1)]
    for _ in range(300):
        bounds = rng.choice([None, *range(-70, 70)], 2)
        indices.append(slice(*bounds, int(rng.choice([-60, -7, -3, -1, 1, 2, 5, 60]))))
        indices.append(rng.integers(-57, 57, size=rng.integers(1, 5, size=rng.integers(1, 3))))
    for index in indices:
        np.testing.assert_array_equal(x[index], X[index])
        np.testing.assert_array_equal(x[index, 2], X[index, 2])
        if isinstance(index, slice):
            np.testing.assert_array_equal(x[index, [0, 2], 1:], X[index, [0, 2], 1:])
    for whole in (x[...], x[()], x):
        np.testing.assert_array_equal(whole, X)
    assert x[[]].shape == (0, 4, 3)


def test_only_the_parts_of_the_chosen_rows_are_read():
    x, reads = on_disk(0, 10, 10, 11, 30, 57, 57)
    for index, parts in (([0, -1], [1, 5]), (slice(None, None, 40), [1, 5]), (10, [3])):
        reads.clear()
        x[index]
        assert reads == parts


def test_a_loop_over_rows_reads_each_part_once():
    x, reads = on_disk(0, 10, 10, 11, 30, 57, 57)
    np.testing.assert_array_equal(list(x), X)
    assert reads == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "index", [None, 1.5, 57, [[1, 2], [3, 99]], True, "a", ([1, 2], [3, 1])], ids=str
)
def test_an_index_that_chooses_no_rows(index):
    with pytest.raises(IndexError):
        on_disk(20, 57)[0][index]
