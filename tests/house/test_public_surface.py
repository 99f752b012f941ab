"""Every public name says what it is and what it refuses; what was published says where."""

import dataclasses
import inspect
import pydoc
import re
from pathlib import Path

import equinox as eqx
import pytest

import jaxneuro as jn

ROOT = Path(__file__).resolve().parents[2]
MODULES = [m for _, m in inspect.getmembers(jn, inspect.ismodule) if m.__name__[9:] in jn.__all__]
FOLDERS = [m for _, m in inspect.getmembers(jn, inspect.ismodule) if hasattr(m, "__path__")]
NAMES = {
    f"{module.__name__}.{name}": value
    for module in [jn, *FOLDERS]
    for name, value in vars(module).items()
    if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value))
}
PUBLIC = {
    f"{v.__module__}.{v.__qualname__}": v
    for v in NAMES.values()
    if v.__module__.startswith("jaxneuro")
}
CLASSES = {k: v for k, v in PUBLIC.items() if inspect.isclass(v)}
ROLES = (jn.Neuron, jn.Synapse, jn.Release, jn.Stimulus, jn.Plasticity)
MODELS = {k: v for k, v in CLASSES.items() if issubclass(v, ROLES)}
# A rule says what a synapse does at an event; its docstring needs no block for that.
STEPPED = {k: v for k, v in MODELS.items() if not issubclass(v, jn.Plasticity)}


def holds_for(values):
    """One test of all values of a mapping; those that fail are named, each with its error."""

    def decorate(check):
        def test():
            assert values
            failed = {}
            for name, value in values.items():
                try:
                    check(value)
                except Exception as error:
                    failed[name] = f"{type(error).__name__}: {error}"
            assert not failed, "\n".join(f"{name}: {said}" for name, said in failed.items())

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate


# These are written from a publication or after another program, and their docstrings say which:
# every concrete class of these roles, and every function of `analysis`.
PUBLISHED = (
    *(jn.Neuron, jn.Synapse, jn.channels.Channel, jn.Plasticity),
    *(jn.integrators.Integrator, jn.surrogates.Surrogate),
)
# Except these: `Direct` returns its input unchanged, `summary` prints, `Plasticity` is a role.
OWN = (jn.synapses.Direct, jn.analysis.summary, jn.Plasticity)
# The year of a publication, or the address of a program.
CITATION = re.compile(r"\((?:18|19|20)\d\d\)|https://")


def doc_of(value):
    """A docstring of its own, not one that was inherited or made up."""
    return (
        inspect.cleandoc(value.__dict__.get("__doc__") or "")
        if inspect.isclass(value)
        else (inspect.getdoc(value) or "")
    )


SECTIONS = r"\n\n(?:\*\*[A-Z]|(?:Attributes|Args|Returns|Raises|Reference|Note):\n)"


def block(doc, name):
    """The text of a section, up to the next one."""
    heads = {"Source": "Reference", "Differs": "Note", "Fields": "Attributes"}
    for start in (f"**{name}**", f"\n\n{heads.get(name, name)}:\n"):
        if start in doc:
            return re.split(SECTIONS, doc.split(start, 1)[1])[0]
    return ""


