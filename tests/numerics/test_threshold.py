"""The threshold, with and without a surrogate gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.surrogates import FastSigmoid, crossing, threshold

V_TH = np.float32(-50.0)
V = np.float32([-70.0, -50.0, np.nextafter(np.float32(-50), np.float32(-60)), -49.9, 3e38])
SPIKES = [False, True, False, True, True]


@pytest.mark.slow
def test_at_or_above_spikes():
    got, fired = threshold(jax.device_put(V), V_TH)
    assert got.dtype == fired.dtype == bool
    assert got.tolist() == fired.tolist() == SPIKES
    with_surrogate, fired = threshold(V, V_TH, FastSigmoid(), V)
    assert (with_surrogate.dtype, fired.dtype) == (jnp.float32, bool)
    assert with_surrogate.tolist() == [float(s) for s in SPIKES]
    assert fired.tolist() == SPIKES


@pytest.mark.parametrize("v", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("surrogate", [None, FastSigmoid()])
def test_a_voltage_that_is_not_finite_never_spikes(v, surrogate):
    for f in (threshold, jax.jit(threshold)):
        x = np.full(3, v, np.float32)
        assert not any(y.any() for y in f(x, V_TH, surrogate, x))


def test_thresholds_may_differ_by_neuron():
    v_th = jnp.asarray([-51.0, -49.0, -50.0], jnp.float32)
    assert threshold(jnp.full(3, -50.0), v_th)[1].tolist() == [True, False, True]


def test_the_slope_is_that_of_a_fast_sigmoid_that_rises_from_0_to_1():
    x = np.linspace(-3, 3, 61)
    got = FastSigmoid(beta=2.0).slope(jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(got, 1 / (1 + 2 * np.abs(x)) ** 2, rtol=1e-6)
    sigmoid = lambda x: 0.5 + x / (1 + 2 * np.abs(x))  # noqa: E731
    np.testing.assert_allclose(sigmoid(np.array([-1e9, 1e9])), [0, 1], atol=1e-9)
    h = 1e-6
    slope = (sigmoid(x + h) - sigmoid(x - h)) / (2 * h)
    np.testing.assert_allclose(got, slope, rtol=1e-4, atol=1e-5)


def sigmoid_slope(x, beta):
    return 0.5 * beta / (1 + beta * np.abs(x)) ** 2


def slopes(function, *arrays):
    """The derivatives by `before`, v and `v_th` of a spike."""
    of = jax.vmap(jax.grad(function, argnums=(0, 1, 2)))
    return np.asarray(jax.jit(of)(*map(np.float32, arrays)))


BEFORE = np.array([-70.0, -54.0, -52.0, -51.0, -49.0])
AFTER = np.array([-60.0, -49.0, -53.0, -51.0, -40.0])
RISES = np.array([1, 1, 0, 1, 1])  # the last only for a crossing: above the threshold


@pytest.mark.parametrize("function", [threshold, crossing])
def test_the_derivative_is_that_of_the_rise_of_the_smooth_step(function):
    surrogate = FastSigmoid(beta=0.5)

    def spike(before, v, v_th):
        if function is crossing:
            return crossing(before, v, v_th, surrogate)
        return threshold(v, v_th, surrogate, before)[0]

    by_before, by_v, by_th = slopes(spike, BEFORE, AFTER, np.full(5, -50.0))
    counted = RISES * (1 if function is crossing else BEFORE < -50.0)
    start, end = (counted * sigmoid_slope(x + 50.0, 0.5) for x in (BEFORE, AFTER))
    np.testing.assert_allclose(by_before, -start, rtol=1e-6)
    np.testing.assert_allclose(by_v, end, rtol=1e-6)
    np.testing.assert_allclose(by_th, start - end, rtol=1e-5)


def test_the_smooth_step_may_be_at_the_onset_of_the_upswing():
    def spike(before, v, onset):
        return threshold(v, 30.0, FastSigmoid(0.5), before, onset)[0]

    before, v = np.array([-60.0, -52.0, -49.0, -20.0]), np.array([-55.0, -45.0, -40.0, 40.0])
    _, by_v, _ = slopes(spike, before, v, np.full(4, -50.0))
    np.testing.assert_allclose(by_v, [1, 1, 0, 0] * sigmoid_slope(v + 50.0, 0.5), rtol=1e-6)


def test_a_surrogate_needs_the_start_of_the_step():
    with pytest.raises(jn.InvalidValueError) as caught:
        threshold(V, V_TH, FastSigmoid())
    assert (caught.value.owner, caught.value.field) == ("threshold", "before")


def test_the_gradient_through_a_model_as_an_argument():
    loss = lambda s, v: threshold(v, V_TH, s, v - 1.0)[0].sum()  # noqa: E731
    of_surrogate = jax.jit(jax.grad(loss))(FastSigmoid(beta=2.0), V[:4])
    assert float(of_surrogate.beta) == 0.0
