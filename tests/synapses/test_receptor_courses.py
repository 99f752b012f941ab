"""What one arrival does, against closed forms; and how receptors couple to a membrane."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.synapses import (
    AMPA,
    GABA_A,
    GABA_B,
    NMDA,
    Alpha,
    AlphaConductance,
    DoubleExponential,
    DoubleExponentialConductance,
    DoubleExponentialNMDA,
    TwoStateConductance,
)
from tests.oracle.receptor_odes import after_pulse, membrane
from tests.synapses.driving import LIF, alone, coupled
from tests.zoo import numbers

DT = 0.1
TAUS = np.array([0.3, 2.0, 5.0])
RISES, DECAYS = np.array([0.2, 2.0, 5.0, 5.0]), np.array([0.9, 100.0, 5.0 + 1e-9, 7.0])
ALPHAS = {"Alpha": (Alpha, "current"), "AlphaConductance": (AlphaConductance, "g")}
DOUBLES = {
    "DoubleExponential": (DoubleExponential, "current"),
    "DoubleExponentialConductance": (DoubleExponentialConductance, "g"),
    "DoubleExponentialNMDA": (DoubleExponentialNMDA, "g"),
}


def unit_arrival(model, n, n_steps):
    """The course from the arrival on, its times, and the drives of the steps after it."""
    arrivals = np.zeros((n_steps, n))
    arrivals[0] = 1.0
    states, drives = alone(model, arrivals, dt=DT)
    return states, DT * np.arange(n_steps)[:, None], drives


def alpha_course(t, tau):
    return t / tau * np.exp(1.0 - t / tau)


@pytest.mark.parametrize("name", ALPHAS)
def test_alpha_function(name, x64):
    make, variable = ALPHAS[name]
    states, t, drives = unit_arrival(make(TAUS), TAUS.size, 2000)
    x = getattr(states, variable)
    np.testing.assert_allclose(x, alpha_course(t, TAUS), rtol=1e-12, atol=1e-300)
    # The peak is 1, at tau, which is on the grid.
    np.testing.assert_array_equal(x.argmax(axis=0), np.rint(TAUS / DT))
    np.testing.assert_allclose(x.max(axis=0), 1.0, rtol=1e-12)
    mean = drives.current if variable == "current" else drives.conductance
    # The mean of a step is the difference of integrals: exact, whatever dt.
    integral = -TAUS * np.e * (1.0 + t / TAUS) * np.exp(-t / TAUS)
    np.testing.assert_allclose(mean[1:] * DT, np.diff(integral, axis=0), rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(mean.sum(axis=0) * DT, np.e * TAUS, rtol=1e-12)


@pytest.mark.parametrize("name", DOUBLES)
def test_difference_of_exponentials(name, x64):
    make, variable = DOUBLES[name]
    states, t, drives = unit_arrival(make(RISES, DECAYS), RISES.size, 30000)
    x = getattr(states, variable)
    far = np.array([0, 1, 3])
    rise, decay = RISES[far], DECAYS[far]
    top = np.log(decay / rise) * rise * decay / (decay - rise)
    course = np.exp(-t / decay) - np.exp(-t / rise)
    peak = np.exp(-top / decay) - np.exp(-top / rise)
    np.testing.assert_allclose(x[:, far], course / peak, rtol=1e-10, atol=1e-14)
    assert (np.abs(x[:, far].argmax(axis=0) * DT - top) <= DT).all()
    # Nearly equal time constants: an alpha function, to what they differ.
    np.testing.assert_allclose(x[:, 2:3], alpha_course(t, 5.0), rtol=0, atol=1e-9)
    if variable == "current":
        area = drives.current.sum(axis=0) * DT
        np.testing.assert_allclose(area[far], (decay - rise) / peak, rtol=1e-10)
        np.testing.assert_allclose(area[2], 5.0 * np.e, rtol=1e-8)


def psp(t, tau, w):
    """Of the current w exp(-t/tau)."""
    tau_m, c_m = LIF["tau_m"], LIF["c_m"]
    return w / c_m * tau * tau_m / (tau - tau_m) * (np.exp(-t / tau) - np.exp(-t / tau_m))


def test_psp_of_currents(x64):
    """The whole course, with a LIF neuron; halving dt divides the error by four."""
    rise, decay, tau, tau_m, c_m, w = 0.8, 6.0, 2.0, LIF["tau_m"], LIF["c_m"], 100.0
    k = 1.0 / tau - 1.0 / tau_m

    def of_alpha(t):
        scale = w * np.e / (c_m * tau)
        return scale * np.exp(-t / tau_m) * (1.0 - np.exp(-k * t) * (1.0 + k * t)) / k**2

    def of_difference(t):
        top = np.log(decay / rise) * rise * decay / (decay - rise)
        peak = np.exp(-top / decay) - np.exp(-top / rise)
        return (psp(t, decay, w) - psp(t, rise, w)) / peak

    for model, exact in ((Alpha(tau), of_alpha), (DoubleExponential(rise, decay), of_difference)):
        errors = []
        for dt in (0.2, 0.1, 0.05):
            v = coupled(model, [(0.4, w)], 60.0, dt, rows=1200) - LIF["e_l"]
            t = np.maximum(dt * np.arange(1, v.size + 1) - 0.4, 0.0)
            errors.append(np.abs(v - exact(t)).max())
        assert errors[1] < 1e-3 * exact(t).max()
        assert (np.abs(np.log2(np.divide(errors[:-1], errors[1:])) - 2.0) < 0.1).all(), errors


COUPLED = {
    "AMPA": (AMPA(), 4),
    "AlphaConductance": (AlphaConductance(4.0, -5.0), 4),
    "DoubleExponentialConductance": (DoubleExponentialConductance(3.0, 9.0, -80.0), 4),
    "TwoStateConductance": (TwoStateConductance.gaba_a(g_max=40.0), 4),
    "NMDA": (NMDA(), 2),
    "DoubleExponentialNMDA": (DoubleExponentialNMDA(3.0, 40.0), 2),
    "GABA_B": (GABA_B(k1=0.5, g_max=30.0), 2),
}


@pytest.mark.slow(but=["GABA_B"])
@pytest.mark.parametrize("name", COUPLED)
def test_order_of_the_coupling(name, x64):
    """Against an adaptive solver, with arrivals that overlap; a smooth v without spikes."""
    model, order = COUPLED[name]
    conductance = 1.0 if name in ("TwoStateConductance", "GABA_B") else 12.0
    events = [
        (round(t / 0.8) * 0.8, w * conductance) for t, w in ((0.8, 1), (4.0, 2.1), (9.6, 0.7))
    ]
    times = 0.8 * np.arange(1, 31)
    p = {k: float(x) for k, x in numbers(model).items() if k != "kind"}
    exact = membrane(times, name, p, LIF, events, 150.0)
    assert np.ptp(exact) > 2.0
    errors = []
    for dt in (0.4, 0.2, 0.1, 0.05):
        v = coupled(model, events, 24.0, dt, 150.0, rows=480)
        errors.append(np.abs(v[round(0.8 / dt) - 1 :: round(0.8 / dt)] - exact).max())
    found = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (np.abs(found - order) < 0.35).all(), (errors, found)


@pytest.mark.slow(but=["AMPA-32"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=["32", "64"])
@pytest.mark.parametrize("name", COUPLED)
def test_a_huge_conductance_is_stable(name, dtype, x64):
    """v stays between where it starts and e_rev, however large g is."""
    model, _ = COUPLED[name]
    if hasattr(model, "g_max"):
        model = dataclasses.replace(model, g_max=1e9)
    v = coupled(model, [(0.3, 1e9), (2.0, 1e9)], 20.0, current=0.0, dtype=dtype, rows=480)
    e_rev = float(model.e_rev)
    low, high = sorted((LIF["e_l"], e_rev))
    assert v.dtype == dtype
    assert ((v >= low - 1e-4) & (v <= high + 1e-4)).all()
    assert abs(v[50] - e_rev) < 1e-3


KINETICS = {
    "TwoStateConductance": (TwoStateConductance(), 0.8),
    "GABA_B": (GABA_B(), 3.0),
}


@pytest.mark.parametrize("name", KINETICS)
def test_an_arrival_is_a_short_pulse(name, x64):
    """The scheme of the source under a very short pulse of transmitter, by an adaptive solver."""
    model, dose = KINETICS[name]
    arrivals = np.zeros((401, 1))
    arrivals[0] = dose
    states, _ = alone(model, arrivals)
    p = {k: float(x) for k, x in numbers(model).items() if k != "kind"}
    for steps in (1, 40, 400):
        expected = after_pulse(name, p, dose, 1e-7, steps * DT)
        found = [x[steps, 0] for x in states]
        np.testing.assert_allclose(found, expected, rtol=3e-6)


@pytest.mark.parametrize("name", KINETICS)
def test_doses_saturate_in_any_order(name, x64):
    """Two doses in one step are one of their sum; many open everything, and never more."""
    model, dose = KINETICS[name]
    once = np.zeros((2, 3))
    once[0] = dose, 2 * dose, 1e6
    states, _ = alone(model, once)
    one, two, all_open = states.r[0]
    assert two == pytest.approx(1.0 - (1.0 - one) ** 2, rel=1e-12)
    assert all_open == 1.0


def test_gaba_b_prefers_bursts(x64):
    """Ten pulses at 200 Hz open more than ten times what one opens: four G proteins are needed."""
    arrivals = np.zeros((3000, 2))
    arrivals[0] = 0.3
    arrivals[0:500:50, 1] = 0.3
    _, drives = alone(GABA_B(), arrivals)
    single, burst = drives.conductance.max(axis=0)
    assert burst > 100 * single > 0.0
    late = drives.conductance[:, 1].argmax() * DT
    assert 50.0 < late < 200.0


def test_published_rates():
    ampa, gaba = TwoStateConductance.ampa(g_max=0.5), TwoStateConductance.gaba_a()
    assert [float(x) for x in (ampa.alpha, ampa.beta, ampa.e_rev)] == pytest.approx([1.1, 0.19, 0])
    assert [float(x) for x in (gaba.alpha, gaba.beta, gaba.e_rev)] == pytest.approx([5, 0.18, -80])
    assert float(ampa.g_max) == 0.5
    assert [float(x) for x in (AMPA().tau_syn, GABA_A().tau_syn)] == [2.0, 5.0]
    assert [float(x) for x in (AMPA().e_rev, GABA_A().e_rev)] == [0.0, -70.0]


@pytest.mark.parametrize("make", [m for m, _ in DOUBLES.values()], ids=DOUBLES)
def test_rise_must_be_shorter_than_decay(make):
    for taus, got in (((5.0, 5.0), "5"), ((np.array([1.0, 3.0]), 2.0), "at index 1")):
        with pytest.raises(jn.InvalidValueError) as error:
            make(*taus)
        assert error.value.field == "tau_decay"
        assert got in error.value.got


def test_it_is_a_synapse():
    assert issubclass(NMDA, jn.Synapse)
