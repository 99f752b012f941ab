"""The Pallas kernel of `synaptic_input`: interpreted against NumPy, and lowered for CUDA."""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxlib.triton.dialect import MemSemantic, RMWOp

from jaxneuro import assemblies as ac
from jaxneuro._kernels import gpu_program as gpu_atomic
from jaxneuro._kernels import gpu_synaptic_input as gpu
from jaxneuro._kernels import synaptic_input as reference
from jaxneuro._kernels.edges import Firing, Hashed
from jaxneuro._kernels.redraw import gap_rows
from jaxneuro._kernels.synaptic_input import synaptic_input
from jaxneuro._kernels.wide import wide_integers, wide_words
from tests.kernels.test_gpu import KERNEL, assert_reference, for_cuda, moved

KEY = np.array([7, 123_456_789], np.uint32)
SOURCES, K, WORDS = 50, 12, 2
FEW = (600, 0.05)  # targets and p of a fibre; (..., 1e-4): gaps that need more than one word
LAYOUTS = [FEW, (90, 1.0), (40_000, 1e-4)]


def firing(seed, n, on=True, nobody=2, history=True):
    """Random caps and a random history, in which some sources and targets never fired."""
    rng = np.random.default_rng(seed)
    cap = np.full(K, SOURCES, np.int32)
    cap[: K - nobody] = np.sort(rng.choice(SOURCES, K - nobody, replace=False))
    bits = lambda *shape: rng.integers(0, 2**32, shape, np.uint32)  # noqa: E731
    before, after = bits(SOURCES, WORDS), bits(n, WORDS)
    before[cap[cap < SOURCES][:2]] = 0
    after[rng.random(n) < 0.5] = 0
    mask = bits(WORDS) if history else np.zeros(WORDS, np.uint32)
    # Above 2^48 all four parts of a weight are added.
    weights = np.cumsum(np.append(2**24, rng.integers(0, 2**45, 32 * WORDS)))
    return Firing(np.array(on), cap, before, after, mask, wide_words(weights))


@functools.cache
def dense(n, p, key=tuple(KEY)):
    counts, targets = gap_rows(tuple(np.uint32(x) for x in key), 0, SOURCES, n, p)
    out = np.zeros((SOURCES, n), bool)
    out[np.repeat(np.arange(SOURCES), counts), targets] = True
    return out


def expected(f, n, p, key=KEY):
    """The sums, synapse by synapse."""
    out = np.zeros(n, np.int64)
    weights = wide_integers(f.weights)
    for source in f.cap[f.cap < SOURCES] if f.on else ():
        times = np.bitwise_count(f.before[source] & f.mask & f.after).sum(1)
        out += np.where(dense(n, p, tuple(key))[source], weights[times], 0)
    return out


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def kernel(f, key, n, p, lanes=32, axes=()):
    return gpu.hashed_pallas(f, Hashed(key, n, p), axes, lanes, interpret=True)


def as_numbers(words):
    return wide_integers(np.asarray(words))


