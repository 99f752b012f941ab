"""Networks of thousands of neurons give the same bits on 1, 2, 4 and 8 devices, however cut.

COBA, Brunel's network at tenth scale with STDP, the microcircuit at tenth scale, and a network with
Poisson input, delays of all lengths and gap junctions. Every spike, every voltage each 5 ms and at
the end, and every plastic weight, against the network that is on no mesh.
"""

import dataclasses

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from benchmarks._balanced import coba
from examples.cortical_microcircuit import description as microcircuit
from jaxneuro import parallel

pytestmark = pytest.mark.science
POSITIONS = jn.space.UniformBox((0.0, 0.0, 0.0), (1000.0, 1000.0, 300.0))


def placed(d):
    """The description with positions, which some partitions need."""
    cells = [dataclasses.replace(p, positions=POSITIONS) for p in d.populations]
    return dataclasses.replace(d, populations=cells)


def brunel():
    """1,250 neurons with the statistics of Brunel (2000), and STDP between excitatory ones."""
    sizes, J = {"E": 1000, "I": 250}, 1.0
    neuron = jn.neurons.LIF(tau_m=20.0, e_l=0.0, v_th=20.0, v_reset=10.0, t_ref=2.0)
    delta = jn.synapses.Delta()
    outside = jn.stimuli.Poisson(2000.0)
    wires = [
        jn.Projection(
            *(source, target, jn.connectivity.FixedIndegree(n // 10)),
            weight=J if source == "E" else -5.0 * J,
            delay=1.5,
            synapse=delta,
        )
        for source, n in sizes.items()
        for target in sizes
    ]
    rule = jn.plasticity.PairSTDP(w_max=2.0 * J)
    learns = {"weight": jn.Uniform(0.8 * J, 1.2 * J), "plasticity": rule}
    return jn.Description(
        [jn.Population(k, n, neuron, {"v": jn.Uniform(0.0, 20.0)}) for k, n in sizes.items()],
        [dataclasses.replace(wires[0], **learns), *wires[1:]],
        [jn.Stimulation(k, outside, weight=J, synapse=delta) for k in sizes],
    )


def gaps():
    """1,000 neurons; a fifth sees voltages of its neighbours, another kind has no gap junctions."""
    neuron = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=2.0)
    start, noise = {"v": jn.Uniform(-60.0, -50.0)}, jn.stimuli.Poisson(900.0)
    excite, inhibit = (jn.synapses.ExponentialConductance(t, e) for t, e in ((5, 0), (10, -80)))
    rule = jn.connectivity.FixedProbability(0.1)
    cells = {"E": neuron, "I": neuron, "A": jn.neurons.ALIF()}
    sizes = dict(zip(cells, (700, 200, 100)))
    wires = [
        jn.Projection("E", name, rule, weight=jn.Uniform(0.5, 2.0), delay=delay, synapse=excite)
        for name, delay in zip(cells, (jn.Uniform(0.3, 6.0), jn.Normal(2.0, 1.0, low=0.1), 1.5))
    ]
    wires.append(jn.Projection("I", "E", rule, weight=6.0, delay=0.8, synapse=inhibit))
    return jn.Description(
        [jn.Population(k, n, cells[k], start) for k, n in sizes.items()],
        wires,
        [
            *(jn.Stimulation(k, noise, weight=4.0, synapse=excite) for k in "EI"),
            jn.Stimulation("A", jn.stimuli.Current(500.0)),
            jn.Stimulation(jn.Part("E", range(3, 700, 7)), jn.stimuli.Current(100.0), name="some"),
        ],
        couplings=[jn.Coupling("I", "I", rule, weight=jn.Uniform(0.1, 0.5))],
    )


class Scattered(parallel.Partition):
    """Neurons anywhere but on device 0, which has none; the last population on one device."""

    def owners(self, net, devices):
        rng = np.random.default_rng(devices)
        first, last = min(1, devices - 1), list(net.populations)[-1]
        owners = {k: rng.integers(first, devices, n) for k, n in net.populations.items()}
        return owners | {last: np.full(net.populations[last], devices - 1)}


PARTITIONS = (
    parallel.Contiguous(),
    parallel.RoundRobin(),
    parallel.AlongAxis(0),
    parallel.Morton(),
    parallel.KMeans(),
    parallel.Metis(),
    Scattered(),
)
# Every partition with every network, on other numbers of devices.
SOME = (1, 2, 4, 8, 2, 4, 8)
NETWORKS = {
    "coba": (coba(4000), 50.0),
    "brunel": (brunel(), 100.0),
    "microcircuit": (microcircuit(0.1), 50.0),
    "gaps": (gaps(), 100.0),
}


def seen(net, ms):
    """Spikes, voltages and plastic weights of a run, by name."""
    record = jn.Record(variables=dict.fromkeys(net.populations, "v"), interval=5.0)
    result = jn.simulate(net, ms, key=3, record=record)
    found = {}
    for name in net.populations:
        found[name, "steps"], found[name, "neurons"] = result.events(name)
        found[name, "v"] = result.traces[name]["v"]
        found[name, "last v"] = net.read(result.state, name, "v")
    for p in net.pathways:
        if p.plastic is not None:
            found[p.projections[0], "weights"] = net.weights(result.state, p.projections[0])
    return {key: np.asarray(x) for key, x in found.items()}


@pytest.mark.parametrize("name", NETWORKS)
def test_same_bits_on_any_number_of_devices(name):
    d, ms = NETWORKS[name]
    net = jn.build(placed(d), key=1, dt=0.1)
    one = seen(net, ms)
    assert all(one[k, "steps"].size > 20 for k in net.populations)
    for p in net.pathways:
        if p.plastic is not None:
            start = net.connections(p.projections[0]).weight
            assert np.mean(one[p.projections[0], "weights"] != start) > 0.5
    shift = 2 * list(NETWORKS).index(name)
    for partition, devices in zip(PARTITIONS, np.roll(SOME, shift)):
        if isinstance(partition, parallel.Metis):
            pytest.importorskip("pymetis")
        mesh = Mesh(np.array(jax.devices()[:devices]), ("devices",))
        laid = parallel.shard(net, mesh, partition)
        many = seen(laid, ms)
        assert many.keys() == one.keys()
        for key, x in many.items():
            np.testing.assert_array_equal(x, one[key], str((key, partition, devices)))


def test_memory_of_a_device_falls_with_their_number():
    """What the compiled loop of one device holds: its arguments, results and all in between."""
    net = jn.build(microcircuit(0.1), key=1, dt=0.1)
    run = jax.jit(lambda net, state: jn.scan(net, state, 100)[0])
    sizes = []
    for devices in (1, 2, 4, 8):
        laid = parallel.shard(net, Mesh(np.array(jax.devices()[:devices]), ("devices",)))
        memory = run.lower(laid, laid.init(0)).compile().memory_analysis()
        sizes.append(memory.argument_size_in_bytes + memory.temp_size_in_bytes)
    print("bytes of a device, of 1, 2, 4 and 8:", sizes)
    # What does not fall: pointers to the rows of all sources, and which device has which neuron.
    for k, size in enumerate(sizes):
        assert size < sizes[0] / 2**k + 120 * net.n_neurons
