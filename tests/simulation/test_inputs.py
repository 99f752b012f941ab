"""What a run is driven with: inputs that are no numbers, stimulations in seconds."""

import warnings

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._run.simulate import _first_state
from tests.refusing import assert_refused

SENT = {"weight": 1.0, "synapse": jn.synapses.Delta()}


@pytest.mark.parametrize(("start", "stop", "warned"), [(0.1, 0.5, True), (10.0, 50.0, False)])
def test_a_stimulation_in_seconds_is_told(start, stop, warned):
    drive = jn.Stimulation("E", jn.stimuli.Current(300.0), start=start, stop=stop)
    description = jn.Description([jn.Population("E", 3, jn.neurons.LIF())], [], [drive])
    net = jn.build(description, key=0, dt=0.1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        first = jn.simulate(net, 600.0, progress=False)
        jn.simulate(net, 600.0, state=first, progress=False)  # goes on, and is not told again
    told = [str(w.message) for w in seen if "look like seconds" in str(w.message)]
    assert len(told) == warned
    assert not warned or "start=100, stop=500 would fit" in told[0]


@pytest.mark.parametrize(
    ("stimulus", "warned"),
    [
        (jn.stimuli.SpikeTimes([0.1, 0.2, 0.3], [0, 0, 0]), "from 100 to 300 would fit"),
        (jn.stimuli.Current(jn.stimuli.Steps([0.0, 0.1, 0.2], [1.0, 100.0, 2.0])), "to 200 would"),
        (jn.stimuli.SpikeTimes([0.1]), ""),
        (jn.stimuli.SpikeTimes([1.0, 2.0]), ""),
        (jn.stimuli.SpikeTimes([0.1, 0.2, 300.0]), ""),
        (jn.stimuli.Current(jn.stimuli.Steps([0.0, 1.0], [100.0, 0.0])), ""),
    ],
)
def test_times_in_seconds_are_told(stimulus, warned):
    how = {} if isinstance(stimulus, jn.stimuli.Current) else SENT
    drive = jn.Stimulation("E", stimulus, **how)
    net = jn.build(jn.Description([jn.Population("E", 3, jn.neurons.LIF())], [], [drive]), 0, 0.1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        _first_state(net, None, 6000)
        _first_state(net, None, 1500)  # in which seconds would not fit
    assert [warned in str(w.message) for w in seen] == [True] * bool(warned)


@pytest.mark.parametrize("given", [None, "300", [[1.0], [2.0, 3.0]], np.ones(10) * 1j])
def test_inputs_that_are_no_numbers(given):
    net = jn.build(jn.Description([jn.Population("E", 3, jn.neurons.LIF())]), key=0, dt=0.1)
    for run in (
        lambda x: jn.simulate(net, 1.0, inputs=x),
        lambda x: jn.scan(net, net.init(0), 10, inputs=x),
    ):
        with pytest.raises(jn.InvalidValueError) as caught:
            run({"E": given})
        assert caught.value.field == "the input of 'E'"


@pytest.mark.parametrize("given", [{"e": 1.0}, {"E->I": 5.0}, {"E": np.ones(7)}, {"E": "1"}, [3.0]])
def test_inputs_of_one_step(given):
    net = jn.build(jn.Description([jn.Population("E", 3, jn.neurons.LIF())]), key=0, dt=0.1)
    with pytest.raises(jn.InvalidValueError) as caught:
        net.step(net.init(0), given)
    assert caught.value.owner == "step"


def test_one_number_is_a_constant_current():
    net = jn.build(jn.Description([jn.Population("E", 3, jn.neurons.LIF())]), key=0, dt=0.1)
    one, each = (
        jn.simulate(net, 60.0, inputs={"E": x}, progress=False)
        for x in (600.0, np.full(600, 600.0))
    )
    assert one.rate("E") > 0.0
    for a, b in zip(one.events("E"), each.events("E")):
        np.testing.assert_array_equal(a, b)
    shown = jax.eval_shape(lambda x: jn.scan(net, net.init(0), 10, {"E": x})[0].step, 600.0)
    assert shown.shape == ()
    assert_refused(
        lambda: jn.simulate(net, 60.0, inputs={"E": np.nan}, progress=False),
        "simulate",
        "the input of 'E'",
        "nan at index 0",
    )
