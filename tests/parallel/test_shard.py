"""A network over a mesh gives the bits of one device, whatever the partition."""

import math
import operator
import re

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from jaxneuro import parallel
from jaxneuro._kernels.poisson import poisson
from jaxneuro._network import shards
from jaxneuro._network.shards import shard_layout
from jaxneuro._numerics.streams import Stream
from jaxneuro._run import chunks as _plan
from tests.refusing import assert_refused

from .networks import STEPS, alone, assert_same, delayed, driven, every_step, mesh

TWO_AXES = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("hosts", "devices"))


@pytest.mark.slow(but=["devices"])
@pytest.mark.parametrize(
    ("make", "mesh", "axis"),
    [(delayed, mesh(8), None), (every_step, TWO_AXES, ("hosts", "devices"))],
    ids=("devices", "hosts-and-devices"),
)
def test_same_bits_as_on_one_device(make, mesh, axis):
    one, record = alone(make)
    assert all(len(one.events(name)[0]) > 20 for name in one.populations)
    net = parallel.shard(make(), mesh, axis=axis)
    assert net.n_synapses == make().n_synapses
    many = jn.simulate(net, one.duration, key=3, record=record)
    assert_same(one, many)


def random_owners(devices):
    rng = np.random.default_rng(4)
    return {"E": rng.integers(0, devices, 93), "I": np.full(30, 1)}  # device 1 has all of I


@pytest.mark.slow
def test_same_bits_with_any_partition():
    """Neurons anywhere, and devices without a neuron of a population, or without any."""
    one, record = alone(delayed)
    net = parallel.shard(delayed(), mesh(3), parallel.Given(random_owners(2)))
    many = jn.simulate(net, one.duration, key=3, record=record)
    assert_same(one, many)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_run_in_several_chunks_and_no_device_has_the_rings_of_all(monkeypatch):
    """One program takes the state of the start and that of the chunk before."""
    net = parallel.shard(delayed(), mesh(4))
    start = net.init(3)
    for group in start.groups:
        for x in (group.ring, *jax.tree.leaves(group.neurons)):
            assert x.shape[0] == 4
            assert x.addressable_shards[0].data.shape[0] == 1
    one = jn.simulate(delayed(), 20.0, key=3)
    monkeypatch.setattr(_plan, "chunk_steps", lambda *_: 50)
    assert_same(one, jn.simulate(net, 20.0, key=3))


@pytest.mark.slow
def test_a_state_of_another_partition_is_refused(tmp_path):
    net = delayed()
    a, b = (parallel.shard(net, mesh(2), x) for x in (None, parallel.RoundRobin()))
    result = jn.simulate(a, 1.0, key=3)
    for other in (net, b):
        with pytest.raises(ValueError, match="key, dt, dtype or partition"):
            jn.simulate(other, 1.0, state=result)
    result.save(tmp_path / "r.npz")
    more = jn.simulate(a, 3.0, state=jn.Result.load(tmp_path / "r.npz"))
    assert_same(more, jn.simulate(a, 3.0, state=result))


def moved(shape):
    """Bytes of an array as a compiled program writes it, such as f32[4,10]{1,0}."""
    kind, sizes = re.match(r"([a-z]+\d+)\[([\d,]*)\]", shape).groups()
    return (
        int(kind.strip("abcdefghijklmnopqrstuvwxyz")) // 8 * math.prod(map(int, sizes.split(",")))
    )


def exchanged(text):
    """The array that each exchange of a compiled program makes, such as f32[4,10]{1,0}."""
    native = r'custom-call\(.*custom_call_target="jaxneuro_exchange"'
    return re.findall(rf"= (\S+) (?:all-gather(?:-start)?\(|{native})", text)


@pytest.mark.slow
def test_one_exchange_per_shortest_delay_and_no_connections_in_it():
    """Collectives of the compiled loop, by name: spikes of both groups and values of releases."""
    for make, together in ((delayed, 5), (every_step, 1)):
        net = parallel.shard(make(), mesh(4))
        assert net.expand().steps_together(100) == together
        run = jax.jit(lambda net, state: jn.scan(net, state, 100)[0])
        text = run.lower(net, net.init(0)).compile().as_text()
        gathers = exchanged(text)
        assert gathers
        assert not re.findall(r" (all-to-all|all-reduce|collective-permute)(?:-start)?\(", text)
        most = together * 4 * max(shards.places for shards in net.layout.groups)
        for shape in gathers:
            numbers = [int(x) for x in re.findall(r"\[([\d,]*)\]", shape)[0].split(",") if x]
            assert np.prod(numbers) <= most
        spikes = [s for s in gathers if s.startswith("u8")]
        assert all(f",{together}," in s or together == 1 for s in spikes)
        # What is brought together, one device of 4 has already; the report says the rest.
        told = parallel.report(make(), parallel.Contiguous(), mesh(4))
        assert told.exchanges_per_s == 1e4 / together
        assert told.spike_bytes_per_s == sum(map(moved, spikes)) * 3 / 4 * told.exchanges_per_s
        values = [s for s in gathers if not s.startswith("u8")]
        assert told.value_bytes_per_s == sum(map(moved, values)) * 3 / 4 * told.exchanges_per_s


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


