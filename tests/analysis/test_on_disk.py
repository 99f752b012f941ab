"""Analysis and figures of a run on disk are those of the same run in memory."""

import functools

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import plot
from jaxneuro._disk import parts
from tests.analysis.test_sources import FUNCTIONS, ask, plain, same
from tests.plot.results import png

LIF = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-49.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
CURRENTS = {"E": "v", "E->E": "current", "I->E": "current"}
FIGURES = {
    "raster": plot.raster,
    "activity": plot.activity,
    "rates": plot.rates,
    "traces": lambda run: plot.traces(run, "E", neurons=3, start=100.0, stop=250.0),
    "rate_histogram": plot.rate_histogram,
    "cv_histogram": plot.cv_histogram,
    "interval_histogram": plot.interval_histogram,
    "correlogram": lambda run: plot.correlogram(run, "E", "I", max_lag=20.0),
    "power_spectrum": lambda run: plot.power_spectrum(run, segment_ms=50.0),
}


@functools.cache
def both(folder):
    """The same run in memory and on disk."""
    start, rule = {"v": jn.Uniform(-60.0, -50.0)}, jn.connectivity.FixedProbability(0.2)
    sizes = {"E": 40, "I": 10}
    net = jn.build(
        jn.Description(
            [jn.Population(name, n, LIF, start) for name, n in sizes.items()],
            [
                jn.Projection(a, b, rule, weight=w, delay=0.5, synapse=jn.synapses.Exponential(tau))
                for a, w, tau in (("E", 30.0, 5.0), ("I", -90.0, 8.0))
                for b in sizes
            ],
        ),
        1,
        0.1,
    )
    record = jn.Record(variables=CURRENTS, interval=0.5)
    jn.simulate(net, 400.0, key=1, record=record, save=folder, every=70.0)
    return jn.simulate(net, 400.0, key=1, record=record), jn.Recording.open(folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return both(tmp_path_factory.mktemp("run"))


@pytest.mark.slow
@pytest.mark.parametrize("window", [{}, {"start": 50.0, "stop": 290.0}], ids=["all", "a part"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_analysis(name, window, runs):
    memory, disk = (plain(ask(name, run, **window)) for run in runs)
    same(disk, memory, rtol=1e-9, atol=1e-12)


@pytest.mark.slow(but=["raster"])
@pytest.mark.parametrize("name", FIGURES)
def test_figures(name, runs):
    memory, disk = (png(FIGURES[name](run)) for run in runs)
    np.testing.assert_array_equal(disk, memory)


def test_a_part_reads_only_the_intervals_that_it_is_in(runs, monkeypatch):
    read, original = [], parts.OnDisk._every

    def rows(self, chosen, rest):
        found = original(self, chosen, rest)
        read.append(len(found))
        return found

    monkeypatch.setattr(parts.OnDisk, "_every", rows)
    memory, disk = runs
    got = jn.analysis.interval_cvs(disk, "E", start=350.0)
    np.testing.assert_allclose(got, jn.analysis.interval_cvs(memory, "E", start=350.0))
    assert 0 < max(read) < len(memory.events("E")[0]) / 3
    read.clear()
    jn.analysis.neuron_rates(disk, "E")  # piece by piece
    assert 0 < max(read) < len(memory.events("E")[0]) / 3


def test_the_spikes_of_one_population_are_sorted_once(runs, monkeypatch):
    memory, disk = runs
    sorts, original = [], np.lexsort
    monkeypatch.setattr(np, "lexsort", lambda keys: sorts.append(1) or original(keys))
    disk.spikes._kept.clear()
    for neuron in range(40):
        np.testing.assert_array_equal(disk.spikes["E"].of(neuron), memory.spikes["E"].of(neuron))
    assert len(sorts) <= 2  # here and in memory
    disk.spikes["I"].of(0)
    assert list(disk.spikes._kept) == ["I"]  # one population may be as large as the memory
    sorts.clear()
    trains = disk.to_neo().spiketrains
    assert len(trains) == 50
    assert len(sorts) <= 2
    np.testing.assert_allclose(trains[7].magnitude, memory.spikes["E"].of(7))


def test_tables(runs):
    for table in (jn.Result.to_pandas, lambda run: run.traces_to_pandas("E->E")):
        memory, disk = map(table, runs)
        assert disk.equals(memory)
