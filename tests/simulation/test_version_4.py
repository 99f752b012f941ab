"""A result of file version 4 (e762827), before spikes were kept by population, goes on."""

from pathlib import Path

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._run.recorded import NotRecordedError

HERE = Path(__file__).parent
NET = jn.build(jn.io.read_description(HERE.parent / "written_by_0_1/network.json"), 1, 0.1)
OLD = jn.Result.load(HERE / "version_4.npz")
RECORD = jn.Record(
    variables={"E": "v"},
    neurons={"E": [3, 7]},
    interval=0.5,
    rates=True,
    means={"I": "v"},
    lfp="E",
    weights={"E->E": [0, 1]},
    weight_histograms={"E->E": 4},
)
equal = np.testing.assert_array_equal


def test_what_it_holds():
    assert (OLD.duration, OLD.interval, OLD.key, OLD.statistics) == (20.0, 0.5, None, {})
    assert {name: len(x) for name, x in OLD.spikes.items()} == {"E": 20, "I": 65}
    equal(OLD.function["step"], range(5, 201, 5))
    assert OLD.sample_times == pytest.approx(np.arange(1, 41) / 2)
    assert (OLD.neurons["E"].tolist(), OLD.synapses["E->E"].tolist()) == ([3, 7], [0, 1])
    with pytest.raises(NotRecordedError):
        OLD.statistics["E"]


def test_it_is_the_run_of_today():
    today = jn.simulate(NET, 20.0, key=3, record=RECORD)
    for name in "EI":
        for a, b in zip(OLD.events(name), today.events(name)):
            equal(a, b)
        equal(OLD.counts[name], today.counts[name])
    equal(OLD.weight_histograms["E->E"], today.weight_histograms["E->E"])
    np.testing.assert_allclose(OLD.traces["E"]["v"], today.traces["E"]["v"], rtol=1e-5)
    np.testing.assert_allclose(OLD.weights["E->E"], today.weights["E->E"], rtol=1e-5)


def test_it_goes_on_and_is_written_again(tmp_path):
    whole = jn.simulate(NET, 30.0, key=3)
    OLD.save(tmp_path / "run.npz")
    for first in (OLD, jn.Result.load(tmp_path / "run.npz")):
        rest = jn.simulate(NET, 10.0, state=first)
        for name, spikes in (("E", 12), ("I", 21)):
            later = whole.events(name, start=20.0)
            for a, b in zip(rest.events(name), later):
                equal(a, b)
            assert len(rest.spikes[name]) == spikes
