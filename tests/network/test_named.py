"""What a name stands for: populations, receptors, releases and stimulations are found alike."""

import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network.members import member
from jaxneuro._network.names import named
from tests.refusing import assert_refused

DT = 0.1


class FatigueState(NamedTuple):
    x: jax.Array


class Fatigue(jn.Release):
    """Every spike takes a part of what is left, which comes back with a time constant."""

    tau_rec: jn.Parameter = jn.param(20.0, unit="ms", above=0.0)
    part: jn.Parameter = jn.param(0.5, at_least=0.0, at_most=1.0)
    pause: jn.Parameter = jn.param(0.2, unit="ms", on_grid=True)

    def init(self, n):
        return FatigueState(jnp.ones(n))

    def step(self, state, spikes, v, dt):
        given = jnp.where(spikes, self.part * state.x, 0.0)
        x = 1.0 + (state.x - given - 1.0) * jnp.exp(-dt / self.tau_rec)
        return FatigueState(x), given


class Fading(Fatigue):
    """A release with a parameter of the name that `Exponential` has."""

    tau_syn: jn.Parameter = jn.param(3.0, unit="ms", above=0.0)


class Weighted(Fatigue):
    """A release with a parameter that the projection itself has."""

    gain: jn.Parameter = jn.param(3.0)


class Single(Fatigue):
    def step(self, state, spikes, v, dt):
        return state, jnp.float32(1.0)


class Growing(Fatigue):
    def step(self, state, spikes, v, dt):
        return FatigueState(jnp.append(state.x, state.x[:1])), 0.0 * state.x


def recorded(variables, neurons=slice(2, None)):
    record = jn.Record(variables={"A->B": variables}, neurons={"A->B": neurons})
    return jn.simulate(NET, 1.0, record=record, progress=False)


def network(release=None, **change):
    spiking = jn.neurons.LIF(tau_m=10.0, e_l=-49.0, v_th=-50.0, v_reset=-60.0)
    populations = [
        jn.Population("A", 5, spiking),
        jn.Population("C", 3, spiking),
        jn.Population("B", 4, spiking),
    ]
    rule, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(5.0)
    given = {"weight": 10.0, "delay": 1.0, "synapse": synapse, "release": release or Fatigue()}
    projections = [jn.Projection(source, "B", rule, **{**given, **change}) for source in "AC"]
    noise = jn.stimuli.OrnsteinUhlenbeck(0.0, 50.0, tau=5.0)
    stimuli = [jn.Stimulation("A", noise, name="noise")]
    return jn.build(jn.Description(populations, projections, stimuli), 0, DT)


NET = network()
RUN = jax.jit(jn.scan, static_argnums=(2, 4))


def test_the_state_of_a_release_is_read_by_the_name_of_its_projection():
    state = RUN(NET, NET.init(0), 300, None, None)[0]
    a, c = (NET.read(state, name, "x") for name in ("A->B", "C->B"))
    assert a.shape == (5,)
    assert c.shape == (3,)
    assert (np.asarray(c) < 1).all()
    assert NET.variables(state, "A->B") == ("current", "x")
    assert NET.read(state, "B.Exponential", "current").shape == (4,)


def test_it_is_recorded_as_it_is_read():
    where = {"A->B": "x", "B.Exponential": "current"}
    state, recording = RUN(NET, NET.init(0), 300, None, jn.Record(variables=where, interval=30.0))
    for name, variable in where.items():
        trace = recording.traces[name][variable]
        np.testing.assert_array_equal(trace[-1], NET.read(state, name, variable))


def test_chosen_neurons_of_a_release_are_its_sources():
    result = recorded("x", [1, 4])
    assert result.traces["A->B"]["x"].shape == (10, 2)
    np.testing.assert_array_equal(result.neurons["A->B"], [1, 4])


