"""The coupled step is of fourth order in dt: halving it divides the error by sixteen."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._model import add_drives
from tests.oracle.ode import lif_conductance_reference

LIF = {"tau_m": 20.0, "c_m": 200.0, "e_l": -60.0}
SYNAPSES = ({"tau_syn": 5.0, "e_rev": 0.0}, {"tau_syn": 10.0, "e_rev": -80.0})
ARRIVALS = [[(0.8, 12.0), (4.0, 25.0), (9.6, 8.0)], [(2.4, 40.0), (4.0, 30.0), (15.2, 60.0)]]
CURRENT, STOP = 120.0, 24.0


def voltage(dt):
    """v at the multiples of 0.8 ms."""
    neuron = jn.neurons.LIF(**LIF, v_th=1e3, v_reset=-70.0)
    models = [jn.synapses.ExponentialConductance(**s) for s in SYNAPSES]
    n_steps = round(STOP / dt)
    arriving = np.zeros((n_steps, 2, 1))
    for k, events in enumerate(ARRIVALS):
        for time, weight in events:
            arriving[round(time / dt) - 1, k] += weight

    def body(carry, now):
        state, states = carry
        new, total = [], jn.Drive(current=np.full(1, CURRENT))
        for model, s, x in zip(models, states, now):
            s, drive = model.step(s, x, state.v, dt)
            new.append(s)
            total = add_drives(total, drive)
        state, _ = neuron.step(state, total, dt)
        return (state, new), state.v

    @jax.jit
    def run(arriving):
        start = (neuron.init(1), [m.init(1) for m in models])
        return jax.lax.scan(body, start, arriving)[1][:, 0]

    v = run(arriving)
    every = round(0.8 / dt)
    return np.asarray(v)[every - 1 :: every]


@pytest.mark.slow
def test_order_four(x64):
    times = 0.8 * np.arange(1, round(STOP / 0.8) + 1)
    arrivals = [[(round(t / 0.8) * 0.8, w) for t, w in events] for events in ARRIVALS]
    times = np.array([round(k) * 0.8 for k in range(1, times.size + 1)])
    exact = lif_conductance_reference(times, LIF["e_l"], LIF, SYNAPSES, arrivals, CURRENT)
    errors = [np.abs(voltage(dt) - exact).max() for dt in (0.8, 0.4, 0.2, 0.1)]
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert ((ratios > 14.0) & (ratios < 18.0)).all(), (errors, ratios)
    assert errors[3] < 1e-6


@pytest.mark.slow
def test_the_network_makes_the_same_step(x64):
    """The same neuron in a network, its arrivals from a source that fires on time."""
    dt, neuron = 0.1, jn.neurons.LIF(**LIF, v_th=1e3, v_reset=-70.0)
    source = jn.neurons.LIF(t_ref=0.0, e_l=-70.0)
    events = [(k, t, w) for k, arrivals in enumerate(ARRIVALS) for t, w in arrivals]
    populations = [jn.Population("source", len(events), source), jn.Population("n", 1, neuron)]
    projections = []
    for k, synapse in enumerate(SYNAPSES):
        pre = [i for i, (receptor, _, _) in enumerate(events) if receptor == k]
        rule = jn.connectivity.Explicit(pre, np.zeros(3, int))
        model = jn.synapses.ExponentialConductance(**synapse)
        weight = [events[i][2] for i in pre]
        projections.append(
            jn.Projection("source", "n", rule, weight=weight, delay=0.5, synapse=model, name=str(k))
        )
    made = jn.Description(
        populations, projections, [jn.Stimulation("n", jn.stimuli.Current(CURRENT))]
    )
    net = jn.build(made, 0, dt, jnp.float64)
    kicks = np.zeros((240, len(events)))
    for i, (_, time, _) in enumerate(events):
        kicks[round(time / dt) - 1 - 5, i] = 1e6  # delivered in slot k + d
    kicks[1:][kicks[:-1] != 0] = -1e6  # and back below threshold: one spike each
    record = jn.Record(variables={"n": "v"}, interval=0.8)
    run = jax.jit(lambda net, x: jn.scan(net, net.init(0), 240, {"source": x}, record)[1])
    recording = run(net, kicks)
    assert int(recording.spikes.counts("source").sum()) == len(events)
    np.testing.assert_allclose(recording.traces["n"]["v"][:, 0], voltage(dt), rtol=1e-12)
