"""Releases in every step, and the receptors that a transmitter opens."""

import numpy as np
import pytest
from scipy import integrate

import jaxneuro as jn
from tests.release.alone import received, released, train

rl, syn = jn.release, jn.synapses


def test_a_voltage_is_needed():
    state = rl.VoltageRelease().init(2)
    with pytest.raises(jn.InvalidValueError) as error:
        rl.VoltageRelease().step(state, np.zeros(2, bool), None, 0.1)
    assert (error.value.owner, error.value.field) == ("VoltageRelease", "source")
    for model in (syn.LigandGatedNMDA(), syn.Ionotropic(), syn.DopaGluGABA()):
        with pytest.raises(jn.InvalidValueError) as error:
            model.step(model.init(2), np.zeros((3, 2), np.float32), None, 0.1)
        assert (error.value.owner, error.value.field) == (type(model).__name__, "target")


def test_release_from_the_voltage_is_half_at_v_half():
    v = np.array([[2.0, -1e4, 1e4, 7.0]], np.float32)
    values, _ = released(rl.VoltageRelease(), np.zeros(v.shape, bool), v, 0.1)
    np.testing.assert_allclose(values[0], [0.5, 0.0, 1.0, 1 / (1 + np.exp(-1))], rtol=1e-6)
    assert float(rl.VoltageRelease.gaba_b().t_max) == 0.5


@pytest.mark.parametrize("dt", [0.1, 5.0])
def test_spikes_of_a_rate_have_that_rate(dt):
    """A spike every fourth step, whatever the step is to the window."""
    spikes = train(4000, range(0, 4000, 4))
    v = np.zeros(spikes.shape, np.float32)
    r = np.asarray(released(rl.RateRelease(20.0), spikes, v, dt)[0])[2000:]
    np.testing.assert_allclose(r.mean(), 250 / dt, rtol=1e-4)


def test_transmitters_fill_up_to_their_largest():
    spikes, v = train(100, (0, 1, 2, 50)), np.zeros((100, 1), np.float32)
    cleared, decaying, pulsed = (
        np.asarray(released(model, spikes, v, 0.1)[0])[:, 0]
        for model in (rl.ClearedTransmitter(), rl.DecayingTransmitter(), rl.PulsedTransmitter(0.5))
    )
    np.testing.assert_array_equal(cleared[[0, 1, 2, 50]], 1.0)
    np.testing.assert_allclose(cleared[3:50], 0.999 ** np.arange(1, 48), rtol=1e-4)
    np.testing.assert_allclose(decaying[3] / decaying[2], 1 - np.exp(-0.05), rtol=1e-5)
    np.testing.assert_array_equal(pulsed, 0.5 * spikes[:, 0])


@pytest.mark.parametrize("name", ["ampa", "nmda", "gaba_a", "gaba_b"])
def test_destexhe_kinetics_are_exact(name, x64):
    """A pulse of 1 ms, 1 mM, then closing: their equation, whatever the step."""
    kinetics = getattr(syn.DestexheKinetics, name)()
    alpha, beta = float(kinetics.alpha), float(kinetics.beta)
    model, r = syn.LigandGated(kinetics), 0.0
    for t, end in ((1.0, 1.0), (0.0, 4.0)):
        how = {"rtol": 1e-11, "atol": 1e-13}
        slope = lambda _, r, t=t: alpha * t * (1 - r) - beta * r  # noqa: E731
        r = integrate.solve_ivp(slope, (0.0, end), [r], **how).y[0, -1]
    for dt in (0.5, 0.1):
        steps = round(5.0 / dt)
        arrivals = np.zeros((steps, 1))
        arrivals[: round(1.0 / dt)] = 1.0
        _, states = received(model, arrivals, np.zeros((steps, 1)), dt)
        np.testing.assert_allclose(states.r[-1, 0], r, rtol=1e-8)


