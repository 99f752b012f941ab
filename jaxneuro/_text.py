"""Numbers and values as text for users."""

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import wadler_lindig as wl

from ._arrays import is_traced

_LONG = 200  # letters of a value in a message
_DIGITS = 12  # letters of a number that nobody wrote
_NAMES = 4  # in a sentence
_ITEMS = 8  # of a list or a mapping; more are counted


def counted(n: int, noun: str) -> str:
    """A number with its noun: 1 population, 4,000 neurons, 2 stimuli."""
    several = noun.removesuffix("us") + "i" if noun.endswith("us") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"


def an(name: str) -> str:
    """The name of a class with its article: a LIF, an AMPA."""
    return f"{'an' if name[:1] in tuple('AEIOaeio') else 'a'} {name}"


def listed(names: Sequence[str]) -> str:
    """Names for a message: 'A->E', 'B->E' and 2 more."""
    more = len(names) - _NAMES
    return ", ".join(map(repr, names[:_NAMES])) + (f" and {more} more" if more > 0 else "")


def brief(value: Any) -> str:
    """What was given, for a message: its text, or its class where the text is long."""
    text = repr(value)
    return text if len(text) <= _LONG else an(type(value).__name__)


def printable(text: str) -> str:
    """A text whose control characters, and others that cannot be printed, are written out."""
    return "".join(x if x.isprintable() else repr(x)[1:-1] for x in text)


def plainly(x: Any) -> str:
    """A number without the digits that float32 makes up: -0.009 for -0.008999999612569809."""
    text = f"{x:.6g}"
    return text if len(str(x)) > _DIGITS and np.float32(text) == np.float32(x) else str(x)


def megabytes(n: float) -> str:
    """Bytes as text: 800 B, 28.8 kB, 0.7 MB, 1.3 GB, 90.0 TB."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size or (unit == "MB" and n >= 1e5):
            return f"{n / size:.1f} {unit}"
    return f"{n:.0f} B"


def shown(value: Any) -> str:
    """A value as short text: an array as its size and range, a long list as its length."""
    if value is ...:
        return "..."
    if isinstance(value, Mapping):
        items = [f"{key!r}: {shown(x)}" for key, x in [*value.items()][:_ITEMS]]
        return "{" + ", ".join(items + _rest(len(value))) + "}"
    if type(value) in (tuple, list):
        inside = ", ".join([shown(x) for x in value[:_ITEMS]] + _rest(len(value)))
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside}{',' if len(value) == 1 else ''})"
    if is_traced(value):
        return f"{value.shape} array, traced"
    if isinstance(value, np.ndarray) or hasattr(value, "addressable_shards"):
        return _shown_array(value)
    if inspect.isfunction(value) or hasattr(value, "__wrapped__"):  # also jitted ones
        return "a function" if value.__name__ == "<lambda>" else value.__name__
    return repr(value)


def _rest(n: int) -> list[str]:
    return [f"... {n:,} in all"] if n > _ITEMS else []


def _shown_array(value: Any) -> str:
    x = np.asarray(value)
    if x.ndim == 0:
        return f"{x.item():g}" if x.dtype.kind in "iuf" else repr(x.item())
    if x.ndim == 1 and x.dtype.kind in "iuf":
        if x.size <= _ITEMS:
            return f"[{', '.join(f'{y:g}' for y in x.tolist())}]"
        return f"{x.size:,} values from {x.min():g} to {x.max():g}"
    return f"{x.shape} array"


def text_inside(value: Any, **_: Any) -> wl.AbstractDoc:
    """A value's `__pdoc__`: inside others, as in a bound method, equinox shows its `repr`.

    Without it equinox shows the fields of a module, down to the last array.
    """
    return wl.TextDoc(repr(value))


def with_fields(value: Any) -> str:
    """A dataclass as text: the fields that differ from their defaults, by name.

    A class of a user that is no dataclass has none.
    """
    parts = []
    for field in dataclasses.fields(value) if dataclasses.is_dataclass(value) else ():
        text, default = shown(getattr(value, field.name)), None
        if field.default is not dataclasses.MISSING:
            default = shown(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            default = shown(field.default_factory())
        if text != default:
            parts.append(f"{field.name}={text}")
    return f"{type(value).__name__}({', '.join(parts)})"
