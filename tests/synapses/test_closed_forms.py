"""Synapses with a LIF neuron against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.zoo import cast

DT = 0.1
LIF = {"tau_m": 10.0, "c_m": 250.0, "e_l": -70.0, "v_th": -55.0, "v_reset": -70.0, "t_ref": 2.0}


run = jax.jit(jn.scan, static_argnums=(2, 4))


@jax.jit
def one_step(model, state, *parts):
    return model.step(state, *parts, DT)


def one_arrival(synapse, weight, arrives=0.5, stop=60.0, delay=0.3, **lif):
    """v of B in every step; a spike of A reaches B at `arrives` [ms]."""
    populations = [
        jn.Population("A", 1, jn.neurons.LIF(**{**LIF, "t_ref": 1e3})),
        jn.Population("B", 1, jn.neurons.LIF(**{**LIF, **lif})),
    ]
    rule = jn.connectivity.OneToOne()
    p = jn.Projection("A", "B", rule, weight=weight, delay=delay, synapse=synapse)
    net = jn.build(jn.Description(populations, [p]), 0, DT, jnp.float64)
    kick = np.zeros(round(stop / DT))
    kick[round((arrives - delay) / DT) - 1] = 1e6
    record = jn.Record(variables={"B": "v"})
    _, recording = run(net, net.init(0), kick.size, {"A": kick}, record)
    assert recording.spikes.events("A")[0] == pytest.approx([arrives - delay])
    return np.asarray(recording.traces["B"]["v"])[:, 0], recording.spikes.events("B")[0]


@pytest.mark.parametrize("tau_syn", [0.5, 2.0, 9.0, 30.0])
@pytest.mark.parametrize("delay", [0.1, 0.3])
def test_psp_of_the_exponential_current(tau_syn, delay, x64):
    """The whole course, and its peak: exact means over the steps do not shift it."""
    w, tau_m, c_m = 100.0, LIF["tau_m"], LIF["c_m"]
    v, _ = one_arrival(jn.synapses.Exponential(tau_syn), w, delay=delay)
    t = DT * np.arange(1, v.size + 1) - 0.5
    tail = np.maximum(t, 0.0)
    scale = w / c_m * tau_syn * tau_m / (tau_syn - tau_m)
    psp = scale * (np.exp(-tail / tau_syn) - np.exp(-tail / tau_m))
    peak = np.log(tau_syn / tau_m) * tau_syn * tau_m / (tau_syn - tau_m)
    top = scale * (np.exp(-peak / tau_syn) - np.exp(-peak / tau_m))
    assert abs(t[np.argmax(v)] - peak) <= DT
    assert v.max() - LIF["e_l"] == pytest.approx(top, rel=0.01)
    # The charge of every step is exact; where in the step it flows is of second order.
    assert np.abs(v - LIF["e_l"] - psp).max() < 5e-3 * top * max(1.0, (DT / tau_syn) / 0.04)


def test_charge_of_the_exponential_current_is_exact(x64):
    """The integral of v - e_l is w tau_syn / g_l, however short tau_syn is."""
    for tau_syn in (0.05, 0.5, 2.0):
        v, _ = one_arrival(jn.synapses.Exponential(tau_syn), 100.0, stop=300.0)
        # v at the ends of steps; within a step the membrane decays exactly.
        g_l = LIF["c_m"] / LIF["tau_m"]
        total = np.sum(v - LIF["e_l"]) * DT
        assert total == pytest.approx(100.0 * tau_syn / g_l, rel=DT / LIF["tau_m"])


def test_delta_jumps_in_the_slot_of_its_arrival(x64):
    v, _ = one_arrival(jn.synapses.Delta(), 4.0)
    np.testing.assert_array_equal(v[:4], LIF["e_l"])
    t = DT * np.arange(v.size - 4)
    np.testing.assert_allclose(v[4:], LIF["e_l"] + 4.0 * np.exp(-t / LIF["tau_m"]), rtol=1e-12)


def test_delta_can_fire_in_its_own_step(x64):
    _, times = one_arrival(jn.synapses.Delta(), 15.0 + 1e-9)
    assert times == pytest.approx([0.5])


def test_delta_is_lost_while_refractory(x64):
    """Kicks in every step: B fires, drops t_ref/dt of them, and fires with the next."""
    neuron = jn.neurons.LIF(**{**LIF, "t_ref": 0.7})
    model = cast(neuron, jnp.float64)
    state, fired, v = model.init(1), [], []
    synapse = jn.synapses.Delta()
    for _ in range(40):
        _, drive = synapse.step(synapse.init(1), np.full(1, 20.0), state.v, DT)
        state, spikes = one_step(model, state, drive)
        fired.append(bool(np.asarray(spikes)[0]))
        v.append(float(np.asarray(state.v)[0]))
    np.testing.assert_array_equal(np.flatnonzero(fired), np.arange(0, 40, 8))
    assert v[1:8] == [-70.0] * 7
    assert v[8] == -50.0


def test_conductance_drives_to_its_reversal(x64):
    """A huge conductance clamps v at e_rev in one step, and never beyond."""
    synapse = jn.synapses.ExponentialConductance(1e6, -40.0)
    v, _ = one_arrival(synapse, 1e7, v_th=0.0)
    np.testing.assert_allclose(v[5:], -40.0, rtol=1e-5)
    assert v.max() <= -40.0


@pytest.mark.parametrize("tau_syn", [0.2, 5.0])
def test_conductance_decays_exactly(tau_syn, x64):
    synapse = jn.synapses.ExponentialConductance(tau_syn, -75.0)
    synapse = cast(synapse, jnp.float64)
    state, drives = synapse.init(1)._replace(g=np.full(1, 7.0)), []
    for _ in range(50):
        state, drive = one_step(synapse, state, np.zeros(1), np.zeros(1))
        drives.append(jax.tree.map(np.asarray, drive))
    t = DT * np.arange(51)
    integral = 7.0 * tau_syn * -np.diff(np.exp(-t / tau_syn))
    np.testing.assert_allclose([float(d.conductance[0]) * DT for d in drives], integral, rtol=1e-11)
    np.testing.assert_allclose([float(d.current[0] / d.conductance[0]) for d in drives], -75.0)
    np.testing.assert_allclose(state.g, 7.0 * np.exp(-5.0 / tau_syn), rtol=1e-12)
