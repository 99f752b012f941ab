"""The figure of a network's activity shows what its spikes amount to."""

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import analysis, plot
from tests.plot.results import random_result
from tests.refusing import assert_refused
from tests.runs import result

SIZES = {"E": 900, "I": 300}


@pytest.fixture(scope="module")
def run():
    return random_result(4, SIZES, duration=500.0, start=100.0)


def panels(figure):
    return dict(zip(("spikes", "rate", "cv", "correlation", "synchrony"), figure.axes))


def boxes(axis):
    """Lower and upper end of each box or bar, by row."""
    return {
        round(p.get_y() + p.get_height() / 2): (p.get_x(), p.get_x() + p.get_width())
        for p in axis.patches
    }


@pytest.mark.slow
def test_boxes_hold_the_middle_half(run):
    drawn = panels(plot.activity(run, start=200.0, reference={"I": 31.0}))
    for row, name in enumerate(SIZES):
        late = run.spikes[name].between(200.0)
        few = late.neurons < 200
        first = jn.SpikeTrains(late.times[few], late.neurons[few], 200, 200.0, 600.0)
        pairs = analysis.count_correlation(first, bin_ms=5.0)[1][np.triu_indices(200, 1)]
        for panel, values in (
            ("rate", analysis.neuron_rates(late)),
            ("cv", analysis.interval_cvs(late)),
            ("correlation", pairs),
        ):
            values = values[np.isfinite(values)]
            assert boxes(drawn[panel])[row] == pytest.approx(np.quantile(values, (0.25, 0.75)))
            dot = next(x for x in drawn[panel].lines if x.get_ydata()[0] == row)
            assert dot.get_xdata()[0] == pytest.approx(values.mean())
            (*whiskers,) = (
                x for c in drawn[panel].collections for s in c.get_segments() for x in s[:, 0]
            )
            for end in np.quantile(values, (0.05, 0.95)):
                assert np.isclose(whiskers, end).any()
        synchrony = analysis.count_synchrony(late)  # fewer than 1,000 neurons
        assert boxes(drawn["synchrony"])[row] == pytest.approx((0.0, synchrony))
    (diamond,) = (x for x in drawn["rate"].lines if x.get_marker() == "D")
    assert (diamond.get_xdata()[0], diamond.get_ydata()[0]) == (31.0, 1)
    assert "reference" in drawn["rate"].get_xlabel()
    assert drawn["cv"].get_xlim()[0] == drawn["rate"].get_xlim()[0] == 0.0


def test_the_first_population_is_on_top(run):
    drawn = panels(plot.activity(run, ["I", "E"], raster_ms=50.0, neurons=600))
    for name in ("rate", "correlation"):
        assert [t.get_text() for t in drawn[name].get_yticklabels()] == ["I", "E"]
    for axis in drawn.values():
        bottom, top = axis.get_ylim()
        assert bottom > top
    low, high = drawn["spikes"].lines
    assert low.get_ydata().max() < 150 < high.get_ydata().min()
    assert drawn["spikes"].get_xlim() == (100.0, 150.0)
    assert max(x.get_xdata().max() for x in (low, high)) <= 150.0 + 1e-6
    times, who = run.events("E")
    assert high.get_xdata().size == ((times < 150.0 + 1e-6) & (who < 450)).sum()
    assert drawn["spikes"].get_ylabel() == "600 of 1,200 neurons"


def test_who_does_not_fire_has_no_box():
    drawn = panels(plot.activity(result({"E": [(5.0, 0)]}, {"E": 3, "I": 2})))
    assert boxes(drawn["rate"])[1] == (0.0, 0.0)
    assert not drawn["cv"].patches
    assert boxes(drawn["synchrony"])[1] == (0.0, 0.0)
    assert drawn["spikes"].get_ylabel() == "neurons"


def test_a_run_that_is_too_short_says_so():
    short = random_result(4, SIZES, duration=5.0)
    for figure in (plot.activity(short), plot.correlation_matrix(short)):
        assert "a run of 5 ms is too short" in figure.axes[0].texts[0].get_text()


def test_what_is_refused(run):
    assert_refused(
        lambda: plot.activity(run, reference={"A": 3.0}), "activity", "population", "'A'"
    )
    assert_refused(lambda: plot.activity(run, stop=105.0), "activity", "stop", "105 ms")
    assert_refused(lambda: plot.activity(run, raster_ms=0.0), "activity", "raster_ms", "0.0")
    assert_refused(lambda: plot.activity(run, neurons=0), "activity", "neurons", "0")


@pytest.mark.parametrize("n", [1, 3])
def test_identical_neurons_are_not_empty(n):
    """All rates, CVs and correlations are equal: boxes without a width, and no word."""
    spikes = [(10.3 * k + 5.0, i) for k in range(48) for i in range(n)]
    drawn = panels(plot.activity(result({"E": spikes}, {"E": n}, duration=500.0)))
    texts = {name: [t.get_text() for t in axis.texts] for name, axis in drawn.items()}
    alone = ["no pair"] if n == 1 else []
    assert texts == {name: [] for name in drawn} | {"correlation": alone}
    assert boxes(drawn["rate"])[0] == pytest.approx((96.0, 96.0))
    assert drawn["rate"].get_xlim()[1] > 96.0
    assert drawn["cv"].get_xlim()[1] == 0.1


def test_silent_neurons_are_empty():
    drawn = panels(plot.activity(result({}, {"E": 3, "I": 2}, duration=500.0)))
    texts = {name: "".join(t.get_text() for t in axis.texts) for name, axis in drawn.items()}
    assert texts["rate"] == texts["synchrony"] == texts["spikes"] == "no spikes"
    assert texts["cv"] == "no neuron with\n3 spikes"
    assert texts["correlation"] == "no pair"
