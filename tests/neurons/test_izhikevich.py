"""Izhikevich's neurons against published and measured counts."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.integrators import exponential_euler, forward_euler, heun, rk4
from jaxneuro.neurons import Izhikevich, LeakyIzhikevich
from tests.neurons.constant import order_of_error, run, steps_of
from tests.oracle import adaptive

DT = 0.1


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_the_counts_of_lixirnet(dtype, x64):
    """10,000 steps: 2 spikes at 10, the first in step 5518; 9 at 40, the first in step 1660."""
    spikes, _ = run(Izhikevich.lixirnet(), [10.0, 40.0], 10_000, DT, dtype, u=30.0)
    assert [(steps_of(spikes, k).size, steps_of(spikes, k)[0]) for k in (0, 1)] == [
        (2, 5518),
        (9, 1660),
    ]


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_the_counts_of_the_textbook_cell(dtype, x64):
    """1 s: 23 spikes at 10, none at 0, where it rests at v = -70, u = -14."""
    spikes, states = run(Izhikevich.regular_spiking(), [10.0, 0.0], 10_000, DT, dtype)
    np.testing.assert_array_equal(spikes.sum(0), [23, 0])
    np.testing.assert_allclose([states.v[-1, 1], states.u[-1, 1]], [-70.0, -14.0], atol=1e-3)


def intervals(model, current=10.0):
    spikes, _ = run(model, current, 10_000, DT)
    return np.diff(steps_of(spikes)) * DT


def test_the_presets_fire_as_they_are_named(x64):
    rs, fs = intervals(Izhikevich.regular_spiking()), intervals(Izhikevich.fast_spiking())
    assert rs[-1] > 1.5 * rs[0]
    assert fs.size > 3 * rs.size
    ib = intervals(Izhikevich.intrinsically_bursting())
    assert ib[0] < 5.0
    assert (ib[3:] > 15.0).all()
    ch = intervals(Izhikevich.chattering())
    assert (ch < 10.0).sum() > 30
    assert (ch > 25.0).sum() > 5
    assert (ch[-20:] < 10.0).any()
    assert (ch[-20:] > 25.0).any()
    lts, tc = intervals(Izhikevich.low_threshold_spiking()), Izhikevich.thalamo_cortical()
    assert rs.size < lts.size < fs.size
    assert lts[-1] > 1.5 * lts[0]
    # A release from hyperpolarization.
    held, state = run(tc, -10.0, 3000, DT)
    spikes, _ = run(tc, 0.0, 1000, DT, v=state.v[-1, 0], u=state.u[-1, 0])
    assert not held.any()
    assert steps_of(spikes).size >= 2
    # Damped oscillations: v crosses its rest again and again.
    _, state = run(Izhikevich.resonator(), 0.0, 3000, DT, v=-64.0)
    assert (np.diff(np.sign(state.v[:, 0] - state.v[-1, 0])) != 0).sum() >= 3


@pytest.mark.parametrize(
    ("method", "order"), [(forward_euler, 1), (exponential_euler, 1), (heun, 2), (rk4, 4)]
)
def test_order_below_the_peak(method, order, x64):
    got = order_of_error(Izhikevich(), "vu", {"v": -60.0, "u": -10.0}, 3.0, method)
    np.testing.assert_allclose(got, order, atol=0.35)


def test_reset_and_its_increment(x64):
    model = Izhikevich(d=3.0)
    spikes, states = run(model, 15.0, 400, DT)
    at = steps_of(spikes)
    assert (states.v[at, 0] >= 30.0).all()
    u = states.u[at, 0] + 3.0
    expected = -65.0 + DT * (0.04 * 65.0**2 - 5 * 65.0 + 140.0 - u + 15.0)
    np.testing.assert_allclose(states.v[at + 1, 0], expected, rtol=1e-12)
    state = model.init(2)._replace(v=np.array([31.0, -60.0]), spikes=np.array([True, False]))
    np.testing.assert_array_equal(model.voltage(state), [-65.0, -60.0])


def test_leaky_defaults_over_a_second(x64):
    """Its own equation by an independent program; 5 spikes in 2 s at 40, 0 at 20 in the first."""
    model, currents = LeakyIzhikevich(), np.array([20.0, 40.0, 100.0])
    spikes, states = run(model, currents, 10_000, DT)
    params = {k: float(getattr(model, k)) for k in ("a", "b", "c", "d", "e_l", "c_m", "tau_m")}
    params |= {"v_th": 30.0, "method": {"kind": "ForwardEuler"}}
    drives = [np.broadcast_to(x, (10_000, 3)) for x in (currents, 0.0, 0.0)]
    expected = adaptive.leaky_izhikevich(params, drives, 3, DT)
    np.testing.assert_array_equal(spikes, expected["spikes"])
    assert (spikes.sum(0) >= 1).all()
    np.testing.assert_allclose(states.u, expected["u"], rtol=1e-9, atol=1e-9)


def test_leaky_runs_away_where_the_current_is_weak(x64):
    """What its docstring says: below a current of 16 v leaves its rest downwards."""
    _, states = run(LeakyIzhikevich(), [10.0, 20.0], 20_000, DT)
    assert states.v[:, 0].min() < -200.0
    assert states.v[:, 1].min() > -70.0


@pytest.mark.parametrize("cls", [Izhikevich, LeakyIzhikevich])
def test_a_step_at_which_u_grows_is_refused(cls):
    slow = jn.Description([jn.Population("a", 1, cls(tau_m=0.001))])
    with pytest.raises(ValueError, match=r"at most 0\.1 ms"):
        jn.build(slow, key=0, dt=0.2)
    jn.build(slow, key=0, dt=0.1)
    assert cls(method=exponential_euler).largest_step() is None
