"""Which models a file can name, and the arguments of each.

These are the public classes of the package's folders, by their role (their base class). A file can
name a new model as soon as its folder exports it. Nothing is imported by a name in a file.
"""

import collections.abc
import dataclasses
import functools
import inspect
import types
import typing
from typing import Any

import equinox as eqx

from .. import (
    _numerics,
    channels,
    connectivity,
    integrators,
    neurons,
    plasticity,
    release,
    space,
    stimuli,
    synapses,
)

_FOLDERS = (
    *(neurons, channels, integrators, synapses, release, plasticity, stimuli),
    *(connectivity, space, _numerics),
)
NO_DEFAULT = inspect.Parameter.empty
_PREPARED = "on_grid"  # a field that `prepare` sets, not the user
_MADE_BY_BUILD = (stimuli.ScheduledSpikes,)
_OF_FUNCTIONS = (space.ByPositions,)  # takes functions that a file cannot name


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a model: its type, its default, and whether it must be numbers."""

    name: str
    hint: Any
    default: Any
    numeric: bool

    @property
    def required(self) -> bool:
        """Whether a file must have it; one that may be None is None where it is left out."""
        return self.default is NO_DEFAULT and type(None) not in self.kinds

    @property
    def kinds(self) -> tuple:
        """The types that the value may have."""
        union = typing.get_origin(self.hint) in (typing.Union, types.UnionType)
        return typing.get_args(self.hint) if union else (self.hint,)


@functools.cache
def arguments(cls: type) -> tuple[Argument, ...]:
    """The arguments that make a model."""
    # The arguments of a model with its own constructor are those of the constructor.
    own = not cls.__dataclass_params__.init  # type: ignore[attr-defined]
    fields = {} if own else {f.name: f for f in dataclasses.fields(cls)}
    out = []
    for p in [*inspect.signature(cls.__init__).parameters.values()][1:]:  # with their types
        field = fields.get(p.name)
        hint = p.annotation if field is None else field.type
        checked = field is not None and ("checks" in field.metadata or "table" in field.metadata)
        hint = Any if hint is inspect.Parameter.empty or isinstance(hint, str) else hint
        if p.name != _PREPARED:
            default = p.default
            if field is not None and field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            out.append(Argument(p.name, hint, default, checked))
    return tuple(out)


def is_prepared(model: Any) -> bool:
    """Whether times of a model are already whole time steps, as `build` makes them."""
    return bool(getattr(model, _PREPARED, False))


@functools.cache
def known(role: type) -> dict[str, type]:
    """The models of a role that a file can name, by name."""
    return {name: cls for name, cls in public(role).items() if _can_be_named(cls)}


@functools.cache
def public(role: type) -> dict[str, type]:
    """All models of a role that the package has, by name."""
    everything = (item for folder in _FOLDERS for item in _classes(folder).items())
    return {name: cls for name, cls in everything if issubclass(cls, role)}


def is_made_by_build(model: Any) -> bool:
    """Whether `build` makes this model from another one, which is to be written instead."""
    return isinstance(model, _MADE_BY_BUILD)


def _can_be_named(cls: type) -> bool:
    return not issubclass(cls, _MADE_BY_BUILD + _OF_FUNCTIONS) and not _needs_function(cls)


def _needs_function(cls: type) -> bool:
    """Whether a model needs a Python function, which a file cannot hold."""
    callables = (collections.abc.Callable, typing.Callable)
    for a in arguments(cls):
        function = a.hint in callables or typing.get_origin(a.hint) is collections.abc.Callable
        if a.required and function and not inside(cls, a):
            return True
    return False


def _classes(folder: Any) -> dict[str, type]:
    found = {k: v for k, v in vars(folder).items() if not k.startswith("_") and inspect.isclass(v)}
    return {
        k: v for k, v in found.items() if issubclass(v, eqx.Module) and not inspect.isabstract(v)
    }


def inside(owner: type, argument: Argument) -> dict[str, type]:
    """The models that may stand in an argument of another, by name."""
    out = {}
    for kind in (item for k in argument.kinds for item in _items(k)):
        if kind is collections.abc.Callable or kind is typing.Callable:
            out |= known(space.Profile)  # pyright: ignore[reportArgumentType]
        elif inspect.isclass(kind) and issubclass(kind, eqx.Module):
            out |= known(kind)
        elif kind is Any and argument.numeric:
            out |= _companions(owner)
    return out


def _items(kind: Any) -> tuple:
    """The types of the items of a tuple; any other type itself."""
    return typing.get_args(kind) if typing.get_origin(kind) is tuple else (kind,)


def _companions(owner: type) -> dict[str, type]:
    """Models of the same folder in another role, such as the signals of a stimulus."""
    roles = [c for c in owner.__mro__ if inspect.isabstract(c) and issubclass(c, eqx.Module)]
    for folder in _FOLDERS:
        classes = _classes(folder)
        if owner in classes.values():
            others = {k: v for k, v in classes.items() if not any(issubclass(v, r) for r in roles)}
            return {k: v for k, v in others.items() if _can_be_named(v)}
    return {}
