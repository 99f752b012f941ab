"""Results as pandas tables, xarray Datasets, Neo objects and NWB files."""

import dataclasses
import datetime
import sys

import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import balanced

NET = jn.build(balanced(n=50, p=0.3, delay=jn.Uniform(0.5, 8.0)), 1, 0.1)
RECORD = jn.Record(
    variables={"E": ("v", "refractory"), "E->I": "g"},
    neurons={"E": [3, 30]},
    interval=0.5,
    means={"I": "v"},
    lfp="E",
)


@pytest.fixture(scope="module")
def result():
    first = jn.simulate(NET, 10.0)
    return jn.simulate(NET, 30.0, record=RECORD, state=first.state)


@pytest.mark.slow
def test_spikes_as_a_table(result):
    import pandas

    table = result.to_pandas()
    assert list(table.columns) == ["time_ms", "population", "neuron"]
    assert table.time_ms.is_monotonic_increasing
    for name in "EI":
        mine = table[table.population == name]
        times, neurons = result.events(name)
        np.testing.assert_array_equal(mine.time_ms, times)
        np.testing.assert_array_equal(mine.neuron, neurons)
        assert times.size > 5
    assert len(table) == sum(result.events(name)[0].size for name in "EI")
    assert isinstance(table.population.dtype, pandas.CategoricalDtype)
    with pytest.raises(ValueError, match="were not recorded"):
        jn.simulate(NET, 1.0, record=jn.Record(spikes=False)).to_pandas()


@pytest.mark.slow
def test_traces_as_a_table(result):
    table = result.traces_to_pandas("E")
    assert table.index.name == "time_ms"
    np.testing.assert_array_equal(table.index, result.sample_times)
    assert table.columns.names == ["variable", "neuron"]
    assert list(table.columns) == [(k, i) for k in ("refractory", "v") for i in (3, 30)]
    np.testing.assert_array_equal(table["v"], result.traces["E"]["v"])
    np.testing.assert_array_equal(table["refractory", 30], result.traces["E"]["refractory"][:, 1])
    assert list(result.traces_to_pandas("E->I")["g"].columns) == list(range(10))
    with pytest.raises(ValueError, match=r"named 'I'.*'E', 'E->I'.*variables={'I'"):
        result.traces_to_pandas("I")


@pytest.mark.slow
def test_spikes_as_neo(result):
    import neo

    segment = result.to_neo()
    assert isinstance(segment, neo.Segment)
    assert len(segment.spiketrains) == 50
    for train in segment.spiketrains:
        name, neuron = train.annotations["population"], train.annotations["neuron"]
        np.testing.assert_allclose(train.rescale("ms").magnitude, result.spikes[name].of(neuron))
        assert float(train.t_start.rescale("ms")) == pytest.approx(10.0)
        assert float(train.t_stop.rescale("ms")) == pytest.approx(40.0)
    assert sum(len(t) for t in segment.spiketrains) == len(result.events("E")[0]) + len(
        result.events("I")[0]
    )


def test_a_spike_in_the_last_step():
    """Whatever the times are rounded to, it lies inside the train."""
    cell = jn.neurons.LIF(t_ref=0.0, tau_m=1.0)
    net = jn.build(jn.Description([jn.Population("A", 1, cell, initial={"v": 0.0})]), 0, 0.1)
    net = net.set("A", e_l=1e4)
    result = jn.simulate(net, 3.0)
    for _ in range(10):
        train = result.to_neo().spiketrains[0]
        assert float(train[-1].rescale("ms")) == float(train.t_stop.rescale("ms"))
        result = jn.simulate(net, 0.7, state=result.state)


def test_signals_as_neo(result):
    signals = {s.name: s for s in result.to_neo().analogsignals}
    units = {
        "E v": "mV",
        "E refractory": "dimensionless",
        "E->I g": "nS",
        "I mean v": "mV",
        "E lfp": "pA",
    }
    assert {k: s.units.dimensionality.string for k, s in signals.items()} == units
    v = signals["E v"]
    np.testing.assert_array_equal(v.magnitude, result.traces["E"]["v"])
    np.testing.assert_array_equal(v.array_annotations["neuron"], [3, 30])
    np.testing.assert_allclose(v.times.rescale("ms").magnitude, result.sample_times)
    assert v.annotations == {"population": "E", "variable": "v"}
    np.testing.assert_array_equal(signals["I mean v"].magnitude[:, 0], result.means["I"]["v"])
    assert float(signals["E lfp"].t_start.rescale("ms")) == pytest.approx(10.5)


