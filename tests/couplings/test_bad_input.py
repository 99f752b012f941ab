"""What couplings, releases and signed weights refuse, before anything is drawn."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.io import parse_description
from tests.refusing import assert_refused

C, rl, syn = jn.connectivity, jn.release, jn.synapses
LIF, PSC = jn.neurons.LIF, jn.neurons.IafPscExp
GRADED = {"release": rl.VoltageRelease(), "synapse": syn.AMPA()}
GRID = jn.space.Grid((2, 3), 1.0)


def couple(source="E", target="E", rule=None, **given):
    rule = rule or C.FixedProbability(0.5)
    return jn.Coupling(source, target, rule, **{"weight": 1.0, **given})


def project(weight=1.0, synapse=None, rule=None, **given):
    given = {"delay": 0.1, "synapse": synapse or syn.AMPA(), **given}
    return jn.Projection("E", "E", rule or C.AllToAll(), weight=weight, **given)


def stimulate(weight, synapse=None):
    spikes = jn.stimuli.Poisson(10.0)
    return jn.Stimulation("E", spikes, weight=weight, synapse=synapse or syn.AMPA(), name="in")


def build(*things, model=None, n=6):
    model = LIF() if model is None else model
    populations = [
        jn.Population("E", n, model, positions=GRID),
        jn.Population("R", 4, jn.neurons.LinearRate()),
        jn.Population("Relay", 4, jn.neurons.Relay()),
    ]
    kinds = {k: [x for x in things if isinstance(x, k)] for k in (jn.Projection, jn.Stimulation)}
    couplings = [x for x in things if isinstance(x, jn.Coupling)]
    made = jn.Description(populations, *kinds.values(), couplings=couplings)
    return jn.build(made, 0, 0.1)


class Shared(rl.RateRelease):
    """A release with parameters that a receptor and the coupling have."""

    tau_syn: jn.Parameter = jn.param(1.0)


class OffGrid(rl.RateRelease):
    pause: jn.Parameter = jn.param(0.25, unit="ms", on_grid=True)


class Weighted(rl.RateRelease):
    weight: jn.Parameter = jn.param(1.0)


PAIR, WIRE, INPUT = "coupling 'E~E'", "projection 'E->E'", "stimulation 'in'"
RELAY = "coupling 'E~Relay'"
REFUSED = {
    # ends of couplings
    "a stimulus": (
        lambda: build(couple("E", "in"), stimulate(1.0), project()),
        *("coupling 'E~in'", "target", "the stimulation 'in'"),
    ),
    "nobody": (lambda: build(couple("E", "X"), project()), "coupling 'E~X'", "target", "'X'"),
    "rates": (lambda: build(couple("R", "R")), "coupling 'R~R'", "release", "'R', a LinearRate"),
    "no voltage": (lambda: build(couple("E", "Relay")), RELAY, "release", "'Relay', a Relay"),
    "no conductance": (
        lambda: build(couple(), model=PSC()),
        *("IafPscExp (population 'E')", "step", "one that ignores it"),
    ),
    "release without v": (
        lambda: build(couple("Relay", "E", **GRADED)),
        *("coupling 'Relay~E'", "release", "VoltageRelease"),
    ),
    "projection without v": (
        lambda: build(jn.Projection("Relay", "E", C.AllToAll(), weight=1.0, delay=0.1, **GRADED)),
        *("projection 'Relay->E'", "release", "VoltageRelease"),
    ),
    # the description of a coupling
    "half": (lambda: couple(release=rl.Graded()), PAIR, "synapse", "None"),
    "other half": (lambda: couple(synapse=syn.AMPA()), PAIR, "release", "None"),
    "port": (
        lambda: couple(release=rl.PulsedTransmitter(), synapse=syn.DopaGluGABA()),
        *(PAIR, "synapse", "a DopaGluGABA"),
    ),
    "with itself": (lambda: build(couple(rule=C.OneToOne())), PAIR, "rule", "OneToOne"),
    "twice in one direction": (
        lambda: build(couple(rule=C.Explicit([0, 0, 1], [1, 1, 0]))),
        *(PAIR, "rule", "neurons 0 and 1"),
    ),
    "no such port": (lambda: syn.Into(syn.DopaGluGABA(), "ex"), "", "port of DopaGluGABA", "'ex'"),
    "gain": (lambda: couple(gain=[1.0, 2.0]), PAIR, "gain", "[1.0, 2.0]"),
    "unstored": (
        lambda: couple(rule=C.FixedOutdegree(2, stored=False)),
        *(PAIR, "rule", "FixedOutdegree(k=2, stored=False)"),
    ),
    "fixed number": (
        lambda: build(couple(rule=C.FixedIndegree(2))),
        *(PAIR, "symmetric", "FixedIndegree"),
    ),
    "two weights": (
        lambda: build(couple(weight=np.arange(36.0).reshape(6, 6))),
        *(PAIR, "weight", "two weights for a pair"),
    ),
    "overlap": (
        lambda: build(couple(jn.Part("E", slice(0, 4)), jn.Part("E", slice(2, 6)))),
        *(PAIR, "symmetric", "that are not equal and overlap"),
    ),
    "two populations": (
        lambda: build(couple("E", "Relay", symmetric=True, **GRADED)),
        *(RELAY, "symmetric", "of two populations"),
    ),
    "twice": (
        lambda: build(couple(), couple()),
        *("Description", "couplings", "coupling 'E~E' and coupling"),
    ),
    "off the grid": (
        lambda: build(couple(release=OffGrid(), synapse=syn.AMPA())),
        *("coupling 'E~E': release", "pause", "0.25 ms, between 0.2 and 0.3 ms"),
    ),
    "one name": (
        lambda: build(couple(release=Shared(), synapse=syn.AMPA())),
        *(PAIR, "release", "Shared with 'tau_syn'"),
    ),
    "own name": (
        lambda: build(couple(release=Weighted(), synapse=syn.AMPA())),
        *(PAIR, "release", "Weighted"),
    ),
    # signs
    "gap": (lambda: build(couple(weight=-1.0)), PAIR, "weight", "-1"),
    "gap gain": (lambda: build(couple(gain=-0.5)), PAIR, "weight", "-0.5"),
    "gap law": (
        lambda: build(couple(weight=jn.Normal(1.0, 1.0))),
        *(PAIR, "weight", "bound the distribution (low=0.0)"),
    ),
    "gap function": (lambda: build(couple(weight=lambda i, j: j - 3.0)), PAIR, "weight", "-1"),
    "gap distance": (
        lambda: build(couple(weight=jn.space.ByDistance(lambda d: 1.0 - d))),
        *(PAIR, "weight", "-1.23"),
    ),
    "gap each": (
        lambda: build(couple(rule=C.Explicit([0, 1], [1, 2]), weight=[1.0, -2.0])),
        *(PAIR, "weight", "-2"),
    ),
    "graded": (lambda: build(couple(weight=-1.0, **GRADED)), PAIR, "weight", "-1"),
    "number": (lambda: build(project(-1.0)), WIRE, "weight", "-1"),
    "into": (
        lambda: build(project(-1.0, syn.Into(syn.DopaGluGABA(), "gaba"))),
        *(WIRE, "weight", "-1"),
    ),
    "law": (
        lambda: build(project(jn.Normal(0.0, 1.0))),
        *(WIRE, "weight", "bound the distribution (low=0.0)"),
    ),
    "function": (lambda: build(project(lambda i, j: 1.0 - i)), WIRE, "weight", "-4"),
    "each": (lambda: build(project(np.diag(np.arange(6.0) - 1.0))), WIRE, "weight", "-1"),
    "several": (
        lambda: build(project(-1.0, syn.Several((syn.Exponential(), syn.GABA_A()), (1.0, 1.0)))),
        *(WIRE, "weight", "-1"),
    ),
    "share": (
        lambda: syn.Several((syn.Exponential(), syn.GABA_A()), (1.0, -1.0)),
        *("Several", "shares", "(1, -1)"),
    ),
    "stimulation": (lambda: build(stimulate(-1.0)), INPUT, "weight", "-1"),
    "stimulation law": (lambda: build(stimulate(jn.Uniform(-1.0, 1.0))), INPUT, "weight", "-1"),
    "stimulation each": (lambda: build(stimulate(np.arange(6.0) - 2.0)), INPUT, "weight", "-2"),
    "a rule with weights below 0": (
        lambda: build(project(plasticity=jn.plasticity.TraceSTDP(w_min=-5.0))),
        *(WIRE, "plasticity", "from -5 to 1"),
    ),
    "port ex": (lambda: build(project(-1.0, syn.Direct("ex")), model=PSC()), WIRE, "weight", "-1"),
    "port in": (lambda: build(project(1.0, syn.Direct("in")), model=PSC()), WIRE, "weight", "1"),
    "port function": (
        lambda: build(project(lambda i, j: i - 2.0, syn.Direct("ex")), model=PSC()),
        *(WIRE, "weight", "-2"),
    ),
    "port law": (
        lambda: build(project(jn.Uniform(-1.0, 1.0), syn.Direct("in")), model=PSC()),
        *(WIRE, "weight", "1"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    assert_refused(*REFUSED[case])


def test_nothing_is_drawn_before_it_is_refused(monkeypatch):
    def never(*_):
        raise AssertionError("connections were drawn")

    monkeypatch.setattr(C.FixedProbability, "draw", never)
    monkeypatch.setattr(C.FixedProbability, "rows", never)
    for thing in (couple(weight=-1.0), couple("R", "R"), couple(initial={"x": 1.0})):
        with pytest.raises(jn.InvalidValueError) as caught:
            build(project(rule=C.FixedProbability(0.5)), thing)
        assert caught.value.owner.startswith("coupling")


def test_every_conductance_takes_weights_of_one_sign():
    """What opens channels cannot be negative; currents and jumps can."""
    signs = {}
    for name in vars(syn):
        cls = getattr(syn, name)
        if (
            not isinstance(cls, type)
            or not issubclass(cls, jn.Synapse)
            or name in ("Into", "Several")
        ):
            continue
        model = cls()
        arrivals = np.zeros((len(model.ports), 2) if model.ports else 2, np.float32)
        v = np.zeros(2, np.float32)
        drive = jax.eval_shape(lambda m=model, x=arrivals, v=v: m.step(m.init(2), x, v, 0.1)[1])
        signs[name] = (model.weight_sign, drive.conductance is not None)
    assert len(signs) > 14
    assert all(sign == int(conducts) for sign, conducts in signs.values()), signs


NET = build(
    project(1.0, name="amp"),
    project(jn.Uniform(0.0, 1.0), name="each"),
    project(-2.0, gain=-1.0, name="both"),
    project(jn.Uniform(0.5, 1.0), gain=0.0, name="silent"),
    project(0.5, gain=0.0, name="learns", plasticity=jn.plasticity.TraceSTDP()),
    stimulate(1.0),
    couple(name="gap"),
    couple(weight=jn.Uniform(0.0, 1.0), gain=0.0, name="open"),
    couple(weight=jn.Uniform(0.0, 1.0), name="graded", **GRADED),
)
SET = {
    "gain": ("amp", {"gain": -1.0}, "projection 'amp'", "gain", "-1"),
    "weight": ("amp", {"weight": -3.0}, "projection 'amp'", "weight", "-3"),
    "both": ("both", {"gain": 1.0}, "projection 'both'", "gain", "-2"),
    "individual": ("each", {"gain": -1.0}, "projection 'each'", "gain", "-1"),
    "silent": ("silent", {"gain": -1.0}, "projection 'silent'", "gain", "-0.95"),
    "open": ("open", {"gain": -1.0}, "coupling 'open'", "gain", "-0.95"),
    "plastic": ("learns", {"gain": -1.0}, "projection 'learns'", "gain", "-1"),
    "stimulation": ("in", {"weight": -1.0}, "stimulation 'in'", "weight", "-1"),
    "gap": ("gap", {"gain": -1.0}, "coupling 'gap'", "gain", "-1"),
    "graded": ("graded", {"gain": -1.0}, "coupling 'graded'", "gain", "-1"),
    "individual weight": (
        "graded",
        {"weight": 1.0},
        *("coupling 'graded'", "weight", "individual weights"),
    ),
    "shape": ("gap", {"gain": [1.0, 2.0]}, "coupling 'gap'", "gain", "shape (2,)"),
    "unknown": ("gap", {"tau": 1.0}, "", "parameter of coupling 'gap'", "'tau'"),
}


@pytest.mark.parametrize("case", SET)
def test_what_set_refuses(case):
    name, values, *error = SET[case]
    assert_refused(lambda: NET.set(name, **values), *error)


def test_what_set_takes():
    """0, and both signs where they make one."""
    for name, values in (
        ("amp", {"gain": 0.0}),
        ("both", {"weight": -1.0}),
        ("each", {"gain": 2.0}),
        ("in", {"weight": np.arange(6.0)}),
        ("gap", {"gain": 0.0, "weight": 3.0}),
        ("graded", {"gain": 0.5}),
    ):
        NET.set(name, **values)


def test_a_rule_that_is_set_is_checked():
    """A new rule is checked with the gain that is set by then."""
    learning = NET.set("learns", gain=2.0)
    for values in ({"w_min": -1.0}, {"w_max": 3.0, "w_min": -0.5}):
        assert_refused(
            lambda v=values: learning.set("learns", **v), "projection 'learns'", "plasticity"
        )
    learning.set("learns", w_min=0.1, w_max=3.0)


READ = {
    "variable of gap junctions": (
        lambda state: NET.read(state, "gap", "v"),
        *("state variable of coupling 'gap'", "'v'"),
    ),
    "variable": (
        lambda state: NET.read(state, "graded", "v"),
        *("state variable of coupling 'graded'", "'v'"),
    ),
    "weights of a coupling": (lambda state: NET.weights(state, "gap"), "projection", "'gap'"),
}


@pytest.mark.parametrize("case", READ)
def test_names_that_are_read(case):
    call, field, got = READ[case]
    assert_refused(lambda: call(NET.init(0)), "", field, got)


def test_a_file_names_the_line():
    text = """{"format": "jaxneuro network", "version": 1,
      "populations": [{"name": "E", "n": 3, "model": "LIF"}],
      "couplings": [{"source": "E", "target": "E", "rule": {"type": "FixedProbability", "p": 0.5},
        "weight": 1.0,
        %s}]}"""
    for line, word in (
        ('"synapse": {"type": "AMPA"}', "release must"),
        ('"gian": 2.0', "'gian'"),
        ('"average": 3', "average must"),
        ('"synapse": {"type": "Exponential", "e_rev": 0.0}', "'e_rev'"),
        ('"release": {"type": "QuantalRelease", "U": 1.5}', "U must"),
    ):
        with pytest.raises(ValueError, match=f"^text, line [345]: .*{word}"):
            parse_description(text % line)
