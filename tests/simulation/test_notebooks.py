"""What notebooks and `help` show: short, complete, escaped, and bounded for many populations."""

import pydoc
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import jaxneuro as jn

LIF, FAST = jn.neurons.LIF(), jn.synapses.Exponential(5.0)
MARKED = "<b>&'E\""


def described(names):
    cells = [jn.Population(name, 20, LIF, {"v": np.linspace(-70.0, -60.0, 20)}) for name in names]
    rule = jn.connectivity.FixedProbability(0.1)
    wires = [
        jn.Projection(a, b, rule, weight=1.0, delay=1.0, synapse=FAST)
        for a, b in zip(names, [*names[1:], names[0]])
    ]
    gap = jn.Coupling(names[0], names[0], rule, weight=0.1, name="gap")
    drive = jn.Stimulation(names[0], jn.stimuli.Current(5.0), name="drive")
    level = jn.Modulator("level", tau=5.0, scales={names[0]: {"e_l": 0.1}}, source=names[0])
    return jn.Description(cells, wires, [drive], couplings=[gap], modulators=[level])


def result(names, spikes=True, steps=1000):
    """Each neuron of each population once, in one group."""
    layout = tuple((name, 0, 20 * k, 20 * k + 20) for k, name in enumerate(names))
    each, few = np.arange(20, dtype=np.int32), (np.zeros(0, np.int32),) * 2
    fired = {name: ((each + 20 * k) % max(steps, 1), each) for k, name in enumerate(names)}
    times = {"sample_times": np.arange(100.0), "interval": 1.0, "first_step": 0, "n_steps": steps}
    samples = {"traces": {names[0]: {"v": np.zeros((100, 20))}}}
    more = {"samples": samples, "run_s": 0.2, "key": 0}
    held = None if spikes is None else fired if spikes else dict.fromkeys(names, few)
    return jn.Result(None, None, 0.1, layout, spikes=held, **times, **more)


def texts(value):
    """All texts of the page, which is well-formed, by their order."""
    html = value._repr_html_()
    assert "<script" not in html
    assert len(html) < 60_000
    return [text for element in ET.fromstring(html).iter() for text in element.itertext()]


@pytest.mark.parametrize("names", [[MARKED], ["E", "I"], [f"{MARKED} {k}" for k in range(100)]])
def test_pages_are_bounded_and_escaped(names):
    for value in (described(names), result(names), result(names, spikes=False)):
        shown = " ".join(texts(value))
        assert names[0][:10] in shown
        assert ("and 88 more" in shown) == (len(names) == 100)
        assert len(repr(value).splitlines()) < 6


def test_what_a_result_says_of_itself():
    shown = texts(result(["E", "I"]))
    assert "10.00 Hz" in shown
    assert "100 x 20" in shown
    assert "no spikes" not in shown
    assert "no spikes" in texts(result(["E", "I"], spikes=False))
    assert "not recorded" in texts(result(["E", "I"], spikes=None))
    assert "no time steps" in texts(result(["E", "I"], steps=0, spikes=False))[0]


def test_a_network_and_its_state():
    net = jn.build(described(["E", "I"]), 1, 0.1)
    shown = texts(net)
    assert {"E->I", "gap junctions", "Current", "e_l of E", "LIF", "one for all"} <= set(shown)
    synapses = [len(net.connections(name)) for name in ("E->I", "I->E")]
    wanted = {f"{n} ({n / 4:.3g} % of pairs)" for n in synapses}
    assert {"synapses", "delay", "1 ms"} | wanted <= set(shown)
    shown = texts(net.init(0))
    assert {"neurons of E, I", "Exponential of E, I", "-70", "-60", "(40,)"} <= set(shown)
    unknown = net.init(0)._replace(fingerprint=np.zeros(2, np.uint32))  # built elsewhere
    assert {"neurons of group 0", "receptor 0 of group 0"} <= set(texts(unknown))


def test_connections():
    net = jn.build(described(["E", "I"]), 1, 0.1)
    shown = texts(net.connections("E->I"))
    assert {"targets of a source", "sources of a target", "delay (ms)", "lowest"} <= set(shown)
    count = len(net.connections("E->I"))
    assert shown[0] == f"Connections: E to I, {count} synapses, 20 to 20 neurons"
    assert f"{count / 20:.4g}" in shown
    texts(net.connections("gap"))
    none, cells = jn.connectivity.FixedProbability(0.0), described(["E", "I"]).populations
    wire = jn.Projection("E", "I", none, weight=1.0, delay=1.0, synapse=FAST)
    net = jn.build(jn.Description(cells, [wire]), 1, 0.1)
    assert "0 (0 % of pairs)" in texts(net)
    assert texts(net.connections("E->I"))[0].startswith("Connections: E to I, 0 synapses")


def test_records_and_populations_are_short():
    record = jn.Record(variables={"E": ...}, neurons={"E": range(0, 300, 3)}, weights={"E": [4, 1]})
    assert repr(record) == (
        "Record(variables={'E': (...,)}, neurons={'E': 100 neurons from 0 to 297}, "
        "weights={'E': [4, 1]})"
    )
    assert {"state variables, by name", "every step", "which weights are sampled"} <= set(
        texts(record)
    )
    many = jn.Population("E", 300, LIF, {"v": np.linspace(-70.0, -60.0, 300)})
    assert "initial={'v': 300 values from -70 to -60}" in repr(many)
    assert repr(jn.Record()) == "Record()"


def test_help_says_what_fields_are():
    text = pydoc.render_doc(jn.Record, renderer=pydoc.plaintext)
    assert "interval: time between two samples, a multiple of dt (default: every step) (ms" in text
    assert "LIF(tau_m" in re.sub(r"[\s|]", "", pydoc.render_doc(jn.neurons.LIF))
