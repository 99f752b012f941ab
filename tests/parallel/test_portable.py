"""States that move from one number of devices to another."""

import dataclasses

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

import jaxneuro as jn
from tests import zoo
from tests.laws.test_traced import GIVEN
from tests.network.networks import balanced

LEARNED = {
    "E->E": jn.plasticity.PairSTDP(w_max=12.0),
    "I->E": jn.plasticity.VogelsSTDP.with_target(10.0, w_max=200.0),
}


def over(net, devices, partition=None):
    return jn.parallel.shard(net, Mesh(np.array(jax.devices()[:devices]), ("d",)), partition)


@pytest.fixture(scope="module", params=["static", "plastic"])
def networks(request):
    """One network on one device, on two and on three."""
    made = balanced(delay=jn.Uniform(0.5, 6.0))
    if request.param == "plastic":
        learned = [dataclasses.replace(p, plasticity=LEARNED.get(p.name)) for p in made.projections]
        made = dataclasses.replace(made, projections=learned)
    one = jn.build(made, 1, 0.1)
    return one, over(one, 2), over(one, 3, jn.parallel.RoundRobin())


@pytest.mark.slow(but=["static-1-0"])
@pytest.mark.parametrize(("begins", "goes_on"), [(0, 1), (1, 0), (2, 1), (1, 1)])
def test_a_saved_state_goes_on_over_another_number_of_devices(networks, begins, goes_on, tmp_path):
    one, here, there = networks[0], networks[begins], networks[goes_on]
    plastic = [p.plastic.name for p in one.pathways if p.plastic is not None]
    whole = jn.simulate(one, 120.0, key=2)
    first = jn.simulate(here, 70.0, key=2)
    jn.checkpoint.save(tmp_path / "state.npz", here.as_one_device(first.state))
    rest = jn.simulate(there, 50.0, state=jn.checkpoint.load(tmp_path / "state.npz", there))
    for name in one.order:
        for mine, its in zip(rest.events(name), whole.events(name, 70.0, 120.0)):
            np.testing.assert_array_equal(mine, its)
        v = (net.read(x.state, name, "v") for net, x in ((one, whole), (there, rest)))
        # Rows of plastic synapses were brought up to date in between, which rounds once more.
        np.testing.assert_allclose(*map(np.asarray, v), rtol=1e-6 if plastic else 0)
    assert rest.events("E")[0].size > 10
    for name in plastic:
        mine, its = (
            np.asarray(net.weights(x.state, name)) for net, x in ((there, rest), (one, whole))
        )
        np.testing.assert_allclose(mine, its, rtol=3e-6)


@pytest.mark.slow
def test_a_state_of_one_device_is_taken_by_simulate(networks):
    one, two, _ = networks
    first = jn.simulate(two, 20.0, key=2)
    moved = two.as_one_device(first.state)
    a, b = (jn.simulate(net, 20.0, state=moved) for net in (one, two))
    for name in one.order:
        for mine, its in zip(a.events(name), b.events(name)):
            np.testing.assert_array_equal(mine, its)
    assert one.as_one_device(moved) is moved
    with pytest.raises(jn.InvalidValueError, match="another description"):
        jn.simulate(one, 1.0, state=first)


def test_a_run_over_devices_is_saved(networks, tmp_path):
    one, two, _ = networks
    for ms in (15.0, 40.0):
        saved = jn.simulate(two, ms, key=2, save=tmp_path, every=10.0)
    whole = jn.simulate(two, 40.0, key=2)
    for name in one.order:
        for mine, its in zip(saved.events(name), whole.events(name)):
            np.testing.assert_array_equal(mine, its)
    for mine, its in zip(jax.tree.leaves(saved.state), jax.tree.leaves(whole.state)):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(its))


LIF, SYNAPSE = jn.neurons.LIF(), jn.synapses.Exponential(5.0)


