"""`Network.changes`: what two networks differ in, by name."""

import jax
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._network import changes
from tests.network.everything import everything
from tests.network.networks import balanced
from tests.refusing import assert_refused

NET = jn.build(everything(), 0, 0.1)


def named(found):
    return {(c.name, c.parameter) for c in found}


def test_nothing():
    assert not NET.changes(NET)
    again = jn.build(everything(), 0, 0.1)
    assert repr(again.changes(NET)) == "no changes"
    assert not again.set("E", tau_m=again.get("E", "tau_m")).changes(NET)


def test_what_was_set(monkeypatch):
    """Without reading connections: both networks have the same ones."""
    monkeypatch.setattr(changes, "read_connections", lambda *_: pytest.fail("read"))
    net = NET.set("E->E", weight=16.5).set("E", tau_m=20.0).set("both", nmda_mg=2.0)
    net = net.set("noise", rate=np.float32([1.0, 2.0, 3.0, 5.0])).set("m", tau=5.0)
    net = net.set("E.Exponential", tau_syn=6.0).set("plastic", rate=0.5)
    found = net.changes(NET)
    assert named(found) == {
        ("E->E", "weight"),
        ("E", "tau_m"),
        ("both", "nmda_mg"),
        ("noise", "rate"),
        ("m", "tau"),
        ("E.Exponential", "tau_syn"),
        ("plastic", "rate"),
    }
    by_name = {c.name: c for c in found}
    assert by_name["E->E"][2:4] == (16.5, 16.0)
    assert str(by_name["E->E"]) == "projection 'E->E': weight 16.5 pA, was 16.0 pA"
    assert str(by_name["E"]) == "population 'E': tau_m 20.0 ms, was 10.0 ms"
    assert len(repr(found).splitlines()) == len(found)
    signal = NET.set("steps", amplitude=jn.stimuli.Steps([1.0, 2.0], [3.0, 5.0]))
    assert named(signal.changes(NET)) == {("steps", "amplitude")}


def test_individual_weights():
    weights = np.arange(1.0, 1.0 + len(NET.connections("E->I")))
    (found,) = NET.set("E->I", weight=weights).changes(NET)
    assert found[:2] == ("E->I", "weight")
    np.testing.assert_array_equal(found.value, weights)
    np.testing.assert_array_equal(found.other, NET.get("E->I", "weight"))


@pytest.mark.slow
def test_networks_that_were_built_apart():
    net = jn.build(everything(n=7, weight=17.0), 0, 0.1)
    found = {(c.name, c.parameter): c for c in net.changes(NET)}
    assert found["E", "neurons"][2:4] == (7, 6)
    assert found["E->E", "weight"][2:4] == (17.0, 16.0)
    assert found["both", "connections"][2:4] == (28, 24)
    assert not {name for name, _ in found} & {"I", "H", "noise", "m", "gate"}
    drawn = jn.build(everything(), 1, 0.1).changes(NET)
    assert ("E->E", "connections") in named(drawn)
    assert named(drawn) <= {(c, p) for c, _ in named(drawn) for p in ("connections", "weight")}


def test_other_parts_models_and_grids():
    net = jn.build(balanced(), 0, 0.1)
    found = net.changes(NET)
    lines = repr(found).splitlines()
    assert "population 'H': gone" in lines
    assert "projection 'I->E': new" in lines
    assert "projection 'E->I': receptor ExponentialConductance, was Exponential" in lines
    assert "projection 'E->I': gain 1.0, was 2.0" in lines
    assert {c.parameter for c in found if c.name == "E->E"} >= {"delay", "connections", "weight"}
    opposite = {(c.name, c.parameter): c[2:4] for c in NET.changes(net)}
    assert opposite.keys() == named(found)
    assert opposite["E->I", "gain"] == (2.0, 1.0)
    wide = jn.build(balanced(delay=0.2), 0, 0.2, jax.numpy.float32)
    assert wide.changes(jn.build(balanced(delay=0.2), 0, 0.1))[0][:4] == ("", "dt", 0.2, 0.1)
    assert_refused(lambda: net.changes(3), "changes", "other", "3")


def test_what_set_does_not_change():
    """Static fields, targets and windows."""

    def built(of=slice(0, 2), surrogate=None, **window):
        cells = jn.Population("A", 4, jn.neurons.LIF(surrogate=surrogate))
        drive = jn.Stimulation(jn.Part("A", of), jn.stimuli.Current(1.0), name="d", **window)
        return jn.build(jn.Description([cells], (), [drive]), 0, 0.1)

    one = built()
    assert named(built(slice(1, 3)).changes(one)) == {("d", "neurons")}
    assert named(built([0, 3]).changes(one)) == {("d", "neurons")}
    found = named(built(surrogate=jn.surrogates.FastSigmoid(1.0)).changes(one))
    assert found == {("A", f"surrogate{x}") for x in ("", "_beta", "_form")}
    (found,) = built(start=1.0).changes(one)
    assert found[1:4] == ("start", 1.0, 0)


def test_durations_are_ms():
    """Of a rule they are steps in a network; the same ms at two dt are no difference."""

    def net(interval, dt):
        rule = jn.plasticity.Normalized(jn.plasticity.PairSTDP(), 2.0, interval=interval)
        wire = jn.Projection(
            *("A", "A", jn.connectivity.AllToAll()),
            **{"weight": 1.0, "delay": 1.0, "synapse": jn.synapses.Delta(), "plasticity": rule},
        )
        return jn.build(jn.Description([jn.Population("A", 2, jn.neurons.LIF())], [wire]), 0, dt)

    (change,) = net(0.3, 0.1).changes(net(0.6, 0.1))
    assert (change.parameter, change.value, change.other) == ("interval", 0.3, 0.6)
    assert change.units == ("ms", "ms")
    assert named(net(0.3, 0.1).changes(net(0.3, 0.05))) == {("", "dt")}
