"""The kinds of field that a model has, and the base class that checks them.

A model is an immutable value. Its *parameters* are leaves (arrays of shape `()` or `(n,)`: one
number for all or one per unit). Its *tables* are leaves of any shape that belong to the model as a
whole. Everything else is *static* and part of the compiled program.
"""

import dataclasses
import inspect
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import spec
from ._arrays import as_array, is_traced
from ._text import shown as text_of
from ._units import Guess, far_too_small, largest, potentials_in_volts

# The type of a parameter field: it takes any number or array and holds an array.
Parameter: TypeAlias = Any


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
    except (TypeError, ValueError, OverflowError):
        raise spec.Unfit("a number or an array of numbers") from None
    spec.check_held(x)
    return as_array(x, np.float64)


@dataclasses.dataclass(frozen=True)
class ParameterKind(spec.Ranged):
    """One number for all units or one for each, which may be traced; kept as a leaf.

    Attributes:
        on_grid: whether it is a duration that must be a whole number of time steps.
        least: as of `param`.
    """

    on_grid: bool = False
    least: float | None = None

    def convert(self, value: Any) -> jax.Array:
        # A list without entries is a slip; an empty array is for a population of no neurons.
        if isinstance(value, list | tuple) and not value:
            raise spec.Unfit("a number or an array of numbers")
        x = _as_leaf(value)
        if np.ndim(x) > 1:
            raise spec.Unfit("one number or one per unit, shape () or (n,)", f"shape {np.shape(x)}")
        if not is_traced(x):
            self.check_range(np.asarray(x))
        return x

    def known(self, value: Any) -> np.ndarray | None:
        """The numbers of a value of this kind; None where they are traced."""
        return None if is_traced(value) else np.asarray(value)

    def words(self) -> str:
        return super().words() + (", whole steps" if self.on_grid else "")


def param(
    default: Any = dataclasses.MISSING,
    *,
    unit: str = "1",
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    on_grid: bool = False,
    least: float | None = None,
    doc: str = "",
) -> Any:
    """A parameter of a model: a leaf of shape `()` (one number for all) or `(n,)`.

    Args:
        default: its value where none is given.
        unit: its unit.
        above, at_least, at_most: the range, checked when a model is made.
        on_grid: whether it is a duration that must be a whole number of time steps, checked by
            `build`.
        least: the size below which `build` warns of a number other than 0, as of one in another
            unit, such as 0.02 for 20 ms (None: that of the unit; 0.0: any size may be meant). Of
            times it warns only below the time step.
        doc: what it is, a phrase for `help` and the docs.
    """
    kind = ParameterKind(unit, above, at_least, None, at_most, on_grid, least)
    return spec.field(kind, default=default, doc=doc)


def _plain(value: Any) -> Any:
    """NumPy scalars as plain Python values: static fields must be hashable and not arrays."""
    return value.item() if isinstance(value, np.generic) else value


def static(default: Any = dataclasses.MISSING, *, doc: str = "") -> Any:
    """A field of a model that is not a number: part of the compiled program.

    Args:
        default: its value where none is given (hashable).
        doc: what it is, a phrase for `help` and the docs.
    """
    keywords = {} if default is dataclasses.MISSING else {"default": default}
    return eqx.field(static=True, converter=_plain, metadata={"doc": doc}, **keywords)


def _as_table(value: Any) -> Any:
    return value if isinstance(value, jax.Array) else np.asarray(value)


def table(default: Any = dataclasses.MISSING, *, converter: Any = _as_table, doc: str = "") -> Any:
    """Numbers that belong to a model as a whole, such as a list of spike times: any shape.

    Models with tables are never merged with others of their kind.

    Args:
        default: its value where none is given.
        converter: a kind, or a function that turns what is given into the array.
        doc: what it is, a phrase for `help` and the docs.
    """
    kind = converter if isinstance(converter, spec.Kind) else spec.Converted(converter)
    return spec.field(kind, default=default, doc=doc, metadata={"table": True})