def around(models, sizes=(150, 9), parts=(...,)):
    """A description with two populations for each stimulus, release or rule of plasticity.

    At these sizes the streams of stimuli are given per run on one device, and per neuron on each of
    two or three.
    """
    cells, wires, drives, couplings = [], [], [], []
    for k, model in models.items():
        ends = f"A {k}", f"B {k}", jn.connectivity.FixedProbability(0.2)
        v = {"v": jn.Uniform(-70.0, -50.0)}
        cells += [jn.Population(name, n, LIF, initial=v) for name, n in zip(ends, sizes)]
        drives += [jn.Stimulation(name, jn.stimuli.Current(500.0)) for name in ends[:2]]
        wire = {"weight": 20.0, "delay": 0.7, "synapse": SYNAPSE}
        if isinstance(model, jn.Stimulus):
            more = {"weight": 90.0, "synapse": SYNAPSE}
            more = more if isinstance(model, jn.SpikeStimulus) else {}
            for name, part in ((name, part) for name in ends[:2] for part in parts):
                target = name if part is ... else jn.Part(name, part)
                drives.append(jn.Stimulation(target, model, name=f"{len(drives)}", **more))
        elif isinstance(model, jn.Plasticity):
            wires.append(jn.Projection(*ends, plasticity=model, **wire | {"weight": 0.5}))
        else:
            wires.append(jn.Projection(*ends, release=model, **wire))
            graded = {"release": model, "synapse": SYNAPSE, "name": f"graded {k}"}
            couplings.append(jn.Coupling(*ends, weight=0.1, **graded))
    return jn.Description(cells, wires, drives, couplings=couplings)


def of_the_zoo(role):
    return {k: x.model for k, x in zoo.CASES.items() if isinstance(x.model, role)}


RULES = {k: getattr(jn.plasticity, k)(**GIVEN.get(k, {})) for k in jn.plasticity.__all__}
POISSON, GAMMA = ({k: zoo.CASES[k].model} for k in ("Poisson", "Gamma"))
SHORT_TERM = {"": jn.release.TsodyksMarkram()}
DESCRIPTIONS = {
    "stimuli": around(of_the_zoo(jn.Stimulus)),
    "releases": around(of_the_zoo(jn.Release)),
    "rules": around(RULES),
    "Gamma": around(GAMMA),
    "Poisson, few": around(POISSON, (31, 9)),
    "Poisson, many": around(POISSON, (410, 9)),
    "Poisson, of some": around(POISSON, parts=(slice(1, 5), slice(5, 9), [0, 2, 3, 7])),
    "TsodyksMarkram": around(SHORT_TERM),
    "nobody": around(SHORT_TERM, (150, 0)),
}


THOROUGH = [pytest.param(name, marks=pytest.mark.thorough) for name in ("stimuli", "releases")]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*THOROUGH, *list(DESCRIPTIONS)[2:]])
def test_any_state_goes_on_over_any_number_of_devices(name, tmp_path):
    """Of every stimulus, release and rule, from 1, 2 and 3 devices to 1, 2 and 3."""
    one = jn.build(DESCRIPTIONS[name], 1, 0.1)
    nets = one, over(one, 2), over(one, 3, jn.parallel.RoundRobin())
    plastic = [p.plastic.name for p in one.pathways if p.plastic is not None]
    given = {"inputs": dict.fromkeys(one.signals, 0.5)}
    whole = jn.simulate(one, 20.0, key=2, **given)
    assert all(whole.events(name, 10.0)[0].size > 9 for name in one.order if name[0] == "A")
    weights = {name: one.weights(whole.state, name) for name in plastic}
    states = []
    for begins in nets:
        first = jn.simulate(begins, 10.0, key=2, **given)
        states.append(begins.as_one_device(first.state))
        jn.checkpoint.save(tmp_path / "state.npz", states[-1])
        for goes_on in nets:
            rest = jn.simulate(goes_on, 10.0, state=states[-1], **given)
            loaded = jn.checkpoint.load(tmp_path / "state.npz", goes_on)
            assert_equal(loaded, goes_on.laid(states[-1]))
            for population in one.order:
                assert_equal(rest.events(population), whole.events(population, 10.0))
            end = goes_on.as_one_device(rest.state)
            if not plastic:
                assert_equal(end, whole.state)
            for projection, expected in weights.items():
                found = one.weights(end, projection)
                np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=3e-6)
    if not plastic:
        assert_equal(states, [states[0]] * 3)


def assert_equal(mine, its):
    jax.tree.map(np.testing.assert_array_equal, mine, its)
