"""The figures of assemblies show the numbers that they are given."""

from types import SimpleNamespace

import numpy as np
import pytest

from jaxneuro import plot
from tests.refusing import assert_refused

RNG = np.random.default_rng(0)


def test_the_line_is_the_mean_and_the_band_most_seeds():
    values = np.cumsum(RNG.integers(0, 50, (30, 12, 2)), axis=1)
    (axis,) = plot.support(SimpleNamespace(support=values), ["A", "B"], k=[40, 60]).axes
    lines = {line.get_label(): line for line in axis.lines}
    for number, name in enumerate("AB"):
        assert lines[name].get_xdata() == pytest.approx(np.arange(1, 13))
        assert lines[name].get_ydata() == pytest.approx(values[:, :, number].mean(0))
        (path,) = axis.collections[number].get_paths()
        low, high = np.quantile(values[:, :, number], (0.05, 0.95), axis=0)
        corners = {(x, round(y, 6)) for x, y in path.vertices}
        for x, ends in enumerate(zip(low, high), start=1):
            assert {(x, round(end, 6)) for end in ends} <= corners
    assert [line.get_ydata()[0] for line in axis.lines if line.get_linestyle() == ":"] == [40, 60]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["A", "B"]


def test_one_run_has_no_band_and_one_area_no_legend():
    (axis,) = plot.support(np.arange(200)[:, None]).axes
    assert not axis.collections
    assert axis.get_legend() is None
    assert axis.get_ylim()[0] == 0
    assert axis.get_xlim() == (0.5, 200.5)


def test_what_never_fired_is_said():
    seen = np.array([[3, 0], [5, 0]])
    for names, said in ((["A", "B"], "B"), (None, "area 1")):
        (axis,) = plot.support(seen, names).axes
        assert axis.get_legend().get_texts()[1].get_text() == f"{said} (never fired)"
    labels = plot.overlap_matrix([[1, 2], [-1, -1]], ["x", "y"]).axes[0].get_xticklabels()
    assert [text.get_text() for text in labels] == ["x", "y (nobody)"]


def test_ticks_are_whole_rounds():
    figure = plot.support(np.array([[3], [5], [6]]))
    figure.draw_without_rendering()
    ticks = figure.axes[0].get_xticks()
    assert ticks == pytest.approx(np.rint(ticks))


@pytest.mark.parametrize(
    ("seen", "given", "field", "got"),
    [
        (np.zeros(3), {}, "seen", "float64[3]"),
        (np.zeros((0, 2)), {}, "seen", "float64[1, 0, 2]"),
        ([["many"]], {}, "seen", "<U4[1, 1, 1]"),
        ((0, np.ones((2, 3, 4))), {}, *("seen", "(0, array([[[1., 1., 1., 1.],\n       ")),
        (np.ones((4, 2)), {"names": ["A"]}, "names", "['A']"),
        (np.ones((4, 2)), {"k": [1, 2, 3]}, "k", "[1, 2, 3]"),
        (np.ones((4, 2)), {"k": 1.5}, "k", "1.5"),
    ],
)
def test_other_support_is_refused(seen, given, field, got):
    assert_refused(lambda: plot.support(seen, **given), "support", field, got)


def matrix(figure):
    (axis,) = figure.axes
    return axis, np.asarray(axis.images[0].get_array())


def test_overlaps_are_shares_of_the_row():
    caps = [np.array([1, 2, 3, 4]), np.array([3, 4, 5, 6]), np.array([9, 3])]
    axis, got = matrix(plot.overlap_matrix(caps, ["a", "b", "c"]))
    assert got == pytest.approx(np.array([[1, 0.5, 0.25], [0.5, 1, 0.25], [0.5, 0.5, 1]]))
    written = {text.get_position(): text.get_text() for text in axis.texts}
    assert written[2, 0] == written[2, 1] == "0.25"  # column, row
    assert written[0, 0] == "1"
    assert len(written) == 9
    assert [text.get_text() for text in axis.get_xticklabels()] == ["a", "b", "c"]
    assert np.ptp(axis.images[0].get_clim()) == 1.0


def test_nobody_is_in_no_other_cap():
    caps = np.array([[1, 2, -1, -1], [7, 8, 9, -1]])
    _, got = matrix(plot.overlap_matrix(caps))
    assert got == pytest.approx(np.array([[0.5, 0.0], [0.0, 0.75]]))
    _, got = matrix(plot.overlap_matrix(np.full((2, 3), -1)))
    assert not got.any()


def test_many_caps_have_no_numbers_and_few_ticks():
    axis, got = matrix(plot.overlap_matrix(np.sort(RNG.integers(0, 99, (40, 10)), axis=1)))
    assert got.shape == (40, 40)
    assert not axis.texts
    assert len(axis.get_xticks()) <= 12


def test_numbers_are_legible_on_their_cell():
    axis, _ = matrix(plot.overlap_matrix([[1, 2, 3, 4], [1, 2, 3, 5], [1, 7, 8, 9]]))
    for text in axis.texts:
        dark = float(text.get_text()) < 0.55
        assert text.get_color() == ("white" if dark else "black")


@pytest.mark.parametrize(
    ("caps", "labels", "field", "got"),
    [
        ([], None, "caps", "none"),
        (3, None, "caps", "none"),
        (np.zeros((2, 3)), None, "caps", "float64[3]"),
        ([[1], []], None, "caps", "float64[0]"),
        (np.zeros((2, 2, 2), int), None, "caps", "int64[2, 2]"),
        ([[1, 2]], ["a", "b"], "labels", "['a', 'b']"),
    ],
)
def test_other_caps_are_refused(caps, labels, field, got):
    assert_refused(lambda: plot.overlap_matrix(caps, labels), "overlap_matrix", field, got)
