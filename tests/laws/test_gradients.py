"""Gradients through every model of the zoo."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro.numerics import FastSigmoid
from tests.zoo import CASES, NEURONS, cast, init, inputs, run

WITH_NUMBERS = {k: c for k, c in CASES.items() if jax.tree.leaves(c.model)}
SURROGATES = {k: c for k, c in NEURONS.items() if getattr(c.model, "surrogate", None) is not None}
every_model = pytest.mark.parametrize("case", WITH_NUMBERS.values(), ids=WITH_NUMBERS.keys())
every_surrogate = pytest.mark.parametrize("case", SURROGATES.values(), ids=SURROGATES.keys())


def smooth_loss(model, xs):
    """Of everything but the spikes, with weights that tell the neurons apart."""
    out = jax.jit(run)(model, init(model, 16), xs)[1]
    parts = [x for name, x in out.items() if name not in ("spikes", "values")]
    return sum(
        jnp.mean(x * jnp.cos(jnp.arange(x.size, dtype=x.dtype).reshape(x.shape))) + jnp.mean(x)
        for x in parts
    )


@every_surrogate
def test_through_spikes_with_a_surrogate(case):
    xs = inputs(case.model, 300, n=16)

    def loss(model, current):
        spikes = run(model, init(model, 16), xs._replace(current=current))[1]["spikes"]
        return jnp.sum(spikes * jnp.arange(1.0, 17.0))

    value, (by_model, by_current) = jax.jit(jax.value_and_grad(loss, (0, 1)))(
        case.model, xs.current
    )
    assert value > 0
    for name in ("tau_m", "c_m", "e_l", "v_th", "v_reset"):
        slope = float(getattr(by_model, name))
        assert np.isfinite(slope), name
        assert slope != 0, name
    assert np.isfinite(by_current).all()
    assert (np.asarray(by_current) != 0).mean() > 0.1


def test_the_slope_of_a_spike_is_the_surrogate():
    surrogate = FastSigmoid(0.7)
    from jaxneuro import threshold

    x = jnp.linspace(-5.0, 5.0, 11)
    slope = jax.vmap(jax.grad(lambda v: threshold(v, jnp.float32(0.0), surrogate)))(x)
    np.testing.assert_allclose(slope, 1 / (1 + 0.7 * np.abs(x)) ** 2, rtol=1e-6)


@every_model
def test_equal_central_differences_where_nothing_spikes(case, x64):
    model = cast(case.model, jnp.float64)
    if hasattr(model, "v_th"):
        model = type(model)(**{**vars(model), "v_th": jnp.asarray(1e6)})
    xs = inputs(model, 100, n=16)
    slopes = jax.grad(smooth_loss)(model, xs)
    for path, slope in jax.tree.leaves_with_path(slopes):
        label = jax.tree_util.keystr(path)
        if any(name in label for name in ("v_th", "v_reset", "t_ref", "surrogate")):
            assert slope == 0, label  # without a spike nothing depends on them
            continue
        shifted = []
        for sign in (1.0, -1.0):
            leaves, tree = jax.tree.flatten_with_path(model)
            moved = [x + sign * 1e-5 * abs(x) if p == path else x for p, x in leaves]
            shifted.append(smooth_loss(jax.tree.unflatten(tree, moved), xs))
            width = next(2e-5 * abs(x) for p, x in leaves if p == path)
        np.testing.assert_allclose(slope, (shifted[0] - shifted[1]) / width, rtol=1e-6)
        assert slope != 0, label


@every_model
def test_by_vmap_as_well(case):
    model = case.model
    if hasattr(model, "v_th"):
        model = type(model)(**{**vars(model), "v_th": jnp.asarray(1e6)})
    xs = inputs(model, 50, n=16)
    many = jax.tree.map(lambda x: x * jnp.asarray([0.9, 1.0, 1.1], x.dtype), model)
    slopes = jax.vmap(jax.grad(smooth_loss), in_axes=(0, None))(many, xs)
    for k in range(3):
        alone = jax.grad(smooth_loss)(jax.tree.map(lambda x, k=k: x[k], many), xs)
        for x, y in zip(jax.tree.leaves(slopes), jax.tree.leaves(alone)):
            np.testing.assert_allclose(x[k], y, rtol=1e-4, atol=1e-5)
