"""Gradients through every model of the zoo."""

import dataclasses
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.numerics import FastSigmoid
from tests.zoo import CASES, NEURONS, QUICK, cast, init, inputs, ready, run

N = 16
# Not what only spikes: counts have a law of their own, a drawn spike has no gradient.
ONLY_SPIKES = (jn.SpikeStimulus, jn.neurons.PoissonSource)
WITH_NUMBERS = {
    k: c
    for k, c in CASES.items()
    if jax.tree.leaves(c.model) and not isinstance(c.model, ONLY_SPIKES)
}
# What runs as it was made: of a schedule no number is left.
REDRAWN = {
    k: c
    for k, c in CASES.items()
    if isinstance(c.model, jn.SpikeStimulus) and type(ready(c.model, N)) is type(c.model)
}
SURROGATES = {k: c for k, c in NEURONS.items() if getattr(c.model, "surrogate", None) is not None}


def sparing(kept):
    """Every model: neurons that are not kept only in `make science`, for they compile slowly."""
    slow = {k for k in WITH_NUMBERS if k in NEURONS and not kept(k)}
    marks = {k: (pytest.mark.science,) if k in slow else () for k in WITH_NUMBERS}
    cases = [pytest.param(c, id=k, marks=marks[k]) for k, c in WITH_NUMBERS.items()]
    return pytest.mark.parametrize("case", cases)


every_drawn = pytest.mark.parametrize("case", REDRAWN.values(), ids=REDRAWN.keys())
every_surrogate = pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=k, marks=[pytest.mark.science] * k.startswith(("AdEx", "TwoComp")))
        for k, c in SURROGATES.items()
    ],
)


def split(model, calm=None):
    """The numbers of a model that is ready, and the rest: steps counted in integers."""
    if hasattr(model, "v_th") and calm is None:  # out of reach
        model = dataclasses.replace(model, v_th=jnp.full_like(model.v_th, 1e6))
    return eqx.partition(ready(model, N), eqx.is_inexact_array)


def smooth_loss(numbers, rest, xs):
    """Of everything but the spikes, with weights that tell the neurons apart."""
    model = eqx.combine(numbers, rest)
    out = run(model, init(model, N), xs)[1]
    parts = [x for name, x in out.items() if name not in ("spikes", "values")]
    return sum(
        jnp.mean(x * jnp.cos(jnp.arange(x.size, dtype=x.dtype).reshape(x.shape))) + jnp.mean(x)
        for x in parts
    )


def all_counts(numbers, rest, xs):
    model = eqx.combine(numbers, rest)
    return jnp.sum(run(model, init(model, N), xs)[1]["counts"])


count_slopes = jax.jit(jax.grad(all_counts))
loss_and_slopes = jax.jit(jax.value_and_grad(smooth_loss))
batched_slopes = jax.jit(jax.vmap(jax.grad(smooth_loss), in_axes=(0, None, None)))


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
    leaves, _ = jax.tree.flatten_with_path(by_model)
    for path, slope in leaves:
        label = jax.tree_util.keystr(path)
        assert np.isfinite(slope), label
        # Whole steps; and the values of a surrogate do not reach the spikes.
        assert "t_ref" in label or "surrogate" in label or slope != 0, label
    assert np.isfinite(by_current).all()
    assert (np.asarray(by_current) != 0).mean() > 0.1


def test_the_slope_of_a_spike_is_the_surrogate():
    surrogate = FastSigmoid(0.7)
    from jaxneuro import threshold

    x = jnp.linspace(-5.0, 5.0, 11)
    slope = jax.vmap(jax.grad(lambda v: threshold(v, jnp.float32(0.0), surrogate)))(x)
    np.testing.assert_allclose(slope, 1 / (1 + 0.7 * np.abs(x)) ** 2, rtol=1e-6)


@sparing(lambda name: name in QUICK)
def test_equal_central_differences_where_nothing_spikes(case, x64):
    numbers, rest = split(cast(case.model, jnp.float64), case.calm)
    xs = inputs(case.model, 100, n=N, scale=1.0 if case.calm is None else case.calm)
    if isinstance(case.model, jn.Neuron):
        model = eqx.combine(numbers, rest)
        assert not np.asarray(run(model, init(model, N), xs)[1]["spikes"]).any()
    slopes = loss_and_slopes(numbers, rest, xs)[1]
    leaves, tree = jax.tree.flatten_with_path(numbers)
    for (path, x), slope in zip(leaves, jax.tree.leaves(slopes)):
        label = jax.tree_util.keystr(path)
        if any(re.search(rf"\.{name}\b", label) for name in (*case.silent, "interval")):
            assert slope == 0, label  # without a spike nothing depends on them; whole steps
            continue
        if "frequency" in label:
            continue  # the phase has 32 bits, which small differences see: tests/numerics tests it
        width = 1e-5 * jnp.abs(x)
        shifted = []
        for sign in (1.0, -1.0):
            moved = [y + sign * width if p == path else y for p, y in leaves]
            shifted.append(loss_and_slopes(jax.tree.unflatten(tree, moved), rest, xs)[0])
        # Of a table the derivative along all its entries.
        along = jnp.sum(slope * 2 * width)
        rounding = 2e-15 * abs(shifted[0])
        np.testing.assert_allclose(along, shifted[0] - shifted[1], rtol=1e-6, atol=rounding)
        assert (slope != 0).all(), label


@sparing(lambda name: name in ("LIF", "EscapeRateLIF"))
def test_by_vmap_as_well(case):
    numbers, rest = split(case.model, case.calm)
    xs = inputs(case.model, 50, n=N, scale=1.0 if case.calm is None else case.calm)
    factors = jnp.asarray([0.9, 1.0, 1.1], jnp.float32)
    many = jax.tree.map(lambda x: jnp.multiply.outer(factors, x), numbers)
    slopes = batched_slopes(many, rest, xs)
    for k in range(3):
        alone = loss_and_slopes(jax.tree.map(lambda x, k=k: x[k], many), rest, xs)[1]
        for x, y in zip(jax.tree.leaves(slopes), jax.tree.leaves(alone)):
            np.testing.assert_allclose(x[k], y, rtol=1e-4, atol=1e-5)


@every_drawn
def test_the_number_of_spikes_has_no_slope(case):
    """0, and never NaN: a count jumps where a probability passes a word."""
    slopes = count_slopes(*split(case.model), inputs(case.model, 50, n=N))
    assert all((np.asarray(x) == 0).all() for x in jax.tree.leaves(slopes))
