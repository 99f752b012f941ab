"""Everything of issue 2's "Bad input": refused with a message, or allowed and running."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from tests.network.networks import SCAN, events

LIF, SYNAPSE = jn.neurons.LIF, jn.synapses.Exponential()
RULE = jn.connectivity.FixedProbability(0.1)
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


REFUSED = {
    # a parameter that is negative or NaN
    "negative": (lambda: LIF(tau_m=-1.0), "LIF: tau_m must be finite and above 0.0 ms; got -1"),
    "nan": (lambda: LIF(c_m=np.nan), "LIF: c_m must be finite and above 0.0 pF; got nan"),
    "inf": (lambda: LIF(e_l=np.inf), "LIF: e_l must be finite; got inf"),
    "one of many": (lambda: LIF(tau_m=[1.0, 2.0, 0.0]), "tau_m must be .* got 0.0 at index 2"),
    "text": (lambda: LIF(tau_m="ten"), "must be a number or an array of numbers; got 'ten'"),
    "a number as text": (lambda: LIF(tau_m="10"), "tau_m must be a number .* got '10'"),
    "texts": (lambda: LIF(tau_m=np.array(["1", 2.0], object)), "must be a number or an array"),
    "dates": (lambda: LIF(tau_m=np.array(["2020-01-01"], "M8")), "must be a number or an array"),
    "two axes": (lambda: LIF(tau_m=np.ones((2, 2))), r"LIF: tau_m.*\(\) or \(n,\).*\(2, 2\)"),
    "t_ref": (lambda: LIF(t_ref=-0.1), "LIF: t_ref must be finite and at least 0.0 ms"),
    "synapse": (lambda: jn.synapses.Exponential(0.0), "Exponential: tau_syn must be .*above 0"),
    "conductance": (lambda: jn.synapses.ExponentialConductance(np.nan), "tau_syn .* got nan"),
    "stimulus": (lambda: jn.stimuli.Current(np.nan), "amplitude must be finite"),
    "surrogate": (lambda: jn.surrogates.FastSigmoid(0.0), "FastSigmoid: beta must be .*above 0"),
    "probability": (lambda: jn.connectivity.FixedProbability(1.2), "at most 1.0; got 1.2"),
    "weight": (lambda: project(weight=np.nan), "projection 'E->I': weight must be finite; got nan"),
    "weights": (lambda: project(weight=[1.0, np.inf]), "weight must be finite; got inf at index 1"),
    "gain": (lambda: project(gain=np.nan), "projection 'E->I': gain must"),
    "sign of the gain": (
        lambda: build(project(gain=-1.0, synapse=jn.synapses.AMPA())),
        "projection 'E->I': weight must be at least 0 when multiplied by the gain",
    ),
    "gains": (lambda: project(gain=[1.0, 2.0]), "projection 'E->I': gain must be one number"),
    "sd": (lambda: jn.Normal(1.0, -1.0), "Normal: sd must be .* at least 0"),
    "bounds": (lambda: jn.Uniform(2.0, 1.0), "Uniform: high must be at least low"),
    # v_reset >= v_th
    "reset": (lambda: LIF(v_reset=-55.0, v_th=-55.0), "LIF: v_th must be above v_reset"),
    "resets": (lambda: LIF(v_reset=[-70.0, -50.0]), "LIF: v_th must be above v_reset"),
    # a delay of 0, or off the grid
    "no delay": (lambda: project(delay=0.0), "projection 'E->I': delay must"),
    "negative delay": (lambda: project(delay=-1.0), "projection 'E->I': delay must"),
    "nan delay": (lambda: project(delay=np.nan), "projection 'E->I': delay must be finite"),
    "off the grid": (
        lambda: build(project(delay=0.25)),
        "projection 'E->I': delay must be a whole number of .* 0.25 ms, between 0.2 and 0.3 ms",
    ),
    "below the grid": (lambda: build(project(delay=0.04)), "'E->I': delay .*between 0 and 0.1 ms"),
    "delays off the grid": (
        lambda: build(explicit([0, 1], [0, 1], delay=[0.1, 0.15])),
        "projection 'E->I': delay .* got 0.15 ms, between 0.1 and 0.2 ms",
    ),
    "long delay": (
        lambda: build(project(delay=7000.0)),
        "at most 65535 steps, 6553.5 ms; got 7000",
    ),
    "unbounded delay": (
        lambda: build(project(delay=jn.LogNormal(5.0, 3.0, low=1.0))),
        "projection 'E->I': delay must",
    ),
    "t_ref off the grid": (
        lambda: build(populations=[jn.Population("E", 8, LIF(t_ref=0.25))]),
        "population 'E': t_ref must be a whole number .* 0.25 ms, between 0.2 and 0.3 ms",
    ),
    # in-degree
    "in-degree": (
        lambda: build(project(rule=jn.connectivity.FixedIndegree(9, multapses=False))),
        "'E->I': k must be at most 8, the number of sources, without multapses; got 9",
    ),
    "in-degree, itself": (
        lambda: build(
            project("E", "E", jn.connectivity.FixedIndegree(8, autapses=False, multapses=False))
        ),
        "'E->E': k must be at most 7, the number of sources",
    ),
    "no in-degree": (lambda: jn.connectivity.FixedIndegree(-1), "k must be a whole number .*-1"),
    # an unknown population, a name twice
    "source": (lambda: build(project("X")), "no population named 'X'.*known ones: 'E', 'I'"),
    "target": (lambda: build(project("E", "X")), "no population named 'X'.*known ones: 'E', 'I'"),
    "driven": (lambda: build(stimuli=[stimulate("X")]), "no population named 'X'.*'E', 'I'"),
    "whose source": (lambda: build(project("X")), "^projection 'X->I': there is no population"),
    "what is driven": (
        lambda: build(stimuli=[stimulate("X")]),
        "^stimulation 'Current->X': there is no population",
    ),
    "twice": (
        lambda: jn.Description([POPULATIONS[0], POPULATIONS[0]]),
        "Description: populations must",
    ),
    "projection twice": (lambda: build(project(), project()), "Description: projections must"),
    "no name": (lambda: jn.Population("", 3, LIF()), "population '': name must"),
    # arrays of the wrong length
    "parameter": (
        lambda: jn.Population("E", 3, LIF(tau_m=[1.0, 2.0])),
        r"'E': tau_m.*\(3,\).*\(2,",
    ),
    "start": (
        lambda: jn.Population("E", 3, LIF(), initial={"v": [1.0]}),
        r"'E': initial v.*\(3,\)",
    ),
    "stimuli": (
        lambda: build(stimuli=[stimulate(amplitude=[1.0, 2.0])]),
        r"amplitude.*\(8,\).*\(2,",
    ),
    "synapses": (
        lambda: build(project(synapse=jn.synapses.Exponential([1.0, 2.0, 3.0]))),
        r"projection 'E->I': synapse.*tau_syn.*\(2,\).*\(3,\)",
    ),
    "random weights": (
        lambda: build(project(weight=[1.0, 2.0])),
        r"'E->I': weight.*\(8, 2\); got.*\(2,",
    ),
    "matrix": (
        lambda: build(project(weight=np.ones((2, 8)))),
        r"weight.*\(8, 2\); got shape \(2, 8",
    ),
    "connections": (
        lambda: build(explicit([0, 1], [0, 1], weight=[1.0, 2.0, 3.0])),
        r"'E->I': weight .*\(8, 2\) or \(2,\), one per connection; got shape \(3,\)",
    ),
    "connection delays": (lambda: build(explicit([0], [0], delay=[0.1, 0.2])), "'E->I': delay"),
    "pre and post": (lambda: jn.connectivity.Explicit([0, 1], [0]), "post must be as many as pre"),
    "index": (lambda: build(explicit([8], [0])), "'E->I': pre must be indices below 8.*got 8"),
    "negative index": (lambda: jn.connectivity.Explicit([-1], [0]), "at least 0; got -1"),
    "not whole": (lambda: jn.connectivity.Explicit([0.5], [0]), "pre must be .*whole numbers"),
    "one to one": (lambda: build(project(rule=jn.connectivity.OneToOne())), "'E->I'.*got 8 and 2"),
    # wrong kinds
    "n": (lambda: jn.Population("E", -1, LIF()), "'E': n must be a whole number .*got -1"),
    "half a neuron": (lambda: jn.Population("E", 2.5, LIF()), "n must be a whole number .*got 2.5"),
    "a class": (lambda: jn.Population("E", 1, LIF), "'E': model must be a Neuron.*call it"),
    "a rule": (
        lambda: project(rule="all"),
        "projection 'E->I': rule must be a Rule; got 'all'",
    ),
    "a synapse": (lambda: project(synapse="exp"), "'E->I': synapse must be a Synapse"),
    "unknown start": (
        lambda: build(populations=[jn.Population("E", 1, LIF(), initial={"u": 1.0})]),
        "population 'E': there is no state variable named 'u'",
    ),
    "dt": (lambda: build(dt=0.0), "dt must be .* above 0.0 ms; got 0.0"),
    "key": (lambda: jn.build(jn.Description([]), -1, 0.1), "key must be .*at least 0.*got -1"),
    "dtype": (lambda: build(dtype=np.int32), "dtype must be float32 or float64"),
    "64 bits": (lambda: build(dtype=np.float64), "build: dtype must"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(make, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        make()


def test_a_network_that_does_not_fit(monkeypatch):
    """Refused with the estimate per projection, before anything is drawn."""
    from jaxneuro._build import memory
    from jaxneuro.connectivity import FixedProbability

    def never(*args):
        raise AssertionError("connections were drawn")

    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    monkeypatch.setattr(FixedProbability, "draw", never)
    large = [jn.Population(k, 1000, LIF()) for k in "EI"]
    with pytest.raises(ValueError, match="build: description must"):
        build(project(), project("I", "I"), populations=large)


@pytest.mark.parametrize("n", [65_536, 1_000_000])
def test_more_synapses_than_32_bits_count(n, monkeypatch):
    from jaxneuro._build import memory

    monkeypatch.setattr(memory, "available_memory", lambda: None)
    large = [jn.Population(k, n, LIF()) for k in "EI"]
    with pytest.raises(ValueError, match="projection 'E->I': rule must"):
        build(project(rule=jn.connectivity.AllToAll()), populations=large)


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
