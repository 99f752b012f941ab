"""A sweep over the devices of a mesh gives the bits of one device."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from jaxneuro.parallel._sweep_program import SweepProgram

GRID = {"gain": np.linspace(0.5, 4.0, 3), "seed": np.arange(5)}


@pytest.fixture(scope="module")
def spiking():
    lif = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-40.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
    rule = jn.connectivity.FixedIndegree(10)
    synapse = jn.synapses.Exponential(5.0)
    net = jn.build(
        jn.Description(
            [jn.Population("E", 60, lif, {"v": jn.Uniform(-60.0, -50.0)})],
            [jn.Projection("E", "E", rule, weight=30.0, delay=0.3, synapse=synapse)],
            [jn.Stimulation("E", jn.stimuli.WhiteNoise(0.0, 50.0))],
        ),
        key=1,
        dt=0.1,
    )

    def fn(gain, seed):
        swept = net.set("E->E", gain=gain)
        state, recorded = jn.scan(swept, swept.init(seed), 60, record=jn.Record())
        return recorded.spikes.bits, swept.read(state, "E", "v")

    return fn


@pytest.mark.slow
def test_devices_keep_the_bits(spiking):
    one = jn.sweep(spiking, GRID)
    many = jn.sweep(spiking, GRID, mesh=Mesh(jax.devices()[:4], ("points",)))
    assert many.chunk == 16
    for x, y in zip(jax.tree.leaves(one.values), jax.tree.leaves(many.values), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_a_chunk_is_divided_and_the_network_is_not(spiking):
    mesh = Mesh(jax.devices()[:4], ("points",))
    program = SweepProgram(spiking, {"gain": np.float32(1), "seed": np.int32(1)}, mesh)
    text = program.compile(8).as_text()
    assert "all-gather" not in text
    assert "all-reduce" not in text
    assert all(len(x.sharding.device_set) == 4 for x in program._consts)
    out = program.compile(8)(
        program._consts, [np.ones(8, np.float32), np.arange(8, dtype=np.int32)]
    )
    assert all(len(x.sharding.device_set) == 4 for x in out)


@pytest.mark.slow
def test_fewer_points_than_devices():
    mesh = Mesh(jax.devices()[:8], ("points",))
    result = jn.sweep(lambda x: jnp.sin(x), {"x": np.arange(3.0)}, mesh=mesh)
    np.testing.assert_allclose(result.values, np.sin(np.arange(3.0)), rtol=1e-6)
    assert result.chunk == 8


def test_a_mesh_is_saved_and_resumed_without_one(tmp_path):
    grid = {"x": np.arange(20.0)}
    mesh = Mesh(jax.devices()[:2], ("points",))
    jn.sweep(lambda x: jnp.sin(x), grid, mesh=mesh, chunk=4, save=tmp_path)
    sorted(tmp_path.glob("part-*.npz"))[0].unlink()
    result = jn.sweep(lambda x: jnp.sin(x), grid, save=tmp_path)
    assert result.found == 16
    np.testing.assert_allclose(result.values, np.sin(grid["x"]), rtol=1e-6)
