"""What holds for every model of the zoo, by three programs per model.

Shapes are traced only. One batch of runs in float32 and one run in float64 serve the laws of
values (`Runs`); the few costly laws compile what they compare.
"""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests import zoo
from tests.compiling import THOROUGH
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
ORDER = np.random.default_rng(1).permutation(N)
REFRACTORY = {k: case for k, case in zoo.NEURONS.items() if getattr(case.model, "t_ref", 0.0) > 0}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
every_refractory = pytest.mark.parametrize("case", REFRACTORY.values(), ids=REFRACTORY.keys())
every_oracle = pytest.mark.parametrize("case", WITH_ORACLE.values(), ids=WITH_ORACLE.keys())
several_states = jax.jit(jax.vmap(zoo.walk, in_axes=(None, 0, 0, None, None)))
batch = jax.jit(jax.vmap(zoo.counted, in_axes=(0, 0, 0, None, None)))


def spread(case, factors=1.0, dtype=jnp.float32):
    """The model as it runs, with one number per neuron for each parameter."""
    return ready(of_numbers(case.model, numbers(case.model, factors * np.ones(N)), dtype), N)


def permuted(tree, axis):
    """Arrays with neurons along an axis, in another order."""
    return jax.tree.map(
        lambda x: x if x.ndim <= axis else np.take(np.asarray(x), ORDER, axis), tree
    )


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


def once(function):
    """Remembers the value of the last case: the laws of a model follow each other."""
    last = [None, None]

    def of(case):
        if last[0] is not case:
            last[:] = case, function(case)
        return last[1]

    return of


@once
class Runs:
    """A batch of runs of one model, which differ in parameters, neurons and inputs.

    Rows: the scale of the inputs, or "permuted", or "driven" (strongly: of any sign for the one
    half of the neurons, inward in every step for the other).
    """

    def __init__(self, case):
        model, xs = spread(case, FACTORS), inputs(case.model, STEPS)
        state, moved = init(model, N), zoo.permuted(model, ORDER)
        rows = {1.0: (model, state, xs)}
        rows["permuted"] = moved, init(moved, N, ORDER), permuted(xs, 1)
        if not isinstance(model, jn.Stimulus):  # its input is the number of the step
            for scale in (0.0, case.bears):
                rows[scale] = model, state, inputs(model, STEPS, seed=5, scale=scale)
        if isinstance(model, jn.Neuron):
            strong, inward = inputs(model, STEPS, seed=3, scale=30.0), np.arange(N) < N // 2
            strong = jax.tree.map(lambda x: np.where(inward, np.abs(x), x), strong)
            rows["driven"] = model, state, strong
        self.rows = {name: k for k, name in enumerate(rows)}
        self.start = jax.tree.map(lambda *x: np.stack(list(map(np.asarray, x))), *rows.values())
        self.end, self.out = self.run(*self.start)

    def run(self, model, state, xs, part=slice(0, STEPS)):
        """The last states, and by name the outputs (rows, steps, n) of a part of the steps."""
        end, out = batch(model, state, xs, np.int32(part.start), np.int32(part.stop))
        return end, {name: np.asarray(x)[:, part] for name, x in out.items()}

    def __getitem__(self, name):
        """The first and the last state of one row, and its outputs."""
        return row((self.start[1], self.end, self.out), self.rows[name])


@once
def expected(case):
    """The inputs in float32, and what the oracle makes of them, computed in float64."""
    with jax.enable_x64(False):
        xs = inputs(case.model, STEPS)
    exact = jax.tree.map(lambda x: np.asarray(x, np.float64 if zoo.is_number(x) else None), xs)
    out = case.oracle(numbers(case.model, FACTORS), exact, N, zoo.setting(case.model).dt)
    return xs, {name: np.asarray(x, np.float64) for name, x in out.items()}


@every_case
def test_step_keeps_structure_shape_and_dtype(case):
    model, xs = ready(case.model, N), inputs(case.model, 2)
    state = jax.eval_shape(lambda: init(model, N))
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
    state, xs = jax.eval_shape(lambda: init(model, N)), inputs(model, 1)
    new, output = jax.eval_shape(step, model, state, row(xs, 0))
    assert kinds(new) == kinds(state)
    floats = [x for x in jax.tree.leaves((new, output)) if jnp.issubdtype(x.dtype, jnp.floating)]
    assert all(x.dtype == jnp.float64 for x in floats)


@every_case
def test_every_leaf_is_an_array(case):
    model = ready(case.model, 3)
    assert all(isinstance(x, jax.Array) for x in jax.tree.leaves((model, init(model, 3))))


@every_case
def test_no_neurons(case):
    if getattr(case.model, "neurons", None) is not None:
        pytest.skip("spike times of named neurons need these neurons")
    model = ready(case.model, 0)
    state = jax.eval_shape(lambda: init(model, 0))
    new, output = jax.eval_shape(step, model, state, row(inputs(model, 1, n=0), 0))
    assert kinds(new) == kinds(state)
    assert all(x.size == 0 or x.shape == () for x in jax.tree.leaves(output))


