"""Which models a file can name, and the keys of each; they follow from declared fields."""

import dataclasses
import functools
import inspect
import textwrap
import typing
from typing import Any, NamedTuple

import equinox as eqx

from .. import (
    channels,
    connectivity,
    integrators,
    neurons,
    plasticity,
    release,
    space,
    spec,
    stimuli,
    surrogates,
    synapses,
)
from .._fields import Model, ParameterKind
from .._model import Neuron, Plasticity, Release, Stimulus, Synapse
from .._numerics import distributions
from .._numerics.grid import Duration

_FOLDERS = (
    *(neurons, channels, integrators, synapses, release, plasticity, stimuli),
    *(connectivity, space, surrogates, distributions),
)
# By role: the noun of errors, and the title in the list of models.
_ROLES = {
    Neuron: ("neuron model", "neuron models (model)"),
    channels.Channel: ("ion channel", "ion channels (channels of HodgkinHuxley)"),
    integrators.Integrator: ("integrator", "integrators (method of a neuron)"),
    space.Layout: ("layout", "layouts (positions)"),
    distributions.Distribution: ("distribution", "distributions (initial, weight, delay)"),
    space.SpatialValue: ("value by distance", "values by distance (weight, delay)"),
    space.Profile: ("profile", "profiles (of distance)"),
    connectivity.Rule: ("connection rule", "connection rules (rule)"),
    Synapse: ("synapse model", "synapse models (synapse)"),
    Release: ("release model", "release models (release)"),
    Plasticity: ("plasticity rule", "plasticity rules (plasticity)"),
    Stimulus: ("stimulus", "stimuli (stimulus)"),
    stimuli.Signal: ("signal", "signals (amplitude or rate of a stimulus)"),
    surrogates.Surrogate: ("surrogate gradient", "surrogate gradients (surrogate of a neuron)"),
}
TYPE = "type"  # the key that names a model
_PREPARED = "on_grid"  # whether `build` has made a model from another one; not a key


def noun(role: type) -> str:
    """The noun for values of a class, such as "neuron model"."""
    return _ROLES.get(role, (role.__name__.lower(),))[0]


class Key(NamedTuple):
    """A key of an object in a file.

    Attributes:
        kind: the kind of its value.
        default: the value if it is left out; `dataclasses.MISSING` if it is required.
    """

    kind: spec.Kind
    default: Any

    @property
    def required(self) -> bool:
        """Whether a file must have it."""
        return self.default is dataclasses.MISSING


@functools.cache
def keys(cls: type) -> dict[str, Key]:
    """The keys of values of a class, by name: its declared fields."""
    fields = [f for f in dataclasses.fields(cls) if f.name != _PREPARED]
    return {f.metadata.get("key", f.name): _key(f) for f in fields}


def _key(field: dataclasses.Field) -> Key:
    kind = field.metadata.get("kind") or _annotated(field.type)
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    no_value = default is dataclasses.MISSING and isinstance(kind, spec.Maybe)
    return Key(kind, None if no_value else default)


_TYPES = {bool: spec.Flag(), int: spec.Whole(None), float: spec.Number(), str: spec.Name()}


def _annotated(annotation: Any) -> spec.Kind:
    """The kind of a field that has only an annotation, as one that `static` declares."""
    if kind := spec.annotated(annotation) or _TYPES.get(annotation):
        return kind
    inside = typing.get_args(annotation)
    if typing.get_origin(annotation) is tuple:
        return spec.Items(_annotated(inside[0]))
    if type(None) in inside:
        return spec.Maybe(_annotated(next(x for x in inside if x is not type(None))))
    return spec.Kind()


def is_prepared(model: Any) -> bool:
    """Whether `build` has made a model, or a class of models, from another one."""
    return bool(getattr(model, _PREPARED, False))


@functools.cache
def known(role: type) -> dict[str, type]:
    """The models of a role that a file can name, by name."""
    return {name: cls for name, cls in public(role).items() if _can_be_named(cls)}


def _can_be_named(cls: type) -> bool:
    needs_function = any(type(x.kind) is spec.Function and x.required for x in keys(cls).values())
    return not is_prepared(cls) and not needs_function


@functools.cache
def public(role: type) -> dict[str, type]:
    """All models of a role that the package has, by name."""
    everything = [item for folder in _FOLDERS for item in vars(folder).items()]
    return {
        name: cls
        for name, cls in everything
        if inspect.isclass(cls)
        and issubclass(cls, role)
        and issubclass(cls, eqx.Module)
        and not (name.startswith("_") or inspect.isabstract(cls))
    }


def list_models() -> str:
    """The models that a network file can name, by role, with parameters, units and defaults."""
    parts = []
    for role, (_, title) in _ROLES.items():
        lines = [_line(name, cls) for name, cls in sorted(known(role).items())]
        parts.append("\n".join([title, *lines]))
    return "\n\n".join(parts)


def _line(name: str, cls: type) -> str:
    given = ", ".join(_shown(*item) for item in keys(cls).items())
    text = f"{name}: {given}" if given else name
    return textwrap.fill(text, 96, initial_indent="  ", subsequent_indent="      ")


def _shown(name: str, key: Key) -> str:
    kind, default = key
    unit = kind.unit if isinstance(kind, ParameterKind | Duration) else "1"
    if key.required:
        return name if unit == "1" else f"{name} [{unit}]"
    if isinstance(default, bool):
        default = str(default).lower()
    if isinstance(default, tuple) and any(isinstance(x, Model) for x in default):
        default = f"[{', '.join(type(x).__name__ for x in default)}]"
    if isinstance(default, Model):
        default = type(default).__name__
    return f"{name} = {default}{'' if unit == '1' else f' {unit}'}"
