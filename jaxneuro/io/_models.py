"""Which models a file can name, their arguments, and how they are made of the content of a file."""

import collections.abc
import dataclasses
import functools
import inspect
import math
import textwrap
import types
import typing
from typing import Any

import equinox as eqx
import numpy as np

from .. import (
    channels,
    connectivity,
    integrators,
    neurons,
    plasticity,
    release,
    space,
    stimuli,
    surrogates,
    synapses,
)
from .._fields import Model, ParameterKind
from .._model import Neuron, Plasticity, Release, Stimulus, Synapse
from .._numerics import distributions
from .._numerics.distributions import Distribution
from .._numerics.grid import Duration
from ..channels import Channel
from ..connectivity import Rule
from ..integrators import Integrator
from ..space import Layout, Profile, SpatialValue
from ..spec import unknown
from ..stimuli import Signal
from ..surrogates import Surrogate
from ._entry import Entry

# --- Which models a file can name, and the arguments of each.


_FOLDERS = (
    *(neurons, channels, integrators, synapses, release, plasticity, stimuli),
    *(connectivity, space, surrogates, distributions),
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
        kind = None if field is None else field.metadata.get("kind")
        table = field is not None and "table" in field.metadata
        checked = table or isinstance(kind, ParameterKind)
        anything = hint in (inspect.Parameter.empty, np.ndarray) or isinstance(hint, str)
        hint = Any if anything else hint
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


# --- Makes numbers and models from the content of a file.


TYPE = "type"  # the key that names a model
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def model(entry: Entry, role: type, what: str) -> Any:
    """The model of a role that an object, or a name alone, describes."""
    return _model(entry, known(role), what)


def value(entry: Entry, roles: tuple[type, ...]) -> Any:
    """A number, an array, or a model of one of the roles."""
    if not isinstance(entry.value, dict):
        return numbers(entry)
    classes = {name: cls for role in roles for name, cls in known(role).items()}
    return _model(entry, classes, "model for a value")


def numbers(entry: Entry) -> Any:
    """A number, or an array of the numbers in a list."""
    if isinstance(entry.value, list):
        return _array(entry, number)
    return number(entry)


def number(entry: Entry) -> Any:
    """A number; "inf" and "-inf" are infinite, for which JSON has no number."""
    x = entry.value
    if isinstance(x, str) and x in _INFINITE:
        return _INFINITE[x]
    if not isinstance(x, float) and not _is_whole(x):
        raise entry.wrong("a number")
    return x


def _is_whole(x: Any) -> bool:
    return type(x) is int and -(2**63) <= x < 2**63


def _flag(entry: Entry) -> Any:
    return entry.value if isinstance(entry.value, bool) else number(entry)


def _array(entry: Entry, one: Any) -> np.ndarray:
    plain = _plain(entry, one)
    try:
        x = np.array(plain) if plain else np.zeros(0)
    except ValueError:  # rows of different lengths
        raise entry.wrong("a list of numbers, or of rows of one length") from None
    if x.dtype.kind not in "ifb":
        raise entry.wrong("a list of numbers, or of rows of one length")
    return x


def _plain(entry: Entry, one: Any) -> Any:
    """Nested lists with every item checked."""
    x = entry.value
    if not isinstance(x, list):
        return one(entry)
    if all(type(item) is float or _is_whole(item) for item in x):
        return x
    return [_plain(item, one) for item in entry]


def _model(entry: Entry, classes: dict[str, type], what: str) -> Any:
    short = isinstance(entry.value, str)
    if not short:
        if not isinstance(entry.value, dict):
            raise entry.wrong(f"a {what}: an object with {TYPE!r}, or a name")
        if TYPE not in entry:
            raise entry.error(
                f"{entry.label} must have {TYPE!r}, the name of a {what}: one of "
                f"{', '.join(classes)}"
            )
    named = entry if short else entry[TYPE]
    if not isinstance(named.value, str) or named.value not in classes:
        raise named.error(unknown(what, named.value, classes))
    cls = classes[named.value]
    known_arguments = {a.name: a for a in arguments(cls)}
    required = [a.name for a in known_arguments.values() if a.required]
    if short and required:
        raise entry.error(
            f"{cls.__name__} needs {', '.join(required)}: write an object, "
            f'{{"{TYPE}": "{cls.__name__}", "{required[0]}": ...}}'
        )
    if short:
        return entry.make(cls)
    entry.check_keys(cls.__name__, (TYPE, *known_arguments), required)
    given = {
        key: _argument(entry[key], cls, known_arguments[key]) for key in entry.value if key != TYPE
    }
    left_out = known_arguments.keys() - given.keys()
    nothing = {name: None for name in left_out if known_arguments[name].default is NO_DEFAULT}
    return entry.make(cls, **nothing, **given)


def _argument(entry: Entry, owner: type, argument: Argument) -> Any:
    """The value of one argument of a model."""
    x = entry.value
    if x is None and (argument.default is None or type(None) in argument.kinds):
        return None
    classes = inside(owner, argument)
    if isinstance(x, list) and classes and not argument.numeric:
        return tuple(_model(item, classes, f"model for {argument.name}") for item in entry)
    if isinstance(x, dict) and classes:
        return _model(entry, classes, f"model for {argument.name}")
    if argument.numeric:
        return numbers(entry)
    if argument.hint is Any:
        return _array(entry, _flag) if isinstance(x, list) else _flag(entry)
    if isinstance(x, str) and classes:
        return _model(entry, classes, f"model for {argument.name}")
    return _typed(entry, argument.kinds)


def _typed(entry: Entry, kinds: tuple) -> Any:
    """A value of one of some types."""
    x = entry.value
    if isinstance(x, str) and str not in kinds and x in _INFINITE:
        x = _INFINITE[x]
    for kind in kinds:
        if kind in (bool, str) and isinstance(x, kind):
            return x
        if (kind is int and _is_whole(x)) or (kind is float and (_is_whole(x) or type(x) is float)):
            return x
        if typing.get_origin(kind) is tuple and isinstance(x, list):
            items = tuple(k for k in typing.get_args(kind) if k is not ...)
            return tuple(_typed(item, items) for item in entry)
    raise _refused(entry, kinds)


def _refused(entry: Entry, kinds: tuple) -> ValueError:
    words = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text",
    }
    names = [words.get(k, "a list" if typing.get_origin(k) is tuple else "") for k in kinds]
    wanted = " or ".join(n for n in names if n) or (
        "something that a file cannot hold: a Python function"
    )
    return entry.wrong(wanted)


