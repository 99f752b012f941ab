"""What the summary of a run says of late stimulations, of largest rates, and of its key."""

import numpy as np
import pytest

import jaxneuro as jn

S = jn.stimuli
E = jn.Population("E", 2, jn.neurons.LIF())
SENT = {"weight": 1.0, "synapse": jn.synapses.Delta()}
LATE = {
    "spikes": (S.SpikeTimes([1000.0, 2000.0]), SENT),
    "steps": (S.Current(S.Steps([600.0], [300.0])), {}),
    "pulses": (S.Current(S.Pulses(300.0, 5.0, 100.0, t_first=700.0)), {}),
    "ramp": (S.Current(S.Ramp(0.0, 300.0, 800.0, 900.0)), {}),
    "window": (S.Poisson(10.0), {**SENT, "start": 900.0}),
    "delayed": (S.SpikeTimes([0.1]), {**SENT, "delay": 40.0}),
}
BEGUN = {
    "early spikes": (S.SpikeTimes([1.0, 2000.0]), SENT),
    "a base": (S.Current(S.Ramp(5.0, 300.0, 800.0, 900.0)), {}),
    "no spikes": (S.SpikeTimes([]), SENT),
    "noise": (S.WhiteNoise(0.0, 1.0, 0.1), {}),
}


@pytest.mark.slow
def test_stimulations_that_have_not_begun_are_named():
    stimuli = [jn.Stimulation("E", s, **more, name=n) for n, (s, more) in (LATE | BEGUN).items()]
    result = jn.simulate(jn.build(jn.Description([E], [], stimuli), 1, 0.1), 10.0)
    lines = [x for x in jn.analysis.summary(result).split("\n") if "has not begun" in x]
    assert {x.split(" has")[0].strip() for x in lines} == {*LATE}
    found = {x.split(" before ")[1] for x in lines}
    assert "1000 ms, and the run ends at 10 ms" in found
    assert "900 ms, and the run ends at 10 ms" in found


def test_neurons_that_spike_as_often_as_they_can_are_named():
    """Of two groups of t_ref 2 ms, one of mixed times, and one that is driven as usual."""
    mixed = jn.neurons.LIF(t_ref=np.array([0.5, 4.0]))
    populations = [E, jn.Population("mixed", 2, mixed), jn.Population("usual", 2, jn.neurons.LIF())]
    currents = {"E": 1e6, "mixed": 1e6, "usual": 600.0}
    drive = [jn.Stimulation(n, S.Current(x)) for n, x in currents.items()]
    net = jn.build(jn.Description(populations, [], drive), 1, 0.1)
    record = jn.Record(spikes=False, rates=True, statistics=("E", "mixed"))
    result = jn.simulate(net, 100.0, key=17, record=record)
    assert result.rate("usual") > 5.0
    text = jn.analysis.summary(result)
    lines = {x.split(":")[0].strip(): x for x in text.split("\n") if "neurons, " in x}
    assert "largest rate" in lines["E"]
    assert "largest rate" in lines["mixed"]
    assert "CV 0.00" in lines["E"]
    assert lines["usual"].endswith("Hz, CV -")
    assert "key 17" in text
