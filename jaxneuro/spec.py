"""What a value is: said once, where it is declared.

A *kind* says what a value must be: a number of a unit in a range, a whole number, one of some
words, a model. A *field* of a value and an *argument* of a function have a kind, a default and a
line of words; from these follow how a value is converted, the error for a wrong one, the table of
parameters in `help` and in the docs, and the keys of network files. A *rule* is what must hold
between fields.

A kind and a rule get known numbers, as NumPy arrays, or are not asked: while a value is traced
(inside `jit`, `vmap` or `grad`) it is not checked. `jn.sweep` checks the extremes of its grid.
"""

import contextlib
import contextvars
import dataclasses
import difflib
import functools
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

import equinox as eqx
import jax
import numpy as np

from ._arrays import is_traced as is_traced
from ._kept import KeptMapping as KeptMapping
from ._kept import kept_array as kept_array
from ._kept import lock
from ._text import an, brief, plainly, shown, text_inside, with_fields

__all__ = [
    "AtMost",
    "Flag",
    "Function",
    "Items",
    "Less",
    "Maybe",
    "Number",
    "Numbers",
    "Of",
    "OneOf",
    "Rule",
    "Whole",
    "arguments",
    "field",
]


def __dir__() -> list[str]:
    """What those who write models declare fields, arguments and rules with."""
    return __all__


F = TypeVar("F", bound=Callable)


class InvalidValueError(ValueError):
    """A value that is not what it must be.

    Attributes:
        owner: what the value belongs to, such as `LIF` or `projection 'A->E'`; "" for nothing.
        field: the name of the field or argument.
        must: what it must be.
        got: what was given.
        hint: what may have been meant; "" for nothing.
    """

    def __init__(self, owner: str, field: str, must: str, got: str, hint: str = "") -> None:
        self.owner, self.field, self.must, self.got, self.hint = owner, field, must, got, hint
        name = f"{owner}: {field}" if owner and field else owner or field
        self._bare = ""  # the message, if `raised_in` has named the owner
        super().__init__(f"{name} must be {must}; got {got}{hint}")

    def raised_in(self, function: str) -> None:
        """Names a function as the owner, unless the error has one; of two the outer one."""
        if not self.owner or self._bare:
            self._bare = self._bare or str(self.args[0])
            self.owner, self.args = function, (f"{function}: {self._bare}",)

    def __reduce__(self) -> tuple:
        return type(self), (self.owner, self.field, self.must, self.got, self.hint)