@pytest.mark.slow
def test_bad_input():
    net = delayed()
    two = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("host", "device"))
    laid = parallel.shard(net, mesh(2))
    for why, call in (
        ("no axis of the mesh named 'x'", lambda: parallel.shard(net, mesh(2), axis="x")),
        ("shard: axis must", lambda: parallel.shard(net, two)),
        ("over a mesh already", lambda: parallel.shard(laid, mesh(2))),
        ("partition must be a Partition", lambda: parallel.shard(net, mesh(2), 3)),
        ("a whole number for each of the 93", lambda: shard_given({"E": [0, 1]})),
        ("devices from 0 to 1; got 0 to 7", lambda: shard_given({"E": np.arange(93) % 8})),
        ("Given: there is no population named 'X'", lambda: shard_given({"X": [0]})),
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
    assert_refused(lambda: parallel.shard(net, mesh(4)), "shard", "mesh", "4 devices")
    assert parallel.shard(net, mesh(3)).populations == {"E": 3}


@pytest.mark.slow
def test_lists_of_spikes_instead_of_bits(monkeypatch):
    """Lists where all are short enough, bits in the windows in which one is not: the same bits."""
    monkeypatch.setattr(shards, "_LEAST", 3)
    one, record = alone(delayed)
    laid = parallel.shard(delayed(), mesh(2), parallel.RoundRobin(), rate=1.0)
    lengths = [shards.list_length(s, 5, laid.layout.share) for s in laid.layout.groups]
    (number,) = {delayed().population(name)[0] for name in "EI"}
    room, most = lengths[number], []
    for device in range(2):
        steps = np.concatenate([t[i % 2 == device] for t, i in (one.events(name) for name in "EI")])
        most.append(np.histogram(steps, np.arange(0, STEPS * 0.1 + 0.5, 0.5))[0])
    busy = np.max(most, axis=0) > room
    assert room
    assert 3 < busy.sum() < busy.size - 3
    assert_same(one, jn.simulate(laid, one.duration, key=3, record=record))


@pytest.mark.slow
def test_a_batch_of_networks_over_a_mesh():
    """Each of a batch has the bits that it has on one device."""
    net = driven()

    def run(gain, net):
        changed = net.set("E->E", gain=gain)
        state, _ = jn.scan(changed, changed.init(3), 100, record=jn.Record(spikes=False))
        return changed.read(state, "E", "v")

    batch = jax.jit(jax.vmap(run, (0, None)))
    gains = np.array([0.5, 1.0], np.float32)
    one = np.asarray(batch(gains, net))
    assert (one[0] != one[1]).any()
    np.testing.assert_array_equal(batch(gains, parallel.shard(net, mesh(4))), one)


def test_streams_keep_their_runs():
    """Neurons draw the same on any device, with a key per population where these are large."""
    rng = np.random.default_rng(3)
    owners = {"E": rng.integers(0, 2, 400), "I": rng.integers(0, 2, 200)}
    places = shard_layout(owners, 2)
    words = rng.integers(0, 2**32, (2, 2), np.uint32)
    stream = Stream(words[0], words[1], np.array([0, 7], np.uint32), (400, 200))
    means, order = np.repeat(np.float32([0.3, 6.0]), [400, 200]), np.asarray(places.order)

    @jax.jit
    def draws(stream, means):
        cut = places.split(stream)
        assert cut.sizes == places.sizes
        here = [
            poisson(jax.tree.map(device, cut), 5, means[device(order)])
            for device in (operator.itemgetter(0), operator.itemgetter(1))
        ]
        back = places.whole(cut)
        assert back.sizes == stream.sizes
        return poisson(stream, 5, means), here, poisson(back, 5, means)

    whole, here, back = draws(stream, means)
    np.testing.assert_array_equal(back, whole)
    np.testing.assert_array_equal(np.stack(here), np.asarray(whole)[order])
