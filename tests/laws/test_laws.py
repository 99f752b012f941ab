"""What holds for every model of the zoo."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.zoo import CASES, DT, N, cast, init, inputs, run, step

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
FEW_ULP = {"rtol": 2e-6, "atol": 1e-5}


def same(a, b, **tolerance):
    """Equal trees: booleans exactly, numbers within the tolerance."""
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(map(np.asarray, jax.tree.leaves(a)), map(np.asarray, jax.tree.leaves(b))):
        assert x.dtype == y.dtype
        if tolerance and np.issubdtype(x.dtype, np.floating):
            np.testing.assert_allclose(x, y, **tolerance)
        else:
            np.testing.assert_array_equal(x, y)


def kinds(tree):
    return jax.tree.structure(tree), [(x.shape, x.dtype) for x in jax.tree.leaves(tree)]


def row(tree, k):
    return jax.tree.map(lambda x: x[k], tree)


@every_case
def test_step_keeps_structure_shape_and_dtype(case):
    state, xs = init(case.model, N), inputs(case.model, 2)
    new, output = step(case.model, state, row(xs, 0))
    assert kinds(new) == kinds(state)
    again, second = step(case.model, new, row(xs, 1))
    assert kinds(again) == kinds(state)
    assert kinds(second) == kinds(output)
    assert all(x.shape in ((), (N,)) for x in jax.tree.leaves((state, output)))
    floats = [x for x in jax.tree.leaves((state, output)) if jnp.issubdtype(x.dtype, jnp.floating)]
    assert all(x.dtype == jnp.float32 and not x.weak_type for x in floats)


@every_case
def test_step_keeps_float64(case, x64):
    model = cast(case.model, jnp.float64)
    state, xs = init(model, N), inputs(model, 1)
    new, output = step(model, state, row(xs, 0))
    assert kinds(new) == kinds(state)
    floats = [x for x in jax.tree.leaves((new, output)) if jnp.issubdtype(x.dtype, jnp.floating)]
    assert all(x.dtype == jnp.float64 for x in floats)


@every_case
def test_every_leaf_is_an_array(case):
    leaves = jax.tree.leaves((case.model, init(case.model, 3)))
    assert all(isinstance(x, jax.Array) for x in leaves)


@every_case
def test_init_of_no_neurons(case):
    state = init(case.model, 0)
    new, _ = step(case.model, state, row(inputs(case.model, 1, n=0), 0))
    assert kinds(new) == kinds(state)


@every_case
def test_jit_equals_eager(case):
    xs, state = inputs(case.model, 60), init(case.model, N)
    eager = jitted = state
    fast = jax.jit(step, static_argnums=3)
    for k in range(60):
        eager, one = step(case.model, eager, row(xs, k))
        jitted, two = fast(case.model, jitted, row(xs, k), DT)
        same(one, two, **FEW_ULP)
    same(eager, jitted, **FEW_ULP)


@every_case
def test_vmap_equals_loop(case):
    batch = [inputs(case.model, 200, seed=s) for s in range(3)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *batch)
    state = init(case.model, N)
    together = jax.jit(jax.vmap(run, in_axes=(None, None, 0)))(case.model, state, stacked)
    alone = jax.jit(run)
    for number, xs in enumerate(batch):
        same(row(together, number), alone(case.model, state, xs), **FEW_ULP)


@every_case
def test_a_number_equals_an_equal_array(case):
    model = jax.tree.map(lambda x: jnp.full(N, x), case.model)
    xs = inputs(case.model, 200)
    one, many = (jax.jit(run)(m, init(m, N), xs)[1] for m in (case.model, model))
    broadcast = {k: jnp.broadcast_to(x.reshape(200, -1), (200, N)) for k, x in one.items()}
    same(broadcast, many, **FEW_ULP)


@every_case
def test_permuting_neurons_permutes_outputs(case):
    rng = np.random.default_rng(1)
    factors = jnp.asarray(rng.uniform(0.98, 1.02, N), jnp.float32)
    model = jax.tree.map(lambda x: x * factors, case.model)
    order = rng.permutation(N)
    permute = lambda tree, axis: jax.tree.map(  # noqa: E731
        lambda x: x if x.ndim <= axis else jnp.take(x, order, axis), tree
    )
    xs = inputs(case.model, 200)
    _, out = jax.jit(run)(model, init(model, N), xs)
    other = permute(model, 0)
    _, permuted = jax.jit(run)(other, init(other, N), permute(xs, 1))
    same(permute(out, 1), permuted, **FEW_ULP)


def against_oracle(case, dtype):
    """(ours, the oracle's) outputs over 500 steps with one number per neuron."""
    factors = np.random.default_rng(2).uniform(0.98, 1.02, N)
    whole = {"t_ref"}
    params = {
        f: np.asarray(getattr(case.model, f), np.float64) * (1.0 if f in whole else factors)
        for f in vars(case.model)
        if isinstance(getattr(case.model, f), jax.Array)
    }

    model = dataclasses.replace(case.model, **{k: jnp.asarray(x, dtype) for k, x in params.items()})
    xs = inputs(case.model, 500)
    expected = case.oracle(params, xs, N, DT)
    ours = jax.jit(run)(model, init(model, N), xs)[1]
    assert set(ours) == set(expected)
    number = lambda x: np.asarray(x, np.float64)  # noqa: E731
    return {k: number(x) for k, x in ours.items()}, {k: number(expected[k]) for k in ours}


@every_case
def test_float64_equals_the_oracle(case, x64):
    ours, expected = against_oracle(case, jnp.float64)
    for name, x in expected.items():
        if name == "spikes":
            assert x.sum() > 100
            np.testing.assert_array_equal(ours[name], x)
        else:
            assert np.abs(ours[name] - x).max() <= 1e-12 * np.abs(x).max(), name


@every_case
def test_float32_stays_near_the_oracle(case):
    """To 2e-5 of the largest value, until a threshold crossing is disputed."""
    ours, expected = against_oracle(case, jnp.float32)
    agreed = np.ones((500, N), bool)
    if "spikes" in expected:
        differs = ours["spikes"] != expected["spikes"]
        agreed = np.cumsum(differs, axis=0) == 0
        assert agreed.mean() > 0.99
    for name, x in expected.items():
        if name != "spikes":
            error = np.abs(ours[name] - x)[agreed]
            assert error.max() <= 2e-5 * max(np.abs(x).max(), 1e-30), name


@every_case
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3])
def test_no_nan_for_bounded_input(case, scale):
    state, out = jax.jit(run)(
        case.model, init(case.model, N), inputs(case.model, 300, seed=5, scale=scale)
    )
    assert all(np.isfinite(np.asarray(x)).all() for x in jax.tree.leaves((state, out)))


