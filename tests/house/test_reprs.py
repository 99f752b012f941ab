"""What a notebook shows of a value is short: sizes and names, no arrays and no addresses."""

import inspect

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import assemblies as ac
from jaxneuro._run.recorded import recorded
from jaxneuro._run.recording import RunInfo
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
    none = {"spikes": None} | {key: {} for key in ("samples", "counts", "constants", "statistics")}
    none |= {"first_step": jnp.int32(0), "key": jnp.uint32(0)}
    none["info"] = RunInfo(0.1, 100, (), 0, (), ())
    assert repr(jn.Recording(**none)) == "Recording, 10 ms (100 steps): nothing"
    sampled = {"counts": {"E": jnp.arange(100)}, "samples": {"function": np.zeros((3, 2))}}
    some = none | sampled
    text = "function (3, 2) array; counts {'E': 100 values from 0 to 99}"
    assert repr(jn.Recording(**some)) == f"Recording, 10 ms (100 steps): {text}"
    batch = jnp.zeros((4, 2), jnp.int32)
    many = some | {"first_step": batch, "key": batch}
    assert repr(jn.Recording(**many)).startswith("Recording of 4 x 2 runs, 10 ms")


@pytest.mark.parametrize(
    "owner",
    [
        jn.build(jn.Description([jn.Population("E", 3, jn.neurons.LIF())]), 0, 0.1),
        jn.neurons.HodgkinHuxley(),
        jn.stimuli.Poisson(5.0),
        jn.plasticity.PairSTDP(w_max=1.0),
        jn.Normal(1.0, 2.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_method_is_shown_with_the_text_of_its_owner(owner):
    """Without its parentheses it is easily the last line of a cell."""
    names = [name for name in dir(type(owner)) if not name.startswith("_")]
    methods = [getattr(owner, name) for name in names if inspect.isfunction(vars_of(owner, name))]
    assert methods
    for method in methods:
        assert repr(owner) in repr(method)
        assert len(repr(method)) < len(repr(owner)) + 120


def vars_of(owner, name):
    return inspect.getattr_static(type(owner), name)


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
