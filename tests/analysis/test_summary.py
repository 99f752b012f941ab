"""What the summary of a run says of stimulations that begin after its end."""

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


def test_stimulations_that_have_not_begun_are_named():
    stimuli = [jn.Stimulation("E", s, **more, name=n) for n, (s, more) in (LATE | BEGUN).items()]
    result = jn.simulate(jn.build(jn.Description([E], [], stimuli), 1, 0.1), 10.0)
    lines = [x for x in jn.analysis.summary(result).split("\n") if "has not begun" in x]
    assert {x.split(" has")[0].strip() for x in lines} == {*LATE}
    found = {x.split(" before ")[1] for x in lines}
    assert "1000 ms, and the run ends at 10 ms" in found
    assert "900 ms, and the run ends at 10 ms" in found
