"""What `help`, `dir` and missing names say of a class, without what Python adds to it."""

import abc
import dataclasses
import functools
import inspect
import sys
import types
from typing import TYPE_CHECKING, Any, dataclass_transform

import equinox as eqx

if TYPE_CHECKING:  # a checker of types does not follow what is computed
    from equinox._module._module import _ModuleMeta as ModuleType
else:
    ModuleType = type(eqx.Module)


class Documented(type):
    """The type of public classes: `help` shows public names, and arguments with their defaults.

    Types of arguments are in the text of each class, where their units and ranges are too. A class
    with `_check_arguments` has the arguments of every call checked, not those of copies.
    """

    if not TYPE_CHECKING:  # it would hide the arguments of every class

        def __call__(cls, *args, **named):
            check = getattr(cls, "_check_arguments", None)
            if check is not None:
                check(args, named)
            try:
                return super().__call__(*args, **named)
            except dataclasses.FrozenInstanceError as error:
                raise ValueError(
                    f"{cls.__name__}: {error}: its __init__ sets what is not declared. Write no "
                    "__init__: a class has one that sets the declared fields, such as "
                    "`tau: jn.Parameter = jn.param(10.0)`"
                ) from error

    def __dir__(cls) -> list[str]:
        return [name for name in type.__dir__(cls) if not name.startswith("_")]

    @property
    def __signature__(cls) -> inspect.Signature:
        taken = [*inspect.signature(cls.__init__).parameters.values()][1:]
        return inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in taken])


@dataclass_transform(field_specifiers=(dataclasses.field, eqx.field))
class DocumentedModule(Documented, ModuleType):
    """The same for values that are pytrees."""


class DocumentedRole(Documented, abc.ABCMeta):
    """The same for classes with abstract methods."""


class AbsentError(AttributeError):
    """A name that a value does not have; its text, made when it is read, says what there is."""

    def __init__(self, kind: type, name: str):
        AttributeError.__init__(self, kind, name, name=name)

    def __str__(self) -> str:
        from ._elsewhere import nothing_of

        return nothing_of(*self.args)


def missing(self: Any, name: str) -> Any:
    """`__getattr__` of a class: says of a name that a value does not have what there is instead."""
    raise AbsentError(type(self), name)


def no_items(self: Any, key: Any) -> Any:
    """`__getitem__` of a class that is no dict: says what to use instead."""
    from ._elsewhere import instead_of_item

    raise ValueError(instead_of_item(type(self), key))


def no_hash(self: Any) -> int:
    """`__hash__` of a value that may have arrays: `jax.jit(value.method)` asks for it."""
    try:
        return eqx.Module.__hash__(self)
    except TypeError:
        name = type(self).__name__
        raise TypeError(
            f"a {name} has arrays, and no hash: jax.jit cannot take its methods. Give it as an "
            "argument, jax.jit(lambda value, state: value.step(state, ...))(value, state), or use "
            "equinox.filter_jit"
        ) from None


class _Module(types.ModuleType):
    """A module that says what to call instead of it."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        from ._elsewhere import instead_of_call

        raise ValueError(instead_of_call(self))


def add_hints(module: str) -> None:
    """Lets a module that is loaded say where a name is that it does not have, and what to call."""
    vars(sys.modules[module]).setdefault("__getattr__", functools.partial(_absent, module))
    sys.modules[module].__class__ = _Module


def _absent(module: str, name: str) -> Any:
    from ._elsewhere import nothing_in

    raise AttributeError(nothing_in(sys.modules[module], name), name=name)
