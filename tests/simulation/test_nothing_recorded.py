"""Recordings without a sample and questions without an answer say so."""

import numpy as np
import pytest

import jaxneuro as jn

CELLS = [
    jn.Population("E", 3, jn.neurons.LIF()),
    jn.Population("readout", 2, jn.neurons.LeakyIntegrator()),
    jn.Population("nobody", 0, jn.neurons.LIF()),
]
NET = jn.build(jn.Description(CELLS), key=0, dt=0.1)
RUN = {"progress": False}


@pytest.fixture(scope="module")
def result():
    record = jn.Record(lfp="E", rates=True, interval=1.0)
    return jn.simulate(NET, 2.0, record=record, **RUN)


@pytest.mark.slow
def test_what_never_spikes_has_no_rate(result):
    rates = [result.rate(name) for name in result.populations]
    np.testing.assert_array_equal(rates, [0.0, np.nan, 0.0])
    assert result.never_spikes("readout")
    assert not result.never_spikes("E")
    shown = jn.analysis.summary(result).splitlines()
    assert shown[1:5] == [
        "  E: 3 neurons, 0.00 Hz, CV -",
        "  readout: 2 neurons, no rate: its model never spikes",
        "  nobody: 0 neurons, 0.00 Hz, CV -",
        "  the LFP of 'E' is 0: no synapse gave it a current",
    ]
    html = result._repr_html_()
    assert "0.00 Hz" in html
    assert "its model never spikes" in html
    assert "nan" not in html


def test_a_record_that_never_samples_is_told(result):
    record = jn.Record(lfp="E", rates=True, interval=10.0)
    made = jn.simulate(NET, 2.0, record=record, **RUN)
    said = "no samples: no time of the run is a multiple of interval=10 ms"
    assert f"\n  {said}\n" in jn.analysis.summary(made)
    assert repr(made).endswith(f"; {said}")
    assert said in made._repr_html_()
    assert "no samples" not in repr(result) + jn.analysis.summary(result)


@pytest.mark.parametrize("returned", [None, {}, ()], ids=str)
def test_a_function_that_returns_nothing(returned):
    record = jn.Record(function=lambda state, output: returned)
    with pytest.raises(jn.InvalidValueError) as caught:
        jn.simulate(NET, 1.0, record=record, **RUN)
    assert (caught.value.owner, caught.value.field) == ("Record", "function")
