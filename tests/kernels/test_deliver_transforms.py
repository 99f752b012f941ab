"""`deliver` under vmap, grad and jit."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.kernels.delivering import deliver
from tests.oracle import deliver as oracle
from tests.strategies import Wiring, build_case, packed

OPERANDS = ("ring", "released", "step", "scale", "weights")
N = 12  # sources, in two populations


def make_case(dtype):
    """Mixed kinds, a tagged and a pointer section, delays up to 4 steps, two receptors."""
    rng = np.random.default_rng(0)
    kinds = [(True, False), (True, False), (False, True), (True, True), (False, False)]
    wirings = [
        Wiring(
            source=number % 2,
            target=number % 2,
            receptor=number // 3,
            pre=rng.integers(0, (5, 7)[number % 2], size),
            post=rng.integers(0, (9, 4)[number % 2], size),
            weight=rng.normal(size=size),
            delay=rng.integers(1, 5, size),
            own_weight=own[0],
            own_delay=own[1],
            gain=rng.normal(),
        )
        for number, (own, size) in enumerate(zip(kinds, (10, 60, 30, 25, 20)))
    ]
    return build_case([5, 7], [9, 4], 2, wirings, dtype)


def operands(case, batch, dtype, bits=False):
    """Every operand with a leading axis of that shape."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(*batch, N)) * (rng.random((*batch, N)) < 0.6)
    spikes = np.zeros((*batch, 8), np.uint8)
    for index in np.ndindex(batch):
        spikes[index] = packed(values[index])
    return (
        rng.normal(size=(*batch, *case.shape)).astype(dtype),
        spikes if bits else values.astype(dtype),
        rng.integers(0, 50, batch).astype(np.int32),
        rng.normal(size=(*batch, *case.scale.shape)).astype(dtype),
        rng.normal(size=(*batch, *case.weights.shape)).astype(dtype),
    )


CASE = make_case(np.float32)


def one(*args):
    return deliver(*args, CASE.table, True)


ONE = jax.jit(one)


@pytest.mark.slow(
    but=[
        "batched13-True",
        "batched14-True",
        "batched18-False",
        "batched23-False",
        "batched25-True",
        "batched29-True",
        "batched3-False",
        "batched7-True",
    ]
)
@pytest.mark.parametrize("bits", [False, True])
@pytest.mark.parametrize("batched", [b for b in itertools.product([0, 1], repeat=5) if any(b)])
def test_vmap_equals_the_loop_bit_for_bit(batched, bits):
    args = operands(CASE, (3,), np.float32, bits)
    given = [x if b else x[0] for x, b in zip(args, batched)]
    axes = tuple(0 if b else None for b in batched)
    got = np.asarray(jax.jit(jax.vmap(one, in_axes=axes))(*given))
    for i in range(3):
        want = ONE(*(x[i] if b else x[0] for x, b in zip(args, batched)))
        np.testing.assert_array_equal(got[i], want)


def nested(inner, outer):
    """Which operands have the axes, and their index in a batch of shape (outer 2, inner 3)."""
    pick = lambda i, j: tuple(  # noqa: E731
        (i if o else 0, j if n else 0) for o, n in zip(outer, inner)
    )
    return pick, tuple(0 if n else None for n in inner), tuple(0 if o else None for o in outer)


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ((1, 1, 0, 0, 0), (0, 0, 0, 1, 0)),  # states inside, gains outside
        ((0, 0, 0, 1, 0), (1, 1, 1, 0, 0)),
        ((0, 1, 0, 0, 1), (0, 1, 0, 0, 0)),
        ((0, 0, 0, 0, 1), (0, 0, 1, 0, 0)),
        ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
    ],
)
def test_nested_vmap_equals_the_loops_bit_for_bit(inner, outer):
    args = operands(CASE, (2, 3), np.float32)
    pick, inner_axes, outer_axes = nested(inner, outer)
    given = [
        x[(slice(None) if o else 0, slice(None) if n else 0)] for x, o, n in zip(args, outer, inner)
    ]
    got = np.asarray(jax.jit(jax.vmap(jax.vmap(one, inner_axes), outer_axes))(*given))
    for i, j in itertools.product(range(2), range(3)):
        want = ONE(*(x[at] for x, at in zip(args, pick(i, j))))
        np.testing.assert_array_equal(got[i, j], want)


def test_vmap_over_an_axis_that_is_not_the_first():
    args = operands(CASE, (3,), np.float32)
    moved = [np.moveaxis(x, 0, -1) for x in args]
    got = np.asarray(jax.jit(jax.vmap(one, in_axes=-1, out_axes=-1))(*moved))
    for i in range(3):
        np.testing.assert_array_equal(got[..., i], ONE(*(x[i] for x in args)))


def test_eager_equals_jit():
    args = [x[0] for x in operands(CASE, (1,), np.float32)]
    np.testing.assert_array_equal(one(*map(jnp.asarray, args)), ONE(*args))


def test_a_batched_table_is_refused():
    args = [x[0] for x in operands(CASE, (1,), np.float32)]
    tables = jax.tree.map(lambda x: np.stack([x, x]), CASE.table)
    with pytest.raises(ValueError, match="must not be batched"):
        jax.vmap(lambda t: deliver(*args, t, True))(tables)


