"""The kinds of field that a model has, and the base class that checks them.

A model is an immutable value. Its *parameters* are leaves (arrays of shape `()` or `(n,)`: one
number for all or one per unit). Its *tables* are leaves of any shape that belong to the model as a
whole. Everything else is *static* and part of the compiled program.
"""

import dataclasses
import difflib
import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import as_array
from ._checks import check_arguments, check_bounds, is_traced, names_checked, takes_of
from ._help import DocumentedModule, missing, no_hash
from ._text import shown as text_of
from ._units import check_model_units, largest, least_of

_OWN = "jaxneuro."

# The type of a parameter field: it takes any number or array and holds an array.
Parameter: TypeAlias = Any


class _Named:
    """A converter that knows the name of its field, so that its errors can give it."""

    def __init__(self, convert: Any) -> None:
        self.convert, self.name = convert, "a parameter"

    def __call__(self, value: Any) -> Any:
        try:
            return self.convert(value)
        except ValueError as error:
            raise ValueError(f"{self.name} {error}") from None


def _as_leaf(value: Any) -> jax.Array:
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating):
        return value
    if is_traced(value) and value.dtype.kind in "iub":
        return value.astype(jnp.result_type(float))
    try:
        x = np.asarray(value)
        # NumPy would turn None into nan, text and dates into numbers, and drop imaginary parts.
        entries = x.flat if x.dtype == object else ()
        if x.dtype.kind in "bcUSMm" or any(v is None or isinstance(v, str) for v in entries):
            raise TypeError
        x = x.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"must be a number or an array of numbers; got {value!r}") from None
    return as_array(x, np.float64)


def _as_parameter(value: Any) -> jax.Array:
    # A list without entries is a slip; an empty array is for a population of no neurons.
    if isinstance(value, list | tuple) and not value:
        raise ValueError(f"must be a number or an array of numbers; got {value!r}")
    return _as_leaf(value)


@names_checked()
def param(
    default: Any = dataclasses.MISSING,
    *,
    unit: str = "1",
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    on_grid: bool = False,
    least: float | None = None,
) -> Any:
    """A parameter of a model: a leaf of shape `()` (one number for all) or `(n,)`.

    **Fields** `default` value; `unit` its unit; `above`, `at_least`, `at_most` the range, checked
    when a model is made; `on_grid` whether it is a duration that must be a whole number of time
    steps, checked by `build`; `least` the size below which a number other than 0 is in another
    unit, such as 0.02 for 20 ms (None: that of the unit; 0.0: any size may be meant).

    **Raises** `ValueError` (when a model is made) for a value that is not a finite
    number inside the range, or is far too small for its unit.
    """
    checks = {"unit": unit, "above": above, "at_least": at_least, "at_most": at_most}
    least = least_of(unit, on_grid) if least is None else least
    metadata = {"checks": checks, "on_grid": on_grid, "least": least}
    if default is dataclasses.MISSING:
        return eqx.field(converter=_Named(_as_parameter), metadata=metadata)
    return eqx.field(converter=_Named(_as_parameter), default=default, metadata=metadata)


def _plain(value: Any) -> Any:
    """NumPy scalars as plain Python values: static fields must be hashable and not arrays."""
    return value.item() if isinstance(value, np.generic) else value


def static(default: Any = dataclasses.MISSING) -> Any:
    """A field of a model that is not a number: part of the compiled program.

    **Fields** `default` value (hashable).
    """
    if default is dataclasses.MISSING:
        return eqx.field(static=True, converter=_plain)
    return eqx.field(static=True, converter=_plain, default=default)


def _as_table(value: Any) -> Any:
    return value if isinstance(value, jax.Array) else np.asarray(value)


def table(default: Any = dataclasses.MISSING, *, converter: Any = _as_table) -> Any:
    """Numbers that belong to a model as a whole, such as a list of spike times: any shape.

    Models with tables are never merged with others of their kind.

    **Fields** `default` value; `converter` turns what is given into the array.
    """
    keywords = {} if default is dataclasses.MISSING else {"default": default}
    return eqx.field(converter=converter, metadata={"table": True}, **keywords)


