"""Stimuli with tables, chosen records and chosen sizes give the same bits over a mesh."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import parallel, stimuli

from .networks import LIF, RULE, mesh

EXCITE = jn.synapses.ExponentialConductance(5.0)
TIMES = np.arange(6) * 5.0
JUMPS = np.array([0.0, 400.0, 0.0, 800.0, 100.0, 600.0])
SOME = jn.Part("E", [0, 2, 3, 5, 7, 8])


def on(target, stimulus, **more):
    size = 6 if target == "E" else 9
    return jn.Description(
        [jn.Population("E", size, LIF, initial={"v": jn.Uniform(-60.0, -50.0)})],
        [],
        [jn.Stimulation(target, stimulus, **more)],
    )


# As many entries in a table as neurons are driven: nothing may take one for the other.
CASES = {
    "steps": on("E", stimuli.Current(stimuli.Steps(TIMES, JUMPS))),
    "of some": on(SOME, stimuli.Current(stimuli.Steps(TIMES, JUMPS))),
    "each": on("E", stimuli.Current(stimuli.Steps(TIMES, np.outer(JUMPS, np.arange(6.0) / 3)))),
    "rates": on(
        "E", stimuli.Poisson(stimuli.Steps(TIMES, 20 * JUMPS)), weight=40.0, synapse=EXCITE
    ),
    "times": on(
        SOME,
        stimuli.SpikeTimes(np.array([2.0, 6.0, 9.0]), np.array([0, 4, 1])),
        weight=np.array([500.0, 400.0, 1.0, 1.0, 600.0, 1.0]),
        synapse=EXCITE,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_stimuli_with_tables(name):
    net = jn.build(CASES[name], key=1, dt=0.1)
    laid = parallel.shard(net, mesh(3), parallel.RoundRobin())
    chosen = np.arange(net.n_neurons)[::2]
    record = jn.Record(variables={"E": "v"}, neurons={"E": chosen}, interval=2.5)
    one, many = (jn.simulate(x, 30.0, key=3, record=record) for x in (net, laid))
    assert one.events("E")[0].size > 2
    for a, b in zip(one.events("E"), many.events("E")):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.traces["E"]["v"], many.traces["E"]["v"])


@pytest.mark.slow(but=["after another"])
@pytest.mark.parametrize("before", [(), (9,)], ids=["alone", "after another"])
def test_conductances_of_gap_junctions_are_set_and_checked(before):
    """Those of a population, which may come after another one of its group on each device."""
    cells = [jn.Population("A", n, jn.neurons.AdEx()) for n in before]
    cells += [jn.Population("E", 20, jn.neurons.AdEx())]
    d = jn.Description(cells, couplings=[jn.Coupling("E", "E", RULE, weight=0.1)])
    net = jn.build(d, key=1, dt=0.1)
    laid = parallel.shard(net, mesh(4))
    assert repr(laid).split(",")[3] == repr(net).split(",")[3]  # how many neighbours
    assert float(laid.set("E~E", weight=0.2).couplings[0].weight) == np.float32(0.2)
    refused = []
    for x in (net, laid):
        with pytest.raises(ValueError, match="coupling 'E~E': weight must") as error:
            x.set("E~E", weight=1e6)
        refused.append(str(error.value))
    assert refused[0] == refused[1]  # of the same neuron


@pytest.mark.slow
def test_meshes_of_make_mesh_and_runs_of_any_length():
    """A run whose steps have no divisor still exchanges once per shortest delay."""
    d = jn.Description(
        [jn.Population("E", 9, LIF, initial={"v": jn.Uniform(-60.0, -50.0)})],
        [
            jn.Projection("E", "E", RULE, weight=5.0, delay=1.5, synapse=EXCITE),
            jn.Projection(
                *("E", "E", jn.connectivity.FixedProbability(0.0)),
                weight=1.0,
                delay=0.1,
                synapse=EXCITE,
                name="none",
            ),
        ],
        [jn.Stimulation("E", jn.stimuli.Current(300.0))],
    )
    net = jn.build(d, key=1, dt=0.1)
    made = jax.make_mesh((8,), ("devices",))
    laid, built = parallel.shard(net, made), jn.build(d, key=1, dt=0.1, mesh=made)
    assert laid.layout.shortest == built.layout.shortest == 15
    one, many = (jn.simulate(x, 100.9, key=3) for x in (net, laid))
    assert one.events("E")[0].size > 20
    for a, b in zip(one.events("E"), many.events("E")):
        np.testing.assert_array_equal(a, b)


def test_parts_are_equal_but_for_one_neuron():
    d = jn.Description([jn.Population("E", 9, LIF), jn.Population("I", 21, LIF)])
    found = parallel.report(jn.build(d, key=1, dt=0.1), parallel.Contiguous(), 8)
    assert found.neurons.min() == 3
    assert found.neurons.max() <= 5
