"""Descriptions that `build` refuses, and unusual ones that it takes."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import SCAN, events
from tests.refusing import assert_refused

LIF, SYNAPSE = jn.neurons.LIF, jn.synapses.Exponential()
RULE, ALL = jn.connectivity.FixedProbability(0.1), jn.connectivity.AllToAll()
POPULATIONS = [jn.Population("E", 8, LIF()), jn.Population("I", 2, LIF())]


def project(source="E", target="I", rule=RULE, **values):
    values = {"weight": 1.0, "delay": 0.1, "synapse": SYNAPSE, **values}
    return jn.Projection(source, target, rule, **values)


def build(*projections, populations=POPULATIONS, stimuli=(), dt=0.1, **options):
    return jn.build(jn.Description(populations, projections, stimuli), 0, dt, **options)


def stimulate(target="E", amplitude=1.0):
    return jn.Stimulation(target, jn.stimuli.Current(amplitude))


def explicit(pre, post, **values):
    return project(rule=jn.connectivity.Explicit(pre, post), **values)


LINK = "projection 'E->I'"
# Kinds and bounds are tested in tests/house/test_spec.py: here rules of a description as a whole,
# and one row for each class that no other test shows to declare its fields.
REFUSED = {
    # classes that declare
    "synapse": (lambda: jn.synapses.Exponential(0.0), "Exponential", "tau_syn", "0.0"),
    "conductance": (
        lambda: jn.synapses.ExponentialConductance(np.nan),
        *("ExponentialConductance", "tau_syn", "nan"),
    ),
    "stimulus": (lambda: jn.stimuli.Current(np.nan), "Current", "amplitude", "nan"),
    "no name": (lambda: jn.Population("", 3, LIF()), "population ''", "name", "''"),
    "n": (lambda: jn.Population("E", -1, LIF()), "population 'E'", "n", "-1"),
    "a class": (lambda: jn.Population("E", 1, LIF), "population 'E'", "model", "LIF"),
    "a rule": (lambda: project(rule="all"), LINK, "rule", "'all'"),
    "a synapse": (lambda: project(synapse="exp"), LINK, "synapse", "'exp'"),
    "a plasticity": (lambda: project(plasticity=3.0), LINK, "plasticity", "3.0"),
    "weights": (lambda: project(weight=[1.0, np.inf]), LINK, "weight", "inf at index 1"),
    "gains": (lambda: project(gain=[1.0, 2.0]), LINK, "gain", "[1.0, 2.0]"),
    "nan gain": (lambda: project(gain=np.nan), LINK, "gain", "nan"),
    "no delay": (lambda: project(delay=0.0), LINK, "delay", "0.0"),
    "nan delay": (lambda: project(delay=np.nan), LINK, "delay", "nan"),
    # delays and refractory times on the grid
    "delay off the grid": (
        lambda: build(project(delay=0.25)),
        *(LINK, "delay", "0.25 ms, between 0.2 and 0.3 ms"),
    ),
    "delay below the grid": (
        lambda: build(project(delay=0.04)),
        *(LINK, "delay", "0.04 ms, between 0 and 0.1 ms"),
    ),
    "delays off the grid": (
        lambda: build(explicit([0, 1], [0, 1], delay=[0.1, 0.15])),
        *(LINK, "delay", "0.15 ms"),
    ),
    "long delay": (lambda: build(project(delay=7000.0)), LINK, "delay", "7000 ms"),
    "unbounded delay": (
        lambda: build(project(delay=jn.LogNormal(5.0, 3.0, low=1.0))),
        *(LINK, "delay", "2.74739e+10 ms"),
    ),
    "delays from 0": (
        lambda: build(project(delay=jn.Uniform(0.0, 2.0))),
        *(LINK, "delay", "a distribution that reaches down to 2.3"),
    ),
    "computed delays below a step": (
        lambda: build(project(rule=ALL, delay=lambda i, j: 0.001 + 0 * i)),
        *(LINK, "delay", "at most 0.001 ms"),
    ),
    "t_ref off the grid": (
        lambda: build(populations=[jn.Population("E", 8, LIF(t_ref=0.25))]),
        *("population 'E'", "t_ref", "0.25 ms"),
    ),
    "long t_ref": (
        lambda: build(populations=[jn.Population("E", 8, LIF(t_ref=7000.0))]),
        *("population 'E'", "t_ref", "7000 ms"),
    ),
    # names
    "source": (lambda: build(project("X")), "projection 'X->I'", "source", "'X'"),
    "target": (lambda: build(project("E", "X")), "projection 'E->X'", "target", "'X'"),
    "driven": (
        lambda: build(stimuli=[stimulate("X")]),
        *("stimulation 'Current->X'", "target", "'X'"),
    ),
    "a population as a source": (
        lambda: project(POPULATIONS[0]),
        *("projection 'Population->I'", "source", "Population"),
    ),
    "a population that is driven": (
        lambda: stimulate(POPULATIONS[0]),
        *("stimulation 'Current->Population'", "target", "Population"),
    ),
    "population twice": (
        lambda: jn.Description([POPULATIONS[0], POPULATIONS[0]]),
        *("Description", "populations", "population 'E'"),
    ),
    "projection twice": (
        lambda: build(project(), project()),
        *("Description", "projections", "projection 'E->I'"),
    ),
    "unknown start": (
        lambda: build(populations=[jn.Population("E", 1, LIF(), initial={"u": 1.0})]),
        *("population 'E'", "initial", "'u'"),
    ),
    # shapes and signs that do not fit the network
    "parameter": (
        lambda: jn.Population("E", 3, LIF(tau_m=[1.0, 2.0])),
        *("population 'E'", "tau_m", "(2,)"),
    ),
    "start": (
        lambda: jn.Population("E", 3, LIF(), initial={"v": [1.0]}),
        *("population 'E'", "initial v", "(1,)"),
    ),
    "stimuli": (
        lambda: build(stimuli=[stimulate(amplitude=[1.0, 2.0])]),
        *("stimulation 'Current->E'", "amplitude", "(2,)"),
    ),
    "synapses": (
        lambda: build(project(synapse=jn.synapses.Exponential([1.0, 2.0, 3.0]))),
        *(f"{LINK}: synapse", "tau_syn", "(3,)"),
    ),
    "random weights": (lambda: build(project(weight=[1.0, 2.0])), LINK, "weight", "(2,)"),
    "matrix": (lambda: build(project(weight=np.ones((2, 8)))), LINK, "weight", "(2, 8)"),
    "connections": (
        lambda: build(explicit([0, 1], [0, 1], weight=[1.0, 2.0, 3.0])),
        *(LINK, "weight", "(3,)"),
    ),
    "connection delays": (
        lambda: build(explicit([0], [0], delay=[0.1, 0.2])),
        *(LINK, "delay", "(2,)"),
    ),
    "index": (lambda: build(explicit([8], [0])), LINK, "pre", "8 at index 0"),
    "in-degree": (
        lambda: build(project(rule=jn.connectivity.FixedIndegree(9, multapses=False))),
        *(LINK, "k", "9"),
    ),
    "one to one": (
        lambda: build(project(rule=jn.connectivity.OneToOne())),
        *(LINK, "rule", "8 and 2"),
    ),
    "sign of the gain": (
        lambda: build(project(gain=-1.0, synapse=jn.synapses.AMPA())),
        *(LINK, "weight", "-1"),
    ),
    # arguments of build
    "dt": (lambda: build(dt=0.0), "build", "dt", "0.0"),
    "traced dt": (lambda: jax.jit(lambda dt: build(dt=dt))(0.1), "build", "description", "traced"),
    "key": (lambda: jn.build(jn.Description([]), -1, 0.1), "build", "key", "-1"),
    "dtype": (lambda: build(dtype=np.int32), "build", "dtype", "int32"),
    "64 bits": (lambda: build(dtype=np.float64), "build", "dtype", "float64"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    assert_refused(*REFUSED[case])


def test_a_network_that_does_not_fit(monkeypatch):
    """Refused with the estimate per projection, before anything is drawn."""
    from jaxneuro._build import memory
    from jaxneuro.connectivity import FixedProbability

    def never(*args):
        raise AssertionError("connections were drawn")

    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    monkeypatch.setattr(FixedProbability, "draw", never)
    large = [jn.Population(k, 1000, LIF()) for k in "EI"]
    assert_refused(
        lambda: build(project(), project("I", "I"), populations=large), "build", "description"
    )


@pytest.mark.parametrize("n", [65_536, 1_000_000])
def test_more_synapses_than_32_bits_count(n, monkeypatch):
    from jaxneuro._build import memory

    monkeypatch.setattr(memory, "available_memory", lambda: None)
    large = [jn.Population(k, n, LIF()) for k in "EI"]
    dense = project(rule=ALL)
    assert_refused(lambda: build(dense, populations=large), LINK, "rule")


ALLOWED = {
    "an empty projection": [project(rule=jn.connectivity.FixedProbability(0.0))],
    "no connections": [explicit([], [])],
    "no connections, arrays": [explicit([], [], weight=[], delay=[])],
    "in-degree 0": [project(rule=jn.connectivity.FixedIndegree(0))],
    "no projection": [],
    "multapses": [project(rule=jn.connectivity.FixedIndegree(20))],
}


@pytest.mark.parametrize("projections", ALLOWED.values(), ids=ALLOWED.keys())
def test_allowed(projections):
    net = build(*projections, stimuli=[stimulate("E", 600.0)])
    assert len(events(net, 200)["E"]) > 0
    state, _ = SCAN(net, net.init(0), 200)
    assert all(np.isfinite(net.read(state, k, "v")).all() for k in "EI")


@pytest.mark.parametrize("sizes", [(0, 2), (8, 0), (0, 0)])
@pytest.mark.parametrize(
    "rule",
    [RULE, jn.connectivity.AllToAll(), jn.connectivity.FixedIndegree(3)],
    ids=lambda r: type(r).__name__,
)
def test_zero_neurons(sizes, rule):
    """Allowed; also for populations with start values, weights and delays to be drawn."""
    start = {"v": jn.Uniform(-60.0, -50.0)}
    populations = [jn.Population(k, n, LIF(), initial=start) for k, n in zip("EI", sizes)]
    law = jn.Uniform(0.1, 1.0)
    net = build(
        project(rule=rule, weight=law, delay=law),
        populations=populations,
        stimuli=[stimulate("E", 600.0)],
    )
    result = jn.simulate(net, 5.0, record=jn.Record(variables={"E": "v"}, rates=True))
    assert result.traces["E"]["v"].shape == (50, sizes[0])
    assert result.events("I")[0].size == 0
    assert np.isfinite(result.rate("E"))


def test_zero_neurons_with_arrays_for_them():
    none = np.zeros(0)
    populations = [jn.Population("E", 0, LIF(tau_m=none)), jn.Population("I", 0, LIF())]
    p = project(rule=jn.connectivity.AllToAll(), synapse=jn.synapses.Exponential(none))
    net = build(p, populations=populations, stimuli=[stimulate("E", none)])
    assert jn.simulate(net, 1.0).n_steps == 10


def test_no_populations():
    net = jn.build(jn.Description([]), 0, 0.1)
    state, _ = jax.jit(jn.scan, static_argnums=2)(net, net.init(0), 3)
    assert int(state.step) == 3
