"""Figures of runs whose spikes were not kept: from counts per step and from running sums."""

import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import balanced
from tests.refusing import assert_refused

NET = jn.build(balanced(), 1, 0.1)


@pytest.fixture(scope="module")
def runs():
    cheap = jn.Record(spikes=False, rates=True, statistics=...)
    return jn.simulate(NET, 100.0), jn.simulate(NET, 100.0, record=cheap)


@pytest.mark.parametrize(
    "figure", [jn.plot.rates, jn.plot.power_spectrum, jn.plot.rate_histogram, jn.plot.cv_histogram]
)
def test_they_draw_what_those_of_spikes_draw(runs, figure):
    for some, cheap in zip(*(figure(run).axes for run in runs), strict=True):
        assert some.lines or some.patches
        for one, other in zip(some.lines, cheap.lines, strict=True):
            np.testing.assert_allclose(one.get_xydata(), other.get_xydata(), rtol=1e-9)
        for one, other in zip(some.patches, cheap.patches, strict=True):
            np.testing.assert_allclose(
                one.get_path().vertices, other.get_path().vertices, rtol=1e-9
            )


def test_what_needs_spikes_says_so(runs):
    for figure in (jn.plot.raster, jn.plot.interval_histogram):
        with pytest.raises(ValueError, match="were not recorded"):
            figure(runs[1])
    assert_refused(
        lambda: jn.plot.rate_histogram(runs[1], start=50.0),
        "rate_histogram",
        "start and stop",
        "start=50.0, stop=None",
    )
