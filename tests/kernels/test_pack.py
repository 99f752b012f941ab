"""`pack` against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxneuro._kernels.bits import pack, pack_reference, packed_bytes
from jaxneuro._kernels.native import native_available
from tests.strategies import packed

# Every size around whole words, and every kind of leading axes: each pair is a program.
SHAPES = [(0,), (2, 3, 0), (1,), (1, 7), (8,), (3, 63), (64,), (2, 3, 65), (127,), (0, 128)]
SHAPES += [(1, 129), (3, 203), (300,)]


def expected(spikes):
    padded = np.zeros((*spikes.shape[:-1], 8 * packed_bytes(spikes.shape[-1])), bool)
    padded[..., : spikes.shape[-1]] = spikes
    return np.packbits(padded, axis=-1, bitorder="little")


@jax.jit
def both(spikes):
    return pack(spikes), pack_reference(spikes)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_numpy_for_every_shape(shape):
    for seed in range(3):
        spikes = np.random.default_rng(seed).random(shape) < 0.4
        want = expected(spikes)
        assert want.shape == (*shape[:-1], 8 * -(-shape[-1] // 64))
        for got in both(spikes):
            assert got.dtype == jnp.uint8
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("n", [1, 64, 65, 200])
@pytest.mark.parametrize("every", [True, False])
def test_all_spiking_and_nobody_spiking(n, every):
    spikes = np.full(n, every)
    got = np.asarray(pack(jnp.asarray(spikes)))
    np.testing.assert_array_equal(got, packed(spikes))
    assert int(np.unpackbits(got).sum()) == n * every


@pytest.mark.parametrize("i", range(0, 130, 9))
def test_one_neuron_is_one_bit(i):
    spikes = np.arange(130) == i
    got = np.asarray(pack(jnp.asarray(spikes)))
    assert got[i // 8] == 1 << (i % 8)
    assert np.count_nonzero(got) == 1


@pytest.mark.parametrize("shape", [(4, 70), (2, 3, 64), (5, 0)])
def test_vmap_and_jit_equal_the_loop(shape):
    spikes = np.random.default_rng(0).random(shape) < 0.5
    f = pack
    for _ in shape[:-1]:
        f = jax.vmap(f)
    np.testing.assert_array_equal(jax.jit(f)(spikes), expected(spikes))
    moved = jax.jit(jax.vmap(pack, in_axes=-2))(spikes)
    np.testing.assert_array_equal(moved, np.moveaxis(expected(spikes), -2, 0))


@pytest.mark.skipif(not native_available(), reason="there is no native kernel here")
def test_the_native_kernel_is_what_runs():
    text = jax.jit(pack).lower(jnp.zeros(70, bool)).compile().as_text()
    assert "jaxneuro_pack" in text


def test_every_device_of_a_mesh_packs_its_own():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("cells",))
    over, spikes = jax.sharding.PartitionSpec("cells"), np.random.default_rng(0).random(512) < 0.3
    got = jax.jit(jax.shard_map(pack, mesh=mesh, in_specs=over, out_specs=over))(spikes)
    np.testing.assert_array_equal(got, np.packbits(spikes, bitorder="little"))