@every_case
def test_one_trace_for_new_values(case):
    traces = []

    @jax.jit
    def program(model, state, xs):
        traces.append(1)
        return run(model, state, xs)

    xs, state = inputs(case.model, 20), init(case.model, N)
    first = program(case.model, state, xs)[1]
    changed = jax.tree.map(lambda x: x * jnp.asarray(0.9, x.dtype), case.model)
    second = program(changed, init(changed, N), inputs(case.model, 20, seed=9))[1]
    assert len(traces) == 1
    if jax.tree.leaves(case.model):
        assert any((np.asarray(first[k]) != np.asarray(second[k])).any() for k in first)


@every_case
def test_chunks_equal_the_whole(case):
    xs, program = inputs(case.model, 200), jax.jit(run)
    state = init(case.model, N)
    whole, out = program(case.model, state, xs)
    half = lambda part: jax.tree.map(lambda x: x[part], xs)  # noqa: E731
    middle, first = program(case.model, state, half(slice(0, 100)))
    end, second = program(case.model, middle, half(slice(100, 200)))
    same(whole, end)
    same(out, jax.tree.map(lambda *x: jnp.concatenate(x), first, second))


@every_case
def test_nothing_leaks(case):
    xs = inputs(case.model, 3)
    with jax.checking_leaks():
        jax.jit(run)(case.model, init(case.model, N), xs)