# --- A list of the models that a file can name.


_ROLES = {
    "neuron models (model)": Neuron,
    "ion channels (channels of HodgkinHuxley)": Channel,
    "integrators (method of a neuron)": Integrator,
    "layouts (positions)": Layout,
    "distributions (initial, weight, delay)": Distribution,
    "values by distance (weight, delay)": SpatialValue,
    "profiles (of distance)": Profile,
    "connection rules (rule)": Rule,
    "synapse models (synapse)": Synapse,
    "release models (release)": Release,
    "plasticity rules (plasticity)": Plasticity,
    "stimuli (stimulus)": Stimulus,
    "signals (amplitude or rate of a stimulus)": Signal,
    "surrogate gradients (surrogate of a neuron)": Surrogate,
}


def list_models() -> str:
    """The models that a network file can name, by role, with parameters, units and defaults."""
    parts = []
    for title, role in _ROLES.items():
        named = sorted(known(role).items())
        lines = [_line(name, cls) for name, cls in named]
        parts.append("\n".join([title, *lines]))
    return "\n\n".join(parts)


def _line(name: str, cls: type) -> str:
    kinds = ((f.name, f.metadata.get("kind")) for f in dataclasses.fields(cls))
    units = {name: k.unit for name, k in kinds if isinstance(k, ParameterKind | Duration)}
    shown = ", ".join(_shown(a, units.get(a.name, "1")) for a in arguments(cls))
    text = f"{name}: {shown}" if shown else name
    return textwrap.fill(text, 96, initial_indent="  ", subsequent_indent="      ")


def _shown(argument: Argument, unit: Any) -> str:
    unit = "" if unit == "1" else f" {unit}"
    if argument.required:
        return f"{argument.name}{unit and f' [{unit.strip()}]'}"
    default = None if argument.default is NO_DEFAULT else argument.default
    if isinstance(default, bool):
        default = str(default).lower()
    if isinstance(default, tuple) and any(isinstance(x, Model) for x in default):
        default = f"[{', '.join(type(x).__name__ for x in default)}]"
    if isinstance(default, Model):
        default = type(default).__name__
    return f"{argument.name} = {default}{unit}"
