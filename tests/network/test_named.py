"""What a name stands for: populations, receptors, releases and stimulations are found alike."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.network._members import member
from jaxneuro.network._named import named

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
    assert NET.read(state, "A->B", "current").shape == (4,)


def test_it_is_recorded_as_it_is_read():
    record = jn.Record(variables={"A->B": ("x", "current")}, every=300)
    state, recording = RUN(NET, NET.init(0), 300, None, record)
    for name in ("x", "current"):
        trace = recording.traces["A->B"][name]
        np.testing.assert_array_equal(trace[-1], NET.read(state, "A->B", name))


def test_chosen_neurons_of_a_release_are_its_sources():
    result = recorded("x", [1, 4])
    assert result.traces["A->B"]["x"].shape == (10, 2)
    np.testing.assert_array_equal(result.neurons["A->B"], [1, 4])


def test_a_parameter_of_a_release_is_set_for_one_source_population():
    changed = NET.set("A->B", part=0.25).set("A->B", tau_syn=7.0)
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NET.set("A->B", rate=1.0), "projection 'A->B' named 'rate'.*'part'.*'gain'"),
        (
            lambda: NET.set("A->B", part=2.0),
            "projection 'A->B': Fatigue: part must be .* at most 1",
        ),
        (lambda: NET.set("A->B", part=np.ones(4) / 4), r"one number or of shape \(5,\)"),
        (lambda: NET.set("nobody", part=1.0), "named 'nobody'.*'A', 'C', 'B', 'A->B'"),
        (lambda: NET.read(NET.init(0), "A->B", "v"), "'A->B' named 'v'.*'current', 'x'"),
        (lambda: network(Fatigue(pause=0.25)), "'A->B': release: pause"),
        (lambda: network(Fading()), "both have the parameter 'tau_syn'. Rename it"),
        (lambda: network(Weighted()), "must not have a parameter 'gain', which a projection"),
        (lambda: network(Single()), r"Single: step must return values of shape \(n,\)"),
        (lambda: network(Growing()), "Growing: step must return a state like that of init"),
        (lambda: recorded(("x", "current")), "neurons of 'A->B' must be those of one model"),
        (lambda: recorded("x", [7]), "must be below 5, its size; got 7"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        call()


def test_a_release_that_is_not_finite_is_named():
    state = NET.init(0)
    (mine,) = state.pathways
    x = np.ones(12, np.float32)
    x[10] = np.nan  # the second neuron of C: a group is in the order of names
    bad = mine._replace(release=FatigueState(jax.device_put(x)))
    with pytest.raises(jn.NonFiniteError, match="x of the release of 'C->B' of population 'C'"):
        jn.simulate(NET, 1.0, state=state._replace(pathways=(bad,)), progress=False)


def test_sharing_says_what_set_changes():
    """Whose parameters change with those of a name, of the receptor and of the release."""
    assert NET.sharing("A->B") == {"receptor": ("C->B",), "release": ()}
    assert NET.sharing("noise") == NET.sharing("A") == {}
    rule, one, other = jn.connectivity.AllToAll(), jn.synapses.AMPA(), jn.synapses.AMPA(9.0)
    cells = [jn.Population(name, 2, jn.neurons.LIF()) for name in "AB"]
    cells.append(jn.Population("C", 2, jn.neurons.Izhikevich()))
    how = {"weight": 1.0, "delay": 0.1, "release": Fatigue()}
    made = [
        jn.Projection(a, b, rule, synapse=s, name=name, **how)
        for name, a, b, s in (
            ("aa", "A", "A", one),
            ("ab", "A", "B", one),
            ("ab2", "A", "B", other),
            ("ba", "B", "A", one),
            ("ac", "A", "C", one),
        )
    ]
    made.append(jn.Projection("A", "B", rule, weight=1.0, delay=0.1, synapse=other, name="plain"))
    poisson = jn.Stimulation("A", jn.stimuli.Poisson(5.0), weight=1.0, synapse=one, name="noise")
    graded = jn.Coupling("A", "B", rule, weight=1.0, release=Fatigue(), synapse=one, name="c")
    net = jn.build(jn.Description(cells, made, [poisson], couplings=[graded]), 0, DT)
    keys = {"receptor": "tau_syn", "release": "part"}

    def value(net, name, kind):
        """The parameter that a name has, or None."""
        for h in named(net, name).holders:
            if h.kind == kind and hasattr(h.model(net), keys[kind]):
                return float(getattr(member(h.model(net), h.sizes, h.member), keys[kind]))
        return None

    names = (*net.projections, *net.stimulations, *net.coupled)
    for name in names:
        shared = net.sharing(name)
        spikes = name in ("plain", "noise")
        assert list(shared) == (["receptor"] if spikes else ["receptor", "release"])
        for kind, others in shared.items():
            new = net.set(name, **{keys[kind]: 0.75})
            changed = [k for k in names if value(new, k, kind) != value(net, k, kind)]
            assert {name, *others} == set(changed)
    assert net.sharing("aa") == {"receptor": ("ba", "noise"), "release": ("ab", "ab2")}
    with pytest.raises(ValueError, match="named 'x'"):
        net.sharing("x")
