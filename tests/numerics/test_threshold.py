"""The threshold, with and without a surrogate gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro.numerics import FastSigmoid, threshold
from tests.quickly import quick_jit

V_TH = np.float32(-50.0)
V = np.float32([-70.0, -50.0, np.nextafter(np.float32(-50), np.float32(-60)), -49.9, 3e38])
SPIKES = [False, True, False, True, True]


def test_at_or_above_spikes():
    got = threshold(jax.device_put(V), V_TH)
    assert got.dtype == bool
    assert got.tolist() == SPIKES
    with_surrogate = threshold(V, V_TH, FastSigmoid())
    assert with_surrogate.dtype == jnp.float32
    assert with_surrogate.tolist() == [float(s) for s in SPIKES]


@pytest.mark.parametrize("v", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("surrogate", [None, FastSigmoid()])
def test_a_voltage_that_is_not_finite_never_spikes(v, surrogate):
    for f in (threshold, jax.jit(threshold)):
        assert not f(np.full(3, v, np.float32), V_TH, surrogate).any()


def test_thresholds_may_differ_by_neuron():
    v_th = jnp.asarray([-51.0, -49.0, -50.0], jnp.float32)
    assert threshold(jnp.full(3, -50.0), v_th).tolist() == [True, False, True]


def test_the_slope_is_that_of_a_fast_sigmoid():
    x = np.linspace(-3, 3, 61)
    got = FastSigmoid(beta=2.0).slope(jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(got, 1 / (1 + 2 * np.abs(x)) ** 2, rtol=1e-6)
    # It is the derivative of the fast sigmoid x / (1 + beta |x|).
    sigmoid = lambda x: x / (1 + 2 * np.abs(x))  # noqa: E731
    h = 1e-6
    slope = (sigmoid(x + h) - sigmoid(x - h)) / (2 * h)
    np.testing.assert_allclose(got, slope, rtol=1e-4, atol=1e-5)


def test_the_gradient_is_the_slope_with_both_signs():
    surrogate = FastSigmoid(beta=0.5)
    finite = V[:4]
    loss = lambda v, v_th: threshold(v, v_th, surrogate).sum()  # noqa: E731
    many = np.full(4, V_TH)
    by_v, by_th = quick_jit(jax.grad(loss, argnums=(0, 1)))(finite, many)
    slope = np.asarray(quick_jit(lambda v: surrogate.slope(v))(finite - V_TH))
    np.testing.assert_array_equal(by_v, slope)
    np.testing.assert_array_equal(by_th, -slope)
    np.testing.assert_array_equal(quick_jit(jax.vmap(jax.grad(loss)))(finite, many), slope)
    of_v = lambda v, by: jax.jvp(lambda v: threshold(v, V_TH, surrogate), (v,), (by,))  # noqa: E731
    _, tangent = quick_jit(of_v)(finite, np.full(4, 3.0, np.float32))
    np.testing.assert_allclose(tangent, 3 * slope, rtol=1e-6)


def test_the_gradient_through_a_model_as_an_argument():
    loss = lambda s, v: threshold(v, V_TH, s).sum()  # noqa: E731
    of_surrogate = quick_jit(jax.grad(loss))(FastSigmoid(beta=2.0), V[:4])
    assert float(of_surrogate.beta) == 0.0


@pytest.mark.parametrize("beta", [0.0, -1.0, np.nan, np.inf])
def test_a_bad_beta_is_refused(beta):
    with pytest.raises(ValueError, match=r"FastSigmoid: beta must be finite and above 0\.0"):
        FastSigmoid(beta=beta)