@pytest.mark.slow(but=["{}-(600, 0.05)"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("how", [{}, {"history": False}, {"nobody": 0}, {"nobody": K}], ids=str)
def test_equals_numpy_exactly(layout, how):
    f = firing(1, layout[0], **how)
    want = expected(f, *layout)
    assert want.any() == (how.get("nobody") != K)
    np.testing.assert_array_equal(as_numbers(kernel(f, KEY, *layout)), want)


@pytest.mark.slow
def test_the_sums_reach_every_part_and_carry():
    f, n, p = firing(1, 90), 90, 1.0
    want = expected(f, n, p)
    assert (want >> 48).max() > 0
    weights = wide_integers(f.weights)
    assert all(((weights - weights[0]) >> shift & 0xFFFF).any() for shift in (0, 16, 32, 48))
    np.testing.assert_array_equal(as_numbers(kernel(f, KEY, n, p)), want)


def test_as_cut_on_a_card():
    f = firing(2, FEW[0])
    got = kernel(f, KEY, *FEW, None)
    np.testing.assert_array_equal(as_numbers(got), expected(f, *FEW))


def test_a_fibre_that_does_not_drive_adds_nothing():
    f = firing(1, FEW[0], on=False)
    assert not np.asarray(kernel(f, KEY, *FEW)).any()


@pytest.mark.slow
@pytest.mark.parametrize("batched", ["cap", "on before key", "after mask weights"])
def test_a_batch_is_its_members_one_by_one(batched):
    names, members = batched.split(), [firing(s, FEW[0], on=s != 5) for s in (3, 4, 5)]
    keys = np.stack([KEY, KEY + 1, KEY + 2])
    assert {f.on.item() for f in members} == {False, True}
    given = Firing(
        *(
            np.stack([getattr(f, name) for f in members]) if name in names else x[None]
            for name, x in members[0]._asdict().items()
        )
    )
    key = keys if "key" in names else keys[:1]
    got = as_numbers(kernel(given, key, *FEW, 32, (3,)))
    for i, member in enumerate(members):
        mine = members[0]._replace(**{x: getattr(member, x) for x in names if x != "key"})
        own = key[i] if "key" in names else KEY
        np.testing.assert_array_equal(got[i], expected(mine, *FEW, own))


def lowered(batch=(), layout=FEW):
    n, p = layout
    f = firing(1, n)

    def received(sums, key, f):
        return synaptic_input(sums, f, Hashed(key, n, p))

    for _ in batch:
        received = jax.vmap(received, (0, 0, None))
    sums, keys = np.zeros((*batch, n, 2), np.uint32), np.broadcast_to(KEY, (*batch, 2))
    return for_cuda(received, sums, keys, f)


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
def test_it_lowers_for_cuda_to_one_kernel(batch):
    text = lowered(batch)
    assert text.count(KERNEL) == 1
    assert "stablehlo.while" not in text


def test_the_kernel_has_no_operation_that_triton_cannot_compile():
    """`population_count` is lowered, and then refused by the compiler."""
    f = firing(1, FEW[0])
    traced = jax.make_jaxpr(lambda f, key: gpu.hashed_pallas(f, Hashed(key, *FEW)))(f, KEY)
    assert "pallas_call" in str(traced)
    assert "population_count" not in str(traced)


def rounds(connectome="hashed", n=500):
    area = ac.Area("A", n, 20, connectome)
    fibres = [ac.Fibre("S", "A"), ac.Fibre("A", "A")]
    brain = ac.Brain([area], [ac.Stimulus("S", 20)], fibres, p=0.1, rounds=40)
    return brain, brain.active("S->A", "A->A")


def test_rounds_of_a_hashed_area_lower_with_one_kernel_per_fibre_and_cap():
    brain, active = rounds()
    text = for_cuda(lambda state: ac.run(brain, state, active, 5), brain.init(0))
    # The recurrent fibre, and the cap; what comes from a stimulus is a count per neuron.
    assert text.count(KERNEL) == 2


@pytest.mark.slow
def test_every_brain_of_a_batch_shares_the_kernels():
    brain, active = rounds()
    text = for_cuda(
        jax.vmap(lambda seed: ac.run(brain, brain.init(seed), active, 5)[1].support),
        np.arange(3, dtype=np.uint32),
    )
    assert text.count(KERNEL) == 3  # and the counts of the stimulus


def test_adds_are_relaxed_and_of_integers(monkeypatch):
    relax, seen = gpu_atomic._relax, []

    def look(operation, integer):
        relax(operation, integer)
        seen.append([operation.attributes[name].value for name in ("atomic_rmw_op", "sem")])

    monkeypatch.setattr(gpu_atomic, "_relax", look)
    lowered()
    assert seen
    assert all(words == [RMWOp.ADD, MemSemantic.RELAXED] for words in seen)


@pytest.mark.slow
def test_without_the_relaxed_add_jax_adds(monkeypatch, caplog):
    caplog.set_level("INFO", "jaxneuro")
    relaxed = lowered()
    monkeypatch.setattr(gpu_atomic, "_relax", moved)
    ordered = lowered()
    assert relaxed.count(KERNEL) == ordered.count(KERNEL) == 1
    assert ordered != relaxed
    (line,) = caplog.messages
    assert "memory order" in line


@pytest.mark.parametrize("batch", [(), (2, 3)], ids=str)
def test_a_card_that_jax_refuses_runs_the_reference_and_says_so(monkeypatch, caplog, batch):
    monkeypatch.setattr(gpu, "hashed_pallas", moved)
    assert_reference(lowered(batch), caplog)


def test_what_runs_instead_takes_batches(monkeypatch):
    """The version that is lowered last, called as it is lowered."""
    f, keys = firing(1, FEW[0]), np.stack([KEY, KEY + 1])
    from jaxneuro._kernels import gpu as gpu_file
    from jaxneuro._kernels.call import over_batch

    def one(like, *rest):
        *now, key, _ = rest
        return reference._one_fibre(like, Firing(*now), Hashed(key, *FEW))

    like = np.zeros((2, FEW[0], 2), np.uint32)
    operands = (x[None] for x in f)
    got = jax.jit(lambda *x: over_batch(one, gpu_file._HASHED_RANKS)(*x, None))(
        like, *operands, keys
    )
    for words, key in zip(got, keys):
        np.testing.assert_array_equal(as_numbers(words), expected(f, *FEW, key))


def test_a_cpu_never_meets_the_kernel(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxneuro._kernels.gpu_synaptic_input", None)
    f, sums = firing(1, FEW[0]), np.zeros((FEW[0], 2), np.uint32)
    got = jax.jit(lambda sums, f, key: synaptic_input(sums, f, Hashed(key, *FEW)))(sums, f, KEY)
    assert got.dtype == jnp.uint32
    np.testing.assert_array_equal(as_numbers(got), expected(f, *FEW))