class Model(eqx.Module, metaclass=DocumentedModule):
    """An immutable value whose leaves are its parameters; checks its fields when it is made.

    `absent` says what to use instead of a parameter that a class does not have, by its name.

    **Raises** `ValueError` for a parameter that is not finite, out of its range, far too small for
    its unit, or of more than one axis, for one that the class does not have, and for one that is
    missing.
    """

    absent: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # every name would be right
        __getattr__, __hash__ = missing, no_hash

    @classmethod
    def _check_arguments(cls, args: tuple, named: Mapping[str, Any]) -> None:
        lacks = sorted(getattr(cls, "__abstractmethods__", ()))
        if lacks and cls.__module__.startswith("jaxneuro."):
            return  # a role itself, which Python refuses
        if lacks:
            role = next(c.__name__ for c in reversed(cls.__mro__) if lacks[0] in vars(c))
            raise ValueError(
                f"{cls.__name__} must define {' and '.join(lacks)}, as every {role} does"
            )
        takes = takes_of(cls)  # pyright: ignore[reportArgumentType]
        hints = {name: undeclared(cls, name) for name in named if name not in takes.names}
        absent = {**cls.absent, **{name: text for name, text in hints.items() if text}}
        check_arguments(cls.__name__, takes, args, named, absent)

    def __init_subclass__(cls) -> None:
        for name, field in vars(cls).items():
            if isinstance(field, dataclasses.Field):
                _check_annotated(cls, name, field)
                convert = field.metadata.get("converter")
                if isinstance(convert, _Named):
                    convert.name = f"{cls.__name__}: {name}"

    def __check_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check_kind(self, field)
        for field in parameters(type(self)):
            value = getattr(self, field.name)
            if isinstance(value, Model):  # it has checked itself
                continue
            name = f"{type(self).__name__}: {field.name}"
            if np.ndim(value) > 1:
                raise ValueError(
                    f"{name} must be one number or one per unit, shape () or (n,); "
                    f"got shape {np.shape(value)}"
                )
            check_bounds(name, value, **field.metadata["checks"])
        above = [f.name for f in parameters(type(self)) if f.metadata["checks"]["above"] == 0.0]
        check_model_units(type(self), _with_units(self), above)

    def __repr__(self) -> str:
        parts = []
        for field in dataclasses.fields(self):
            value, checks = getattr(self, field.name), field.metadata.get("checks")
            shown = text_of(value) if checks is None else _shown(value, checks["unit"])
            if field.metadata.get("table"):
                traced = is_traced(value)
                shown = f"{np.shape(value)} array" if traced else text_of(np.asarray(value))
            if value is not None:
                parts.append(f"{field.name}={shown}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _check_annotated(cls: type, name: str, field: dataclasses.Field) -> None:
    """Raises `ValueError` for a field that is declared without the type of its values."""
    if name not in inspect.get_annotations(cls):
        given = "str = jn.static(...)" if field.metadata.get("static") else "Any = ..."
        given = "jn.Parameter = jn.param(...)" if "checks" in field.metadata else given
        raise ValueError(
            f"{cls.__name__}: {name} needs an annotation: `{name}: {given}`; a field of a model is "
            "declared with the type of its values"
        )


def _with_units(model: Model) -> Iterator[tuple[str, Any, str, float]]:
    """Names, values, units and least sizes of the parameters that are numbers."""
    for field in parameters(type(model)):
        value = getattr(model, field.name)
        if not isinstance(value, Model):
            yield field.name, value, field.metadata["checks"]["unit"], field.metadata["least"]


def potentials(model: Model) -> list[float]:
    """The parameters of a model in mV that are known, the largest of each."""
    found = (largest(value) for _, value, unit, _ in _with_units(model) if unit == "mV")
    return [x for x in found if x is not None]


def _check_kind(model: Model, field: dataclasses.Field) -> None:
    """Raises `ValueError` where a field that holds a model holds something else."""
    kinds: Any = field.type
    if typing.get_origin(kinds) in (typing.Union, types.UnionType):
        kinds = typing.get_args(kinds)
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    models = [k for k in kinds if isinstance(k, type) and issubclass(k, Model)]
    rest = [k for k in kinds if k not in models and k is not type(None)]
    value = getattr(model, field.name)
    if models and not rest and not isinstance(value, kinds):
        hint = " (a class was given: call it)" if isinstance(value, type) else ""
        hint = _named_like(value, models) if isinstance(value, str) else hint
        wanted = " or ".join(k.__name__ for k in models)
        raise ValueError(
            f"{type(model).__name__}: {field.name} must be a value of kind {wanted}; got "
            f"{value!r}{hint}"
        )


def _named_like(name: str, kinds: list[type]) -> str:
    """What to give instead of the name of a model: those of the package, the nearest one first."""
    inside = [c for kind in kinds for c in kind.__subclasses__() if c.__module__.startswith(_OWN)]
    known = {c.__name__.lower(): f"jn.{c.__module__.split('.')[1]}.{c.__name__}()" for c in inside}
    near = difflib.get_close_matches(name.lower().replace("_", ""), known, n=1)
    listed = [known[x] for x in near] or sorted(known.values())
    return f"; give a model, not its name: {' or '.join(listed)}" if listed else ""


def _shown(value: Any, unit: str) -> str:
    """A parameter as text: 20 ms, or the range of an array."""
    unit = "" if unit == "1" else f" {unit}"
    if is_traced(value) or not isinstance(value, jax.Array):
        return str(value)
    x = np.asarray(value)
    if x.ndim == 0 or x.size == 0:
        return f"{x:g}{unit}" if x.ndim == 0 else "none"
    return f"{x.size} values from {x.min():g} to {x.max():g}{unit}"


def parameters(cls: type) -> list[dataclasses.Field]:
    """The fields of a model class that were declared with `param`."""
    return [f for f in dataclasses.fields(cls) if "checks" in f.metadata]


def undeclared(cls: type, name: str) -> str:
    """What to say of an attribute of a class of a user that is not declared as a parameter."""
    field = next((f for f in dataclasses.fields(cls) if f.name == name), None)
    value = getattr(cls, name, None)
    plain = isinstance(value, int | float | np.ndarray) and not isinstance(value, bool)
    no_field = field is None and plain
    if not no_field and (field is None or field.metadata):
        return ""
    given = repr(value) if isinstance(value, int | float) else "..."
    return (
        f"{name!r} of {cls.__name__} is not declared as a parameter: write `{name}: jn.Parameter = "
        f"jn.param({given})` in the class"
    )


def tables(cls: type) -> list[dataclasses.Field]:
    """The fields of a model class that were declared with `table`."""
    return [f for f in dataclasses.fields(cls) if f.metadata.get("table")]


def inner(model: Any) -> dict[str, tuple[Model, ...]]:
    """The models inside a model, by the name of the field that holds it, or a tuple of them."""
    out = {}
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        values = value if isinstance(value, tuple) else (value,)
        if values and all(isinstance(v, Model) for v in values):
            out[field.name] = values
    return out


# Where a number is in a model: names of fields, and numbers of the items of a tuple.
Path: TypeAlias = tuple[Any, ...]


def named_parameters(model: Any) -> dict[str, tuple[Path, dataclasses.Field]]:
    """The parameters of a model and of the models inside it, by name: where each is, its field.

    Those of a model inside have the name of the field that holds it in front (`kinetics_alpha`),
    of one in a tuple that of its class, as `part_names` gives it (`nmda_mg`). A signal is set as a
    whole, its times are whole steps in a network.
    """
    out: dict[str, tuple[Path, dataclasses.Field]] = {}
    own, inside = parameters(type(model)), inner(model)
    for field in dataclasses.fields(model):
        if field.name in inside and field not in own:
            models = inside[field.name]
            several = isinstance(getattr(model, field.name), tuple)
            names = part_names(models) if several else [field.name]
            for number, (name, part) in enumerate(zip(names, models)):
                where = (field.name, number) if several else (field.name,)
                for key, (path, mine) in named_parameters(part).items():
                    out[f"{name}_{key}"] = (*where, *path), mine
        if (what := field.metadata.get("each_of")) is not None:
            for number, name in enumerate(part_names(getattr(model, what[0]))):
                out[f"{name}_{what[1]}"] = (field.name, number), field
    return out | {field.name: ((field.name,), field) for field in own}


def part_names(models: Any) -> list[str]:
    """Names of models in a tuple: lower-case names of the classes, numbered if one occurs twice."""
    kinds = [type(m).__name__.lower() for m in models]
    return [
        f"{kind}{kinds[: k + 1].count(kind) if kinds.count(kind) > 1 else ''}"
        for k, kind in enumerate(kinds)
    ]


def with_numbers(model: Any, values: Mapping[Path, Any]) -> Any:
    """A model with other values at some paths, checked as when made, with the models inside it."""
    changes: dict[str, Any] = {}
    for name in dict.fromkeys(path[0] for path in values):
        old = getattr(model, name)
        mine = {path[1:]: x for path, x in values.items() if path[0] == name}
        if () in mine:
            changes[name] = mine[()]
        elif isinstance(old, tuple):
            items = list(old)
            for k in dict.fromkeys(path[0] for path in mine):
                of_item = {path[1:]: x for path, x in mine.items() if path[0] == k}
                items[k] = of_item[()] if () in of_item else with_numbers(items[k], of_item)
            changes[name] = tuple(items)
        else:
            changes[name] = with_numbers(old, mine)
    return dataclasses.replace(model, **changes)


def has_tables(model: Any) -> bool:
    """Whether a model, or a model inside it, has tables."""
    inside = (m for models in inner(model).values() for m in models)
    return bool(tables(type(model))) or any(has_tables(m) for m in inside)


def check_lengths(label: str, model: Any, n: int, population: str) -> None:
    """Raises `ValueError` if a parameter of a model is an array of another length than n."""
    free = {field.name for field in tables(type(model))}
    for name, models in inner(model).items():
        for m in models:
            check_lengths(f"{label}: {name}: {type(m).__name__}", m, n, population)
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        shape = np.shape(value) if hasattr(value, "shape") else ()
        if field.name not in free and len(shape) == 1 and shape != (n,):
            raise ValueError(
                f"{label}: {field.name} must be one number or one per neuron of {population!r}, "
                f"shape ({n},); got {shape}"
            )
