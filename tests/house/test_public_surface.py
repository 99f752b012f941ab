"""Every public name says what it is, where it comes from, and what it refuses."""

import dataclasses
import inspect

import equinox as eqx
import pytest

import jaxneuro as jn

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
ROLES = (jn.Neuron, jn.Synapse, jn.Release, jn.Stimulus)
MODELS = {k: v for k, v in CLASSES.items() if issubclass(v, ROLES)}
every_name = pytest.mark.parametrize("value", PUBLIC.values(), ids=PUBLIC.keys())
every_class = pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES.keys())
every_model = pytest.mark.parametrize("cls", MODELS.values(), ids=MODELS.keys())
# Consciously absent: functions of floors 1 and 2 are for those who build models.
INNER = ("jaxneuro.numerics", "jaxneuro.kernels")


def doc_of(value):
    """A docstring of its own, not one that was inherited or made up."""
    return (
        inspect.cleandoc(value.__dict__.get("__doc__") or "")
        if inspect.isclass(value)
        else (inspect.getdoc(value) or "")
    )


def block(doc, name):
    """The text of a block, up to the next one."""
    return doc.split(f"**{name}**", 1)[1].split("\n\n**", 1)[0] if f"**{name}**" in doc else ""


def test_names_are_found():
    assert {"jaxneuro.build", "jaxneuro.neurons.LIF", "jaxneuro.plot.raster"} <= set(NAMES)


@every_name
def test_a_summary(value):
    first = doc_of(value).split("\n\n")[0]
    assert first
    assert not first.startswith(f"{value.__name__}("), "a dataclass made this one up"
    assert first.rstrip().endswith((".", ":")), first


@every_name
def test_its_source(value):
    if inspect.isfunction(value) and value.__module__.startswith(INNER):
        return
    assert block(doc_of(value), "Source").strip()


def checks(cls):
    own = [n for n in ("__check_init__", "__post_init__") if n in cls.__dict__]
    checked = [
        f
        for f in fields(cls)
        if any(v is not None and k != "unit" for k, v in f.metadata.get("checks", {}).items())
    ]
    return own or checked


def fields(cls):
    if not dataclasses.is_dataclass(cls) or inspect.isabstract(cls):
        return []
    return [f for f in dataclasses.fields(cls) if f.init]


@every_class
def test_what_it_refuses(cls):
    if checks(cls) and cls is not jn.Model:
        assert "ValueError" in block(doc_of(cls), "Raises"), cls


@every_class
def test_its_fields(cls):
    """Every field is named in the block, models and values alike."""
    names = [f.name for f in fields(cls)] + list(getattr(cls, "_fields", ()))
    doc = doc_of(cls)
    for name in names:
        assert f"`{name}" in doc or f"[{name}]" in doc or name in block(doc, "Fields"), name
    if names and not issubclass(cls, tuple):
        assert "**Fields**" in doc


@every_model
def test_the_step_of_a_model(cls):
    assert "**Step**" in doc_of(cls)
    if not inspect.isabstract(cls):
        for f in fields(cls):
            if "checks" in f.metadata:
                unit = f.metadata["checks"]["unit"]
                assert unit == "1" or f"`{f.name}` [{unit}]" in doc_of(cls), (f.name, unit)


@every_model
def test_init_and_step(cls):
    for name in ("init", "step"):
        assert callable(getattr(cls, name))
    draws = issubclass(cls, jn.Stimulus | jn.StochasticNeuron)
    taken = ["self", "n", "stream"] if draws else ["self", "n"]
    assert list(inspect.signature(cls.init).parameters) == taken
    last = list(inspect.signature(cls.step).parameters)[-1]
    assert last == "dt"


@every_class
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


@every_class
def test_values_are_frozen(cls):
    if dataclasses.is_dataclass(cls) and not issubclass(cls, eqx.Module):
        assert cls.__dataclass_params__.frozen
