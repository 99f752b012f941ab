"""What holds for every model of the zoo."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests import zoo
from tests.quickly import quick_jit
from tests.zoo import (
    CASES,
    STEPS,
    N,
    cast,
    costly,
    fast_run,
    init,
    inputs,
    numbers,
    of_numbers,
    outputs,
    ready,
    step,
)

FEW_ULP = 2e-6
WITH_ORACLE = {name: case for name, case in CASES.items() if case.oracle is not None}
FACTORS = np.random.default_rng(1).uniform(0.98, 1.02, N)
REFRACTORY = {k: case for k, case in zoo.NEURONS.items() if getattr(case.model, "t_ref", 0.0) > 0}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
every_refractory = pytest.mark.parametrize("case", REFRACTORY.values(), ids=REFRACTORY.keys())
every_oracle = pytest.mark.parametrize("case", WITH_ORACLE.values(), ids=WITH_ORACLE.keys())
quick_step = quick_jit(step)
quick_batch = quick_jit(jax.vmap(zoo.walk, in_axes=(None, 0, 0, None, None)))


def spread(case, factors=1.0, dtype=jnp.float32):
    """The model as it runs, with one number per neuron for each parameter.

    In this form most laws run it, so that one program of a model serves them all.
    """
    return ready(of_numbers(case.model, numbers(case.model, factors * np.ones(N)), dtype), N)


def same(a, b, rtol=0.0):
    """Equal trees: numbers within the tolerance, what is no number exactly.

    Where terms cancel, an ulp of the terms counts: 1e-5 for values up to 80, 1.2e-7 of the
    largest for currents of more; as many times that as the tolerance is above a few ulp.
    """
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(map(np.asarray, jax.tree.leaves(a)), map(np.asarray, jax.tree.leaves(b))):
        assert x.dtype == y.dtype
        if rtol and np.issubdtype(x.dtype, np.floating):
            atol = rtol / FEW_ULP * max(1e-5, 1.2e-7 * np.abs(y).max(initial=0.0))
            np.testing.assert_allclose(x, y, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(x, y)


def kinds(tree):
    return jax.tree.structure(tree), [(x.shape, x.dtype) for x in jax.tree.leaves(tree)]


def row(tree, k):
    return jax.tree.map(lambda x: np.asarray(x)[k], tree)


@every_case
def test_step_keeps_structure_shape_and_dtype(case):
    model, xs = ready(case.model, N), inputs(case.model, 2)
    state = init(model, N)
    new, output = jax.eval_shape(step, model, state, row(xs, 0))
    assert kinds(new) == kinds(state)
    again, second = jax.eval_shape(step, model, new, row(xs, 1))
    assert kinds(again) == kinds(state)
    assert kinds(second) == kinds(output)
    assert all(x.shape in ((), (N,)) for x in jax.tree.leaves((state, output)))
    floats = [x for x in jax.tree.leaves((state, output)) if jnp.issubdtype(x.dtype, jnp.floating)]
    assert all(x.dtype == jnp.float32 and not x.weak_type for x in floats)


@every_case
def test_step_keeps_float64(case, x64):
    model = ready(cast(case.model, jnp.float64), N)
    state, xs = init(model, N), inputs(model, 1)
    new, output = jax.eval_shape(step, model, state, row(xs, 0))
    assert kinds(new) == kinds(state)
    floats = [x for x in jax.tree.leaves((new, output)) if jnp.issubdtype(x.dtype, jnp.floating)]
    assert all(x.dtype == jnp.float64 for x in floats)


@every_case
def test_every_leaf_is_an_array(case):
    model = ready(case.model, 3)
    assert all(isinstance(x, jax.Array) for x in jax.tree.leaves((model, init(model, 3))))


@every_case
def test_init_of_no_neurons(case):
    if getattr(case.model, "neurons", None) is not None:
        pytest.skip("spike times of named neurons need these neurons")
    model = ready(case.model, 0)
    state = init(model, 0)
    new, output = quick_step(model, state, row(inputs(model, 1, n=0), 0))
    assert kinds(new) == kinds(state)
    assert all(x.size == 0 or x.shape == () for x in jax.tree.leaves(output))


@costly
@every_case
def test_jit_equals_eager(case):
    """A few steps from the state after many: some neurons have just spiked, some are held."""
    model, xs = spread(case), inputs(case.model, STEPS)
    state = fast_run(model, init(model, N), xs)[0]
    jitted = fast_run(model, state, xs, slice(0, 6))[1]
    # Else JAX would compile each `cond` of each step.
    with jax.disable_jit():
        for k in range(6):
            state, output = step(model, state, jax.device_put(row(xs, k)))
            same(outputs(model, state, output), row(jitted, k), FEW_ULP * case.amplifies)


@costly
@every_case
def test_vmap_equals_loop(case):
    model = ready(case.model, N)
    batch = [(init(model, N, seed=s), inputs(model, STEPS, seed=s)) for s in range(3)]
    together = quick_batch(
        model, *jax.tree.map(lambda *x: np.stack(x), *batch), np.int32(0), np.int32(STEPS)
    )
    for number, (state, xs) in enumerate(batch):
        alone = fast_run(model, state, xs, quick=True)
        same(row(together, number), alone, FEW_ULP * case.amplifies)


@costly
@every_case
def test_a_number_equals_an_equal_array(case, x64):
    """To a thousandth of what float32 may be off: no spike is disputed in float64."""
    xs, outs = inputs(case.model, STEPS), []
    for model in (ready(cast(case.model, jnp.float64), N), spread(case, 1.0, jnp.float64)):
        out = fast_run(model, init(model, N), xs, quick=True)[1]
        full = {k: np.broadcast_to(x.reshape(STEPS, -1), (STEPS, N)) for k, x in out.items()}
        outs.append(full)
    same(*outs, 1e-3 * FEW_ULP * case.amplifies)


@every_case
def test_permuting_neurons_permutes_outputs(case):
    order = np.random.default_rng(1).permutation(N)
    permute = lambda tree, axis: jax.tree.map(  # noqa: E731
        lambda x: x if x.ndim <= axis else np.take(np.asarray(x), order, axis), tree
    )
    model = spread(case, FACTORS)
    other, xs = zoo.permuted(model, order), inputs(case.model, STEPS)
    state, moved = init(model, N), init(other, N, order)
    same(permute(state, 0), moved)
    _, out = fast_run(model, state, xs)
    _, permuted = fast_run(other, moved, permute(xs, 1))
    same(permute(out, 1), permuted, FEW_ULP * case.amplifies)


def against_oracle(case, dtype):
    """(ours, the oracle's) outputs with one number per neuron."""
    params, model = numbers(case.model, FACTORS), spread(case, FACTORS, dtype)
    xs = inputs(case.model, STEPS)
    expected = case.oracle(params, xs, N, zoo.setting(case.model).dt)
    ours = fast_run(model, init(model, N), xs, quick=dtype == jnp.float64)[1]
    assert set(ours) == set(expected)
    number = lambda x: np.asarray(x, np.float64)  # noqa: E731
    columns = {k: number(x).reshape(STEPS, -1) for k, x in ours.items()}
    return columns, {k: number(expected[k]) for k in ours}


@every_oracle
def test_float64_equals_the_oracle(case, x64):
    ours, expected = against_oracle(case, jnp.float64)
    for name, x in expected.items():
        if name in ("spikes", "counts"):
            assert x.sum() > 100 if case.spiking else not x.any()
            np.testing.assert_array_equal(ours[name], x)
        else:
            assert np.abs(ours[name] - x).max() <= case.close * np.abs(x).max(), name


@every_oracle
def test_float32_stays_near_the_oracle(case):
    """To `case.near` of the largest value, until a crossing is disputed; counts are equal."""
    ours, expected = against_oracle(case, jnp.float32)
    agreed = np.ones((STEPS, N), bool)
    if "spikes" in expected:
        differs = ours["spikes"] != expected["spikes"]
        agreed = np.cumsum(differs, axis=0) == 0
        assert agreed.mean() > 0.99
    for name, x in expected.items():
        if name == "counts":
            np.testing.assert_array_equal(ours[name], x)
        elif name != "spikes":
            error = np.abs(ours[name] - x)[agreed]
            assert error.max() <= case.near * max(np.abs(x).max(), 1e-30), name


# The input of a stimulus is the number of the step: it has no scale.
SCALED = {
    f"{name}, {scale:g}": (case, scale)
    for name, case in CASES.items()
    for scale in ((1.0,) if isinstance(case.model, jn.Stimulus) else (0.0, 1.0, case.bears))
}


@pytest.mark.parametrize(("case", "scale"), SCALED.values(), ids=SCALED.keys())
def test_no_nan_for_bounded_input(case, scale):
    model = spread(case)
    state, out = fast_run(model, init(model, N), inputs(model, STEPS, seed=5, scale=scale))
    assert all(np.isfinite(np.asarray(x)).all() for x in jax.tree.leaves((state, out)))


@every_refractory
def test_no_two_spikes_within_t_ref(case):
    """Under a strong drive: of any sign for the one half, inward in every step for the other."""
    model, xs = spread(case, FACTORS), inputs(case.model, STEPS, seed=3, scale=30.0)
    inward = np.arange(N) < N // 2
    xs = jax.tree.map(lambda x: np.where(inward, np.abs(x), x), xs)
    spikes = fast_run(model, init(model, N), xs)[1]["spikes"]
    assert (spikes.sum(axis=0)[inward] > 5).all()
    held = np.rint(np.asarray(model.t_ref) / zoo.setting(case.model).dt)
    for train, steps in zip(spikes.T, held):
        assert (np.diff(np.flatnonzero(train)) > steps).all()


@every_case
def test_one_trace_for_new_values(case):
    model, xs = ready(case.model, N), inputs(case.model, STEPS)
    first = fast_run(model, init(model, N), xs, quick=True)[1]
    traces = len(zoo.TRACES)
    changed = jax.tree.map(
        lambda x: jax.device_put(np.asarray(x) * x.dtype.type(0.9)) if zoo.is_number(x) else x,
        model,
    )
    second = fast_run(changed, init(changed, N), xs, quick=True)[1]
    assert len(zoo.TRACES) == traces
    if jax.tree.leaves(model):
        assert any((first[k] != second[k]).any() for k in first)


@every_case
def test_chunks_equal_the_whole(case):
    model, xs = spread(case), inputs(case.model, STEPS)
    state = init(model, N)
    whole, out = fast_run(model, state, xs)
    middle, first = fast_run(model, state, xs, slice(0, STEPS // 2))
    end, second = fast_run(model, middle, xs, slice(STEPS // 2, STEPS))
    same(whole, end)
    same(out, {k: np.concatenate([first[k], second[k]]) for k in out})


@every_case
def test_nothing_leaks(case):
    model, xs = ready(case.model, N), inputs(case.model, 3)
    state = init(model, N)
    gc.freeze()  # the check collects garbage: not what was there before
    try:
        with jax.checking_leaks():
            jax.jit(zoo.run).trace(model, state, xs)
    finally:
        gc.unfreeze()
