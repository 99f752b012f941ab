"""The figure of two runs draws the distributions that were compared."""

import numpy as np
import pytest

from jaxneuro import plot
from jaxneuro.analysis import Comparison, Difference, compare
from tests.plot.results import random_result
from tests.refusing import assert_refused


def test_lines_are_the_distributions():
    found = compare(random_result(0), random_result(1, rate=60.0), neurons=10)
    figure = plot.comparison(found, labels=("one", "other"))
    panels = np.reshape(figure.axes, (2, 3))
    for row, axis in zip(found.rows, panels.ravel()):
        for line, values in zip(axis.lines, (row.a, row.b)):
            x, y = line.get_data()
            for value in values:
                assert y[x == value].max() == pytest.approx(100 * (values <= value).mean())
            assert (y[0], y[-1]) == (0.0, 100.0)
        low, high = axis.lines[2].get_ydata()
        assert abs(high - low) == pytest.approx(100 * row.distance)
        assert axis.texts[0].get_text() == f"KS {row.distance:.2f}"
    assert panels[1, 0].get_xlabel() == "rate of a neuron (Hz)"
    assert panels[0, 0].get_ylabel().startswith("E")
    labels = panels[0, 0].get_legend_handles_labels()[1]
    assert [x.split(",")[0] for x in labels] == ["one", "other"]


def test_what_is_empty_says_so():
    none = Difference("E", "cv", np.nan, np.nan, np.zeros(0), np.zeros(0))
    (axis,) = plot.comparison(Comparison([none])).axes
    assert axis.texts[0].get_text() == "no values"
    half = none._replace(a=np.ones(3))
    (axis,) = plot.comparison(Comparison([half])).axes
    assert len(axis.lines) == 1
    assert plot.comparison(Comparison([])).axes[0].texts[0].get_text() == "no neurons"


def test_bad_arguments_are_refused():
    found = Comparison([])
    assert_refused(lambda: plot.comparison(3), "comparison", "found")
    assert_refused(lambda: plot.comparison(found, labels=("a",)), "comparison", "labels")
