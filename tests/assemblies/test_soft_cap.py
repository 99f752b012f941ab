"""Caps with a gradient: their values, their derivatives, and learning to assemble with them."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.optimize
import scipy.special
from jax.test_util import check_grads

from jaxneuro.assemblies import assembly_loss, soft_cap, straight_through_cap
from tests.oracle import k_cap as oracle
from tests.refusing import assert_refused

SIZES = [(2, 1), (50, 7), (50, 49)]
SOFT = jax.jit(soft_cap, static_argnums=1)
HARD = jax.jit(straight_through_cap, static_argnums=1)


def soft_oracle(x, k, temperature):
    """Solved for the level by Brent's method in float64."""
    x = np.asarray(x, np.float64)
    y = lambda level: scipy.special.expit((x - level) / temperature)  # noqa: E731
    far = 60 * temperature
    ends = x.min() - far, x.max() + far
    return y(scipy.optimize.brentq(lambda level: y(level).sum() - k, *ends, xtol=1e-14))


def inputs(n, seed, spread=1.0):
    return (spread * np.random.default_rng(seed).normal(size=n)).astype(np.float32)


@hypothesis.given(
    seed=st.integers(0, 1000),
    size=st.sampled_from(SIZES),
    temperature=st.floats(2.0**-6, 100, width=32),
    spread=st.sampled_from([0.0, 1e-3, 1.0, 30.0]),
)
def test_soft_caps_sum_to_k_and_solve_their_equation(seed, size, temperature, spread):
    n, k = size
    x = inputs(n, seed, spread)
    got = np.asarray(SOFT(x, k, temperature))
    # The level is rounded to float32, and a difference of two inputs is divided by temperature.
    rounding = 1e-5 + 4e-7 * np.abs(x).max() / temperature
    np.testing.assert_allclose(got, soft_oracle(x, k, temperature), rtol=0, atol=rounding)
    assert got.min() >= 0
    assert got.max() <= 1
    assert abs(got.sum() - k) < n * rounding


@pytest.mark.parametrize("far", [1e4, -1e4, 1e30])
def test_a_neuron_far_from_all_others_costs_no_precision(far):
    x = inputs(50, 6)
    x[3] = far
    got = np.asarray(SOFT(x, 7, 0.05))
    near = np.delete(np.arange(50), 3)
    want = soft_oracle(x[near], 7 - (far > 0), 0.05)  # of the rest: it is in or out for sure
    np.testing.assert_allclose(got[near], want, rtol=0, atol=3e-5)
    assert got[3] == (far > 0)


def test_large_and_cold_caps_become_hard():
    x = np.random.default_rng(0).permutation(100_000).astype(np.float32)
    got = np.asarray(SOFT(x, 1000, 0.01))
    # A sum near 1000 is known to its last bit: so is the one number that is not 0 or 1.
    np.testing.assert_allclose(
        got, HARD(x, 1000, 0.01), rtol=0, atol=2 * np.spacing(np.float32(1000))
    )
    warm = np.asarray(SOFT(x, 1000, 1000.0))
    assert abs(warm.sum(dtype=np.float64) - 1000) < 0.1
    assert np.count_nonzero((warm > 0.01) & (warm < 0.99)) > 1000


@hypothesis.given(seed=st.integers(0, 1000), size=st.sampled_from(SIZES), levels=st.integers(1, 60))
def test_the_hard_cap_is_exact(seed, size, levels):
    n, k = size
    x = np.random.default_rng(seed).integers(0, levels, n).astype(np.float32)
    got = np.asarray(HARD(x, k))
    assert set(np.unique(got)) <= {0.0, 1.0}
    np.testing.assert_array_equal(np.flatnonzero(got), oracle.k_cap(x, k))


def test_all_neurons_are_a_cap_too():
    x = inputs(7, 1)
    np.testing.assert_array_equal(SOFT(x, 7), 1.0)
    slope = jax.jit(jax.grad(lambda x: straight_through_cap(x, 7) @ jnp.arange(7.0)))(x)
    np.testing.assert_array_equal(slope, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.05, 0.7])
def test_derivatives_are_those_of_differences(temperature, x64):
    x = np.random.default_rng(2).normal(size=9)
    run = jax.jit(lambda x, t: soft_cap(x, 3, t))
    check_grads(run, (x, temperature), order=2, modes=["fwd", "rev"], rtol=1e-4, atol=1e-5)


def test_a_gradient_is_that_of_the_soft_cap_and_sums_to_zero():
    x, weight = inputs(50, 3), inputs(50, 4)

    @jax.jit
    def slopes(x):
        loss = lambda cap, x, t: cap(x, 7, t) @ weight  # noqa: E731
        return [
            jax.grad(functools.partial(loss, cap), argnums=(0, 1))(x, np.float32(0.5))
            for cap in (soft_cap, straight_through_cap)
        ]

    soft, hard = slopes(x)
    for a, b in zip(soft, hard):
        np.testing.assert_array_equal(a, b)
    assert np.abs(hard[0]).max() > 0.01
    assert abs(float(hard[0].sum())) < 1e-6