def test_neo_of_a_run_without_samples_or_spikes():
    segment = jn.simulate(NET, 0.2, record=RECORD).to_neo()
    assert {s.shape for s in segment.analogsignals} == {(0, 2), (0, 10), (0, 1)}
    assert len(jn.simulate(NET, 1.0, record=jn.Record(spikes=False)).to_neo().spiketrains) == 0


@pytest.mark.parametrize("module", ["pandas", "neo", "xarray", "pynwb"])
def test_without_the_module(module, result, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    extra = module.removeprefix("py")
    with pytest.raises(ImportError, match=rf"needs {module}.*pip install 'jaxneuro\[{extra}\]'"):
        getattr(result, f"to_{extra}")()


PLASTIC = dataclasses.replace(
    balanced(n=50, p=0.3),
    projections=[
        dataclasses.replace(p, plasticity=jn.plasticity.PairSTDP(w_max=12.0))
        if p.name == "E->E"
        else p
        for p in balanced(n=50, p=0.3).projections
    ],
)


@pytest.fixture(scope="module")
def all_kinds():
    more = {"weights": {"E->E": [0, 5]}, "means": {"I": "v"}, "lfp": "E", "interval": 0.5}
    record = jn.Record(variables={"E": "v", "E->I": "g"}, neurons={"E": [3, 30]}, **more)
    return jn.simulate(jn.build(PLASTIC, 1, 0.1), 30.0, record=record)


@pytest.mark.slow
def test_signals_as_xarray(all_kinds):
    pytest.importorskip("xarray")
    made = all_kinds.to_xarray()
    assert list(made) == ["E v", "E->I g", "I mean v", "E lfp", "E->E weight"]
    assert made["E v"].dims == ("time_ms", "E neuron")
    np.testing.assert_array_equal(made["E v"], all_kinds.traces["E"]["v"])
    np.testing.assert_array_equal(made["E v"].sel({"E neuron": 30}), made["E v"][:, 1])
    np.testing.assert_array_equal(made["time_ms"], all_kinds.sample_times)
    np.testing.assert_array_equal(made["E->E weight"]["E->E synapse"], [0, 5])
    units = [x.attrs.get("units") for x in (made["E v"], made["E lfp"], made["E->E weight"])]
    assert units == ["mV", "pA", None]
    assert made["E v"].attrs["name"] == "E"
    assert made.attrs == {"dt_ms": 0.1, "start_ms": 0.0, "stop_ms": 30.0}


START = datetime.datetime(2026, 11, 27, 9, tzinfo=datetime.UTC)


@pytest.mark.slow
def test_a_run_as_nwb(all_kinds, tmp_path):
    pynwb = pytest.importorskip("pynwb")
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "w") as io:
        io.write(all_kinds.to_nwb(START, identifier="a", keywords=["simulation"]))
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "r") as io:
        file = io.read()
        assert (file.identifier, file.session_start_time) == ("a", START)
        assert "30 ms of a network of 50 neurons" in file.session_description
        units = file.units.to_dataframe()
        assert list(units.population.unique()) == ["E", "I"]
        for row in units.itertuples():
            mine = all_kinds.spikes[row.population].of(row.neuron)
            np.testing.assert_allclose(row.spike_times, mine / 1e3)
        v = file.acquisition["E v"]
        assert (v.unit, v.conversion, v.rate, v.starting_time) == ("volts", 1e-3, 2000.0, 0.0005)
        np.testing.assert_array_equal(v.data[:], all_kinds.traces["E"]["v"])
        assert set(file.acquisition) == {"E v", "E->I g", "I mean v", "E lfp", "E->E weight"}
        table = file.processing["simulation"]["sampled_units"].to_dataframe()
        assert list(table.series) == ["E v"]
        assert list(table.sampled[0].neuron) == [3, 30]


def test_nwb_says_what_is_wrong_and_needs_no_samples(all_kinds):
    pytest.importorskip("pynwb")
    with pytest.raises(jn.InvalidValueError, match="session_start_time must be a datetime with a"):
        all_kinds.to_nwb(datetime.datetime(2026, 11, 27))
    made = jn.simulate(NET, 0.2, record=jn.Record(spikes=False)).to_nwb()
    assert (len(made.units), len(made.acquisition)) == (50, 0)
    assert made.session_start_time.tzinfo is not None


def test_nwb_without_a_word_of_its_inspector(all_kinds, tmp_path):
    pynwb = pytest.importorskip("pynwb")
    inspector = pytest.importorskip("nwbinspector")
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "w") as io:
        io.write(all_kinds.to_nwb(START))
    least = inspector.Importance.BEST_PRACTICE_VIOLATION
    found = inspector.inspect_nwbfile(tmp_path / "run.nwb", importance_threshold=least)
    # A network is no animal; who has one in mind gives subject=.
    assert {x.check_function_name for x in found} <= {"check_subject_exists"}
