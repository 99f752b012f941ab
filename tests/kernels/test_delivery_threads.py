"""`deliver` on several threads: the bits do not depend on how many."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.table import HAS_TAGS
from jaxneuro._kernels.threads import threads
from tests.kernels.delivering import deliver
from tests.kernels.test_deliver import arguments
from tests.refusing import assert_refused
from tests.strategies import Wiring, build_case

pytestmark = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")

KINDS = [(a, b) for a in (False, True) for b in (False, True)]


@pytest.fixture
def several():
    """Sets how many threads a call may use; puts the number back."""
    before = threads()
    yield threads
    threads(before)


def wiring(rng, size, n_pre, n_post, own, receptor, target=0):
    return Wiring(
        source=0,
        target=target,
        receptor=receptor,
        pre=rng.integers(0, n_pre, size),
        post=rng.integers(0, n_post, size),
        weight=rng.normal(size=size),
        delay=rng.integers(1, 30, size),
        own_weight=own[0],
        own_delay=own[1],
        gain=rng.normal(),
    )


def ring_of(case, dtype):
    return np.random.default_rng(3).normal(size=case.shape).astype(dtype)


def bits(case, values, several, dtype=np.float32, tiny=False):
    """What the ring holds after a delivery on 1, 2, 3 and 8 threads."""
    ring = np.zeros(case.shape, dtype) if tiny else ring_of(case, dtype)
    run, out = jax.jit(deliver, static_argnums=6), []
    for n in (1, 2, 3, 8):
        assert several(n) == n
        out.append(np.asarray(run(*arguments(case, ring, values, 4, True))))
    return out


@pytest.mark.parametrize("own", KINDS, ids=["shared", "delays", "weights", "weights and delays"])
def test_long_rows_of_every_kind(own, several):
    # 40 sources with some 750 synapses each onto two populations: enough for threads.
    rng = np.random.default_rng(1)
    wirings = [wiring(rng, 10_000, 40, 90 + 7 * k, own, k % 2, k % 3) for k in range(3)]
    case = build_case([40], [90, 97, 104], 2, wirings)
    values = rng.normal(size=40)
    assert case.table.n_stored == 30_000
    first, *others = bits(case, values, several)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("own", KINDS, ids=["shared", "delays", "weights", "weights and delays"])
def test_tagged_rows(own, several):
    # 120 blocks of some 5 synapses: tags instead of pointers, yet rows of 600.
    rng = np.random.default_rng(2)
    wirings = [wiring(rng, 250, 50, 40, own, 0) for _ in range(120)]
    for w in wirings:
        w.delay[:] = w.delay if own[1] else 3
    case = build_case([50], [40], 1, wirings)
    assert int(case.table.sections[0, 4]) & HAS_TAGS
    first, *others = bits(case, rng.normal(size=50), several)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_sums_of_denormal_numbers(several):
    # XLA's threads may take them for 0; then the others must, too.
    rng = np.random.default_rng(7)
    case = build_case([40], [70], 1, [wiring(rng, 30_000, 40, 70, (True, True), 0)])
    case.weights = (case.weights * 1e-39).astype(np.float32)
    case.scale = np.ones_like(case.scale)
    first, *others = bits(case, rng.normal(size=40), several, tiny=True)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_fewer_targets_than_threads(several):
    rng = np.random.default_rng(4)
    case = build_case([40], [3], 1, [wiring(rng, 30_000, 40, 3, (True, True), 0)])
    first, *others = bits(case, rng.normal(size=40), several)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("weights", [jnp.bfloat16, jnp.float32])
def test_weights_are_widened_before_the_product(weights, several):
    rng = np.random.default_rng(5)
    case = build_case([40], [70], 1, [wiring(rng, 30_000, 40, 70, (True, True), 0)])
    case.weights = np.asarray(jnp.asarray(case.weights, weights).astype(jnp.float32))
    values = rng.normal(size=40)
    wide = arguments(case, np.zeros(case.shape, np.float32), values, 4, True)
    narrow = (*wide[:4], wide[4].astype(weights), *wide[5:])
    run = jax.jit(deliver, static_argnums=6)
    np.testing.assert_array_equal(run(*narrow), run(*wide))


def test_many_calls_in_a_row(several):
    # A thread that is late for one call must not touch the next.
    rng = np.random.default_rng(6)
    case = build_case([40], [500], 1, [wiring(rng, 30_000, 40, 500, (True, True), 0)])
    ring, released, _, scale, weights, table, _ = arguments(
        case, np.zeros(case.shape, np.float32), np.ones(40), 0, True
    )

    @jax.jit
    def loop(ring):
        def body(ring, step):
            ring = deliver(ring, released, step, scale, weights, table, True)
            return ring, jnp.sum(ring)

        return jax.lax.scan(body, ring, jnp.arange(300, dtype=jnp.int32))

    several(1)
    alone = loop(ring)
    several(4)
    for a, b in zip(alone, loop(ring)):
        np.testing.assert_array_equal(a, b)


def test_a_number_of_threads_below_one_is_refused():
    assert_refused(lambda: threads(0), "threads", "threads", "0")