class Unfit(Exception):  # noqa: N818 - no error leaves this module under this name
    """What a kind raises for a value that is none of it: what it must be, what was got, a hint."""

    def __init__(self, must: str, got: Any = None, hint: str = "") -> None:
        super().__init__(must)
        self.must, self.got, self.hint = must, got, hint


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a value must be, and how a network file holds it."""

    def convert(self, value: Any) -> Any:
        """The value as it is kept; raises `Unfit`."""
        raise Unfit("of a kind")

    def read(self, entry: Any) -> Any:
        """Return the value at an `Entry` of a network file, for `convert`: by default numbers."""
        return entry.numbers()

    def plain(self, value: Any) -> Any:
        """Return a value as a network file holds it: numbers, texts, lists, mappings and models."""
        return value

    def words(self) -> str:
        """What it is, for tables: `ms, above 0`."""
        return ""


def check(owner: str, field: str, kind: Kind, value: Any) -> Any:
    """The value as it is kept.

    Raises:
        InvalidValueError: if the value is not of the kind.
    """
    try:
        return kind.convert(value)
    except Unfit as error:
        got = brief(value) if error.got is None else error.got
        raise InvalidValueError(owner, field, error.must, got, error.hint) from None


# --- numbers ----------------------------------------------------------------------------------


class Unit(NamedTuple):
    """How a number is recognised that is far too small for its unit.

    Attributes:
        least: a number other than 0 whose size is below this is taken to be in a larger unit.
        usual: a size that numbers have, by which the larger unit is chosen.
        larger: larger units, and how many of the unit each is.
    """

    least: float
    usual: float
    larger: tuple[tuple[str, float], ...]


UNITS = {
    "mV": Unit(0.15, 0.0, (("V", 1e3),)),
    "ms": Unit(0.05, 0.0, (("s", 1e3),)),
    "pF": Unit(0.5, 0.5, (("nF", 1e3), ("uF", 1e6), ("F", 1e12))),
    "nS": Unit(1e-4, 5e-3, (("uS", 1e3), ("S", 1e9))),
    "pA": Unit(1e-8, 0.1, (("nA", 1e3), ("A", 1e12))),
    "uF/cm2": Unit(0.05, 0.05, (("F/m2", 1e2), ("F/cm2", 1e6))),
    "mS/cm2": Unit(5e-4, 0.0, (("S/cm2", 1e3),)),
}
_LARGEST = 3.4e38  # float32 holds no more


@dataclasses.dataclass(frozen=True)
class Ranged(Kind):
    """Numbers of a unit in a range.

    Attributes:
        unit: the unit; "1" for none.
        above, at_least, below, at_most: the range; None for no bound.
    """

    unit: str = "1"
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None

    def range_words(self) -> str:
        """The range as text: `above 0.0 and at most 1.0`; "" for none."""
        bounds = ("above", "at_least", "below", "at_most")
        given = [(name, getattr(self, name)) for name in bounds]
        return " and ".join(f"{k.replace('_', ' ')} {x}" for k, x in given if x is not None)

    def words(self) -> str:
        unit = "" if self.unit in ("", "1") else self.unit
        return ", ".join(x for x in (unit, self.range_words()) if x)

    def check_range(self, x: np.ndarray) -> None:
        """Raises `Unfit` unless all are finite and inside the range."""
        bad = ~np.isfinite(x)
        for bound, beyond in (
            (self.above, np.less_equal),
            (self.at_least, np.less),
            (self.below, np.greater_equal),
            (self.at_most, np.greater),
        ):
            if bound is not None:
                bad |= beyond(x, bound)
        unit = "" if self.unit in ("", "1") else f" {self.unit}"
        if bad.any():
            where = f" at index {int(np.flatnonzero(bad)[0])}" if x.ndim else ""
            words = self.range_words()
            must = f"finite and {words}{unit}" if words else "finite"
            raise Unfit(must, plainly(x[bad].flat[0]) + where)
        check_held(x)


def check_held(x: np.ndarray) -> None:
    """Raises `Unfit` for numbers that float32 does not hold; infinity is none of them."""
    if (size := np.abs(x).max(initial=0.0, where=np.isfinite(x))) > _LARGEST:
        raise Unfit(f"at most {_LARGEST:g} in size, which float32 holds", f"{size:g}")


def in_other_unit(x: float, unit: str) -> str:
    """The hint for a number that is far too small for its unit: did you mean 20 (s -> ms)?"""
    given = UNITS[unit]
    fit = (pair for pair in given.larger if abs(x) * pair[1] >= given.usual)
    larger, factor = next(fit, given.larger[-1])
    return f", far too small: did you mean {x * factor:.4g} ({larger} -> {unit})?"


def as_number(value: Any) -> float:
    """One real number as a `float`, a float32 as the decimal that it prints as.

    nan for all else: a text, a truth value, an array, None.
    """
    x = None if isinstance(value, str | bytes) or is_traced(value) else array_of(value)
    if x is None or x.ndim != 0 or x.dtype.kind not in "iuf":
        return math.nan
    # A float32 of 0.1 is 0.10000000149, and time steps of that drift off those of 0.1.
    is_short = x.dtype.kind == "f" and x.dtype.itemsize < 8
    return float(str(x[()]) if is_short else x)


def array_of(value: Any) -> np.ndarray:
    """What was given as an array; the value as an object where it is none, as `[[1, 2], [3]]`."""
    try:
        return np.asarray(value)
    except ValueError:
        whole = np.empty((), object)
        whole[()] = value
        return whole


@dataclasses.dataclass(frozen=True)
class Number(Ranged):
    """One number; kept as a `float`.

    Attributes:
        finite: False allows infinity.
        traceable: whether it may be traced, and then stays as it is.
    """

    finite: bool = True
    traceable: bool = False

    def convert(self, value: Any) -> Any:
        if self.traceable and is_traced(value) and np.shape(value) == ():
            return value
        x = as_number(value)
        if math.isnan(x):
            unit = "" if self.unit in ("", "1") else f" of {self.unit}"
            words = self.range_words()
            raise Unfit(f"one number{unit}{', ' if words else ''}{words}", None, traced_hint(value))
        bounds = (self.below, self.at_most) if x > 0 else (self.above, self.at_least)
        if not self.finite and math.isinf(x) and bounds == (None, None):
            return x
        self.check_range(np.asarray(x))
        return x

    def read(self, entry: Any) -> Any:
        return entry.scalar(float)


FRACTION = Number(at_least=0.0, at_most=1.0)


@dataclasses.dataclass(frozen=True)
class Numbers(Ranged):
    """An array of numbers that are known, or one number; kept as a read-only array of float64.

    Attributes:
        ndim: the numbers of axes that it may have; None for any.
        traceable: whether it may be traced, and then stays as it is.
    """

    ndim: tuple[int, ...] | None = None
    traceable: bool = False

    def convert(self, value: Any) -> Any:
        if self.traceable and is_traced(value):
            return value
        x = as_numbers(value)
        if self.ndim is not None and x.ndim not in self.ndim:
            axes = " or ".join(map(str, self.ndim))
            raise Unfit(f"an array of {axes} axes", f"one of shape {x.shape}")
        self.check_range(x)
        return kept_array(value, x)


def as_numbers(value: Any) -> np.ndarray:
    """Known numbers as an array of float64; raises `Unfit` for anything else."""
    try:
        x = None if is_traced(value) else np.asarray(value)
        if x is None or x.dtype.kind not in "iuf":
            raise TypeError
        return np.asarray(x, np.float64)
    except (TypeError, ValueError):
        raise Unfit("a number or an array of numbers", None, traced_hint(value)) from None


@dataclasses.dataclass(frozen=True)
class Whole(Kind):
    """A whole number; kept as an `int`."""

    at_least: int | None = 0
    at_most: int | None = None

    def convert(self, value: Any) -> int:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        low = not whole or (self.at_least is not None and value < self.at_least)
        if low or (self.at_most is not None and value > self.at_most):
            words = self.words()
            hint = (
                "; it is traced: name it in static_argnames= of jax.jit" if is_traced(value) else ""
            )
            raise Unfit(f"a whole number{' of ' if words else ''}{words}", None, hint)
        return int(value)

    def read(self, entry: Any) -> Any:
        return entry.scalar(int)

    def words(self) -> str:
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{k} {x}" for k, x in bounds if x is not None)


# --- other kinds ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def convert(self, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise Unfit("True or False")
        return bool(value)

    def read(self, entry: Any) -> Any:
        return entry.scalar(bool)


@dataclasses.dataclass(frozen=True)
class Name(Kind):
    """A text of at least one letter that can be printed: on one line, no control characters."""

    def convert(self, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise Unfit("a text of at least one letter", name_given(value))
        if not value.isprintable():
            bad = next(x for x in value if not x.isprintable())
            raise Unfit("a text without characters that cannot be printed", f"{bad!r} in it")
        return value

    def read(self, entry: Any) -> Any:
        try:
            return Name.convert(self, entry.value)
        except Unfit as error:
            raise entry.wrong(error.must) from None


@dataclasses.dataclass(frozen=True, init=False)
class OneOf(Kind):
    """One of some values: `OneOf("linear", "log")`."""

    options: tuple

    def __init__(self, *options: Any) -> None:
        object.__setattr__(self, "options", options)

    def convert(self, value: Any) -> Any:
        for option in self.options:
            if type(value) is type(option) and value == option:
                return option
        raise Unfit(self.words())

    def read(self, entry: Any) -> Any:
        return entry.value

    def words(self) -> str:
        return " or ".join(map(repr, self.options))


@dataclasses.dataclass(frozen=True, init=False)
class Of(Kind):
    """An instance of one of some classes: `Of(Neuron)`.

    A class of another object may say in `made_into`, by the name of a class, how it is made into
    one: a hint of the error.
    """

    classes: tuple[type, ...]

    def __init__(self, *classes: type) -> None:
        object.__setattr__(self, "classes", classes)

    def convert(self, value: Any) -> Any:
        if not isinstance(value, self.classes):
            hint = " (a class was given: call it)" if isinstance(value, type) else ""
            made = getattr(type(value), "made_into", {})
            hint = next((made[x.__name__] for x in self.classes if x.__name__ in made), hint)
            raise Unfit(self.words(), None, hint)
        return value

    def read(self, entry: Any) -> Any:
        return entry.instance(*self.classes)

    def words(self) -> str:
        return " or ".join(an(cls.__name__) for cls in self.classes)


@dataclasses.dataclass(frozen=True)
class Maybe(Kind):
    """None, or a value of a kind."""

    kind: Kind

    def convert(self, value: Any) -> Any:
        return None if value is None else self.kind.convert(value)

    def read(self, entry: Any) -> Any:
        return None if entry.value is None else self.kind.read(entry)

    def plain(self, value: Any) -> Any:
        return None if value is None else self.kind.plain(value)

    def words(self) -> str:
        return self.kind.words()


@dataclasses.dataclass(frozen=True)
class Items(Kind):
    """Some values of a kind, one after the other; kept as a tuple."""

    kind: Kind
    at_least: int = 0

    def convert(self, value: Any) -> tuple:
        ordered = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | set)
        value = tuple(value) if ordered and not is_traced(value) else value
        if not isinstance(value, tuple) or len(value) < self.at_least:
            some = f" of at least {self.at_least}" if self.at_least else ""
            raise Unfit(f"a list{some}")
        return tuple(_item(self.kind, f"at [{k}]", x) for k, x in enumerate(value))

    def read(self, entry: Any) -> Any:
        if not isinstance(entry.value, list):
            raise entry.wrong(f"a list{' of objects' if isinstance(self.kind, Of) else ''}")
        return tuple(map(self.kind.read, entry))

    def plain(self, value: Any) -> Any:
        return tuple(map(self.kind.plain, value))


@dataclasses.dataclass(frozen=True)
class Entries(Kind):
    """A mapping from names to values of a kind; kept as one that cannot be changed.

    Attributes:
        kind: the kind of the values.
        values: what the values are and what has the names, for errors of network files.
    """

    kind: Kind
    values: str = "values by name"

    def convert(self, value: Any) -> "KeptMapping":
        if not isinstance(value, Mapping):
            raise Unfit("a mapping from names to values")
        for key in value:
            _item(Name(), "as a key", key)
        return KeptMapping({key: _item(self.kind, f"at [{key!r}]", x) for key, x in value.items()})

    def read(self, entry: Any) -> Any:
        if not isinstance(entry.value, dict):
            raise entry.wrong(f"an object: {self.values}")
        for key in entry.value:
            Name().read(dataclasses.replace(entry[key], value=key))
        return {key: self.kind.read(entry[key]) for key in entry.value}

    def plain(self, value: Any) -> Any:
        return {key: self.kind.plain(x) for key, x in value.items()}


def _item(kind: Kind, where: str, value: Any) -> Any:
    try:
        return kind.convert(value)
    except Unfit as error:
        got = brief(value) if error.got is None else error.got
        raise Unfit(error.must, f"{got} {where}", error.hint) from None


@dataclasses.dataclass(frozen=True)
class FilePath(Kind):
    """The path of a file, or of a folder; kept as a `Path`."""

    of: str = "file"

    def convert(self, value: Any) -> Path:
        if not isinstance(value, str | os.PathLike) or not os.fspath(value):
            raise Unfit(f"the path of a {self.of}")
        path = os.fsdecode(value)
        if "\0" in path:  # the system's text ends there
            raise Unfit(f"the path of a {self.of}, without a zero character")
        return Path(path)


@dataclasses.dataclass(frozen=True)
class Converted(Kind):
    """What a function makes of what is given; it raises `Unfit`."""

    function: Callable[[Any], Any]
    what: str = ""

    def convert(self, value: Any) -> Any:
        return self.function(value)

    def words(self) -> str:
        return self.what


@dataclasses.dataclass(frozen=True)
class Anything(Kind):
    """Any value; who uses it checks it."""

    def convert(self, value: Any) -> Any:
        return value


@dataclasses.dataclass(frozen=True)
class Function(Kind):
    """Anything that can be called."""

    def convert(self, value: Any) -> Any:
        if not callable(value) or isinstance(value, type):
            hint = " (a class was given: call it)" if isinstance(value, type) else ""
            raise Unfit("a function", None, hint)
        return value


def traced_hint(value: Any) -> str:
    """What to do for a number that is traced where a known one is needed; "" for any other."""
    if not is_traced(value):
        return ""
    return (
        ": it is traced. Describe and build outside of jit, vmap and grad; vary it inside by "
        "net.set(name, ...)"
    )


# --- names that exist -------------------------------------------------------------------------


def unknown(
    kind: str, name: Any, known: Iterable[str], owner: str = "", field: str = ""
) -> InvalidValueError:
    """The error for a name that does not exist: suggests the nearest, lists the known."""
    names = list(known)
    listed = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    if not isinstance(name, str):
        what = field or f"the name of {an(kind)}"
        return InvalidValueError(owner, what, "a text", name_given(name))
    near = difflib.get_close_matches(name.lower(), {n.lower(): n for n in names}, n=1)
    meant = [n for n in names if near and n.lower() == near[0]]
    error = InvalidValueError(owner, field or kind, f"one of {listed or 'none'}", repr(name))
    hint = f"; did you mean {meant[0]!r}?" if meant else ""
    end = hint or "."
    of = f"{owner}: " if owner else ""
    error.args = (f"{of}there is no {kind} named {name!r}{end} The known ones: {listed or 'none'}",)
    return error


def check_known(kind: str, name: Any, known: Collection[str]) -> None:
    """Raises `InvalidValueError` unless `name` is a text, and one of the known names."""
    if not isinstance(name, str) or name not in known:
        raise unknown(kind, name, known)


def name_given(value: Any) -> str:
    """What was given instead of a name, for messages, and what to give."""
    own = getattr(value, "name", None)
    if isinstance(own, str):
        return f"{an(type(value).__name__)}: give its name, {own!r}"
    several = isinstance(value, list | tuple | set) and all(isinstance(x, str) for x in value)
    return f"{brief(value)}{': give one name at a time' if several else ''}"


# --- rules between fields ---------------------------------------------------------------------


class Rule(NamedTuple):
    """What must hold between fields of one value.

    Attributes:
        field: the field that the error names.
        must: what it must be; `{name}` stands for the value of a field with its unit.
        holds: a function whose arguments have the names of fields and get their values, numbers as
            NumPy's; True, or an array of truths, where the rule holds. It is not called while one
            of them is traced.
    """

    field: str
    must: str
    holds: Callable[..., Any]

    def check(
        self, owner: str, value: Any, hint: Callable[[Collection[str]], str] = lambda _: ""
    ) -> None:
        """Raises `InvalidValueError` where the rule does not hold.

        Args:
            owner: what the value is, for the error.
            value: the value.
            hint: gives the hint of the error from the names of the fields.
        """
        names = _arguments(self.holds)
        given = {name: getattr(value, name) for name in names}
        if any(map(is_traced, jax.tree.leaves(list(given.values())))):
            return
        given = {k: _plain(x) for k, x in given.items()}
        try:
            good = np.asarray(self.holds(**given))
        except ValueError:
            if len({np.shape(x) for x in given.values() if np.ndim(x)}) > 1:
                return  # of several lengths: who uses the value knows the right one, and refuses
            raise
        if good.all():
            return
        first: tuple = tuple(np.argwhere(~good)[0]) if good.ndim else ()
        shown = {k: _shown(value, k, _entry(x, good.shape, first)) for k, x in given.items()}
        if self.field not in shown:
            x = _plain(getattr(value, self.field))
            shown[self.field] = _shown(value, self.field, _entry(x, good.shape, first))
        where = f" at index {int(first[0])}" if good.ndim and np.ndim(given[names[0]]) else ""
        must = self.must.format(**shown)
        raise InvalidValueError(owner, self.field, must, shown[self.field] + where, hint(shown))


def Less(low: str, high: str) -> Rule:  # noqa: N802 - it stands in a list of rules
    """The rule that one field must be below another."""
    return _between(high, f"above {low} ({{{low}}})", low, high, np.less)


def AtMost(low: str, high: str) -> Rule:  # noqa: N802
    """The rule that one field must not be above another."""
    return _between(high, f"at least {low} ({{{low}}})", low, high, np.less_equal)


def _between(field: str, must: str, low: str, high: str, compare: Callable) -> Rule:
    def holds(**given: Any) -> Any:
        a, b = given[low], given[high]
        # Arrays of several lengths are refused where the value is used, which knows the right one.
        return (np.ndim(a) and np.ndim(b) and np.shape(a) != np.shape(b)) or compare(a, b)

    holds.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (low, high)]
    )
    return Rule(field, must, holds)


@functools.cache
def _arguments(function: Callable) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _plain(x: Any) -> Any:
    """An array as NumPy's, any other value as it is."""
    return np.asarray(x) if isinstance(x, jax.Array | float | int) else x


