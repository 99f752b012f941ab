"""The neuron of the fly's brain against its closed form, and against Brian2."""

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.neurons import FlyLIF

from .test_iaf_psc import one_spike, run


@pytest.mark.slow
def test_the_psp_has_its_closed_form(x64):
    """One synapse, 0.275 mV: g decays in 5 ms, v peaks at 0.0433 mV after 9.24 ms."""
    states = run(FlyLIF(), 400, {"g": one_spike(400, 0.275)})
    t = 0.1 * np.arange(400)
    np.testing.assert_allclose(states.g[:, 0], 0.275 * np.exp(-t / 5.0), rtol=1e-12)
    v = 0.275 * 5.0 / 15.0 * (np.exp(-t / 20.0) - np.exp(-t / 5.0))
    np.testing.assert_allclose(states.v[:, 0] + 52.0, v, atol=1e-13)
    assert t[np.argmax(v)] == pytest.approx(9.2, abs=0.1)
    assert v.max() == pytest.approx(0.0433, abs=1e-4)


def test_what_arrives_while_it_is_held_is_lost(x64):
    """A spike in step 2, steps 3 to 24 are held; then g and v take what arrives."""
    n = 40
    at = lambda *steps: np.isin(np.arange(n), steps)[:, None]  # noqa: E731
    jump = 30.0 * at(2, 7, 24) + 3.0 * at(30)
    states = run(FlyLIF(), n, {"g": 20.0 * at(1, 2, 3, 24) + 4.0 * at(25)}, jump=jump)
    assert np.flatnonzero(states.spikes[:, 0]).tolist() == [2]
    np.testing.assert_array_equal(states.v[3:26, 0], -52.0)
    np.testing.assert_array_equal(states.g[3:25, 0], 0.0)
    assert states.g[25, 0] == 4.0
    assert states.v[30, 0] == pytest.approx(-49.0, abs=0.2)
    always = run(FlyLIF(t_ref=0.0), n, jump=68.75 * at(3, 4, 9))
    assert np.flatnonzero(always.spikes[:, 0]).tolist() == [3, 4, 9]


# Steps of the spikes of the network below in Brian2 2.9.0, with `method="linear"`, `unless
# refractory` for v and g, and refractory=2.2*ms.
BRIAN2 = [
    [102, 201, 264, 341, 412, 493, 568],
    [42, 146, 198, 266, 344, 413, 500],
    [113, 203, 283, 350, 439, 497, 597],
    [79, 124, 213, 274, 363, 430, 501, 536, 586],
    [151, 205, 309, 351, 465],
    [87, 170, 240, 316, 392, 463, 547],
    [29, 83, 183, 231, 333, 377, 488],
    [64, 112, 208, 256, 354, 404, 508, 579],
    [62, 168, 217, 296, 368, 443, 523],
    [63, 113, 146, 195, 251, 302, 346, 397, 458, 498],
    [89, 167, 237, 314, 393, 460, 549],
    [16, 180, 320, 476],
]


def test_a_network_spikes_as_in_brian2(x64):
    """Every spike of 60 ms, in its step, with weights of both signs on one port."""
    n, g = 12, jn.synapses.Direct("g")
    pre = np.repeat(np.arange(n), 3)
    post = (5 * pre + np.tile([1, 3, 8], n)) % n
    weight = np.where(pre % 4 == 3, -1.0, 1.0) * (40 + 7 * (pre * post % 11))
    edges = jn.connectivity.Explicit.from_edges(
        {"pre": pre, "post": post, "weight": weight}, duplicates="keep"
    )
    wires = jn.Projection("N", "N", edges.rule, weight=edges.weight, delay=1.8, synapse=g)
    steps = np.arange(5, 600, 13)
    kicks = jn.stimuli.SpikeTimes(0.1 * (steps + 1), neurons=steps * 7 % n)
    stimulus = jn.Stimulation("N", kicks, weight=150.0, synapse=g)
    population = jn.Population("N", n, FlyLIF(t_ref=2.1))
    net = jn.build(jn.Description([population], [wires], [stimulus]), 0, dt=0.1)
    result = jn.simulate(net, 60.0, progress=False)
    times, neurons = result.events("N")
    ours = [np.rint(times[neurons == i] / 0.1 - 1).astype(int).tolist() for i in range(n)]
    assert ours == BRIAN2
