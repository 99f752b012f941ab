"""`deliver` with events sorted by parts of the ring: the sums of the oracle, the same bits."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.native import native_available, set_bins
from jaxneuro._kernels.table import HAS_TAGS
from jaxneuro._kernels.threads import threads
from tests import strategies
from tests.kernels.delivering import deliver
from tests.kernels.test_deliver import arguments, expected, is_spikes, start_ring
from tests.kernels.test_delivery_threads import KINDS, wiring
from tests.refusing import assert_refused
from tests.strategies import build_case

pytestmark = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")

AS_BUILT = (3 << 19, 1 << 17)  # kFrom and kPart of native/bins.h
NEVER = 1 << 60
PARTS = (1, 16, 1 << 18)


@functools.partial(jax.jit, static_argnums=6)
def run(*args):
    return deliver(*args)


@pytest.fixture(autouse=True)
def as_built():
    """Puts the rule and the number of threads back."""
    before = threads()
    yield
    set_bins(*AS_BUILT)
    threads(before)


def in_every_way(args):
    """The ring after a delivery without bins, and with them on 1, 2 and 5 threads."""
    set_bins(NEVER, AS_BUILT[1])
    out = [np.asarray(run(*args))]
    for part in PARTS:
        set_bins(0, part)
        for n in (1, 2, 5):
            threads(n)
            out.append(np.asarray(run(*args)))
    return out


# Weights, gains and values are multiples of 1/8: float32 keeps every sum.
@hypothesis.given(st.data())
@hypothesis.settings(max_examples=30)
def test_bins_equal_the_oracle_exactly(data):
    case = data.draw(strategies.cases_of_a_layout())
    values = data.draw(strategies.released(case.n_sources))
    ring, step = start_ring(case, np.float32), data.draw(st.sampled_from([-1, 0, 7, 299]))
    clear = case.n_sources != 70
    args = arguments(case, ring, values, step, clear, bits=is_spikes(values))
    want = expected(case, ring, values, step, clear)
    set_bins(0, data.draw(st.sampled_from(PARTS)))
    threads(data.draw(st.sampled_from([1, 2, 5])))
    np.testing.assert_array_equal(run(*args), want)


@pytest.mark.parametrize("own", KINDS, ids=["shared", "delays", "weights", "weights and delays"])
@pytest.mark.parametrize("tagged", [False, True])
def test_the_bits_are_those_without_bins(own, tagged):
    # Sums of numbers that are not exact: another order would be other bits.
    rng = np.random.default_rng(1)
    if tagged:
        wirings = [wiring(rng, 250, 50, 40, own, 0) for _ in range(120)]
        for w in wirings:
            w.delay[:] = w.delay if own[1] else 1 + w.delay[0] % 5
        case = build_case([50], [40], 1, wirings)
        assert int(case.table.sections[0, 4]) & HAS_TAGS
    else:
        wirings = [wiring(rng, 10_000, 50, 90 + 7 * k, own, k % 2, k % 3) for k in range(3)]
        case = build_case([50], [90, 97, 104], 2, wirings)
    ring = rng.normal(size=case.shape).astype(np.float32)
    first, *others = in_every_way(arguments(case, ring, rng.normal(size=50), 4, True))
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_bins_are_empty_again_in_the_next_step():
    # Chunks of one run: what was added once must not be added again.
    rng = np.random.default_rng(2)
    case = build_case([40], [500], 1, [wiring(rng, 30_000, 40, 500, (True, True), 0)])
    args = arguments(case, np.zeros(case.shape, np.float32), rng.normal(size=40), 0, True)
    ring, released, _, scale, weights, table, _ = args

    @jax.jit
    def loop(ring, first):
        def body(ring, step):
            ring = deliver(ring, released, step, scale, weights, table, True)
            return ring, jnp.sum(ring)

        return jax.lax.scan(body, ring, first + jnp.arange(20, dtype=jnp.int32))

    set_bins(NEVER, AS_BUILT[1])
    want, _ = loop(ring, np.int32(0))
    want, sums = loop(want, np.int32(20))
    set_bins(0, 64)
    threads(3)
    got, _ = loop(ring, np.int32(0))
    got, got_sums = loop(got, np.int32(20))
    np.testing.assert_array_equal(want, got)
    np.testing.assert_array_equal(sums, got_sums)


def test_a_ring_of_integers_and_of_float64(x64):
    rng = np.random.default_rng(3)
    case = build_case([40], [300], 1, [wiring(rng, 20_000, 40, 300, (True, False), 0)])
    for dtype in (np.int32, np.float64):
        ring = rng.integers(-9, 9, case.shape).astype(dtype)
        ring, _, step, _, _, table, clear = arguments(case, ring, np.ones(40), 3, True)
        real = np.float64 if dtype == np.float64 else np.float32
        given = (np.ones(40, real), step, case.scale.astype(real), case.weights.astype(real))
        first, *others = in_every_way((ring, *given, table, clear))
        assert first.dtype == dtype
        for other in others:
            np.testing.assert_array_equal(first, other)


def test_bad_values():
    assert_refused(lambda: set_bins(0, 24), "set_bins", "part", "24")
    assert_refused(lambda: set_bins(-1, 16), "set_bins", "from_bytes", "-1")
