"""Figures of many, large, silent and hardly active populations can be read."""

import pytest

from jaxneuro import plot
from jaxneuro.plot._spikes import rows_of
from tests.plot.results import random_result
from tests.runs import result


@pytest.mark.slow
def test_many_populations_have_a_spectrum_each():
    names = [f"P{k}" for k in range(6)]
    run = random_result(sizes=dict.fromkeys(names, 20))
    figure = plot.power_spectrum(run, segment_ms=50.0)
    assert [a._right_title.get_text() for a in figure.axes] == names
    assert [len(a.lines) for a in figure.axes] == [1] * 6
    silent = random_result(sizes=dict.fromkeys(names, 20), rate=0.0)
    figure = plot.power_spectrum(silent, segment_ms=50.0)
    assert [t.get_text() for a in figure.axes for t in a.texts] == ["no spikes"] * 6


@pytest.mark.slow
def test_a_large_population_leaves_room_for_small_ones():
    sizes = {"a population of very many neurons": 5000} | {f"P{k}": 50 for k in range(7)}
    top, bottom = plot.raster(random_result(sizes=sizes, rate=0.0)).axes[:2]
    labels = [t.get_text() for t in top.get_yticklabels()]
    assert labels[:2] == ["a populatio\N{HORIZONTAL ELLIPSIS} neurons", "P0"]
    assert top.get_ylabel() == "400 of 5,350 neurons"
    assert [t.get_text() for t in bottom.texts] == ["no spikes"]
    assert rows_of(list(sizes.values()), 400) == [330] + [10] * 7
    assert rows_of([900, 100], 50) == [45, 5]
    assert rows_of([5, 0], 100) == [5, 0]


def test_marks_grow_where_few_spikes_are_shown():
    run = random_result(sizes={"E": 1000}, duration=1000.0)
    few, all_ = (plot.raster(run, neurons=None, start=s).axes[0].lines[0] for s in (990.0, None))
    assert few.get_markersize() > 2.0 * all_.get_markersize()


def test_a_bin_longer_than_the_run_is_said():
    (axis,) = plot.rates(random_result(), bin_ms=1e5).axes
    assert [t.get_text() for t in axis.texts] == ["shorter than a bin of 100000 ms"]


def test_a_low_rate_has_three_digits():
    run = result({"E": [(5.0, 0)]}, {"E": 1000}, duration=100.0)
    assert plot.rates(run).axes[0].get_legend().get_texts()[0].get_text() == "E, 0.0100 Hz"
