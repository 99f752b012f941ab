"""The neuron whose threshold seeks a rate against what must hold for any drive."""

import numpy as np
import pytest

from jaxneuro.neurons import LIF, HomeostaticLIF
from tests.neurons.constant import run, steps_of

DT = 0.1


@pytest.mark.parametrize("current", [500.0, 900.0])
def test_the_rate_comes_to_the_target(current, x64):
    """The threshold's way is the difference of the rates: exact, whatever v does."""
    model = HomeostaticLIF(eta=1.5, target=20.0, theta_min=-14.0)
    spikes, states = run(model, current, 20_000, DT)
    count = np.cumsum(np.asarray(spikes)[:, 0])
    theta = np.asarray(states.theta)[:, 0]
    t = DT * 1e-3 * np.arange(1, 20_001)
    before = np.concatenate([[0], count[:-1]])
    np.testing.assert_allclose(theta, 1.5 * (before - 20.0 * t), rtol=1e-9, atol=1e-9)
    assert count[-1] - count[10_000] == pytest.approx(20, abs=1)  # of the last second


def test_a_silent_neuron_stops_at_the_lowest_threshold(x64):
    _, states = run(HomeostaticLIF(eta=5.0, target=100.0, theta_min=-3.0), 0.0, 3000, DT)
    theta = np.asarray(states.theta)[:, 0]
    assert theta.min() == theta[-1] == -3.0


def test_without_eta_it_is_the_leaky_neuron(x64):
    currents = [300.0, 500.0, 2000.0]
    spikes, states = run(HomeostaticLIF(eta=0.0), currents, 3000, DT)
    plain, leaky = run(LIF(), currents, 3000, DT)
    assert len(steps_of(plain[:, 2:])) > 0
    np.testing.assert_array_equal(spikes, plain)
    np.testing.assert_allclose(states.v, leaky.v, rtol=1e-11)
