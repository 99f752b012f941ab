"""The exponential neuron against its rheobase and its rate."""

import numpy as np
import pytest
from scipy.integrate import quad

from jaxneuro.integrators import exponential_euler, forward_euler, heun, rk4
from jaxneuro.neurons import EIF
from tests.neurons.constant import order_of_error, run, steps_of

DT = 0.1
RHEOBASE = 10.0 * (-59.9 + 65.0 - 3.48)


def period(model, current):
    """Time [ms] from the reset to the peak: the integral of dt/dv."""
    p = {k: float(getattr(model, k)) for k in ("c_m", "g_l", "e_l", "v_th", "delta_t")}

    def pace(v):
        rise = p["delta_t"] * np.exp((v - p["v_th"]) / p["delta_t"])
        return p["c_m"] / (p["g_l"] * (p["e_l"] - v + rise) + current)

    low, high = float(model.v_reset), float(model.v_peak)
    return quad(pace, low, high, epsabs=1e-10, limit=500, points=[-59.9, -40.0])[0]


@pytest.mark.slow
def test_rheobase(x64):
    """It rests for ever just below, and fires just above, after passing v_th slowly."""
    spikes, states = run(EIF(), [RHEOBASE - 0.05, RHEOBASE + 0.05], 60_000, DT)
    assert not spikes[:, 0].any()
    assert states.v[-1, 0] < -59.9
    assert spikes[:, 1].any()


@pytest.mark.slow
@pytest.mark.parametrize("t_ref", [0.0, 1.7])
def test_f_i_curve(t_ref, x64):
    """The mean interval is that of the integral: not rounded up to the grid without t_ref."""
    model, currents = EIF(t_ref=t_ref), np.array([18.0, 30.0, 70.0, 300.0])
    spikes, _ = run(model, currents, 20_000, DT)
    for k, current in enumerate(currents):
        at = steps_of(spikes, k)
        exact = period(model, current)
        # Held from the spike to the end of its step, and through t_ref.
        if t_ref:
            exact = np.ceil(exact / DT - 1e-9) * DT + t_ref
        mean = (at[-1] - at[1]) * DT / (at.size - 2)
        assert abs(mean - exact) < DT / (at.size - 2) + 1e-3 * DT


@pytest.mark.parametrize(
    ("method", "order"), [(forward_euler, 1), (exponential_euler, 1), (heun, 2), (rk4, 4)]
)
@pytest.mark.parametrize("top", [False, True], ids=["in v", "in z"])
def test_order_between_spikes(method, order, top, x64):
    start, current = ({"v": -57.0}, 30.0) if top else ({"v": -70.0}, 10.0)
    got = order_of_error(EIF(), "v", start, current, method, (0.8, 0.4, 0.2), 4.8)
    np.testing.assert_allclose(got, order, atol=0.45)


def test_the_largest_step():
    assert EIF(method=forward_euler).largest_step() == pytest.approx(20.0)