def gradients(case, args, clear, cotangent):
    def loss(ring, values, scale, weights):
        out = deliver(ring, values, args[2], scale, weights, case.table, clear)
        return jnp.sum(out * cotangent)

    return jax.jit(jax.grad(loss, argnums=(0, 1, 2, 3)))(args[0], args[1], args[3], args[4])


@pytest.mark.parametrize("clear", [False, True])
def test_gradients_equal_the_oracle(x64, clear):
    case = make_case(np.float64)
    ring, values, step, scale, _ = (x[0] for x in operands(case, (1,), np.float64))
    assert (values == 0).any()
    assert (values != 0).any()
    by_connection = np.random.default_rng(2).normal(size=len(case.connections))
    own = np.isin(np.arange(len(case.connections)), case.column)
    by_connection = np.where(own, by_connection, 1.0)
    connections = [(*c[:3], w, *c[4:]) for c, w in zip(case.connections, by_connection)]
    gains = np.random.default_rng(3).normal(size=len(case.gains))
    cotangent = np.random.default_rng(4).normal(size=case.shape)
    scale, weights = case.scale_of(gains), by_connection[case.column]

    args = (ring, values, step, scale, weights)
    got = gradients(case, args, clear, cotangent)
    want = oracle.deliver_gradient(ring, int(step), connections, values, gains, cotangent)
    want_ring = want[3].copy()
    if clear:
        oracle.take(want_ring, int(step))
    by_gain = np.zeros(len(gains))
    np.add.at(by_gain, np.asarray(case.table.block_projection), np.asarray(got[2]))
    np.testing.assert_allclose(got[0], want_ring, atol=1e-13)
    np.testing.assert_allclose(got[1], want[2], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_gain, want[1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(got[3], want[0][case.column], rtol=1e-12, atol=1e-12)
    silent = np.flatnonzero(values == 0)
    assert np.abs(np.asarray(got[1])[silent]).max() > 0


def test_gradient_of_packed_spikes_is_that_of_values(x64):
    case = make_case(np.float64)
    ring, bits, step, scale, weights = (x[0] for x in operands(case, (1,), np.float64, bits=True))
    spikes = np.unpackbits(bits, bitorder="little")[:N].astype(np.float64)

    def loss(released, scale, weights):
        out = deliver(ring, released, step, scale, weights, case.table, True)
        return jnp.sum(jnp.sin(out))

    gradient = jax.jit(jax.grad(loss, argnums=(1, 2)))
    of_bits, of_values = gradient(bits, scale, weights), gradient(spikes, scale, weights)
    for a, b in zip(of_bits, of_values):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
        assert np.abs(a).max() > 0


@pytest.mark.slow
def test_vmap_of_grad_and_grad_of_vmap_agree(x64):
    case = make_case(np.float64)
    args = operands(case, (3,), np.float64)
    weights = args[4][0]  # shared by the batch

    def loss(ring, values, step, scale, weights):
        out = deliver(ring, values, step, scale, weights, case.table, True)
        return jnp.sum(jnp.sin(out))

    def total(ring, values, step, scale, weights):
        return jnp.sum(jax.vmap(loss, (0, 0, 0, 0, None))(ring, values, step, scale, weights))

    wanted = (0, 1, 3, 4)
    per_member = jax.jit(jax.vmap(jax.grad(loss, wanted), (0, 0, 0, 0, None)))(*args[:4], weights)
    whole = jax.jit(jax.grad(total, wanted))(*args[:4], weights)
    per_member, whole = jax.tree.map(np.asarray, (per_member, whole))
    alone = jax.jit(jax.grad(loss, wanted))
    for i, (a, b) in enumerate(zip(per_member, whole)):
        a = a.sum(axis=0) if i == 3 else a
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    for i in range(3):
        single = alone(*(x[i] for x in args[:4]), weights)
        for a, b in zip(per_member, single):
            np.testing.assert_allclose(a[i], b, rtol=1e-12, atol=1e-13)


def test_gradients_pass_a_loop(x64):
    # Two deliveries in a scan: the gradient of a gain equals central differences.
    case = make_case(np.float64)
    ring, values, _, scale, weights = (x[0] for x in operands(case, (1,), np.float64))

    @jax.jit
    def loss(scale):
        def body(ring, step):
            return deliver(ring, values, step, scale, weights, case.table, True), None

        return jnp.sum(jnp.sin(jax.lax.scan(body, ring, np.arange(2, dtype=np.int32))[0]))

    got = jax.jit(jax.grad(loss))(scale)
    for i in range(scale.shape[0]):
        h = np.where(np.arange(scale.shape[0]) == i, 1e-6, 0.0)
        slope = (loss(scale + h) - loss(scale - h)) / 2e-6
        np.testing.assert_allclose(got[i], slope, rtol=1e-6, atol=1e-7)


def test_every_device_of_a_mesh_delivers_into_its_own_ring():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("networks",))
    over, args = jax.sharding.PartitionSpec("networks"), operands(CASE, (4,), jnp.float32)

    def mine(*args):
        return one(*(x[0] for x in args))[None]

    got = jax.jit(jax.shard_map(mine, mesh=mesh, in_specs=over, out_specs=over))(*args)
    for i in range(4):
        np.testing.assert_array_equal(got[i], ONE(*(x[i] for x in args)))
