"""The transposes of `deliver`, native and reference, against the oracle and against each other."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.clock import Clock
from jaxneuro._kernels.cotangents import (
    value_cotangents,
    value_reference,
    weight_cotangents,
    weight_reference,
)
from jaxneuro._kernels.gpu_cotangents import values_pallas
from jaxneuro._kernels.gpu_program import ProgramGrid
from jaxneuro._kernels.native import native_available
from jaxneuro._kernels.spike_output import SpikeOutput
from jaxneuro._kernels.table import ring_slots
from jaxneuro._kernels.threads import threads
from tests import strategies
from tests.kernels.test_gpu import EVERY_KIND, KERNEL, by_rules, for_cuda
from tests.oracle import deliver as oracle

STEPS = 5
native_only = pytest.mark.skipif(not native_available(), reason="there is no native kernel here")


@jax.jit
def of_values(ring, counted, step, scale, weights, table, values):
    n, step = values.shape[0], Clock.of(step)
    return value_cotangents(ring, counted, step, scale, weights, table, n, True)


@jax.jit
def of_values_by_jnp(ring, counted, step, scale, weights, table, values):
    return value_reference(ring, counted, step, scale, weights, table, values.shape[0], True)


@jax.jit
def of_weights(arrived, bits, values, scale, weights, table):
    return weight_cotangents(arrived, SpikeOutput(bits, values), scale, weights, table)


of_weights_by_jnp = jax.jit(weight_reference)
BY_VALUE = [of_values_by_jnp, of_values] if native_available() else [of_values_by_jnp]
BY_WEIGHT = [of_weights_by_jnp, of_weights] if native_available() else [of_weights_by_jnp]


def drawn_case(data, dtype, steps=STEPS):
    """A case, a cotangent of its ring, and what is released in some steps: values and bits."""
    case = data.draw(strategies.cases_of_a_layout(exact=False, dtype=dtype))
    values = np.stack(
        [data.draw(strategies.released(case.n_sources, False, dtype)) for _ in range(steps)]
    )
    bits = np.stack([strategies.packed(x != 0) for x in values])
    return case, values, bits


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=15)
def test_of_values_are_those_of_the_oracle_where_they_count(x64, data):
    case, values, bits = drawn_case(data, np.float64)
    bar, step = np.random.default_rng(1).normal(size=case.shape), 7
    none = np.zeros_like(bar)
    want = oracle.deliver_gradient(none, step, case.connections, values[0], case.gains, bar)
    flat = bar.reshape(case.shape[0], -1)
    for version in BY_VALUE:
        ring, got = version(flat, bits[1], step, case.scale, case.weights, case.table, values[0])
        counted = values[1] != 0
        np.testing.assert_allclose(got, np.where(counted, want[2], 0.0), atol=1e-12)
        oracle.take(want[3], step)
        np.testing.assert_array_equal(np.asarray(ring).reshape(case.shape), want[3])


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=15)
def test_of_weights_are_sums_over_the_steps(x64, data):
    """What arrives in each step has a slot of its own: a ring so long that none is used again."""
    steps = data.draw(st.sampled_from([1, STEPS]))  # in one step the longest delay is all slots
    case, values, bits = drawn_case(data, np.float64, steps)
    shape = steps + max(case.shape[0] - 1, 1) - 1, *case.shape[1:]
    bar = np.random.default_rng(2).normal(size=shape)
    by_weight, by_gain = np.zeros(len(case.connections)), np.zeros(len(case.gains))
    for step in range(steps):
        # The oracle's slot k + d of step k, where ours is k + d - 1.
        longer = np.concatenate([np.zeros((1, *shape[1:])), bar])
        more = oracle.deliver_gradient(
            np.zeros_like(longer), step, case.connections, values[step], case.gains, longer
        )
        by_weight, by_gain = by_weight + more[0], by_gain + more[1]
    flat = bar.reshape(shape[0], -1)
    for version in BY_WEIGHT:
        scale, weights = version(flat, bits, values, case.scale, case.weights, case.table)
        np.testing.assert_allclose(weights, by_weight[case.column], atol=1e-12)
        got = np.zeros(len(case.gains))
        np.add.at(got, np.asarray(case.table.block_projection), np.asarray(scale))
        np.testing.assert_allclose(got, by_gain, atol=1e-12)


def rows_that_are_drawn(stored):
    (_, _, step, scale, weights), table = by_rules(stored)
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 256, (STEPS, 8)).astype(np.uint8)
    bits[:, 39 // 8 :] = 0
    arrived = rng.normal(size=(STEPS + 29, 90)).astype(np.float64)
    return arrived, bits, step, np.asarray(scale, np.float64), np.asarray(weights), table


@native_only
def test_drawn_rows_have_those_of_the_stored_ones(x64):
    found = []
    for stored in (False, True):
        arrived, bits, step, scale, weights, table = rows_that_are_drawn(stored)
        values = np.unpackbits(bits, axis=1, bitorder="little")[:, :39].astype(np.float64)
        weights = weights.astype(np.float64)
        ring = arrived[:31]
        by_value = of_values(ring, bits[0], step, scale, weights, table, values[0])[1]
        by_scale, by_weight = of_weights(arrived, bits, values, scale, weights, table)
        jnp_scale, jnp_weight = of_weights_by_jnp(arrived, bits, values, scale, weights, table)
        np.testing.assert_allclose(by_scale, jnp_scale, rtol=1e-12)
        np.testing.assert_allclose(by_weight, jnp_weight, rtol=1e-12, atol=1e-12)
        by_projection = np.zeros(5)
        np.add.at(by_projection, np.asarray(table.block_projection), np.asarray(by_scale))
        found.append((by_value, by_projection))
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-12)
        assert np.abs(a).max() > 0


@native_only
def test_bits_do_not_depend_on_threads(request):
    before = threads()
    request.addfinalizer(lambda: threads(before))
    case, values, bits = one_of_float32()
    found = []
    for n in (1, 2, 3, 8):
        assert threads(n) == n
        ring = case_ring(case)
        found.append(
            [
                *of_values(ring, bits[0], 3, case.scale, case.weights, case.table, values[0]),
                *of_weights(slots_of(case), bits, values, case.scale, case.weights, case.table),
            ]
        )
    for other in found[1:]:
        for a, b in zip(found[0], other):
            np.testing.assert_array_equal(a, b)


def one_of_float32():
    rng = np.random.default_rng(5)
    wirings = [
        strategies.Wiring(
            source=0,
            target=0,
            receptor=0,
            pre=rng.integers(0, 300, 4000),
            post=rng.integers(0, 50, 4000),
            weight=rng.normal(size=4000),
            delay=rng.integers(1, 6, 4000),
            own_weight=own,
            own_delay=own,
            gain=0.75,
        )
        for own in (False, True)
    ]
    case = strategies.build_case([300], [50], 1, wirings)
    values = np.where(rng.random((STEPS, 300)) < 0.4, rng.normal(size=(STEPS, 300)), 0)
    values = values.astype(np.float32)
    return case, values, np.stack([strategies.packed(x != 0) for x in values])


def case_ring(case):
    ring = np.random.default_rng(6).normal(size=(case.shape[0], 50))
    return ring.astype(np.float32)


def slots_of(case):
    slots = STEPS + case.shape[0] - 2
    assert case.shape[0] == ring_slots(5)
    return np.random.default_rng(7).normal(size=(slots, 50)).astype(np.float32)


@native_only
@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_native_in_float32_equals_the_reference_in_float64(x64, dtype):
    case, values, bits = one_of_float32()
    weights, exact = jnp.asarray(case.weights, dtype), np.float64
    rest = (bits[0], 3, case.scale, weights, case.table, values[0])
    got = of_values(case_ring(case), *rest)
    want = of_values_by_jnp(case_ring(case).astype(exact), *rest)
    got += of_weights(slots_of(case), bits, values, case.scale, weights, case.table)
    slots, scale = slots_of(case).astype(exact), case.scale.astype(exact)
    want += of_weights_by_jnp(slots, bits, values.astype(exact), scale, weights, case.table)
    for a, b in zip(got, want):
        assert (a.dtype, b.dtype) == (np.float32, np.float64)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * np.abs(b).max())


@pytest.mark.parametrize("members", [3, 10])
def test_a_batch_has_the_bits_of_each_member(members):
    """Native code walks a row once for eight members, and alone for those that are left."""
    case, values, bits = one_of_float32()
    factors = np.arange(1, members + 1, dtype=np.float32)
    rings = factors[:, None, None] * case_ring(case)
    slots = factors[:, None, None] ** 2 * slots_of(case)
    released = np.stack([np.roll(values, k, axis=0) for k in range(members)])
    packed = np.stack([np.roll(bits, k, axis=0) for k in range(members)])
    steps = np.arange(members, dtype=np.int32)

    def one(ring, arrived, bits, values, step):
        by_value = of_values(ring, bits[0], step, case.scale, case.weights, case.table, values[0])
        return *by_value, *of_weights(arrived, bits, values, case.scale, case.weights, case.table)

    batch = jax.jit(jax.vmap(one))(rings, slots, packed, released, steps)
    for k in range(members):
        alone = one(rings[k], slots[k], packed[k], released[k], steps[k])
        for a, b in zip(batch, alone):
            np.testing.assert_array_equal(a[k], b)


@functools.partial(jax.jit, static_argnums=(6, 7))
def of_values_by_pallas(ring, counted, step, scale, weights, table, n, grid=None):
    step = Clock.of(step)
    return values_pallas(ring, counted, step, scale, weights, table, n, grid, interpret=True)


@pytest.mark.slow(but=["3-whole"])
@pytest.mark.parametrize(
    "grid", [None, ProgramGrid(4, 8, 2), ProgramGrid(1, 2, 1)], ids=["whole", "cut", "single"]
)
@pytest.mark.parametrize("step", [3, 300])
def test_the_kernel_of_a_gpu_equals_the_reference(grid, step):
    """On a table with sections of every kind; some sources count."""
    case, n = EVERY_KIND, EVERY_KIND.n_sources
    ring = np.random.default_rng(8).normal(size=(case.shape[0], 60)).astype(np.float32)
    counted = strategies.packed(np.random.default_rng(9).random(n) < 0.6)
    args = (ring, counted, np.int32(step), case.scale, case.weights, case.table)
    _, want = of_values_by_jnp(*args, np.zeros(n, np.float32))
    got = of_values_by_pallas(*args, n, grid)
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-6 * np.abs(want).max())
    assert (np.asarray(want) != 0).any()


@pytest.mark.slow
def test_the_kernel_of_a_gpu_draws_rows():
    arrived, bits, step, scale, weights, table = rows_that_are_drawn(stored=False)
    scale, weights = np.asarray(scale, np.float32), np.asarray(weights, np.float32)
    args = (arrived[:31].astype(np.float32), bits[0], step, scale, weights, table)
    _, want = of_values_by_jnp(*args, np.zeros(39, np.float32))
    got = of_values_by_pallas(*args, 39, ProgramGrid(8, 16, 2))
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-6 * np.abs(want).max())


def test_a_gradient_lowers_for_cuda_to_a_kernel():
    case, n = EVERY_KIND, EVERY_KIND.n_sources
    ring = np.zeros((case.shape[0], 60), np.float32)
    bits, values = np.zeros(16, np.uint8), np.zeros(n, np.float32)

    def run(*args):
        return of_values.__wrapped__(*args, values)

    text = for_cuda(run, ring, bits, np.int32(3), case.scale, case.weights, case.table)
    assert text.count(KERNEL) == 1
    assert "value_cotangents_pallas" in text
