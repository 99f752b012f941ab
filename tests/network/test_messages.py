"""What is said to what users of other programs write, and to slips in classes of their own."""

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._numerics.grid import steps_on_grid

N, S, ST = jn.neurons, jn.synapses, jn.stimuli
E = jn.Population("E", 5, N.LIF())


def built(population=E, dt=0.1, stimulus=None, **wire):
    rule = jn.connectivity.OneToOne()
    more = {"weight": 0.5, "delay": 1.0, "synapse": S.Exponential(), **wire}
    wires = [jn.Projection("E", "E", rule, **more)] if wire else []
    sent = {"weight": 1.0, "synapse": S.Delta()} if isinstance(stimulus, ST.Poisson) else {}
    stimuli = [] if stimulus is None else [jn.Stimulation("E", stimulus, **sent)]
    return jn.build(jn.Description([population], wires, stimuli), 1, dt)


NET = built()
SAID = {
    "the last five": (lambda: jn.Part("E", slice(-5, None)), "part of 'E': where must"),
    "every other": (lambda: jn.Part("E", slice(0, 4, 2)), "part of 'E': where must"),
    "current into a relay": (
        lambda: built(jn.Population("E", 5, N.Relay()), stimulus=ST.Current(3.0)),
        r"Relay \(population 'E'\): step must",
    ),
    "spikes into a source": (
        lambda: built(jn.Population("E", 5, N.PoissonSource(9.0)), stimulus=ST.Poisson(3.0)),
        r"PoissonSource \(population 'E'\): step must",
    ),
    "seconds": (lambda: jn.simulate(NET, 0.05), r"did you mean 50 \(s -> ms\)"),
    "refractory": (
        lambda: NET.with_values(NET.init(1), "E", refractory=3.0),
        "population 'E': refractory must",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_said(case):
    make, message = SAID[case]
    with pytest.raises(ValueError, match=message):
        make()


def test_options_have_their_own_unit():
    with pytest.raises(ValueError, match="whole number of time steps") as error:
        steps_on_grid("--seconds, in ms,", 0.05, 0.1)
    assert "did you mean" not in str(error.value)


def test_start_weights_outside_new_bounds():
    net = built(plasticity=jn.plasticity.PairSTDP(w_max=1.0))
    with pytest.warns(UserWarning, match="start weights, 0.5 to 0.5, .* new bounds, 0 to 0.1") as w:
        net.set("E->E", w_max=0.1)
    assert w[0].filename == __file__
    net.set("E->E", w_max=2.0, rate=np.float32(0.1))


def test_spikes_that_a_method_cannot_follow():
    with pytest.raises(jn.NonFiniteError, match="HodgkinHuxley moves by RK4, which may need"):
        jn.simulate(N.HodgkinHuxley(), 20.0, dt=0.1, current=10.0)
