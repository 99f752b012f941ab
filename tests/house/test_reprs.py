"""What a notebook shows of a value is short: sizes and names, no arrays and no addresses."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import assemblies as ac
from jaxneuro._run.result import recorded
from tests.simulation.test_notebooks import texts

AREAS = [ac.Area("A", 1000, 30), ac.Area("B", 500, 20)]
BRAIN = ac.Brain(AREAS, [ac.Stimulus("S", 30)], [ac.Fibre("S", "A"), ac.Fibre("A", "B")], p=0.1)
GRAMMAR = ac.parser.english.grammar()
SWEEP = jn.parallel.SweepResult(
    {"tau": np.array([1.0, 2.0])}, {"rate": np.array([3.0, np.nan])}, True, 2, {}, 0.1, 0.2, 0
)


def test_a_brain_and_what_it_saw():
    text = "Brain: 2 areas: A 1,000 (k 30), B 500 (k 20); 1 stimulus: S 30; 2 fibres: S->A, A->B"
    assert repr(BRAIN) == text
    assert "A->B" in texts(BRAIN)
    assert len(repr(BRAIN.init(0))) < 80
    assert repr(BRAIN.init(0)).startswith("BrainState: after 0 rounds, 2 areas, ")
    seen = ac.Seen(np.array([[1, 2], [3, 4]]), np.zeros((2, 2)))
    assert repr(seen) == "Seen: support and kept (2, 2), (rounds, areas); support at the end [3, 4]"


def test_a_grammar_is_its_size():
    assert repr(GRAMMAR).startswith("Grammar 'English': ")
    assert len(repr(GRAMMAR)) < 80


def test_recordings_are_sizes():
    traces = recorded("traces", {"E": {"v": np.zeros((500, 80))}})
    assert repr(traces) == "{'E': {'v': (500, 80) array}}"


def test_a_recording_names_what_it_holds():
    none = dict.fromkeys(jn.Recording._fields) | {"counts": {}, "traces": {}}
    assert repr(jn.Recording(**none)) == "Recording: nothing"
    some = none | {"counts": {"E": np.arange(100)}, "function": np.zeros((3, 2))}
    text = "Recording: counts {'E': 100 values from 0 to 99}; function (3, 2) array"
    assert repr(jn.Recording(**some)) == text


@pytest.mark.parametrize(
    ("stimulus", "text"),
    [
        (
            jn.stimuli.Poisson(lambda t: t),
            "Poisson(rate=TimeFunction(function=a function, gain=1))",
        ),
        (jn.stimuli.Current(jnp.sin), "Current(amplitude=TimeFunction(function=sin, gain=1))"),
    ],
)
def test_a_stimulus_has_no_address(stimulus, text):
    assert repr(stimulus).startswith(text[:-1])
    assert " at 0x" not in repr(stimulus)


def test_pages_of_a_sweep_and_an_estimate():
    assert {"tau", "rate", "3"} <= {*texts(SWEEP)}
    cells = [jn.Population("E", 10, jn.neurons.LIF())]
    wire = jn.Projection(
        "E",
        "E",
        jn.connectivity.AllToAll(),
        weight=1.0,
        delay=1.0,
        synapse=jn.synapses.Exponential(5.0),
    )
    assert "E->E" in texts(jn.Description(cells, [wire]).estimate())
