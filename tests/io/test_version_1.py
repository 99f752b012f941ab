"""A file of version 1 has steps where today's have ms: it keeps them, whatever dt is."""

import json
from pathlib import Path

import pytest

import jaxneuro as jn
from jaxneuro._numerics.grid import InSteps
from jaxneuro.io import format_description, parse_description, read_description
from tests.io.test_file_round_trip import both, same

P = jn.plasticity
# Written by e762827; then the `every` that are the defaults, of Oja and rate, were left out.
FILE = Path(__file__).parent / "version_1.json"


def in_ms(dt):
    """Its rules, their steps at dt as ms."""
    return {
        "Hebb": P.Hebb(1e-5, interval=7 * dt),
        "Oja": P.Oja(1e-6, interval=10 * dt),
        "BCM": P.BCM(1e-7, 5.0, interval=5 * dt),
        "sum": P.Normalized(P.TraceSTDP(a_plus=0.03, w_max=2.0), 5.0, interval=40 * dt),
        "rate": P.HomeostaticScaling(P.Hebb(1e-5, interval=3 * dt), 20.0, interval=1000 * dt),
        "Clopath": P.ClopathSTDP(delay=13 * dt),
    }


@pytest.mark.parametrize("dt", [0.1, 0.25])
def test_steps_stay_steps(dt):
    old = read_description(FILE)
    wires = [
        jn.Projection(
            *("in", "out", jn.connectivity.AllToAll()),
            **{"weight": 0.5, "delay": 1.0, "synapse": jn.synapses.Delta()},
            plasticity=rule,
            name=name,
        )
        for name, rule in in_ms(dt).items()
    ]
    net = jn.build(old, 1, dt)
    rules = {x.plastic.name: x.plastic for x in net.pathways}
    assert [rules[name].tick_steps for name in ("Hebb", "Oja", "BCM", "rate")] == [7, 10, 5, 3]
    assert [rules[name].sum_steps for name in ("sum", "rate", "Oja")] == [40, 1000, 0]
    assert rules["Clopath"].rule.delay == InSteps(13)
    today = jn.build(jn.Description(old.populations, wires), 1, dt)
    for pathway, other in zip(net.pathways, today.pathways, strict=True):
        same(pathway.plastic.rule, other.plastic.rule)
        assert pathway.plastic.tick_steps == other.plastic.tick_steps
        assert pathway.plastic.sum_steps == other.plastic.sum_steps


@both
def test_it_is_written_as_version_2(format):
    old = read_description(FILE)
    text = format_description(old, format)
    assert "every" not in text
    back = parse_description(text, format)
    for p, q in zip(old.projections, back.projections, strict=True):
        same(p.plasticity, q.plasticity)
    if format == "json":
        data = json.loads(text)
        assert data["version"] == 2
        assert data["projections"][0]["plasticity"]["interval"] == {"n_steps": 7}


# What is replaced in the file, by what, and what the error says.
BAD = {
    "0 steps": (
        '"every": 7',
        '"every": 0',
        "line 31: .*interval must be a whole number of at leas",
    ),
    "ms": ('"every": 7', '"interval": 7.0', "line 37: there is no key of Hebb named 'interval'"),
    "a part of a step": ('"every": 7', '"every": 7.5', "line 37: .*every must be a whole number"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name):
    old, new, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        parse_description(FILE.read_text().replace(old, new))