def test_far_from_all_inputs_the_slope_is_that_of_a_mean():
    """Two neurons share one place, and every slope underflows in float32."""
    x = np.float32([-500.0, 500.0])
    level = jax.jit(jax.grad(lambda x: soft_cap(x, 1, 1.0)[0]))(x)
    np.testing.assert_array_equal(level, 0.0)
    both = jax.jit(jax.jacobian(lambda x: soft_cap(x, 1, 1.0)))(np.float32([3.0, 3.0]))
    np.testing.assert_allclose(both, [[0.125, -0.125], [-0.125, 0.125]], atol=1e-7)


def test_a_batch_is_its_members():
    x = np.stack([inputs(50, seed) for seed in range(6)]).reshape(2, 3, 50)
    caps = jax.jit(jax.vmap(jax.vmap(lambda x: (soft_cap(x, 7), straight_through_cap(x, 7)))))
    soft, hard = caps(x)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_allclose(soft[i, j], SOFT(x[i, j], 7), rtol=0, atol=1e-6)
        np.testing.assert_array_equal(hard[i, j], HARD(x[i, j], 7))


def test_every_device_of_a_mesh_caps_its_own():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("areas",))
    over = jax.sharding.PartitionSpec("areas")
    x, weight = np.stack([inputs(50, seed) for seed in range(8)]), inputs(50, 4)

    def slope(x):
        one = lambda x: straight_through_cap(x, 7, 0.5) @ weight  # noqa: E731
        return jax.vmap(jax.value_and_grad(one))(x)

    shared = jax.jit(jax.shard_map(slope, mesh=mesh, in_specs=over, out_specs=over))(x)
    for got, want in zip(shared, jax.jit(slope)(x)):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


def test_the_loss_is_what_a_cap_lacks():
    loss = jax.jit(assembly_loss)
    mask = np.float32([[1, 1, 0, 0], [0, 1, 0, 1]])
    assert float(loss(mask[0], np.int32([0, 1]))) == 0.0
    assert float(loss(mask[0], np.int32([2, 3]))) == 1.0
    assert float(loss(mask, np.int32([0, 1]))) == 0.25
    assert float(loss(mask, np.int32([[1, 0], [1, 3]]))) == 0.0


def test_stimuli_learn_to_cap_onto_given_assemblies():
    """From chance, k of n, to every neuron, by gradients through the hard cap alone."""
    n, k, size, stimuli = 300, 30, 100, 4
    rng = np.random.default_rng(5)
    targets = rng.permutation(n)[: stimuli * k].reshape(stimuli, k).astype(np.int32)
    firing = (rng.random((stimuli, size)) < 0.2).astype(np.float32)
    start = rng.normal(size=(size, n)).astype(np.float32)
    rule = optax.adam(0.05)

    def loss(weights):
        caps = jax.vmap(lambda x: straight_through_cap(x, k, 3.0))(firing @ weights)
        return assembly_loss(caps, targets)

    @jax.jit
    def learn(weights):
        def step(carry, _):
            weights, state = carry
            value, slope = jax.value_and_grad(loss)(weights)
            change, state = rule.update(slope, state)
            return (optax.apply_updates(weights, change), state), value

        (weights, _), lost = jax.lax.scan(step, (weights, rule.init(weights)), None, length=100)
        return weights, lost

    with jax.numpy_dtype_promotion("standard"):  # optax mixes types
        weights, lost = learn(start)
    assert lost[0] > 0.8  # chance is 0.9
    for given, target in zip(firing @ np.asarray(weights), targets):
        np.testing.assert_array_equal(oracle.k_cap(given, k), np.sort(target))
    assert float(lost[-1]) == 0.0


BAD = [
    (np.zeros((2, 5), np.float32), 1, 1.0, r"x must be the inputs \(n,\)"),
    (np.zeros(5, np.int32), 1, 1.0, r"got int32\[5\]"),
    (np.zeros(5, np.float32), 6, 1.0, "k must be an int from 1 to 5"),
    (np.zeros(5, np.float32), 0, 1.0, "got 0"),
    (np.zeros(5, np.float32), 2.0, 1.0, r"got 2\.0"),
    (np.zeros(5, np.float32), 2, 0.0, r"temperature must be finite and above 0\.0; got 0\.0"),
]


@pytest.mark.parametrize("cap", [soft_cap, straight_through_cap])
@pytest.mark.parametrize(("x", "k", "temperature", "text"), BAD, ids=range(len(BAD)))
def test_bad_input_of_a_cap(cap, x, k, temperature, text):
    with pytest.raises(ValueError, match=text):
        cap(x, k, temperature)


def test_bad_targets():
    mask = np.zeros(5, np.float32)
    assert_refused(
        lambda: assembly_loss(mask, np.int32([1, 5])), "assembly_loss", "targets", "1 to 5"
    )
    assert_refused(lambda: assembly_loss(mask, mask > 0), "assembly_loss", "targets", "bool[5]")