def test_destexhe_kinetics_bear_any_concentration():
    """Without transmitter and decay r rests; thousands of mM open all receptors, and no more."""
    t = np.float32([[0.0, 1e-3, 60.0, 1e6]] * 400)
    for beta in (0.0, 0.18):
        model = syn.LigandGated(syn.DestexheKinetics(5.0, beta))
        r = np.asarray(received(model, t, np.zeros_like(t), 0.1)[1].r)
        assert ((r >= 0) & (r <= 1 + 1e-6)).all()
        opening = 5.0 * t[0].astype(float)
        rate = np.maximum(opening + beta, 1e-30)
        np.testing.assert_allclose(r[-1], opening / rate * -np.expm1(-40 * rate), rtol=1e-4)


def under(glutamate, dopamine, gaba=0.0, **fields):
    """Current [pA] at -50 mV of the receptors after one step of these concentrations (n,)."""
    glutamate, gaba, dopamine = np.broadcast_arrays(glutamate, gaba, dopamine)
    t = np.float32([[glutamate, gaba, dopamine]] * 2)
    v = np.full((2, glutamate.size), -50.0, np.float32)
    drive, states = received(syn.DopaGluGABA(**fields), t, v, 0.1)
    return np.asarray(drive.current - drive.conductance * v)[1], states


LEVELS = np.linspace(0.0, 1.0, 11)


def test_d1_strengthens_nmda():
    """More dopamine, more inward current, for each concentration of glutamate."""
    for glutamate in (0.1, 0.5, 0.9):
        current, states = under(np.full(11, glutamate), LEVELS, s_d1=1.0, s_d2=0.0)
        assert (np.diff(current) > 0).all()
        m_1, m_2 = syn.DopaGluGABA(s_d1=1.0, s_d2=0.0).modifiers(
            syn.DopaGluGABAState(*(np.asarray(x)[-1] for x in states))
        )
        np.testing.assert_allclose(m_1, 1 - LEVELS, atol=1e-6)
        np.testing.assert_array_equal(m_2, 1.0)
    for glutamate in (0.0, 1.0):  # nothing to strengthen, nothing left to open
        assert np.ptp(under(np.full(11, glutamate), LEVELS, s_d1=1.0, s_d2=0.0)[0]) < 1e-4


def test_d2_weakens_glutamate_and_leaves_gaba():
    fields = {"s_d1": 0.0, "s_d2": 0.5}
    current, states = under(np.full(11, 0.6), LEVELS, **fields)
    np.testing.assert_allclose(current, current[0] * (1 - 0.5 * LEVELS), rtol=1e-5)
    m_1, m_2 = syn.DopaGluGABA(**fields).modifiers(
        syn.DopaGluGABAState(*(np.asarray(x)[-1] for x in states))
    )
    np.testing.assert_allclose(m_2, 1 - 0.5 * LEVELS, atol=1e-6)
    np.testing.assert_array_equal(m_1, 1.0)
    gaba, _ = under(np.zeros(11), LEVELS, 0.7, **fields)
    np.testing.assert_allclose(gaba, 1.2 * 0.7 * (-80 + 50), rtol=1e-5)


def test_no_dopamine_is_the_receptors_alone():
    """At each v: `DopaGluGABA` without dopamine, and `Ionotropic` of the same kinetics."""
    v = np.repeat(np.linspace(-100.0, 100.0, 11, dtype=np.float32)[None], 2, axis=0)
    one, t = syn.ApproximateKinetics(), np.float32(np.full((2, 11), 0.4))
    zero = np.zeros_like(t)
    ours, _ = received(syn.DopaGluGABA(), np.stack([t, zero, zero], 1), v, 0.1)
    apart, _ = received(syn.Ionotropic(one, one, one), np.stack([t, t, zero], 1), v, 0.1)
    np.testing.assert_allclose(ours.current, apart.current, rtol=1e-6)
    np.testing.assert_allclose(ours.conductance, apart.conductance, rtol=1e-6)


def test_the_gates_of_lixirnet():
    for gate, g, e_rev in (("ampa", 1.0, 0.0), ("gaba_a", 1.2, -80.0), ("gaba_b", 0.06, -95.0)):
        model = getattr(syn.LigandGated, gate)(syn.ApproximateKinetics())
        drive, _ = received(model, np.ones((2, 1), np.float32), np.zeros((2, 1), np.float32), 0.1)
        np.testing.assert_allclose(drive.conductance[:, 0], [0.0, g], rtol=1e-6)
        np.testing.assert_allclose(drive.current[1, 0], g * e_rev, rtol=1e-6)
