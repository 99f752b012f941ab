"""Classes are abstract or final, and no method is overridden twice."""

import importlib
import inspect
import pkgutil

import equinox as eqx
import pytest

import jaxneuro as jn
from jaxneuro import spec
from jaxneuro._fields import Model
from jaxneuro._numerics.distributions import Distribution
from jaxneuro.connectivity import Rule
from jaxneuro.surrogates import Surrogate

ROLES = (jn.Neuron, jn.Synapse, jn.Release, jn.Stimulus, Rule, Distribution, Surrogate)


def modules():
    return [
        importlib.import_module(m.name)
        for m in pkgutil.walk_packages(jn.__path__, "jaxneuro.")
        if not m.name.rpartition(".")[2].startswith("_cpu")
    ]


CLASSES = sorted(
    {
        cls
        for module in modules()
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, eqx.Module) and cls.__module__.startswith("jaxneuro.")
    },
    key=lambda cls: cls.__qualname__,
)
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


@pytest.mark.slow
def test_the_classes_are_found():
    assert {jn.neurons.LIF, jn.Network, jn.connectivity.AllToAll, *ROLES} <= set(CLASSES)


@every_class
def test_abstract_or_final(cls):
    # Nothing of a rule is required: one that does nothing is a rule too.
    roots = (spec.Module, Model, jn.Plasticity)
    abstract = bool(getattr(cls, "__abstractmethods__", ())) or cls in roots
    children = [c for c in CLASSES if c is not cls and issubclass(c, cls)]
    assert abstract or not children


@every_class
def test_no_method_is_overridden_twice(cls):
    for name, member in inspect.getmembers(cls, inspect.isfunction):
        if name.startswith("__"):
            continue
        own = [c.__dict__[name] for c in cls.__mro__ if name in c.__dict__]
        concrete = [m for m in own if not getattr(m, "__isabstractmethod__", False)]
        assert len(concrete) <= 2, f"{cls.__name__}.{name} {member}"


@every_class
def test_no_mixins_and_no_super(cls):
    assert len([b for b in cls.__bases__ if b is not object]) <= 1
    # A model prepares its subclasses as any declared value does, and looks at their annotations.
    methods = [x.__code__ for x in vars(cls).values() if inspect.isfunction(x)]
    assert cls is Model or not any("super" in code.co_names for code in methods)


@pytest.mark.parametrize("role", ROLES, ids=lambda cls: cls.__name__)
def test_a_role_cannot_be_made(role):
    with pytest.raises(TypeError, match="abstract"):
        role()
