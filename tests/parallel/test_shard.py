"""A network over a mesh gives the bits of one device, whatever the partition."""

import re

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from jaxneuro import parallel

from .networks import alone, assert_same, delayed, every_step, mesh


@pytest.mark.parametrize(("make", "devices"), [(delayed, 8), (every_step, 4)])
def test_same_bits_as_on_one_device(make, devices):
    one, record = alone(make)
    assert all(len(one.events(name)[0]) > 20 for name in one.populations)
    net = parallel.shard(make(), mesh(devices))
    assert net.n_synapses == make().n_synapses
    many = jn.simulate(net, one.duration, key=3, record=record)
    assert_same(one, many)


def random_owners(devices):
    rng = np.random.default_rng(4)
    return {"E": rng.integers(0, devices, 93), "I": np.full(30, 1)}  # device 1 has all of I


def test_same_bits_with_any_partition():
    """Neurons anywhere, and devices without a neuron of a population, or without any."""
    one, record = alone(delayed)
    net = parallel.shard(delayed(), mesh(3), parallel.Given(random_owners(2)))
    many = jn.simulate(net, one.duration, key=3, record=record)
    assert_same(one, many)


def test_a_run_goes_on_and_its_state_is_read_and_set():
    net = every_step()
    laid = parallel.shard(net, mesh(4))
    one, record = alone(every_step)
    whole = one.state
    state = jn.simulate(laid, one.duration, key=3, record=record).state
    for name, variable in (("E", "v"), ("A", "v"), ("E->I", "g"), ("E~I", "t")):
        if variable in net.variables(whole, name):
            a, b = net.read(whole, name, variable), laid.read(state, name, variable)
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(net.weights(whole, "E->E"), laid.weights(state, "E->E"))
    for name in (*net.projections, *net.coupled):
        a, b = net.connections(name), laid.connections(name)
        for field in ("pre", "post", "weight", "delay"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    values = np.arange(93.0, dtype=np.float32) / 10 - 60
    state = laid.with_values(state, "E", v=values)
    np.testing.assert_array_equal(laid.read(state, "E", "v"), values)
    whole = net.with_values(whole, "E", v=values)
    goes_on = jn.simulate(net, one.duration, state=whole, record=record)
    assert_same(goes_on, jn.simulate(laid, one.duration, state=state, record=record))


def test_one_exchange_per_shortest_delay_and_no_connections_in_it():
    """Collectives of the compiled loop, by name: spikes of both groups and values of releases."""
    for make, together in ((delayed, 5), (every_step, 1)):
        net = parallel.shard(make(), mesh(4))
        assert net.layout.together == together
        run = jax.jit(lambda net, state: jn.scan(net, state, 100)[0])
        text = run.lower(net, net.init(0)).compile().as_text()
        gathers = re.findall(r"= (\S+) all-gather(?:-start)?\(", text)
        assert gathers
        assert not re.findall(r" (all-to-all|all-reduce|collective-permute)(?:-start)?\(", text)
        most = together * 4 * max(seats.places for seats in net.layout.groups)
        for shape in gathers:
            numbers = [int(x) for x in re.findall(r"\[([\d,]*)\]", shape)[0].split(",") if x]
            assert np.prod(numbers) <= most
        spikes = [s for s in gathers if s.startswith("u8")]
        assert all(f",{together}," in s or together == 1 for s in spikes)


def test_memory_of_a_device_falls_with_their_number():
    net = delayed()
    sizes = []
    for devices in (1, 2, 4):
        laid = parallel.shard(net, mesh(devices))
        shards = [
            x.addressable_shards[0].data.nbytes
            for p in laid.pathways
            for x in jax.tree.leaves((p.table, p.weights))
        ]
        sizes.append(sum(shards))
    assert sizes[1] < 0.65 * sizes[0]
    assert sizes[2] < 0.65 * sizes[1]


def test_bad_input():
    net = delayed()
    two = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("host", "device"))
    laid = parallel.shard(net, mesh(2))
    for why, call in (
        ("no axis of the mesh named 'x'", lambda: parallel.shard(net, mesh(2), axis="x")),
        ("axis= must name an axis", lambda: parallel.shard(net, two)),
        ("over a mesh already", lambda: parallel.shard(laid, mesh(2))),
        ("partition must be one of", lambda: parallel.shard(net, mesh(2), 3)),
        ("a whole number for each of the 93", lambda: shard_given({"E": [0, 1]})),
        ("devices from 0 to 1; got 0 to 7", lambda: shard_given({"E": np.arange(93) % 8})),
        ("no population of a partition named 'X'", lambda: shard_given({"X": [0]})),
        ("must be on one device", lambda: rewired(mesh(2))),
        ("shard: net must be", lambda: parallel.shard(3, mesh(2))),
        ("shard: mesh must be", lambda: parallel.shard(net, 3)),
    ):
        with pytest.raises(ValueError, match=re.escape(why)):
            call()


def rewired(mesh):
    net = parallel.shard(every_step(), mesh)
    return jn.rewire(net, net.init(0), 0, "E->E", below=1.0, weight=2.0)


def shard_given(devices):
    return parallel.shard(delayed(), mesh(2), parallel.Given(devices))


def test_more_devices_than_neurons():
    d = jn.Description([jn.Population("E", 3, jn.neurons.LIF())])
    net = jn.build(d, key=1, dt=0.1)
    with pytest.raises(ValueError, match="at most as many devices as neurons, 3; the mesh has 4"):
        parallel.shard(net, mesh(4))
    assert parallel.shard(net, mesh(3)).populations == {"E": 3}
