"""`deliver`, native and reference, against the oracle and against each other."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.table import HAS_TAGS
from tests import strategies
from tests.kernels.delivering import deliver, deliver_reference
from tests.oracle import deliver as oracle
from tests.strategies import Wiring, build_case

STEPS = st.sampled_from([-1, 0, 1, 7, 299, 300, 12_345_678])


@functools.partial(jax.jit, static_argnums=6)
def native(*args):
    return deliver(*args)


reference = jax.jit(deliver_reference, static_argnums=6)
# Where every sum is exact, what is compiled badly and fast does as well.
exact = jax.jit(deliver_reference, static_argnums=6)
VERSIONS = [exact, native] if native_available() else [exact]


def arguments(case, ring, values, step, clear, bits=False):
    dtype = ring.dtype
    given = strategies.packed(values) if bits else values.astype(dtype)
    numbers = (case.scale.astype(dtype), case.weights.astype(dtype))
    return (ring, given, np.int32(step), *numbers, case.table, clear)


def expected(case, ring, values, step, clear):
    out = ring.astype(np.float64)
    if clear:
        oracle.take(out, step)
    return oracle.deliver(out, step, case.connections, values, case.gains.astype(np.float64))


def start_ring(case, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.integers(-16, 17, case.shape) / 8).astype(dtype)


def is_spikes(values):
    return bool(np.isin(values, (0.0, 1.0)).all())


# Weights, gains and values of these two are multiples of 1/8: float32 keeps every sum.
@pytest.mark.slow
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@hypothesis.given(st.data())
def test_native_equals_the_oracle_exactly(data):
    case = data.draw(strategies.cases())
    values = data.draw(strategies.released(case.n_sources))
    ring = start_ring(case, np.float32)
    step, clear, bits = data.draw(STEPS), data.draw(st.booleans()), data.draw(st.booleans())
    got = native(*arguments(case, ring, values, step, clear, bits and is_spikes(values)))
    assert got.dtype == jnp.float32
    np.testing.assert_array_equal(got, expected(case, ring, values, step, clear))


@hypothesis.given(st.data())
def test_the_reference_equals_the_oracle_exactly(data):
    case = data.draw(strategies.cases_of_a_layout())
    values = data.draw(strategies.released(case.n_sources))
    ring, step = start_ring(case, np.float32), data.draw(STEPS)
    clear = case.n_sources != 70  # with all layouts but one: each is a program
    want = expected(case, ring, values, step, clear)
    for bits in (False, True) if is_spikes(values) else (False,):
        for version in VERSIONS:
            got = version(*arguments(case, ring, values, step, clear, bits))
            assert got.dtype == jnp.float32
            np.testing.assert_array_equal(got, want)


@pytest.mark.slow(but=["float32"])
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@hypothesis.given(data=st.data())
@hypothesis.settings(max_examples=20)
def test_native_equals_reference_bit_for_bit(x64, dtype, data):
    case = data.draw(strategies.cases_of_a_layout(exact=False, dtype=dtype))
    values = data.draw(strategies.released(case.n_sources, exact=False, dtype=dtype))
    ring = np.random.default_rng(1).normal(size=case.shape).astype(dtype)
    clear = case.n_sources != 70
    args = arguments(case, ring, values, data.draw(STEPS), clear, bits=is_spikes(values))
    got = native(*args)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, reference(*args))


@pytest.mark.slow
@hypothesis.given(st.data())
@hypothesis.settings(max_examples=15)
def test_float64_equals_the_oracle_to_1e_12(x64, data):
    case = data.draw(strategies.cases_of_a_layout(exact=False, dtype=np.float64))
    values = data.draw(strategies.released(case.n_sources, exact=False, dtype=np.float64))
    ring = np.random.default_rng(2).normal(size=case.shape)
    clear = case.n_sources != 70
    want = expected(case, ring, values, 5, clear)
    for version in (reference, native)[: 1 + native_available()]:  # compiled above
        got = version(*arguments(case, ring, values, 5, clear))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


def wiring(source, size, n_pre, n_post, seed, receptor=0, longest=1, own=(False, False), **change):
    rng = np.random.default_rng(seed)
    values = {
        "source": source,
        "target": 0,
        "receptor": receptor,
        "pre": rng.integers(0, n_pre, size),
        "post": rng.integers(0, n_post, size),
        "weight": rng.integers(-8, 9, size) / 8,
        "delay": rng.integers(1, longest + 1, size),
        "own_weight": own[0],
        "own_delay": own[1],
        "gain": 0.75,
    }
    return Wiring(**(values | change))


def check(case, values, step=3, clear=True, bits=True, ring=None):
    ring = start_ring(case, np.float32) if ring is None else ring
    want = expected(case, ring, values, step, clear)
    for version in VERSIONS:
        got = version(*arguments(case, ring, values, step, clear, bits))
        np.testing.assert_array_equal(got, want)


def test_tagged_and_pointer_sections_of_every_kind():
    # Three blocks of one kind onto one target: few synapses are tagged, many have pointers.
    kinds = [(a, b) for a in (False, True) for b in (False, True)]
    wirings = [
        wiring(2 * kind + many, size, 60, 20, 3 * kind + s, receptor=s % 2, longest=4, own=own)
        for kind, own in enumerate(kinds)
        for many, size in enumerate((30, 3000))
        for s in range(3)
    ]
    case = build_case([60] * 8, [20], 2, wirings)
    flags = [int(words[4]) for words in np.asarray(case.table.sections)]
    assert [bool(f & HAS_TAGS) for f in flags] == [True, False] * 4
    ring = start_ring(case, np.float32)
    for source in range(8):  # each section alone, and all
        check(case, np.repeat(np.arange(8) == source, 60).astype(float), ring=ring)
    check(case, np.ones(480), ring=ring)


def test_mixed_kinds_in_one_source_population():
    kinds = [(a, b) for a in (False, True) for b in (False, True)]
    wirings = [wiring(1, 80, 9, 30, s, longest=3, own=own) for s, own in enumerate(kinds)]
    case = build_case([5, 9, 0, 4], [30], 1, wirings)
    assert case.table.sections.shape[0] == 4
    check(case, np.ones(18))


@pytest.mark.slow(but=["0-255-uint8"])
@pytest.mark.parametrize(
    ("longest", "dtype"), [(255, np.uint8), (256, np.uint16), (1000, np.uint16)]
)
@pytest.mark.parametrize("step", [0, 1, 999, 1000, 1001])
def test_the_longest_delay_fits_a_ring_exactly_as_long(longest, dtype, step):
    one = wiring(0, 40, 6, 8, 0, longest=longest, own=(False, True))
    one.delay[:3] = (1, longest, longest)
    case = build_case([6], [8], 1, [one])
    assert case.shape[0] == longest + 1
    assert case.table.delays.dtype == dtype
    check(case, np.ones(6), step=step)


def test_a_shared_delay_above_255_steps():
    one = wiring(0, 40, 6, 8, 0, delay=np.full(40, 700))
    case = build_case([6], [8], 1, [one])
    assert case.shape[0] == 701
    check(case, np.ones(6))


def test_more_active_rows_than_one_list_of_the_native_kernel():
    case = build_case([3000], [50], 1, [wiring(0, 6000, 3000, 50, 0, longest=9, own=(True, True))])
    check(case, np.ones(3000))


def test_more_than_65536_targets_make_two_blocks():
    one = wiring(0, 60, 3, 70_000, 0, own=(True, False))
    one.post[:4] = (65_535, 65_536, 69_999, 0)
    case = build_case([3], [70_000], 1, [one])
    assert case.table.block_offset.tolist() == [0, 65_536]
    check(case, np.ones(3))


def test_negative_and_fractional_values_and_both_zeros():
    case = build_case([6], [8], 1, [wiring(0, 50, 6, 8, 0, longest=3, own=(True, True))])
    check(case, np.array([0.0, -0.0, -1.5, 0.125, 2.0, -0.25]), bits=False)


def test_nan_and_inf_weights_of_silent_sources_do_not_arrive():
    one = wiring(0, 2, 2, 2, 0, pre=np.array([0, 1]), post=np.array([0, 1]), own=(True, False))
    case = build_case([2], [2], 1, [one])
    case.weights = np.array([np.nan, 1.0], np.float32)
    for version in VERSIONS:
        args = arguments(case, np.zeros(case.shape, np.float32), np.array([0.0, 1.0]), 0, False)
        assert np.isfinite(version(*args)).all()


def test_without_clear_the_slot_handed_out_stays():
    case = build_case([2], [2], 1, [wiring(0, 0, 2, 2, 0)])
    ring = np.ones((4, 1, 2), np.float32)
    for version in VERSIONS:
        kept = version(*arguments(case, ring, np.ones(2), 6, False))
        np.testing.assert_array_equal(kept, ring)
        cleared = version(*arguments(case, ring, np.ones(2), 6, True))
        assert float(np.sum(cleared)) == 6.0
        assert not np.asarray(cleared)[2].any()


def test_eager_equals_jit():
    case = build_case([6], [8], 1, [wiring(0, 50, 6, 8, 0, longest=3, own=(True, True))])
    args = arguments(case, start_ring(case, np.float32), np.ones(6), 2, True)
    np.testing.assert_array_equal(deliver(*map(jnp.asarray, args[:5]), *args[5:]), native(*args))


@pytest.mark.slow(but=["one section-spikes"])
@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
@pytest.mark.parametrize(
    ("sections", "values"),
    [
        ("one section", "spikes"),
        ("one section", "values"),
        ("two sections", "spikes"),
    ],
)
def test_native_sums_in_the_order_of_the_reference(sections, values):
    # Many synapses onto few places, with numbers that no float32 sum keeps.
    rng = np.random.default_rng(3)
    kinds = [(True, False), (True, sections == "two sections")]
    wirings = [
        wiring(0, 900, 40, 3, s, own=own, weight=rng.normal(size=900), gain=rng.normal())
        for s, own in enumerate(kinds)
    ]
    case = build_case([40], [3], 1, wirings)
    assert case.table.sections.shape[0] == (2 if sections == "two sections" else 1)
    released = np.ones(40) if values == "spikes" else rng.normal(size=40)
    ring = rng.normal(size=case.shape).astype(np.float32)
    args = arguments(case, ring, released, 1, True, bits=values == "spikes")
    np.testing.assert_array_equal(native(*args), reference(*args))


@pytest.mark.parametrize("own", [False, True])
def test_tagged_blocks_that_share_receptor_and_delay(own):
    # Onto two populations, so that the blocks differ in where their targets begin.
    wirings = [
        wiring(0, 30, 60, 20, s, own=(own, False), target=s % 2, delay=np.full(30, 3), gain=s / 4)
        for s in range(4)
    ]
    case = build_case([60], [20, 20], 1, wirings)
    assert int(np.asarray(case.table.sections)[0, 4]) & HAS_TAGS
    check(case, np.ones(60))
