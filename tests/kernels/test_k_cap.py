"""`k_cap`: native kernel, reference and Pallas kernel against the oracle, and transformations."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.gpu_k_cap import k_cap_pallas
from jaxneuro._kernels.k_cap import k_cap, k_cap_reference, k_cap_wide, key_words, wide_words
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.threads import threads
from tests.kernels.test_gpu import KERNEL, for_cuda
from tests.oracle import k_cap as oracle
from tests.refusing import assert_refused

NATIVE = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
# Few of them, for each is compiled: one, all, around words of 32 and 64, with a sample (from 256).
SIZES = [(1, 1), (64, 64), (65, 1), (700, 150)]
DTYPES = ["float32", "bfloat16", "float16", "int32", "uint32"]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.0, -1.0]


@functools.partial(jax.jit, static_argnums=(1, 2))
def every_version(x, k, wide=False):
    words = wide_words(x) if wide else key_words(x)
    cap = k_cap_wide if wide else k_cap
    versions = [cap(x, k), k_cap_reference(words, k)]
    if k > 1:
        versions.append(k_cap_pallas(words, k, interpret=True))
    return versions


def check(x, k):
    want = oracle.k_cap(x, k)
    for got in every_version(x, k):
        assert got.dtype == jnp.int32
        np.testing.assert_array_equal(got, want)


def check_wide(words, k):
    want = oracle.k_cap(oracle.wide(words), k)
    for got in every_version(words, k, True):
        np.testing.assert_array_equal(got, want)


def given_numbers(data, n, numbers, dtype):
    """A few distinct numbers, each many times, or as many as there are places."""
    pool = np.asarray(data.draw(st.lists(numbers, min_size=1, max_size=40)))
    picked = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))).integers(0, len(pool), n)
    with np.errstate(over="ignore"):
        return pool.astype(jnp.dtype(dtype))[picked]


FLOATS = st.one_of(st.sampled_from(SPECIAL), st.floats(width=32), st.floats(-3, 3, width=32))


@hypothesis.given(data=st.data(), size=st.sampled_from(SIZES))
def test_float32_equals_the_oracle(data, size):
    n, k = size
    check(given_numbers(data, n, FLOATS, "float32"), k)


@pytest.mark.slow(but=["bfloat16"])
@pytest.mark.parametrize("dtype", DTYPES[1:])
@hypothesis.given(data=st.data())
@hypothesis.settings(max_examples=10)
def test_other_types_equal_the_oracle(dtype, data):
    low, high = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}.get(dtype, (0, 0))
    numbers = st.integers(low, high) if high else FLOATS
    check(given_numbers(data, 700, numbers, dtype), 150)


@pytest.mark.slow
@hypothesis.given(data=st.data(), size=st.sampled_from([(65, 1), (700, 150)]))
def test_wide_integers_equal_the_oracle(data, size):
    n, k = size
    near = st.sampled_from([0, -1, 2**32, 2**32 - 1, -(2**32), 2**63 - 1, -(2**63), 1 << 31])
    numbers = st.one_of(near, st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**33))
    x = given_numbers(data, n, numbers, np.int64)
    words = np.ascontiguousarray(x).view(np.uint32).reshape(n, 2)
    np.testing.assert_array_equal(oracle.wide(words), x)
    check_wide(words, k)


@pytest.mark.slow(but=["float64"])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_64_bits(dtype, x64):
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, 700) * (1.0 + 2.0**-40 if dtype == "float64" else 2**40)
    x = x.astype(dtype) + rng.integers(0, 2, 700).astype(dtype)
    if dtype == "float64":
        x[: len(SPECIAL)] = SPECIAL
        x[100:103] = 5e-324, -5e-324, np.nextafter(np.inf, 0)
    check(x, 150)
    check(-x, 150)


@pytest.fixture
def several():
    """Sets how many threads a call may use; puts the number back."""
    before = threads()
    yield threads
    threads(before)


LARGE, SOME = 200_000, 5_000
CAP = jax.jit(k_cap, static_argnums=1)
RNG = np.random.default_rng(1)


def misleading():
    """As high as any in every place that the kernel samples, so that too few reach its key."""
    x = -RNG.random(LARGE)
    i, stretch = np.arange(4096, dtype=np.uint64), np.uint64(LARGE // 4096)
    word = i * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)
    x[i * stretch + (word * stretch >> np.uint64(32))] = 1.0
    return x


INPUTS = {
    "normal": RNG.normal(size=LARGE),
    "few values": RNG.poisson(1.0, LARGE),
    "all equal": np.full(LARGE, 2.5),
    "falling": -np.arange(LARGE),
    "rising": np.arange(LARGE),
    "nearly all -inf": np.where(RNG.random(LARGE) < 0.01, 1.0, -np.inf),
    "all NaN but some": np.where(RNG.random(LARGE) < 0.01, -np.inf, np.nan),
    "zeros of both signs": np.where(RNG.random(LARGE) < 0.5, -0.0, 0.0),
    "misleading": misleading(),
}


@functools.partial(jax.jit, static_argnums=1)
def by_passes(x, digit):
    return k_cap_reference(key_words(x), SOME, digit)


@pytest.mark.slow(but=["normal"])
@NATIVE
@pytest.mark.parametrize("name", INPUTS)
def test_large_inputs_on_any_number_of_threads(name, several):
    x = INPUTS[name].astype(np.float32)
    want = oracle.k_cap(x, SOME)
    np.testing.assert_array_equal(by_passes(x, 1), want)
    np.testing.assert_array_equal(by_passes(x, 4), want)  # as on a GPU
    for n in (1, 2, 3):
        assert several(n) == n
        np.testing.assert_array_equal(CAP(x, SOME), want)


@NATIVE
def test_the_largest_key_of_all_ends_a_piece(several):
    """Nothing is above it, so nothing more is looked for."""
    x = np.where(RNG.random(LARGE) < 0.5, 2**32 - 1, 7).astype(np.uint32)
    for n in (1, 3):
        several(n)
        np.testing.assert_array_equal(CAP(x, SOME), oracle.k_cap(x, SOME))


@NATIVE
@pytest.mark.parametrize("shape", [(37, 1000), (2, 100_000), (100, 3, 10)], ids=str)
def test_a_batch_is_its_members_on_any_number_of_threads(shape, several):
    x = np.random.default_rng(2).integers(0, 400, shape).astype(np.float32)
    k = shape[-1] // 7
    want = [oracle.k_cap(row, k) for row in x.reshape(-1, shape[-1])]
    run = functools.partial(k_cap, k=k)
    for _ in shape[:-1]:
        run = jax.vmap(run)
    run = jax.jit(run)
    for n in (1, 2, 3):
        several(n)
        np.testing.assert_array_equal(np.asarray(run(x)).reshape(-1, k), want)


def test_vmap_over_any_axis_of_any_version():
    words = RNG.integers(0, 3, (40, 2, 3, 2)).astype(np.uint32)

    @jax.jit
    def run(words):
        caps = jax.vmap(jax.vmap(lambda w: k_cap_wide(w, 7), 1), 2)(words)
        moved = jnp.moveaxis(words, 0, 2).swapaxes(0, 1)
        keys = wide_words(moved)
        return caps, k_cap_reference(keys, 7), k_cap_pallas(keys, 7, interpret=True)

    numbers = oracle.wide(words)
    want = [[oracle.k_cap(numbers[:, i, j], 7) for i in range(2)] for j in range(3)]
    for got in run(words):
        np.testing.assert_array_equal(got, want)


def test_every_device_of_a_mesh_caps_its_own():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("areas",))
    over = jax.sharding.PartitionSpec("areas")
    x = np.random.default_rng(3).normal(size=(8, 97)).astype(np.float32)

    def both(x):
        return jax.vmap(lambda row: k_cap(row, 20))(x), k_cap_reference(key_words(x), 20)

    got = jax.jit(jax.shard_map(both, mesh=mesh, in_specs=over, out_specs=over))(x)
    for caps in got:
        np.testing.assert_array_equal(caps, [oracle.k_cap(row, 20) for row in x])


def test_the_gradient_is_zero():
    x = np.random.default_rng(4).normal(size=97).astype(np.float32)
    loss = jax.jit(jax.grad(lambda x: jnp.sum(x * 0) + k_cap(x, 20).sum().astype(jnp.float32)))
    np.testing.assert_array_equal(loss(x), 0.0)


@NATIVE
def test_the_native_kernel_is_what_runs():
    text = jax.jit(lambda x: k_cap(x, 5)).lower(np.zeros(70, np.float32)).compile().as_text()
    assert "jaxneuro_k_cap" in text
    assert "while" not in text


@pytest.mark.parametrize("axes", [(), (3,), (2, 3)], ids=str)
@pytest.mark.parametrize("wide", [False, True], ids=["float32", "wide"])
def test_few_numbers_lower_for_cuda_to_one_kernel(axes, wide):
    shape, cap = (*axes, 1000), functools.partial(k_cap_wide if wide else k_cap, k=50)
    for _ in axes:
        cap = jax.vmap(cap)
    x = np.zeros((*shape, 2), np.uint32) if wide else np.zeros(shape, np.float32)
    text = for_cuda(cap, x)
    assert text.count(KERNEL) == 1
    assert "stablehlo.while" not in text


def test_many_numbers_lower_for_cuda_to_passes_of_xla():
    text = for_cuda(lambda x: k_cap(x, 50), np.zeros(100_000, np.float32))
    assert KERNEL not in text
    assert text.count("stablehlo.while") == 1


def test_a_card_that_jax_refuses_gets_the_passes(monkeypatch, caplog):
    def moved(*args):
        raise RuntimeError("no such thing here")

    caplog.set_level("INFO", "jaxneuro")
    monkeypatch.setattr("jaxneuro._kernels.gpu_k_cap.k_cap_pallas", moved)
    assert KERNEL not in for_cuda(lambda x: k_cap(x, 50), np.zeros(1000, np.float32))
    (line,) = caplog.messages
    assert "no such thing here" in line


@pytest.mark.parametrize("k", [0, -1, 98])
@pytest.mark.parametrize("cap", [k_cap, k_cap_wide])
def test_a_k_that_does_not_fit_is_refused(cap, k):
    x = np.zeros((97, 2), np.uint32) if cap is k_cap_wide else np.zeros(97, np.float32)
    with pytest.raises(ValueError, match=f"k must be from 1 to 97, .* got {k}"):
        cap(x, k)


def test_a_k_that_is_not_static_is_refused():
    x = np.zeros(97, np.float32)
    assert_refused(lambda: jax.jit(k_cap)(x, 5), "k_cap", "k", "JitTracer(~int32[])")
    assert_refused(lambda: k_cap(x, 2.5), "k_cap", "k", "2.5")


@pytest.mark.parametrize(
    "x", [np.zeros((2, 5), np.float32), np.zeros(5, bool), np.zeros(5, np.int8), np.float32(1)]
)
def test_other_numbers_are_refused(x):
    with pytest.raises(ValueError, match=r"x must be numbers \(n,\)"):
        k_cap(x, 1)


@pytest.mark.parametrize("shape", [(5,), (5, 3), (2, 5, 2)])
def test_other_words_are_refused(shape):
    with pytest.raises(ValueError, match=r"words must be uint32 \(n, 2\)"):
        k_cap_wide(np.zeros(shape, np.uint32), 1)
    assert_refused(
        lambda: k_cap_wide(np.zeros((5, 2), np.int32), 1), "k_cap", "words", "int32[5, 2]"
    )
