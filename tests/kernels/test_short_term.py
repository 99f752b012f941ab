"""`short_term`: the native version is the reference, alone and under every transformation."""

import functools
import re

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

from jaxneuro._kernels.native import native_available, native_library
from jaxneuro._kernels.short_term import ShortTerm, short_term, short_term_reference
from tests.kernels.test_lowering import compiled, loop_bodies

NATIVE = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
N = 203  # three blocks and a rest
# Which of adds and the two losses is one number for all sources.
SHAPES = {"numbers": (), "adds alone": (0,), "all": (0, 1, 2)}


def numbers(rng, shape, dtype="float32", rate=0.3):
    """State, spikes, adds and losses: of all sizes, and some at rest."""
    n = (N,)
    adds, *losses = (rng.random(n if k in SHAPES[shape] else ()) for k in range(3))
    x, u = rng.random(n), rng.random(n)
    x[rng.random(N) < 0.2] = 1.0
    u = np.where(rng.random(N) < 0.2, adds, u)
    low = rng.normal(size=(2, N)) * 1e-8 * (rng.random(N) < 0.7)
    state = ShortTerm(x, u, *low)
    spikes = rng.random(N) < rate
    spikes[64:128] &= rng.random() < 0.5  # a silent block
    parts = state, adds, tuple(-x * rng.choice([1e-5, 1e-2, 1.0]) for x in losses)
    state, adds, losses = jax.tree.map(lambda x: np.asarray(x, dtype), parts)
    return state, spikes, adds, losses


def step_by_step(state, spikes, adds, losses, jump_first):
    """The reference in the precision of the state, no operation joined with another."""
    one = state.x.dtype.type(1)

    def relaxed(x, low, rest, loss):
        change = low + ((x - rest) + low) * loss
        new = x + change
        added = new - x
        return new, (x - (new - added)) + (change - added)

    x, x_low = relaxed(state.x, state.x_low, one, losses[0])
    u, u_low = relaxed(state.u, state.u_low, adds, losses[1])
    jumped = u + np.where(spikes, adds * (one - u), 0 * one)
    released = np.where(spikes, (jumped if jump_first else u) * x, 0 * one)
    return ShortTerm(x - released, jumped, x_low, u_low), released


RUN = jax.jit(short_term, static_argnums=4)
STEPS = {first: functools.partial(short_term, jump_first=first) for first in (False, True)}


@functools.partial(jax.jit, static_argnums=4)
def reference(*operands):
    return short_term_reference(*operands)


def assert_same(got, want):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def assert_near(got, want):
    """As far as rounding goes; XLA may join a product and a sum."""
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.fixture(params=[16, 32, 64])
def vectors(request):
    """Vectors of at most so many bytes; puts the number back."""
    library = native_library()
    assert library is not None
    before = library.jaxneuro_vector_bytes(0)
    library.jaxneuro_vector_bytes(request.param)
    yield
    library.jaxneuro_vector_bytes(before)


@NATIVE
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("jump_first", [False, True])
@hypothesis.given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.01, 0.3, 1.0]))
def test_the_bits_are_those_of_one_operation_at_a_time(vectors, shape, jump_first, seed, rate):
    operands = *numbers(np.random.default_rng(seed), shape, rate=rate), jump_first
    assert_same(RUN(*operands), step_by_step(*operands))


@NATIVE
def test_the_bits_in_float64(vectors, x64):
    for seed in range(10):
        for shape in ("numbers", "all"):
            operands = *numbers(np.random.default_rng(seed), shape, "float64"), True
            assert_same(RUN(*operands), step_by_step(*operands))


@pytest.mark.parametrize("jump_first", [False, True])
@hypothesis.given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.3]))
def test_it_is_the_reference(jump_first, seed, rate):
    operands = *numbers(np.random.default_rng(seed), "numbers", rate=rate), jump_first
    want = reference(*operands)
    assert_near(RUN(*operands), want)
    assert_near(step_by_step(*operands), want)


# Transformations


def stacked(size, shape="numbers"):
    rng = np.random.default_rng(3)
    return jax.tree.map(lambda *x: np.stack(x), *(numbers(rng, shape) for _ in range(size)))


def test_a_batch_is_its_members():
    state, spikes, adds, losses = stacked(6)
    run = STEPS[False]
    flat = jax.jit(jax.vmap(run, (0, 0, None, None)))
    shared = adds[0], jax.tree.map(lambda x: x[0], losses)
    got = flat(state, spikes, *shared)
    swept = jax.jit(jax.vmap(jax.vmap(run, (0, 0, None, None)), (None, None, 0, 0)))
    every = swept(state, spikes, adds[:2], jax.tree.map(lambda x: x[:2], losses))
    for i in range(6):
        own = [jax.tree.map(lambda x: x[i], k) for k in (state, spikes)]  # noqa: B023
        assert_same(jax.tree.map(lambda x: x[i], got), RUN(*own, *shared, False))  # noqa: B023
        for j in range(2):
            want = RUN(*own, adds[j], jax.tree.map(lambda x: x[j], losses), False)  # noqa: B023
            assert_same(jax.tree.map(lambda x: x[j, i], every), want)  # noqa: B023