def _entry(x: Any, shape: tuple, first: tuple) -> Any:
    return (
        np.broadcast_to(x, shape)[first]
        if isinstance(x, np.ndarray)
        and x.shape
        in (
            (),
            shape,
        )
        else x
    )


def _shown(value: Any, name: str, x: Any) -> str:
    kind = kinds_of(type(value)).get(name)
    unit = getattr(kind, "unit", "1")
    text = (
        plainly(x)
        if isinstance(x, np.ndarray | np.generic | float) and np.ndim(x) == 0
        else shown(x)
    )
    return text if unit in ("", "1") else f"{text} {unit}"


# --- fields of values -------------------------------------------------------------------------


class Converter:
    """Converts what is given for a field of a `Module`; its class says whose field it is."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.owner, self.field = kind, "", ""

    def __call__(self, value: Any) -> Any:
        return check(self.owner, self.field, self.kind, value)


def field(
    kind: Kind,
    *,
    default: Any = dataclasses.MISSING,
    doc: str = "",
    metadata: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """A field of a value: its kind, its default, one line of words.

    Args:
        kind: what it must be.
        default: its value where none is given; without one it is required.
        doc: what it is, a phrase.
        metadata: further properties of the field.
        options: further options of `equinox.field`, such as `static` and `kw_only`.
    """
    if default is not dataclasses.MISSING:
        options["default"] = default
    about = {"kind": kind, "doc": doc, **(metadata or {})}
    return eqx.field(converter=Converter(kind), metadata=about, **options)


@functools.cache
def kinds_of(cls: type) -> dict[str, Kind]:
    """The kinds of the declared fields of a class, by name."""
    return {f.name: f.metadata["kind"] for f in dataclasses.fields(cls) if "kind" in f.metadata}


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field, eqx.field))
class Module(eqx.Module):
    """An immutable value that is a pytree, whose fields are declared with `field`.

    A field without a declaration whose annotation is a `Module` must hold one.

    Attributes:
        rules: what must hold between fields; checked after all of them.
    """

    rules: ClassVar[tuple[Rule, ...]] = ()
    __pdoc__ = text_inside

    def __init_subclass__(cls) -> None:
        inherited = {f.name: f for base in cls.__mro__[1:] for f in _fields(base)}
        own = {k: f for k, f in vars(cls).items() if isinstance(f, dataclasses.Field)}
        for name, f in own.items():
            convert = f.metadata.get("converter")
            if isinstance(convert, Converter):
                convert.owner, convert.field = cls.__name__, name
        add_attributes(cls, inherited | own)

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return type(self).__name__

    def __check_init__(self) -> None:
        for name, kind in _modules_inside(type(self)).items():
            check(self.label, name, kind, getattr(self, name))
        for rule in self.rules:
            rule.check(self.label, self, self._hint)

    def _hint(self, fields: Collection[str]) -> str:
        """The hint of an error about some fields."""
        return ""

    def __repr__(self) -> str:
        return with_fields(self)


def _fields(cls: type) -> tuple[dataclasses.Field, ...]:
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


@functools.cache
def _modules_inside(cls: type) -> dict[str, Kind]:
    """The kinds of fields that are declared by their annotation alone: those of modules."""
    return {
        f.name: kind
        for f in dataclasses.fields(cls)
        if "kind" not in f.metadata and (kind := annotated(f.type)) is not None
    }


def annotated(annotation: Any) -> Kind | None:
    """Return the kind that an annotation of modules declares; None for any other annotation."""
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    kinds = typing.get_args(annotation) if union else (annotation,)
    modules = [k for k in kinds if isinstance(k, type) and issubclass(k, Module)]
    if not modules or any(k not in modules and k is not type(None) for k in kinds):
        return None
    kind = Of(*modules)
    return Maybe(kind) if type(None) in kinds else kind


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Value:
    """An immutable value whose fields are declared with `field`; a subclass is a dataclass.

    Two values are equal if they are one, or with `class Own(Value, eq=True)` if their fields are.

    Attributes:
        rules: what must hold between fields; checked after all of them.
    """

    rules: ClassVar[tuple[Rule, ...]] = ()

    def __init_subclass__(cls, eq: bool = False) -> None:
        dataclasses.dataclass(frozen=True, eq=eq, repr=False)(cls)
        add_attributes(cls, {f.name: f for f in _fields(cls)})

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return type(self).__name__

    def __post_init__(self) -> None:
        for name, kind in kinds_of(type(self)).items():
            object.__setattr__(self, name, check(self.label, name, kind, getattr(self, name)))
        for rule in self.rules:
            rule.check(self.label, self)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """The value after `pickle` or `deepcopy`, its arrays read-only again."""
        for name, x in state.items():
            object.__setattr__(self, name, x)
        lock(state.values())

    def __repr__(self) -> str:
        return with_fields(self)


def add_attributes(cls: type, fields: Mapping[str, dataclasses.Field]) -> None:
    """Adds what is declared of the fields of a class to its docstring, for `help`."""
    lines = [f"    {k}: {_described(f)}." for k, f in fields.items() if f.metadata.get("doc")]
    if lines and cls.__doc__ and "Attributes:\n" not in cls.__doc__:
        cls.__doc__ = inspect.cleandoc(cls.__doc__) + "\n\nAttributes:\n" + "\n".join(lines) + "\n"


def _described(f: dataclasses.Field) -> str:
    """The words, unit, range and default of a field: `leak reversal (mV; default -70.0)`."""
    kind, default = f.metadata.get("kind"), f.default
    said = default is not dataclasses.MISSING and default is not None and default != ""
    given = f"default {brief(default)}" if said else ""
    both = "; ".join(x for x in (kind.words() if kind else "", given) if x)
    return f.metadata["doc"] + (f" ({both})" if both else "")


# --- arguments of functions -------------------------------------------------------------------


def arguments(**kinds: Kind) -> Callable[[F], F]:
    """Declares arguments of a function: each is converted, and refused if it is not of its kind.

    Unknown and missing arguments are Python's own `TypeError`. Arguments that are not named, and
    defaults, are left as they are. An error without an owner from inside is owned by the function.
    """

    def decorated(function: F) -> F:
        signature = inspect.signature(function)
        owner = function.__name__
        if owner == "__init__":  # the class
            owner = function.__qualname__.split(".")[-2]
        positions = {name: k for k, name in enumerate(signature.parameters) if name in kinds}
        missing = set(kinds) - set(signature.parameters)
        assert not missing, f"{function.__name__} has no argument {missing}"

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            given = list(args)
            for name, k in positions.items():
                if k < len(given):
                    given[k] = check(owner, name, kinds[name], given[k])
                elif name in named:
                    named[name] = check(owner, name, kinds[name], named[name])
            try:
                return function(*given, **named)
            except InvalidValueError as error:
                error.raised_in(owner)
                raise

        return call  # type: ignore[return-value]

    return decorated


# --- checks that wait for values --------------------------------------------------------------


class _Deferred(NamedTuple):
    """Where checks that wait for values are noted, and the trace whose checks they are."""

    checks: list[tuple[Callable, tuple]]
    trace: Any


_deferred: contextvars.ContextVar[_Deferred | None] = contextvars.ContextVar(
    "deferred", default=None
)


@contextlib.contextmanager
def deferred() -> Iterator[list[tuple[Callable, tuple]]]:
    """The checks that wait for values while a function is traced in this block; see `defer`.

    Those inside a further `jit`, `vmap`, `scan` or `cond` are none of them: their values are known
    nowhere outside, and a branch may be one that is not taken.
    """
    from jax.extend.core import get_opaque_trace_state

    found = _Deferred([], get_opaque_trace_state())
    token = _deferred.set(found)
    try:
        yield found.checks
    finally:
        _deferred.reset(token)


def defer(check: Callable, *args: Any) -> None:
    """Notes that `check(*args)` is due when what is traced in `args` is known."""
    found = _deferred.get()
    if found is None or not any(map(is_traced, jax.tree.leaves(args))):
        return
    from jax.extend.core import get_opaque_trace_state

    if get_opaque_trace_state() == found.trace:
        found.checks.append((check, args))