def test_a_parameter_of_a_release_is_set_for_one_source_population():
    changed = NET.set("A->B", part=0.25).set("B.Exponential", tau_syn=7.0)
    (pathway,) = changed.pathways
    np.testing.assert_array_equal(pathway.release.part, [0.25, 0.5, 0.5])
    state, before = (RUN(n, n.init(0), 300, None, None)[0] for n in (changed, NET))
    a, b = (np.asarray(NET.read(s, "A->B", "x")) for s in (state, before))
    assert (a > b).all()
    np.testing.assert_array_equal(NET.read(state, "C->B", "x"), NET.read(before, "C->B", "x"))


def test_the_state_of_a_stimulus_is_read_by_the_name_of_its_stimulation():
    state = RUN(NET, NET.init(3), 50, None, None)[0]
    (name,) = NET.variables(state, "noise")
    assert len(np.unique(NET.read(state, "noise", name))) == 5


LINK = "projection 'A->B'"
ANY_NAME = "population, projection, stimulation, coupling, modulator, shared receptor or release"
REFUSED = {
    "unknown parameter": (
        lambda: NET.set("A->B", rate=1.0),
        *("", f"parameter of {LINK}", "'rate'"),
    ),
    "parameter out of range": (lambda: NET.set("A->B", part=2.0), LINK, "part", "2.0"),
    "parameters of other neurons": (
        lambda: NET.set("A->B", part=np.ones(4) / 4),
        *(LINK, "part", "(4,)"),
    ),
    "unknown name": (lambda: NET.set("nobody", part=1.0), "", ANY_NAME, "'nobody'"),
    "unknown variable": (
        lambda: NET.read(NET.init(0), "A->B", "v"),
        *("", f"state variable of {LINK}", "'v'"),
    ),
    "off the grid": (
        lambda: network(Fatigue(pause=0.25)),
        *(f"{LINK}: release", "pause", "0.25 ms"),
    ),
    "name of the receptor": (lambda: network(Fading()), LINK, "release", "Fading"),
    "own gain": (lambda: network(Weighted()), LINK, "release", "Weighted"),
    "one value": (lambda: network(Single()), f"Single ({LINK})", "step", "float32[]"),
    "growing state": (lambda: network(Growing()), f"Growing ({LINK})", "step", "float32[1010]"),
    "neurons of two models": (
        lambda: recorded(("x", "current")),
        *("Record", "neurons of 'A->B'"),
    ),
    "neurons outside": (lambda: recorded("x", [7]), "Record", "neurons of 'A->B'", "7"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    assert_refused(*REFUSED[case])


def test_a_release_that_is_not_finite_is_named():
    state = NET.init(0)
    (mine,) = state.pathways
    x = np.ones(12, np.float32)
    x[10] = np.nan  # the second neuron of C: a group is in the order of names
    bad = mine._replace(release=FatigueState(jax.device_put(x)))
    with pytest.raises(jn.NonFiniteError, match="x of the release of 'C->B' of population 'C'"):
        jn.simulate(NET, 1.0, state=state._replace(pathways=(bad,)), progress=False)


CELLS = [jn.Population(name, 2, jn.neurons.LIF()) for name in "AB"]
CELLS.append(jn.Population("C", 2, jn.neurons.Izhikevich()))
RULE, ONE, OTHER = jn.connectivity.AllToAll(), jn.synapses.AMPA(), jn.synapses.AMPA(9.0)
MADE = (
    ("aa", "A", "A", ONE),
    ("ab", "A", "B", ONE),
    ("ab2", "A", "B", OTHER),
    ("ba", "B", "A", ONE),
    ("ac", "A", "C", ONE),
)


def sharing(*more, chosen=None, order=1, populations=CELLS, **kw):
    """Receptors and releases of which some are shared; `chosen` names by projection."""
    how, chosen = {"weight": 1.0, "delay": 0.1, "release": Fatigue()}, chosen or {}
    made = [
        jn.Projection(a, b, RULE, synapse=s, name=name, **how | chosen.get(name, {}))
        for name, a, b, s in (*MADE, *more)
    ]
    made.append(jn.Projection("A", "B", RULE, weight=1.0, delay=0.1, synapse=OTHER, name="plain"))
    poisson = jn.Stimulation("A", jn.stimuli.Poisson(5.0), weight=1.0, synapse=ONE, name="noise")
    graded = jn.Coupling("A", "B", RULE, weight=1.0, release=Fatigue(), synapse=ONE, name="c")
    parts = populations[::order], made[::order], [poisson]
    return jn.build(jn.Description(*parts, couplings=[graded], **kw), 0, DT)


def shared(net):
    return {name: (kind, *senders) for name, kind, senders in net.shared}


SHARING = sharing()


def test_what_is_shared_has_a_name_of_its_own():
    assert shared(NET) == {"B.Exponential": ("receptor", "A->B", "C->B")}
    assert shared(SHARING) == {
        "A.AMPA": ("receptor", "aa", "ba", "noise"),
        "A.Fatigue(aa)": ("release", "aa", "ab", "ab2"),
        "B.AMPA(ab)": ("receptor", "ab", "c"),
        "B.AMPA(ab2)": ("receptor", "ab2", "plain"),
    }
    assert set(shared(SHARING)) < set(SHARING.names)
    assert sharing(order=-1).shared == SHARING.shared


def test_its_parameters_are_set_by_its_name_for_all_that_share_it():
    for name, kind, senders in SHARING.shared:
        key = "part" if kind == "release" else "tau_syn"
        new = SHARING.set(name, **{key: 0.75})
        for sender in SHARING.names:
            for old, now in zip(named(SHARING, sender).references, named(new, sender).references):
                changed = [
                    float(getattr(member(h.model(n), h.sizes, h.member), key, 0.0))
                    for n, h in ((SHARING, old), (new, now))
                ]
                mine = old.kind == kind and sender in (name, *senders)
                assert (changed[0] != changed[1]) == mine, (name, sender)
        for sender in senders:
            with pytest.raises(ValueError, match=f"{key} .*{re.escape(repr(name))}"):
                SHARING.set(sender, **{key: 0.75})


def test_weight_gain_and_what_is_its_own_stay_the_projections():
    new = NET.set("A->B", gain=2.0, weight=3.0, part=0.25)
    (pathway,) = new.pathways
    np.testing.assert_array_equal(pathway.gain, [2, 1])
    np.testing.assert_array_equal(pathway.weight, [3, 10])
    SHARING.set("noise", rate=7.0, weight=2.0)
    with pytest.raises(ValueError, match=r"current.*'B.Exponential'"):
        NET.with_values(NET.init(0), "A->B", current=1.0)
    state = NET.with_values(NET.init(0), "B.Exponential", current=1.0)
    np.testing.assert_array_equal(NET.read(state, "B.Exponential", "current"), np.ones(4))


@pytest.mark.slow
def test_a_recording_by_a_projection_says_whose_it_is(tmp_path):
    record = jn.Record(
        variables={"A->B": ("x", "current"), "B.Exponential": "current"}, means={"C->B": "current"}
    )
    result = jn.simulate(NET, 1.0, record=record, progress=False)
    assert result.shared == {
        "A->B": {"current": "B.Exponential"},
        "C->B": {"current": "B.Exponential"},
    }
    assert "B.Exponential" in repr(result)
    traces = result.traces
    np.testing.assert_array_equal(traces["A->B"]["current"], traces["B.Exponential"]["current"])
    result.save(tmp_path / "result.npz")
    assert jn.Result.load(tmp_path / "result.npz").shared == result.shared
    with pytest.warns(UserWarning, match="'B.Exponential'"):
        NET.read(NET.init(0), "A->B", "current")
    with pytest.warns(UserWarning, match="'B.Exponential'"):
        jn.scan(NET, NET.init(0), 2, None, jn.Record(variables={"A->B": "current"}))


def test_names_can_be_chosen_and_part_what_is_equal():
    net = sharing(chosen={"aa": {"receptor_name": "fast", "release_name": "stp"}})
    assert shared(net) == {
        "A.AMPA": ("receptor", "ba", "noise"),
        "A.Fatigue(ab)": ("release", "ab", "ab2"),
        "A.fast": ("receptor", "aa"),
        "A.stp": ("release", "aa"),
        "B.AMPA(ab)": ("receptor", "ab", "c"),
        "B.AMPA(ab2)": ("receptor", "ab2", "plain"),
    }
    net = net.set("A.fast", tau_syn=7.0).set("aa", part=0.1)
    receptors = [named(net, name).references[0] for name in ("aa", "ba")]
    fast, other = (member(h.model(net), h.sizes, h.member) for h in receptors)
    assert (fast.tau_syn, other.tau_syn) == (7, ONE.tau_syn)


def test_chosen_names_stand_in_network_files(tmp_path):
    both = {"receptor_name": "fast", "release_name": "stp"}
    p = jn.Projection(
        "A", "B", RULE, weight=1.0, delay=0.1, synapse=ONE, release=jn.release.Graded(), **both
    )
    for file in ("net.json", "net.toml"):
        path = tmp_path / file
        jn.io.write_description(jn.Description(CELLS, [p]), path)
        (read,) = jn.io.read_description(path).projections
        assert (read.receptor_name, read.release_name) == ("fast", "stp")


def test_modulators_scale_what_is_shared_by_its_name():
    def level(name, key="tau_syn"):
        return jn.Modulator("m", 100.0, {name: {key: 0.5}}, start=1.0, lowest=0.5)

    net = sharing(modulators=[level("A.AMPA")])
    with pytest.raises(ValueError, match=r"'m'.*'aa'.*'A.AMPA'"):
        sharing(modulators=[level("aa")])
    with pytest.raises(ValueError, match=r"'m'.*'A.GABA'.*'A.AMPA'"):
        sharing(modulators=[level("A.GABA")])
    assert {r.path[-1] for r in net.modulators[0].targets} == {"tau_syn"}


BAD_NAMES = {
    "unknown": (lambda: SHARING.set("x", part=1.0), "", ANY_NAME, "'x'"),
    "name of a population": (
        lambda: sharing(populations=[*CELLS, jn.Population("A.AMPA", 1, jn.neurons.LIF())]),
        *("projection 'aa'", "receptor_name", "'A.AMPA', which is that of population"),
    ),
    "name of another receptor": (
        lambda: sharing(chosen={n: {"receptor_name": "x"} for n in ("ab", "ab2")}),
        *("projection 'ab2'", "receptor_name", "'B.x', which is that of the receptor of"),
    ),
    "name without a receptor": (
        lambda: sharing(("d", "A", "B", jn.synapses.Delta()), chosen={"d": {"receptor_name": "x"}}),
        *("projection 'd'", "receptor_name", "'x'"),
    ),
    "empty name": (
        lambda: network(receptor_name=""),
        *("projection 'A->B'", "receptor_name", "''"),
    ),
    "name without a release": (
        lambda: network(release=jn.release.Spikes(), release_name="x"),
        *("projection 'A->B'", "release_name", "'x'"),
    ),
    "name of a current": (
        lambda: jn.Stimulation("A", jn.stimuli.Current(1.0), receptor_name="x"),
        *("stimulation 'Current->A'", "receptor_name", "'x'"),
    ),
    "name of gap junctions": (
        lambda: jn.Coupling("A", "B", RULE, weight=1.0, receptor_name="x"),
        *("coupling 'A~B'", "receptor_name", "'x'"),
    ),
}


@pytest.mark.parametrize("case", BAD_NAMES)
def test_names_that_are_refused(case):
    assert_refused(*BAD_NAMES[case])