@every_case
def test_nothing_leaks(case):
    model, xs = ready(case.model, N), inputs(case.model, 1)
    state = init(model, N)
    gc.freeze()  # the check collects garbage: not what was there before
    try:
        with jax.checking_leaks():
            jax.jit(step).trace(model, state, row(xs, 0))
    finally:
        gc.unfreeze()


@every_case
def test_permuting_neurons_permutes_outputs(case):
    start, _, out = Runs(case)[1.0]
    moved, _, other = Runs(case)["permuted"]
    same(permuted(start, 0), moved)
    same(permuted(out, 1), other, FEW_ULP * case.amplifies)


@every_case
def test_no_nan_for_bounded_input(case):
    runs = Runs(case)
    for scale in {1.0, 0.0, case.bears} & set(runs.rows):
        leaves = jax.tree.leaves(runs[scale])
        assert all(np.isfinite(x).all() for x in leaves), f"inputs times {scale:g}"


@every_refractory
def test_no_two_spikes_within_t_ref(case):
    spikes = Runs(case)["driven"][2]["spikes"]
    assert (spikes[:, : N // 2].sum(axis=0) > 5).all()
    held = np.rint(np.asarray(spread(case, FACTORS).t_ref) / zoo.setting(case.model).dt)
    for train, steps in zip(spikes.T, held):
        assert (np.diff(np.flatnonzero(train)) > steps).all()


@every_case
def test_chunks_equal_the_whole(case):
    runs = Runs(case)
    model, state, xs = runs.start
    middle, first = runs.run(model, state, xs, slice(0, STEPS // 2))
    end, second = runs.run(model, middle, xs, slice(STEPS // 2, STEPS))
    same(runs.end, end)
    same(runs.out, {k: np.concatenate([first[k], second[k]], axis=1) for k in runs.out})


@every_case
def test_one_trace_for_new_values(case):
    runs = Runs(case)
    model, state, xs = runs.start
    less = lambda x: x * x.dtype.type(0.9) if np.issubdtype(x.dtype, np.floating) else x  # noqa: E731
    traces = len(zoo.TRACES)
    _, out = runs.run(jax.tree.map(less, model), state, xs)
    assert len(zoo.TRACES) == traces
    if jax.tree.leaves(case.model):
        assert any((out[k] != runs.out[k]).any() for k in out)


def of_oracle(case, ours):
    """By name, outputs of ours and of the oracle, as (steps, n) or (steps, 1)."""
    theirs = expected(case)[1]
    assert set(ours) == set(theirs)
    return [
        (name, np.asarray(x, np.float64).reshape(STEPS, -1), theirs[name])
        for name, x in ours.items()
    ]


@every_oracle
def test_float64_equals_the_oracle(case, x64):
    model, xs = spread(case, FACTORS, jnp.float64), cast(expected(case)[0], jnp.float64)
    _, out = fast_run(model, init(model, N), xs)
    for name, ours, theirs in of_oracle(case, out):
        if name in ("spikes", "counts"):
            assert theirs.sum() > 100 if case.spiking else not theirs.any()
            np.testing.assert_array_equal(ours, theirs)
        else:
            assert np.abs(ours - theirs).max() <= case.close * np.abs(theirs).max(), name


def near_oracle(case, out, near):
    """To `near` of the largest value, until a crossing is disputed; counts are equal."""
    agreed, compared = np.ones((STEPS, N), bool), of_oracle(case, out)
    for name, ours, theirs in compared:
        if name == "spikes":
            agreed = np.cumsum(ours != theirs, axis=0) == 0
            assert agreed.mean() > 0.99
    for name, ours, theirs in compared:
        if name == "counts":
            np.testing.assert_array_equal(ours, theirs)
        elif name != "spikes":
            error = np.abs(ours - theirs)[agreed]
            assert error.max() <= near * max(np.abs(theirs).max(), 1e-30), name


@every_oracle
def test_float32_stays_near_the_oracle(case):
    """Code that is not optimised rounds a product and a sum twice: up to twice as far."""
    near_oracle(case, Runs(case)[1.0][2], case.near if THOROUGH else 2 * case.near)


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
    together = several_states(
        model, *jax.tree.map(lambda *x: np.stack(x), *batch), np.int32(0), np.int32(STEPS)
    )
    for number, (state, xs) in enumerate(batch):
        alone = fast_run(model, state, xs)
        same(row(together, number), alone, FEW_ULP * case.amplifies)


@costly
@every_case
def test_a_number_equals_an_equal_array(case, x64):
    """To a thousandth of what float32 may be off: no spike is disputed in float64."""
    xs, outs = inputs(case.model, STEPS), []
    for model in (ready(cast(case.model, jnp.float64), N), spread(case, 1.0, jnp.float64)):
        out = fast_run(model, init(model, N), xs)[1]
        full = {k: np.broadcast_to(x.reshape(STEPS, -1), (STEPS, N)) for k, x in out.items()}
        outs.append(full)
    same(*outs, 1e-3 * FEW_ULP * case.amplifies)