@pytest.mark.parametrize("module", [jn, *MODULES, jn.assemblies.parser], ids=lambda m: m.__name__)
def test_all_is_what_is_public(module):
    """`help(module)` shows classes and functions that `__all__` names, and no others."""
    public = {name for name in dir(module) if not name.startswith("_")}
    # Folders that were imported, and are no part of what their parent offers, come and go.
    public -= {
        k for k, v in vars(module).items() if inspect.ismodule(v) and k not in module.__all__
    }
    assert public | ({"__version__"} & set(dir(module))) == set(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_the_docs_show_every_name():
    """A name of `jn` is for those who write scripts and models, so a page says what it is for."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    # The page of names only says what things are called, and the zoo is made from the models.
    pages = [page for page in pages if not page.name.startswith(("names", "zoo"))]
    text = "\n".join(page.read_text() for page in pages)
    shown = set(re.findall(r"\bjn\.(\w+)", text))
    assert set(jn.__all__) - shown == {"__version__"}


def test_help_lists_functions_and_no_helpers():
    text = pydoc.render_doc(jn.plot, renderer=pydoc.plaintext)
    functions = re.sub(r"\s", "", text.split("FUNCTIONS", 1)[1])  # 3.13 breaks long lines
    assert "raster(source" in functions
    assert "class LIF(" in pydoc.render_doc(jn.neurons, renderer=pydoc.plaintext)
    assert not {"Any", "TYPE_CHECKING", "importlib"} & set(dir(jn))
    assert {"plot", "sweep", "assemblies", "build"} < set(dir(jn))


# Their signatures are being shortened one by one.
LONG = ("_avalanches", "_correlations", "_counts", "_intervals")
SHORT = {
    k: v for k, v in PUBLIC.items() if inspect.isfunction(v) and not v.__module__.endswith(LONG)
}


@holds_for(SHORT)
def test_help_begins_with_a_readable_signature(function):
    """Types have names: what an array is made of is not a wall of unions of NumPy's."""
    signature = inspect.signature(function)
    assert not re.search(r"_array_like|_nested_sequence|_SupportsArray", str(signature))
    assert len(str(signature)) <= 160 + 60 * len(signature.parameters), str(signature)


@pytest.mark.parametrize(
    ("cls", "first", "doc"),
    [
        (jn.Population, "(name: str, n: int, model: jaxneuro._model.Neuron, ", "Neurons of one"),
        (jn.Projection, "(source: str | ", "The connections from"),
        (jn.Record, "(spikes: bool = True, ", "What a run records"),
        (jn.neurons.LIF, "(tau_m: Any = 10.0, c_m: Any = 250.0, ", "Leaky integrate-and-fire"),
        (jn.Network, "(groups: tuple[", "A network that is ready"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_a_notebook_shows_of_a_class(cls, first, doc):
    """`jn.Projection?` has the arguments in their order, with defaults, and its own words."""
    assert str(inspect.signature(cls)).startswith(first)
    assert inspect.getdoc(cls).startswith(doc)
    assert type(cls) in (type, type(eqx.Module))


def test_names_are_found():
    assert {"jaxneuro.build", "jaxneuro.neurons.LIF", "jaxneuro.plot.raster"} <= set(NAMES)


@holds_for(PUBLIC)
def test_a_summary(value):
    first = doc_of(value).split("\n\n")[0]
    assert first
    assert not first.startswith(f"{value.__name__}("), "a dataclass made this one up"
    assert first.rstrip().endswith((".", ":")), first


def needs_a_source(value):
    if value in OWN:
        return False
    if inspect.isfunction(value):
        return value.__module__.startswith("jaxneuro.analysis.")
    return issubclass(value, PUBLISHED) and not inspect.isabstract(value)


DUE = {k: v for k, v in PUBLIC.items() if needs_a_source(v)}


def test_sources_are_due():
    assert {"jaxneuro.neurons._lif.LIF", "jaxneuro.analysis._intervals.cv2"} <= set(DUE)
    assert len(DUE) > 50


@holds_for(DUE)
def test_its_source(value):
    assert CITATION.search(block(doc_of(value), "Source"))


def fields(cls):
    if not dataclasses.is_dataclass(cls) or inspect.isabstract(cls):
        return []
    return [f for f in dataclasses.fields(cls) if f.init]


@holds_for(PUBLIC)
def test_a_source_is_a_citation(value):
    source = block(doc_of(value), "Source")
    assert not source.strip() or CITATION.search(source)


@holds_for(CLASSES)
def test_its_fields(cls):
    """Every field is named in the block, models and values alike."""
    names = [f.name for f in fields(cls)] + list(getattr(cls, "_fields", ()))
    doc = doc_of(cls)
    for name in names:
        assert f"`{name}" in doc or f"[{name}]" in doc or name in block(doc, "Fields"), name
    if names and not issubclass(cls, tuple):
        assert "**Fields**" in doc or "Attributes:\n" in doc


@holds_for(MODELS)
def test_the_units_of_a_model(cls):
    if not inspect.isabstract(cls):
        for f in fields(cls):
            if (kind := f.metadata.get("kind")) is not None:
                unit = getattr(kind, "unit", "1")
                doc = doc_of(cls)
                said = f"`{f.name}` [{unit}]" in doc or f"    {f.name}: " in doc
                assert unit == "1" or said, (f.name, unit)


@holds_for(STEPPED)
def test_init_and_step(cls):
    for name in ("init", "step"):
        assert callable(getattr(cls, name))
    draws = issubclass(cls, jn.Stimulus | jn.StochasticNeuron | jn.StochasticRelease)
    taken = ["self", "n", "stream"] if draws else ["self", "n"]
    assert list(inspect.signature(cls.init).parameters) == taken
    last = list(inspect.signature(cls.step).parameters)[-1]
    assert last == "dt"


@holds_for(CLASSES)
def test_public_methods_have_a_sentence(cls):
    inherited = {"init", "step", "quantile", "support", "slope", "draw", "check", "expected"}
    inherited |= {"rates", "open", "largest_step"}
    for name, member in cls.__dict__.items():
        plain = inspect.isfunction(member) or isinstance(member, property | classmethod)
        if name.startswith("_") or not plain or name in inherited | {"arrange", "voltage"}:
            continue
        if name in ("n_neurons", "n_synapses", "n"):
            continue  # the name says it
        assert inspect.getdoc(member), f"{cls.__name__}.{name}"


@holds_for(CLASSES)
def test_values_are_frozen(cls):
    if dataclasses.is_dataclass(cls) and not issubclass(cls, eqx.Module):
        assert cls.__dataclass_params__.frozen
