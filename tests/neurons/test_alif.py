"""The neuron with an adaptive threshold against its closed forms."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from jaxneuro.neurons import ALIF, LIF
from tests.neurons.constant import run, steps_of

DT = 0.1


def settled(model, current) -> Any:
    """The interval T at which threshold and membrane meet: theta = beta / (exp(T/tau) - 1)."""
    p = {k: float(getattr(model, k)) for k in ("tau_m", "c_m", "e_l", "v_th", "v_reset", "t_ref")}
    v_inf = p["e_l"] + current * p["tau_m"] / p["c_m"]

    def above(t):
        theta = float(model.beta) / np.expm1(t / float(model.tau_theta))
        v = v_inf + (p["v_reset"] - v_inf) * np.exp(-(t - p["t_ref"]) / p["tau_m"])
        return v - p["v_th"] - theta

    return brentq(above, p["t_ref"] + 1e-6, 2000.0)


@pytest.mark.parametrize("current", [500.0, 800.0, 2000.0])
def test_the_interval_settles_at_the_closed_form(current, x64):
    model = ALIF(tau_theta=100.0)
    at = steps_of(run(model, current, 20_000, DT)[0])
    interval = np.diff(at) * DT
    assert interval[-1] > 1.3 * interval[0]
    # Rounded up to the grid, on which it may go to and fro by a step.
    mean = (at[-1] - at[-21]) * DT / 20
    assert settled(model, current) - 1e-9 <= mean + 0.5 * DT
    assert abs(mean - settled(model, current)) <= DT


def test_theta_is_exact(x64):
    """It jumps by beta at each spike and decays with tau_theta, whatever v does."""
    spikes, states = run(ALIF(beta=1.3, tau_theta=70.0), 900.0, 3000, DT)
    times = DT * np.arange(1, 3001)
    expected = np.zeros(3000)
    for at in times[steps_of(spikes)]:
        later = times > at + 1e-9
        expected[later] += 1.3 * np.exp(-(times[later] - at) / 70.0)
    np.testing.assert_allclose(states.theta[:, 0], expected, rtol=1e-9, atol=1e-12)


def test_without_jumps_it_is_the_leaky_neuron(x64):
    currents = [300.0, 500.0, 2000.0]
    spikes, states = run(ALIF(beta=0.0), currents, 3000, DT)
    plain, leaky = run(LIF(), currents, 3000, DT)
    np.testing.assert_array_equal(spikes, plain)
    np.testing.assert_allclose(states.v, leaky.v, rtol=1e-11)
