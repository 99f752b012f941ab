"""The quadratic neuron against its closed forms."""

import numpy as np
import pytest

from jaxneuro.integrators import exponential_euler, forward_euler, heun, rk4
from jaxneuro.neurons import QIF
from tests.neurons.constant import order_of_error, run, steps_of

DT = 0.02
RHEOBASE = 0.7 * 20.0**2 / 4


def period(current, v_reset=-50.0, v_peak=35.0):
    """Time [ms] from the reset to the peak: an arc tangent."""
    width = np.sqrt(current / 0.7 - 10.0**2)
    angle = np.arctan((v_peak + 50.0) / width) - np.arctan((v_reset + 50.0) / width)
    return 100.0 / (0.7 * width) * angle


@pytest.mark.slow
def test_f_i_curve(x64):
    """Each interval is the arc tangent, rounded up to the grid."""
    currents = np.array([72.0, 100.0, 200.0, 1000.0])
    spikes, _ = run(QIF(), currents, 20_000, DT)
    for k, current in enumerate(currents):
        np.testing.assert_array_equal(
            np.diff(steps_of(spikes, k)), np.ceil(period(current) / DT - 1e-3)
        )


@pytest.mark.slow
def test_far_limits_give_the_theta_neuron(x64):
    """From -1500 to 1500 mV the interval is pi c_m / (k D), to 1 %."""
    model = QIF(v_reset=-1550.0, v_peak=1450.0)
    spikes, _ = run(model, 80.0, 100_000, 0.002)
    whole = np.pi * 100.0 / (0.7 * np.sqrt(80.0 / 0.7 - 100.0))
    interval = np.diff(steps_of(spikes)) * 0.002
    np.testing.assert_allclose(interval, whole, rtol=0.01)
    np.testing.assert_allclose(interval, period(80.0, -1550.0, 1450.0), atol=0.0041)


def test_rheobase(x64):
    spikes, states = run(QIF(), [RHEOBASE - 0.1, RHEOBASE + 1.0], 50_000, DT)
    np.testing.assert_array_equal(spikes.any(0), [False, True])
    assert states.v[-1, 0] < -50.0


def test_reset_and_recorded_v(x64):
    spikes, states = run(QIF(), 500.0, 2000, DT)
    at = steps_of(spikes)
    assert (states.v[at, 0] >= 35.0).all()
    assert (np.delete(states.v[:, 0], at) < 35.0).all()


@pytest.mark.parametrize(
    ("method", "order"), [(forward_euler, 1), (exponential_euler, 1), (heun, 2), (rk4, 4)]
)
def test_order_below_the_peak(method, order, x64):
    got = order_of_error(QIF(), "v", {"v": -58.0}, 60.0, method)
    np.testing.assert_allclose(got, order, atol=0.35)


def test_the_largest_step():
    assert QIF(method=forward_euler).largest_step() == pytest.approx(2 * 100 / (0.7 * 20))
