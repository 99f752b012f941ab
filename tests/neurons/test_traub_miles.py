"""Traub-Miles: its rates, extremes, order, and a small COBAHH network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.integrators import rk4
from jaxneuro.neurons import TraubMiles
from tests.neurons.driving import exact, orders, run
from tests.oracle import biophysical as oracle
from tests.zoo import cast


def start():
    return [float(x) for x in oracle.traub_miles_start({"e_l": -60.0, "v_t": -63.0}, ())]


@pytest.mark.parametrize(("dtype", "close"), [(jnp.float32, 5e-6), (jnp.float64, 5e-14)])
def test_rates_with_two_exponentials(dtype, close, x64):
    """Also at the points where the formulas are 0/0, and far beyond any voltage."""
    points = [-63.0 + u for u in (13.0, 15.0, 40.0)]
    v = np.concatenate([np.linspace(-163, 87, 50_001), points, [-1e4, 1e4]]).astype(dtype)
    got = jax.jit(lambda m, v: m._rates(v))(cast(TraubMiles(), dtype), v)
    for a, b in zip(got, oracle.traub_miles_rates(v.astype(np.float64), -63.0).values()):
        assert a[0].dtype == dtype
        np.testing.assert_allclose(a[0], b[0], rtol=close)
        # The closing of m is the small difference of what is large.
        np.testing.assert_allclose(a[1], b[1], rtol=close)


@pytest.mark.slow
def test_it_rests_and_fires(x64):
    """Quiet at -100 pA (it paces at 0); with 500 pA the spikes of the exact solution."""
    dt, n_steps = 0.005, 20_000
    model = TraubMiles(method=rk4)
    _, spikes = run(model, n_steps, dt, 2, current=np.array([-100.0, 500.0]))
    times = dt * np.arange(1, n_steps + 1)
    v = exact(model, oracle.traub_miles, start(), times[-1], 500.0, times)[0]
    expected = 1 + np.flatnonzero((v[:-1] < -20) & (v[1:] >= -20))
    assert expected.size >= 5
    assert not spikes[:, 0].any()
    np.testing.assert_allclose(np.flatnonzero(spikes[:, 1]), expected, atol=1)
    _, coarse = run(TraubMiles(), 1000, 0.1, current=500.0)
    # Exponential Euler at 0.1 ms is a tenth slow.
    assert 0.8 * expected.size <= coarse.sum() <= expected.size


@pytest.mark.slow
@pytest.mark.parametrize(("method", "steps"), [(rk4, 2000), (None, 20_000)])
def test_order(method, steps, x64):
    model = TraubMiles() if method is None else TraubMiles(method=method)
    found, errors = orders(model, oracle.traub_miles, 10.0, [steps, 2 * steps, 4 * steps], 400.0)
    assert np.abs(found - model.method.order).max() < 0.25, errors


def test_any_drive_is_borne():
    """Conductances and jumps far beyond a cell, at the default step, in float32."""
    model = cast(TraubMiles(), np.float32)
    kick = np.asarray([1e5, -1e5, 1e30, 0.0, 0.0], np.float32)
    g = np.asarray([0.0, 0.0, 0.0, 1e7, 0.0], np.float32)
    current = np.asarray([0.0, 0.0, 0.0, -80e7, 1e7], np.float32)

    def body(state, jump):
        state, _ = model.step(state, jn.Drive(current, g, jump), 0.1)
        return state, state

    jumps = np.where(np.arange(300)[:, None] == 0, kick, np.float32(0.0))
    states = jax.jit(lambda s: jax.lax.scan(body, s, jumps)[1])(model.init(5))
    v, *gates = map(np.asarray, states)
    assert np.isfinite(v).all()
    assert all(((x >= 0) & (x <= 1.00001)).all() for x in gates)
    np.testing.assert_allclose(v[1:, 3], -80.0, atol=0.5)
    assert (v[100:, 0] < 60).all()
    assert (np.diff(v[:, 1]) > 0).all()


def cobahh(n, p):
    """Brette et al. (2007), benchmark 3, in the form of Brian2."""
    sizes = {"E": 4 * n // 5, "I": n // 5}
    initial = {"v": jn.Normal(-65.0, 5.0), "m": 0.0, "h": 0.0, "n": 0.0}
    synapse = jn.synapses.ExponentialConductance
    of = {
        "E": (6.0, synapse(5.0, 0.0), {"g": jn.Normal(40.0, 15.0)}),
        "I": (67.0, synapse(10.0, -80.0), {"g": jn.Normal(200.0, 120.0)}),
    }
    rule = jn.connectivity.FixedProbability(p)
    projections = [
        jn.Projection(a, b, rule, weight=weight, delay=0.1, synapse=receptor, initial=start)
        for a, (weight, receptor, start) in of.items()
        for b in sizes
    ]
    populations = [jn.Population(k, m, TraubMiles(), initial) for k, m in sizes.items()]
    return jn.Description(populations, projections)


@pytest.mark.slow
def test_a_small_cobahh_network():
    """As many inputs per neuron as 4,000 have: it goes on firing, stays finite, both kinds fire."""
    net = jn.build(cobahh(400, 0.2), 1, 0.1)
    result = jn.simulate(net, 300.0, key=1, progress=False)
    rates = {k: result.events(k)[0].size / net.populations[k] / 0.3 for k in "EI"}
    assert all(5 < rate < 100 for rate in rates.values()), rates
    late = sum((result.events(k)[0] > 200).sum() for k in "EI")
    assert late > 400


def test_build_refuses_a_step_at_which_the_leak_grows():
    assert TraubMiles().largest_step() is None
    assert float(TraubMiles(method=rk4).largest_step()) == pytest.approx(2.785 * 20)
