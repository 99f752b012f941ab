"""Start values of receptors and releases, by the names of projections and couplings."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network.names import value_of
from jaxneuro.io import format_description, parse_description

RULE = jn.connectivity.AllToAll()
AMPA, SLOW = jn.synapses.AMPA(), jn.synapses.DoubleExponentialConductance()
TM = jn.release.TsodyksMarkram(0.3, 80.0)
LIF = jn.neurons.LIF()
LAW = jn.Uniform(0.0, 2.0)
PULSES, SITES = jn.release.PulsedTransmitter(0.8), jn.release.QuantalRelease(sites=2)
LESS = jn.synapses.ApproximateKinetics(0.5)
DOPAMINE = jn.synapses.Into(jn.synapses.DopaGluGABA(d1=LESS), "dopamine")
PARTS = jn.synapses.Exponential(), jn.synapses.NMDA(), jn.synapses.NMDA()
BOTH = jn.synapses.Several(PARTS, (1.0, 0.5, 0.2))
SLOW_TOO = jn.synapses.Several((jn.synapses.AMPA(), jn.synapses.GABA_B()), (1.0, 0.5))


def project(source="A", target="B", **given):
    given = {"weight": 1.0, "delay": 0.1, "synapse": AMPA, **given}
    return jn.Projection(source, target, RULE, **given)


def couple(source="A", target="B", **given):
    how = {"weight": 1.0, "release": jn.release.RateRelease(), "synapse": AMPA}
    return jn.Coupling(source, target, RULE, **{**how, **given})


def stimulate(**given):
    given = {"weight": 1.0, "synapse": AMPA, "name": "noise", **given}
    return jn.Stimulation("A", jn.stimuli.Poisson(9.0), **given)


def build(*senders, sizes=None, seed=0):
    sizes = sizes or {"A": 5, "B": 4}
    populations = [
        jn.Population(k, n, LIF, initial={"v": jn.Uniform(-70, -60)}) for k, n in sizes.items()
    ]
    couplings = [s for s in senders if isinstance(s, jn.Coupling)]
    projections = [s for s in senders if isinstance(s, jn.Projection)]
    stimuli = [s for s in senders if isinstance(s, jn.Stimulation)]
    made = jn.Description(populations, projections, stimuli, couplings=couplings)
    return jn.build(made, seed, 0.1)


def start(net, name, variable, key=0):
    state = jax.tree.map(np.asarray, net.init(key))
    return np.asarray(value_of(net, state, name, variable))


@pytest.mark.slow
def test_numbers_arrays_and_distributions():
    """Of the receptor one per target, of the release one per source; the rest stays 0."""
    each = np.array([0.1, 0.2, 0.3, 0.4])
    senders = []
    for k, (make, kind, variable) in enumerate(
        ((project, jn.release.TsodyksMarkram, "x"), (couple, jn.release.RateRelease, "r"))
    ):
        for number, (synapse, initial) in enumerate(
            (
                (jn.synapses.AMPA(2.0 + k), {"g": each, variable: 0.25}),
                (jn.synapses.GABA_A(5.0 + k), {"g": LAW, variable: np.arange(5) / 8}),
                (jn.synapses.DoubleExponentialConductance(0.5 + k), {"rise": 0.5}),
            )
        ):
            how = {"synapse": synapse, "initial": initial, "name": f"{make.__name__} {number}"}
            senders.append(make(release=kind(0.1 + 0.1 * number), **how))
    net = build(*senders)
    for make, variable, usual in (("project", "x", 1.0), ("couple", "r", 0.0)):
        np.testing.assert_array_equal(start(net, f"{make} 0", "g"), np.float32(each))
        np.testing.assert_array_equal(start(net, f"{make} 0", variable), 0.25)
        drawn = start(net, f"{make} 1", "g")
        assert len(set(drawn)) == 4
        assert ((drawn >= 0) & (drawn <= 2)).all()
        assert (start(net, f"{make} 1", "g", key=1) != drawn).all()
        np.testing.assert_array_equal(start(net, f"{make} 1", variable), np.arange(5) / 8)
        assert not start(net, f"{make} 2", "g").any()
        np.testing.assert_array_equal(start(net, f"{make} 2", "rise"), 0.5)
        np.testing.assert_array_equal(start(net, f"{make} 2", variable), usual)


@pytest.mark.slow
def test_draws_depend_on_seed_and_name_alone():
    """Not on what shares the group, the receptor and the pathway, or on the order."""
    mine = project(initial={"g": LAW, "x": jn.Uniform(0.0, 1.0)}, release=TM, name="mine")
    g, x = (start(build(mine), "mine", v) for v in "gx")
    sizes = {"0": 3, "A": 5, "Z": 2, "B": 4}
    others = [
        project("Z", "A", initial={"g": LAW}, release=TM, name="another"),
        project("0", "B", release=TM, name="later"),
        couple("Z", "Z", initial={"g": 9.0}),
    ]
    net = build(*others, mine, sizes=sizes, seed=7)  # seed of the connections, not of the run
    assert len(net.groups[0].receptors) == 1
    np.testing.assert_array_equal(start(net, "mine", "g"), g)
    np.testing.assert_array_equal(start(net, "mine", "x"), x)
    assert not np.isin(start(net, "another", "g"), g).any()
    np.testing.assert_array_equal(start(net, "later", "x"), 1.0)
    np.testing.assert_array_equal(start(net, "Z~Z", "g"), 9.0)
    np.testing.assert_array_equal(start(net, "later", "g"), g)  # one receptor


@pytest.mark.slow
def test_a_receptor_of_a_stimulation_alone_has_start_values():
    each = np.arange(5) / 8
    net = build(stimulate(initial={"g": each}), project(synapse=SLOW))
    np.testing.assert_array_equal(start(net, "noise", "g"), each)
    drawn = start(build(stimulate(initial={"g": LAW})), "noise", "g")
    assert len(set(drawn)) == 5


def test_an_empty_population_has_none_that_could_collide():
    p = [project("B", k, initial={"g": 1.0}, name=k + "!") for k in "AB"]
    net = build(*p, sizes={"A": 0, "B": 3})
    np.testing.assert_array_equal(start(net, "B!", "g"), 1.0)


@pytest.mark.slow
def test_start_values_of_a_release_are_those_of_its_projection():
    """Equal releases share a state where it starts equally, whatever the model of the target."""
    drawn = {"x": jn.Uniform(0.0, 1.0)}
    senders = [
        project(release=TM, name="none"),
        project("A", "A", release=TM, name="none, too"),
        project(release=TM, initial={"x": 0.3}, name="given"),
        project("A", "A", release=TM, initial={"x": 0.3, "g": 1.0}, name="given, too"),
        project("B", "A", release=TM, initial={"x": 0.3}, name="of others"),
        project(release=TM, initial={"x": 0.3, "u": 0.1}, name="more"),
        project(release=TM, initial={"x": np.full(5, 0.4)}, name="each"),
        project("A", "A", release=TM, initial={"x": np.full(5, 0.4)}, name="each, too"),
        project(release=TM, initial=drawn, name="drawn"),
        project(release=TM, initial=drawn, name="drawn, too"),
    ]
    net = build(*senders)
    state = net.init(0)
    read = lambda name, state=state: np.asarray(value_of(net, state, name, "x"))  # noqa: E731
    for name, x in (
        ("none", 1.0),
        ("given", 0.3),
        ("of others", 0.3),
        ("more", 0.3),
        ("each", 0.4),
    ):
        np.testing.assert_array_equal(read(name), np.float32(x))
    assert not (read("drawn") == read("drawn, too")).any()
    np.testing.assert_array_equal(start(build(senders[-1]), "drawn, too", "x"), read("drawn, too"))
    both = {s.name: s.senders for s in net.shared if s.kind == "release"}
    assert both == {
        f"A.TsodyksMarkram({name})": (name, f"{name}, too") for name in ("each", "given", "none")
    }
    new = net.with_values(state, "A.TsodyksMarkram(given)", x=0.9)
    changed = {s.name for s in senders if (read(s.name, new) != read(s.name)).any()}
    assert changed == set(both["A.TsodyksMarkram(given)"])
    assert len(net.pathways) == 6


REFUSED = {
    "twice": (
        lambda: [project(initial={"g": 1.0}), project("B", "B", initial={"g": 2.0})],
        "projection 'B->B': initial g must",
    ),
    "twice, coupling": (
        lambda: [project(initial={"g": 1.0}), couple(initial={"g": 2.0})],
        "coupling 'A~B': initial g must",
    ),
    "twice, stimulation": (
        lambda: [stimulate(initial={"g": 1.0}), project("B", "A", initial={"g": 2.0})],
        "stimulation 'noise': initial g must",
    ),
    "unknown, stimulation": (
        lambda: [stimulate(initial={"x": 1.0})],
        "stimulation 'noise': there is no state variable named 'x'",
    ),
    "stimulation without a synapse": (
        lambda: [jn.Stimulation("A", jn.stimuli.Current(1.0), initial={"g": 1.0})],
        "stimulation 'Current->A': initial must",
    ),
    "unknown": (
        lambda: [project(initial={"h": 1.0}, release=TM)],
        "projection 'A->B': there is no state variable named 'h'",
    ),
    "unknown, coupling": (
        lambda: [couple(initial={"v": 1.0})],
        r"coupling 'A\~B': there is no state variable named 'v'",
    ),
    "gap junctions have none": (
        lambda: [couple(initial={"g": 1.0}, release=None, synapse=None)],
        r"coupling 'A\~B': there is no state variable named 'g'",
    ),
    "length": (
        lambda: [project(initial={"g": [1.0, 2.0]})],
        r"'A->B': initial g must be one number, one per neuron, shape \(4,\).*got shape \(2,\)",
    ),
    "length, release": (
        lambda: [project(initial={"x": np.ones(4)}, release=TM)],
        r"initial x must be .*\(5,\).*\(4,\)",
    ),
    "may be negative": (
        lambda: [project(initial={"x": jn.Normal(0.5, 0.5)}, release=TM)],
        r"'A->B': initial x must be from 0 to 1; got Normal\(.*bound the distribution",
    ),
    "above 1": (
        lambda: [project(initial={"x": [0.0, 1.0, 0.5, 3.0, 0.0]}, release=TM)],
        "'A->B': initial x must be from 0 to 1; got values from 0 to 3",
    ),
    "below 0": (
        lambda: [project(initial={"u": -2.0}, release=TM)],
        "u must be from 0 to 1; got -2",
    ),
    "open receptors": (
        lambda: [couple(initial={"r": 3.0}, release=PULSES, synapse=jn.synapses.LigandGated())],
        "'A~B': initial r must be from 0 to 1; got 3",
    ),
    "more than r_max": (
        lambda: [couple(initial={"r_d1": 0.7}, release=PULSES, synapse=DOPAMINE)],
        "'A~B': initial r_d1 must be from 0 to 0.5; got 0.7",
    ),
    "transmitter": (
        lambda: [couple(initial={"t": 0.9}, release=PULSES)],
        "t must be from 0 to 0.8",
    ),
    "too many sites": (
        lambda: [project(initial={"empty": 7}, release=SITES)],
        "initial empty must be whole numbers from 0 to 2; got 7",
    ),
    "half a site": (
        lambda: [project(initial={"empty": 0.5}, release=SITES)],
        "initial empty must be whole numbers from 0 to 2; got 0.5",
    ),
    "drawn sites": (
        lambda: [project(initial={"empty": LAW}, release=SITES)],
        "initial empty must be whole numbers from 0 to 2; got Uniform",
    ),
    "a part": (
        lambda: [project(initial={"gaba_b_r": 2.0}, synapse=SLOW_TOO)],
        "'A->B': initial gaba_b_r must be from 0 to 1; got 2",
    ),
    "a conductance below 0": (
        lambda: [project(initial={"g": [0.0, 1.0, -2.0, 0.0]})],
        "'A->B': initial g must be at least 0; got values from -2",
    ),
    "conductances drawn below 0": (
        lambda: [project(initial={"rise": jn.Uniform(-2.0, -1.0)}, synapse=SLOW)],
        "'A->B': initial rise must be at least 0; got Uniform",
    ),
    "a conductance of a part": (
        lambda: [project(initial={"nmda1_g": -1.0}, synapse=BOTH)],
        "'A->B': initial nmda1_g must be at least 0",
    ),
    "nan": (lambda: [project(initial={"g": np.nan})], "projection 'A->B': initial must"),
    "no mapping": (lambda: [project(initial=3.0)], "projection 'A->B': initial must"),
    "text": (lambda: [couple(initial={"g": "1"})], "coupling 'A~B': initial must"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, message = REFUSED[case]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        build(*make())


@pytest.mark.slow(but=["toml"])
@pytest.mark.parametrize("format", ["json", "toml"])
def test_files_keep_couplings_and_start_values(format):
    """A description, written and read, is the same network with the same start."""
    release = jn.release.QuantalRelease(0.3, 50.0, sites=2)
    senders = [
        project(initial={"g": LAW, "x": np.arange(5) / 8}, release=TM),
        couple(initial={"rise": 0.5, "r": LAW}, synapse=SLOW, gain=0.3, average=True),
        jn.Coupling("A", "A", jn.connectivity.Explicit([0, 1], [2, 3]), weight=[0.5, 1 / 3]),
        couple(
            jn.Part("B", slice(1, 3)),
            jn.Part("B", [0, 3]),
            release=release,
            symmetric=False,
            name="q",
        ),
        couple(
            release=jn.release.PulsedTransmitter(),
            synapse=jn.synapses.Into(jn.synapses.DopaGluGABA(), "dopamine"),
            initial={"r_d1": 0.2},
            name="dopamine",
        ),
    ]
    populations = [jn.Population(k, n, LIF) for k, n in (("A", 5), ("B", 4))]
    noise = stimulate(weight=jn.Uniform(0.0, 1.0), synapse=SLOW, initial={"rise": 0.7})
    made = jn.Description(populations, senders[:1], [noise], couplings=senders[1:])
    text = format_description(made, format)
    back = parse_description(text, format)
    assert format_description(back, format) == text
    if format == "toml":
        assert format_description(back, "json") == format_description(made, "json")
        return
    a, b = (jn.build(d, 3, 0.1) for d in (made, back))
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves((a, a.init(5))), jax.tree.leaves((b, b.init(5)))):
        np.testing.assert_array_equal(x, y)
    assert a.coupled == ("A~A", "A~B", "dopamine", "q")


def test_start_values_of_neurons_are_as_before():
    net = build(project())
    v = start(net, "A", "v")
    assert ((v >= -70) & (v <= -60)).all()
    assert len(set(v)) == 5
