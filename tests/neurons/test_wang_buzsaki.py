"""Wang-Buzsaki: its rates, type I excitability, the published f-I curve, order."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.integrators import exponential_euler
from jaxneuro.neurons import WangBuzsaki
from tests.neurons.driving import exact, orders, run
from tests.oracle import biophysical as oracle
from tests.zoo import cast


def rest_curve():
    """Voltages, and the currents that hold them, from the paper's equations."""
    p = {k: float(getattr(WangBuzsaki(), k)) for k in ("c_m", "g_l", "g_na", "g_k")}
    p |= {"e_l": -65.0, "e_na": 55.0, "e_k": -90.0}
    v = np.linspace(-75.0, -40.0, 70_001)
    m, h, n = (a / (a + b) for a, b in oracle.wang_buzsaki_rates(v).values())
    source, rate = oracle.membrane(p, m, h, n, 0.0, 0.0)
    return v, rate * v - source


@pytest.mark.parametrize(("dtype", "close"), [(np.float32, 1e-6), (np.float64, 5e-14)])
def test_rates_with_few_exponentials(dtype, close, x64):
    """To a few ulp, also where the formulas of the paper are 0/0."""
    v = np.concatenate([np.linspace(-150, 150, 60_001), [-35.0, -34.0]]).astype(dtype)
    exact_rates = oracle.wang_buzsaki_rates(v.astype(np.float64)).values()
    for got, expected in zip(jax.jit(WangBuzsaki._rates)(v), exact_rates):
        assert got[0].dtype == dtype
        np.testing.assert_allclose(got[0], expected[0], rtol=close)
        np.testing.assert_allclose(got[1], expected[1], rtol=close)


def test_it_rests_where_no_current_flows(x64):
    """Near -64 mV, as published."""
    v, current = rest_curve()
    rest = v[np.flatnonzero(np.diff(np.sign(current)))[0]]
    assert rest == pytest.approx(-64.0, abs=0.1)
    states, spikes = run(WangBuzsaki(), 20_000, 0.02)
    assert not spikes.any()
    assert states.v[-1, 0] == pytest.approx(rest, abs=1e-3)


def test_firing_begins_at_rate_0(x64):
    """Above the knee of the rest curve at 0.16 uA/cm2, as a square root."""
    knee = rest_curve()[1].max()
    assert knee == pytest.approx(0.16, abs=0.005)
    currents = knee + np.array([-0.005, 0.01, 0.04])
    _, spikes = run(WangBuzsaki(), 75_000, 0.02, 3, current=currents)
    rates = spikes[25_000:].sum(0)
    assert rates[0] == 0
    assert 0 < rates[1] < 20
    assert rates[2] / rates[1] == pytest.approx(2.0, rel=0.2)


@pytest.mark.slow
def test_spikes_of_the_exact_solution(x64):
    """Every spike in the step of the exact one, at 1 uA/cm2; up to 400 Hz at 20, as published."""
    dt, n_steps = 0.02, 10_000
    _, spikes = run(WangBuzsaki(), n_steps, dt, 2, current=np.array([1.0, 20.0]))
    times = dt * np.arange(1, n_steps + 1)
    start = [float(x) for x in oracle.wang_buzsaki_start({"e_l": -65.0}, ())]
    v = exact(WangBuzsaki(), oracle.wang_buzsaki, start, times[-1], 1.0, times)[0]
    expected = 1 + np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))
    assert expected.size > 8
    np.testing.assert_allclose(np.flatnonzero(spikes[:, 0]), expected, atol=1)
    gap = np.diff(np.flatnonzero(spikes[:, 1]))[-1] * dt
    assert 1000 / gap == pytest.approx(400, rel=0.1)


@pytest.mark.parametrize(("method", "steps"), [(None, 1000), (exponential_euler, 20_000)])
def test_order(method, steps, x64):
    model = WangBuzsaki() if method is None else WangBuzsaki(method=method)
    found, errors = orders(model, oracle.wang_buzsaki, 10.0, [steps, 2 * steps, 4 * steps], 2.0)
    assert np.abs(found - model.method.order).max() < 0.25, errors


def test_a_voltage_that_stays_up_is_no_new_spike():
    model = cast(WangBuzsaki(), np.float32)
    state = model.init(1)._replace(v=np.full(1, 20.0, np.float32))
    state, spikes = jax.jit(lambda s: model.step(s, jn.Drive(), 0.01))(state)
    assert state.v[0] > 0
    assert not spikes.any()
