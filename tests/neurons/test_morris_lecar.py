"""Morris-Lecar against the bifurcations that Rinzel and Ermentrout (1998) publish."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.integrators import exponential_euler
from jaxneuro.neurons import MorrisLecar
from tests.neurons.driving import orders, run
from tests.oracle.biophysical import morris_lecar
from tests.zoo import cast


def slopes(model, y, current=0.0):
    parts = model._flow(tuple(y), jn.Drive(current=np.float64(current)))
    return jnp.stack([d.source - d.rate * x for d, x in zip(parts, y)])


@jax.jit
def steady(model):
    """Voltages and potassium gates at rest, and the currents that hold them."""
    v = np.linspace(-60.0, 40.0, 20_001)
    y = (v, model._potassium(v)[0])
    return *y, -slopes(model, y)[0] * model.c_m


@pytest.mark.slow
def test_rest_of_hopf_is_unstable_between_the_published_currents(x64):
    model = cast(MorrisLecar.hopf(), jnp.float64)
    *y, current = map(np.asarray, steady(model))
    jacobian = jax.jit(jax.vmap(jax.jacfwd(lambda y: slopes(model, y))))(np.stack(y, 1))
    jacobian = np.asarray(jacobian)
    trace = jacobian[:, 0, 0] + jacobian[:, 1, 1]
    assert (np.linalg.det(jacobian) > 0).all()
    change = np.flatnonzero(np.diff(np.sign(trace)))
    np.testing.assert_allclose(current[change], [93.86, 212.0], atol=0.05)


@pytest.mark.slow
def test_rest_of_snlc_vanishes_at_the_published_current(x64):
    v, _, current = map(np.asarray, steady(cast(MorrisLecar.snlc(), jnp.float64)))
    knee = np.flatnonzero(np.diff(current) < 0)[0]
    assert current[knee] == pytest.approx(39.96, abs=0.05)
    assert v[knee] == pytest.approx(-29.4, abs=0.1)


@pytest.mark.slow
def test_classes_of_excitability(x64):
    """Type I begins at rate 0, as a square root; type II begins at a high rate."""
    currents = np.array([39.5, 40.2, 40.8, 42.5])
    _, spikes = run(MorrisLecar.snlc(), 40_000, 0.1, 4, current=currents)
    rates = spikes[10_000:].sum(0) / 3.0
    assert rates[0] == 0
    assert 0 < rates[1] < rates[2] < rates[3]
    assert rates[3] / rates[2] == pytest.approx(np.sqrt((42.5 - 39.96) / (40.8 - 39.96)), rel=0.15)
    _, spikes = run(MorrisLecar.hopf(), 40_000, 0.1, 2, current=np.array([85.0, 96.0]))
    rates = spikes[10_000:].sum(0) / 3.0
    assert rates[0] == 0
    assert rates[1] > 8


@pytest.mark.parametrize(("method", "steps"), [(None, 200), (exponential_euler, 2000)])
def test_order(method, steps, x64):
    model = MorrisLecar.snlc() if method is None else MorrisLecar.snlc(method=method)
    found, errors = orders(model, morris_lecar, 60.0, [steps, 2 * steps, 4 * steps], 60.0)
    assert np.abs(found - model.method.order).max() < 0.2, errors
    assert errors[-1] < (1e-6 if method is None else 0.05)


def test_gates_at_the_middle_are_half_open(x64):
    model = cast(MorrisLecar(), jnp.float64)
    w_inf, rate = map(np.asarray, model._potassium(np.asarray([2.0])))
    np.testing.assert_allclose([w_inf[0], rate[0]], [0.5, 0.04], rtol=1e-15)


def test_build_refuses_a_step_at_which_the_leak_grows():
    bound = 2.785 * 20.0 / 2.0
    assert float(MorrisLecar().largest_step()) == pytest.approx(bound)
    assert MorrisLecar(method=exponential_euler).largest_step() is None
    with pytest.raises(ValueError, match=r"27\.8"):
        jn.simulate(MorrisLecar(), 60.0, n=1, dt=30.0)