def test_spikes_of_many_on_one_state():
    """The state has no batch, and gets one."""
    state, spikes, adds, losses = stacked(3, "all")
    state, adds, losses = jax.tree.map(lambda x: x[0], (state, adds, losses))
    got = jax.jit(jax.vmap(STEPS[True], (None, 0, None, None)))(state, spikes, adds, losses)
    for i in range(3):
        want = RUN(state, spikes[i], adds, losses, True)
        assert_same(jax.tree.map(lambda x: x[i], got), want)  # noqa: B023


@pytest.mark.parametrize("jump_first", [False, True])
def test_slopes_of_both_kinds_are_those_of_the_reference(jump_first):
    rng = np.random.default_rng(5)
    state, spikes, adds, losses = numbers(rng, "adds alone")
    bars = jax.tree.map(lambda x: rng.normal(size=N).astype(x.dtype), (state, state.x))
    moves = jax.tree.map(np.ones_like, (state, adds, losses))

    @jax.jit
    def slopes(state, adds, losses):
        out = []
        for f in (short_term, short_term_reference):
            run = lambda s, a, k: f(s, jnp.asarray(spikes), a, k, jump_first)  # noqa: B023, E731
            value, back = jax.vjp(run, state, adds, losses)
            out.append((value, back(bars), jax.jvp(run, (state, adds, losses), moves)))
        return out

    got, want = slopes(state, adds, losses)
    assert_near(got, want)
    assert all(np.any(np.asarray(x)) for x in jax.tree.leaves(got[1]))


def test_every_device_of_a_mesh_steps_its_own():
    state, spikes, adds, losses = numbers(np.random.default_rng(7), "adds alone")
    cut = lambda x: x[:128] if x.ndim else x  # noqa: E731
    operands = jax.tree.map(cut, (state, spikes, adds, losses))
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("cells",))
    over, same = jax.sharding.PartitionSpec("cells"), jax.sharding.PartitionSpec()
    specs = jax.tree.map(lambda x: over if x.ndim else same, operands)
    run = jax.jit(jax.shard_map(STEPS[True], mesh=mesh, in_specs=specs, out_specs=over))
    assert_same(run(*operands), RUN(*operands, True))


# Programs


def loop(state, spikes, adds, losses):
    """The last state, and what each source released in the last step."""

    def body(now, spikes):
        return short_term(now[0], spikes, adds, losses, False), None

    return jax.lax.scan(body, (state, jnp.zeros_like(state.x)), spikes)[0]


def many_steps(members=None):
    state, _, adds, losses = numbers(np.random.default_rng(1), "numbers")
    if members is not None:
        state = jax.tree.map(lambda x: np.broadcast_to(x, (members, N)), state)
    return state, np.zeros((9, N), bool), adds, losses


@NATIVE
@pytest.mark.parametrize("members", [None, 3])
def test_the_state_is_not_copied_in_the_loop(members):
    f = loop if members is None else jax.vmap(loop, (0, None, None, None))
    text = compiled(f, *many_steps(members))
    inside = "\n".join(loop_bodies(text).values())
    assert inside.count("jaxneuro_short_term") == 1
    assert not re.search(r"= f32\[(?:\d+,)*203\]\S* (?:copy|fusion)\(", inside)


@pytest.mark.parametrize("what", ["loop", "batch", "gradient"])
def test_it_lowers_for_cuda_without_the_kernel(what):
    f = {
        "loop": loop,
        "batch": jax.vmap(loop, (None, None, 0, None)),
        "gradient": jax.grad(lambda *x: jnp.sum(loop(*x)[1])),
    }[what]
    state, spikes, adds, losses = many_steps()
    adds = np.stack([adds, adds]) if what == "batch" else adds
    traced = jax.jit(f).trace(state, spikes, adds, losses)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.while" in text
    assert "jaxneuro_short_term" not in text


@pytest.mark.parametrize("how", ["floating spikes", "few", "another dtype"])
def test_where_the_reference_runs(how):
    state, spikes, adds, losses = numbers(np.random.default_rng(2), "numbers")
    if how == "floating spikes":
        spikes = spikes.astype(np.float32)
    elif how == "few":
        state, spikes = jax.tree.map(lambda x: x[:7], (state, spikes))
    else:
        state = jax.tree.map(lambda x: x.astype(jnp.bfloat16), state)
        adds, losses = jax.tree.map(lambda x: x.astype(jnp.bfloat16), (adds, losses))
    lowered = RUN.lower(state, spikes, adds, losses, False)
    assert "jaxneuro_short_term" not in lowered.as_text()
    assert_near(
        jax.tree.map(np.float32, RUN(state, spikes, adds, losses, False)),
        jax.tree.map(np.float32, reference(state, spikes, adds, losses, False)),
    )
