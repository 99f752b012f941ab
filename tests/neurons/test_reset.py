"""A reset that subtracts, gradients by the slope at the voltage: recursions by hand in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.refusing import assert_refused

TAU, V_TH, V_RESET, BETA = 20.0, 1.0, 0.1, 4.0
INPUT = np.array([0.2, 0.35, 1.3, 2.6])
STEPS = 25


def model(cls, reset, through, t_ref=0.0, form="voltage"):
    surrogate = jn.surrogates.FastSigmoid(BETA, form=form)
    more = {"beta": 0.3, "tau_theta": 50.0} if cls is jn.neurons.ALIF else {}
    return cls(
        **{"tau_m": TAU, "c_m": TAU, "e_l": 0.0, "v_th": V_TH, "v_reset": V_RESET},
        t_ref=t_ref,
        surrogate=surrogate,
        reset=reset,
        reset_gradient=through,
        **more,
    )


def spikes_of(neuron, scale):
    def step(state, _):
        return neuron.step(state, jn.Drive(jump=scale * jnp.asarray(INPUT)), 1.0)

    return jax.lax.scan(step, neuron.init(INPUT.size), length=STEPS)[1]


def by_hand(cls, reset, through, t_ref=0):
    """The spikes and the derivative of their sum by the scale of the input, at 1."""
    n = INPUT.size
    v, dv, theta, left = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, int)
    out, slope = [], np.zeros(n)
    for _ in range(STEPS):
        free = left == 0
        theta = theta * np.exp(-1.0 / 50.0)
        v = np.where(free, v * np.exp(-1.0 / TAU) + INPUT, v)
        dv = np.where(free, dv * np.exp(-1.0 / TAU) + INPUT, dv)
        x = v - V_TH - theta
        fired = (x >= 0) & free
        ds = np.where(free, 0.5 * BETA / (1.0 + BETA * np.abs(x)) ** 2 * dv, 0.0)
        out.append(fired)
        slope += ds
        target = V_RESET if reset == "value" else v - (V_TH - V_RESET)
        of_target = np.zeros(n) if reset == "value" else dv
        jump = ds * (target - v) if through else 0.0
        v, dv = np.where(fired, target, v), np.where(fired, of_target, dv) + jump
        theta = np.where(fired, theta + 0.3, theta) if cls is jn.neurons.ALIF else theta
        left = np.where(fired, t_ref, np.maximum(left - 1, 0))
    return np.array(out), slope.sum()


@pytest.mark.parametrize("t_ref", [0, 3])
@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("reset", ["value", "subtract"])
@pytest.mark.parametrize("cls", [jn.neurons.LIF, jn.neurons.ALIF])
def test_it_is_the_recursion_by_hand(cls, reset, through, t_ref, x64):
    neuron = model(cls, reset, through, float(t_ref))
    want, slope = by_hand(cls, reset, through, t_ref)
    assert want.sum() > 10
    value, got = jax.jit(jax.value_and_grad(lambda scale: jnp.sum(spikes_of(neuron, scale))))(1.0)
    np.testing.assert_array_equal(spikes_of(neuron, 1.0), want)
    assert float(value) == want.sum()
    np.testing.assert_allclose(got, slope, rtol=1e-10)


def test_a_gradient_through_the_reset_changes_no_spike(x64):
    for form in ("rise", "voltage"):
        a, b = (
            spikes_of(model(jn.neurons.LIF, "subtract", through, form=form), 1.0)
            for through in (False, True)
        )
        np.testing.assert_array_equal(a, b)


def test_in_a_network_all_free_neurons_near_the_threshold_count(x64):
    """The derivative of a falling voltage counts, too."""
    fall = jn.neurons.LIF(surrogate=jn.surrogates.FastSigmoid(form="voltage", cutoff=3.0))
    net = jn.build(
        jn.Description([jn.Population("A", 5, fall, {"v": jn.Uniform(-60.0, -54.9)})]), 0, 0.1
    )
    state, _ = jn.scan(net, net.init(0), 1)
    group = state.groups[0]
    counted = np.unpackbits(np.asarray(group.released.counted), bitorder="little")[:5] != 0
    near = np.abs(np.asarray(group.neurons.v) + 55.0) <= 3.0
    assert 0 < near.sum() < 5
    np.testing.assert_array_equal(counted, near)


def test_bad_input():
    lif = jn.neurons.LIF
    assert_refused(lambda: lif(reset_gradient=True), "LIF", "reset_gradient", "True")
    assert_refused(lambda: lif(reset="minus"), "LIF", "reset", "minus")
    assert_refused(lambda: jn.surrogates.FastSigmoid(form="slope"), "Surrogate", "form", "slope")
