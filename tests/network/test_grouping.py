"""Populations become groups, projections pathways, equal synapses one receptor."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import (
    LIF,
    SCAN,
    SIZES,
    description,
    events,
    projection,
    random_connections,
)
from tests.refusing import assert_refused

SYNAPSE = jn.synapses.Exponential


def connect(source, target, weight=1.0, synapse=None, **options):
    rule = jn.connectivity.FixedProbability(0.5)
    options = {"delay": 0.1, "synapse": synapse or SYNAPSE(2.0), **options}
    return jn.Projection(source, target, rule, weight=weight, **options)


def build(projections, **options):
    return jn.build(description(projections=projections, **options), 0, 0.1)


@pytest.mark.slow
def test_one_model_is_one_group_and_one_pathway():
    net = build([connect(a, b) for a in SIZES for b in SIZES])
    assert [g.populations for g in net.groups] == [("A", "B", "C")]
    assert len(net.pathways) == 1
    assert len(net.pathways[0].projections) == 9
    assert [s.names for s in net.groups[0].stimuli] == [tuple(f"Current->{k}" for k in SIZES)]


def test_other_static_fields_are_another_group():
    other = jn.neurons.LIF(**LIF, surrogate=jn.surrogates.FastSigmoid())
    net = build([connect(a, b) for a in SIZES for b in SIZES], models={"B": other})
    assert sorted(g.populations for g in net.groups) == [("A", "C"), ("B",)]
    assert len(net.pathways) == 4


def test_receptors_are_shared_by_value_whatever_the_sign():
    net = build(
        [
            connect("A", "B", 1.0),
            connect("B", "B", -1.0),
            connect("C", "A", 2.0, SYNAPSE(2.0)),
            connect("C", "B", 1.0, SYNAPSE(3.0)),
            connect("A", "C", 1.0, jn.synapses.Delta()),
        ]
    )
    assert len(net.groups[0].receptors) == 3
    by_name = dict(zip(net.pathways[0].projections, net.pathways[0].inputs))
    assert by_name["A->B"] == by_name["B->B"] == by_name["C->A"]
    assert len({by_name["A->B"], by_name["C->B"], by_name["A->C"]}) == 3


def test_population_and_read():
    net = build([connect("A", "B", 3.0)])
    number, span = net.population("B")
    assert (number, span) == (0, slice(13, 33))
    state = SCAN(net, net.init(0), 200)[0]
    v = np.asarray(state.groups[0].neurons.v)
    np.testing.assert_array_equal(net.read(state, "B", "v"), v[span])
    current = net.read(state, "A->B", "current")
    assert current.shape == (20,)
    assert (current > 0).any()
    assert net.populations == SIZES
    assert net.projections == ("A->B",)
    assert_refused(lambda: net.population("D"), "", "population", "'D'")
    assert_refused(lambda: net.read(state, "B", "g"), "", "state variable of population 'B'", "'g'")


@pytest.mark.slow(but=["one"])
@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (lambda k, n: 11.0, ()),
        (lambda k, n: {"A": 10.0, "B": 11.0, "C": 12.5}[k], (3,)),
        (lambda k, n: np.full(n, 11.0) if k == "B" else 12.0, (40,)),
    ],
    ids=["one", "populations", "neurons"],
)
def test_shape_of_a_merged_parameter(value, shape, x64):
    """As many numbers as are needed, and the spikes of one number per neuron."""
    rng = np.random.default_rng(0)
    connections = [random_connections(rng, SIZES, k, "fast", 5) for k in range(4)]
    projections = [projection(c) for c in connections]

    def spikes(spread):
        models = {}
        for name, n in SIZES.items():
            tau = value(name, n)
            tau = np.full(n, tau) if spread and np.ndim(tau) == 0 else tau
            models[name] = jn.neurons.LIF(**{**LIF, "tau_m": tau})
        net = jn.build(description(projections=projections, models=models), 0, 0.1, jnp.float64)
        return net.groups[0].model.tau_m.shape, events(net, 300)

    got, fired = spikes(False)
    whole, expected = spikes(True)
    assert (got, whole) == (shape, (40,))
    assert fired == expected
    assert sum(map(len, fired.values())) > 50


def test_every_population_of_one_neuron():
    """(populations,) and (n,) are one shape then."""
    sizes = {"A": 1, "B": 1, "C": 1}
    models = {k: jn.neurons.LIF(**{**LIF, "tau_m": t}) for k, t in zip(sizes, (8.0, 10.0, 14.0))}
    net = jn.build(description(sizes=sizes, models=models), 0, 0.1)
    changed = net.set("B", tau_m=np.float32([9.0]))
    np.testing.assert_array_equal(changed.groups[0].model.tau_m, np.float32([8.0, 9.0, 14.0]))
    assert events(net, 200)["A"] == events(changed, 200)["A"]


def test_synapse_parameters_per_neuron():
    tau = np.linspace(1.0, 5.0, 20)
    one = build([connect("A", "B", 40.0, SYNAPSE(tau))])
    assert one.groups[0].receptors[0].tau_syn.shape == (40,)
    state = SCAN(one, one.init(0), 200)[0]
    assert one.read(state, "A->B", "current").shape == (20,)


def test_stimuli_in_layers():
    """Two stimuli of one kind onto one population add up."""
    current = jn.stimuli.Current
    population = jn.Population("A", 4, jn.neurons.LIF())
    two = [jn.Stimulation("A", current(x), name=f"s{x}") for x in (100.0, 300.0)]
    net = jn.build(jn.Description([population], (), two), 0, 0.1)
    one = jn.build(jn.Description([population], (), [jn.Stimulation("A", current(400.0))]), 0, 0.1)
    assert len(net.groups[0].stimuli) == 2
    assert events(net, 300) == events(one, 300)
    assert len(events(one, 300)["A"]) > 0
