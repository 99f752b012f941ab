"""`jn.LIF` and other names that are somewhere else: the error says where."""

import copy
import pickle

import jax
import pytest

import jaxneuro as jn
from tests.house.test_import import python


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LIF", r"there is no jn\.LIF; did you mean jn\.neurons\.LIF\?"),
        ("Exponential", r"jn\.space\.Exponential or jn\.synapses\.Exponential\?"),
        ("simulte", r"did you mean jn\.simulate\?"),
        ("plots", r"did you mean jn\.plot\?"),
        ("sweeps", r"did you mean jn\.sweep\?"),
        ("PairSTDP", r"did you mean jn\.plasticity\.PairSTDP\?"),
        ("run", r"use jn\.simulate\("),
        ("load", r"use jn\.Result\.load\(path\)"),
        ("read", r"use jn\.io\.read_description\(path\)"),
        ("seed", "use key= of jn.build"),
        ("PoissonInput", r"use a jn\.Stimulation of jn\.stimuli\.Poisson\(rate\)"),
        ("SetKernelStatus", "use dt= of jn.build"),
        ("SetStatus", r"use net\.set\("),
        ("GetConnections", r"use net\.connections\(name\)"),
        ("mV", "numbers have no units"),
        ("run_regularly", "call jn.simulate in a loop"),
        ("multimeter", r"use jn\.Record\(variables="),
        ("gather_cpu", r"there is no jn\.gather_cpu; dir\(jn\) lists"),
        ("sead", r"there is no jn\.sead; dir\(jn\) lists"),
        ("qqq", r"there is no jn\.qqq; dir\(jn\) lists"),
        ("__wrapped__", "module 'jaxneuro' has no attribute '__wrapped__'"),
    ],
)
def test_a_name_that_is_elsewhere(name, said):
    with pytest.raises(AttributeError, match=said) as caught:
        getattr(jn, name)
    assert caught.value.name == name
    assert not hasattr(jn, name)


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        (jn.neurons, "lif", r"there is no jn\.neurons\.lif; did you mean jn\.neurons\.LIF\?"),
        (jn.neurons, "STDP", r"there is no jn\.neurons\.STDP"),
        (jn.neurons, "Gamma", r"did you mean jn\.stimuli\.Gamma\?"),
        (jn.stimuli, "Poison", r"did you mean jn\.stimuli\.Poisson\?"),
        (jn.stimuli, "DC", r"use a jn\.Stimulation of jn\.stimuli\.Current\(amplitude\)"),
        (jn.synapses, "qqq", r"dir\(jn\.synapses\) lists"),
        (jn.plot, "rasters", r"did you mean jn\.plot\.raster\?"),
        (jn.space, "__wrapped__", "module 'jaxneuro.space' has no attribute '__wrapped__'"),
    ],
)
def test_a_name_that_a_module_does_not_have(module, name, said):
    with pytest.raises(AttributeError, match=said) as caught:
        getattr(module, name)
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (jn.assemblies.parser.english, r"did you mean jn\.assemblies\.parser\.english\.grammar\("),
        (jn.assemblies.parser, r"did you mean jn\.assemblies\.parser\.parse\("),
        (jn.neurons, r"jn\.neurons is a module, .*dir\(jn\.neurons\)"),
    ],
)
def test_a_module_that_is_called(module, said):
    with pytest.raises(ValueError, match=said):
        module()


def test_what_is_no_dict_says_what_to_use():
    brain = jn.assemblies.Brain([jn.assemblies.Area("A", 9, 2)])
    said = (
        r"Description.*population\(name",
        r"net\.read\(state",
        r"result\.events\('E'\)",
        "brain.cap",
    )
    for value, text in zip((*values(), brain), said):
        with pytest.raises(ValueError, match=text):
            value["E"]


def values():
    description = jn.Description([jn.Population("E", 3, jn.neurons.LIF())])
    net = jn.build(description, key=0, dt=0.1)
    return description, net, jn.simulate(net, 1.0, progress=False)


@pytest.mark.parametrize(
    ("number", "name", "said"),
    [
        (0, "build", r"a Description has no \.build; use jn\.build\("),
        (0, "population_s", r"a Description has no \.population_s; did you mean \.populations\?"),
        (1, "run", r"a Network has no \.run; use jn\.simulate\(net, ms\)"),
        (1, "projection", r"did you mean \.projections\?"),
        (2, "spike_times", r"a Result has no \.spike_times; use result\.events\(population\)"),
        (2, "plot", r"use jn\.plot\.raster\(result\)"),
        (2, "qqq", r"a Result has no \.qqq; It has compile_s, counts, "),
        (2, "__array__", "'Result' object has no attribute '__array__'"),
    ],
)
def test_a_name_that_a_value_does_not_have(number, name, said):
    value = values()[number]
    with pytest.raises(AttributeError, match=said):
        getattr(value, name)
    assert pickle.loads(pickle.dumps(values()[0])).populations[0].name == "E"
    assert copy.deepcopy(value) is not None


PARTS = {
    "state": (lambda net: net.init(0), "v", r"use net\.read\(state, population, variable\)"),
    "population": (lambda net: jn.Population("E", 3, jn.neurons.LIF()), "size", r"use \.n"),
    "model": (lambda net: jn.neurons.LIF(), "V_th", r"did you mean \.v_th\?"),
    "start": (lambda net: jn.synapses.Exponential(5.0), "tau", r"did you mean \.tau_syn\?"),
    "record": (lambda net: jn.Record(), "rate", r"did you mean \.rates\?"),
    "no note": (
        lambda net: jn.neurons.LIF(),
        "qqq",
        r"has no \.qqq; It has c_m, e_l, init, largest_step, ",
    ),
}


@pytest.mark.parametrize(("made", "name", "said"), PARTS.values(), ids=PARTS.keys())
def test_a_name_that_a_part_does_not_have(made, name, said):
    value = made(values()[1])
    with pytest.raises(AttributeError, match=said) as caught:
        getattr(value, name)
    assert caught.value.name == name
    assert not hasattr(value, name)
    assert type(pickle.loads(pickle.dumps(value))) is type(copy.deepcopy(value)) is type(value)


def test_a_method_in_jit_says_how():
    net = values()[1]
    with pytest.raises(TypeError, match=r"a Network has arrays, .*as an argument, jax\.jit\("):
        jax.jit(net.step)(net.init(0))
    with pytest.raises(TypeError, match="a LIF has arrays, and no hash"):
        hash(jn.neurons.LIF())
    with pytest.raises(ValueError, match=r"n_steps .*traced: name it in static_argnames"):
        jax.jit(jn.scan)(net, net.init(0), 3)
    assert {jn.integrators.RK4(): 1}


def test_nothing_is_loaded_for_what_is_there():
    lines = (
        "import jaxneuro as jn, sys; before = set(sys.modules)",
        "hasattr(jn, 'LIF'); hasattr(jn, '__wrapped__')",
        "print(*sorted(set(sys.modules) - before))",
    )
    assert python("-c", "\n".join(lines)).split() == ["jaxneuro._elsewhere"]