class Model(spec.Module):
    """An immutable value whose leaves are its parameters; checks its fields when it is made.

    `rules` are what must hold between its fields. `own_digits` names variables of the state that
    the model keeps with the digits below them by itself (see `time_constants`).

    Raises:
        InvalidValueError: for a parameter that is not finite, out of its range, or of more than
            one axis, and for a rule that does not hold.
    """

    own_digits: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, field in vars(cls).items():
            if isinstance(field, dataclasses.Field) and name not in inspect.get_annotations(cls):
                raise ValueError(
                    f"{cls.__name__}: {name} needs an annotation, such as `{name}: jn.Parameter`: "
                    "a field is declared with the type of its values"
                )

    def _hint(self, fields: Collection[str]) -> str:
        for guess in _own_guesses(self, None):
            if guess.field in fields:
                return f"; {guess.field} is {guess.got}{guess.hint}"
        return ""

    def time_constants(self) -> dict[str, Any]:
        """Return the time constants [ms] of variables of the state by name, () or (n,).

        In a float32 network `build` keeps more digits of a variable that they show to be slow
        (docs/guide/precision.md). A variable that is not named is never slow.
        """
        return {}

    def __repr__(self) -> str:
        parts = []
        for field in sorted(dataclasses.fields(self), key=lambda field: bool(field.kw_only)):
            value, kind = getattr(self, field.name), field.metadata.get("kind")
            if field.kw_only and value == field.default:
                continue
            own = isinstance(kind, spec.Ranged)
            shown = _shown(value, kind.unit) if own else text_of(value)
            if field.metadata.get("table"):
                traced = is_traced(value)
                shown = f"{np.shape(value)} array" if traced else text_of(np.asarray(value))
            if value is not None:
                parts.append(f"{field.name}={shown}")
        return f"{type(self).__name__}({', '.join(parts)})"


def unit_guesses(value: Any, dt: float) -> Iterator[Guess]:
    """The parameters of a model, or of the models inside a value, that may be in another unit.

    Args:
        value: a model, or a value with models, such as a projection.
        dt: the time step [ms].
    """
    if isinstance(value, Model):
        yield from _own_guesses(value, dt)
    for models in inner(value).values():
        for model in models:
            yield from unit_guesses(model, dt)


def _own_guesses(model: Model, dt: float | None) -> Iterator[Guess]:
    """Those of the model itself; without `dt` a time may be in another unit at any time step."""
    for field in parameters(type(model)):
        kind, value = field.metadata["kind"], getattr(model, field.name)
        # A potential may be near 0, and a time in seconds is off the grid.
        known = None if kind.unit == "mV" or kind.on_grid else kind.known(value)
        if known is None:
            continue
        limits = {"least": kind.least, "dt": dt, "any_of": kind.above == 0.0}
        for guess in far_too_small(model.label, field.name, known, kind.unit, **limits):
            if isinstance(value, Model):
                span = f"a {type(value).__name__} of {known.min():g} to {known.max():g}"
                guess = Guess(guess.owner, guess.field, guess.must, span, guess.hint)
            yield guess
    yield from potentials_in_volts(model.label, _millivolts(model))


def _millivolts(model: Model) -> dict[str, tuple[Any, float]]:
    """The parameters of a model in mV, by name: values, and the size that one has at least."""
    out = {}
    for field in parameters(type(model)):
        value = getattr(model, field.name)
        kind = field.metadata.get("kind")
        if kind is not None and kind.unit == "mV" and not isinstance(value, Model):
            out[field.name] = value, kind.least
    return out


def potentials(model: Model) -> list[float]:
    """The parameters of a model in mV that are known, the largest of each."""
    found = (largest(value) for value, _ in _millivolts(model).values())
    return [x for x in found if x is not None]


def _shown(value: Any, unit: str) -> str:
    """A parameter as text: 20 ms, or the range of an array."""
    unit = "" if unit == "1" else f" {unit}"
    if isinstance(value, float):
        return f"{value:g}{unit}"
    if is_traced(value) or not isinstance(value, jax.Array):
        return str(value)
    x = np.asarray(value)
    if x.ndim == 0 or x.size == 0:
        return f"{x:g}{unit}" if x.ndim == 0 else "none"
    return f"{x.size} values from {x.min():g} to {x.max():g}{unit}"


def parameters(cls: type) -> list[dataclasses.Field]:
    """The fields of a model class that were declared with `param`."""
    return [f for f in dataclasses.fields(cls) if isinstance(f.metadata.get("kind"), ParameterKind)]


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
    """Raises `InvalidValueError` if a parameter of a model is an array of another length than n."""
    free = {field.name for field in tables(type(model))}
    for name, models in inner(model).items():
        for m in models:
            check_lengths(f"{label}: {name}: {type(m).__name__}", m, n, population)
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        shape = np.shape(value) if hasattr(value, "shape") else ()
        if field.name not in free and len(shape) == 1 and shape != (n,):
            must = f"one number or one per neuron of {population!r}, shape ({n},)"
            raise spec.InvalidValueError(label, field.name, must, str(shape))
