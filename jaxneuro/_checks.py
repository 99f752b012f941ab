"""Checks of what users pass in; errors say what must hold, what was got and what to do.

Only known values are checked: of a plain `vmap` or `grad` the numbers that its tracers hold. Under
`jit` a value is not known; what was valid when the network was built is assumed to stay valid. Who
traces a function and knows the values it will be called with keeps the checks that were left out,
and makes them (`jn.sweep`).
"""

import contextlib
import contextvars
import functools
import inspect
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

import jax
import numpy as np
from jax.core import Tracer

from ._help import Documented, missing
from ._text import an, brief, plainly, with_fields
from ._words import EXAMPLES, MADE, nearest


def is_traced(value: Any) -> bool:
    """True where `value` is not known yet (inside `jit`, `vmap` or `grad`)."""
    return isinstance(value, Tracer)


def concrete(value: Any) -> np.ndarray | None:
    """`value` as a NumPy array, or None while it is traced."""
    return None if is_traced(value) else np.asarray(value)


def known(value: Any) -> np.ndarray | None:
    """The numbers that `value` stands for, if they are known: in a plain `vmap` the whole batch.

    None inside `jit`. Their shape is not that of the value.
    """
    while is_traced(value):  # a batch in a vmap, or in a grad the number where the slope is taken
        value = getattr(value, "val", getattr(value, "primal", None))
        if not isinstance(value, Tracer | jax.Array | np.ndarray | np.generic | float | int):
            return None
    return np.asarray(value)


class _LeftOut(NamedTuple):
    """Where checks that are left out are noted, and the trace whose checks they are."""

    checks: list[tuple[Callable, tuple]]
    trace: Any


_left_out: contextvars.ContextVar[_LeftOut | None] = contextvars.ContextVar("left", default=None)


@contextlib.contextmanager
def checks_left_out() -> Iterator[list[tuple[Callable, tuple]]]:
    """The checks that are left out inside this block, with their arguments; see `leave_out`.

    Those inside a further `jit`, `vmap`, `scan` or `cond` are none of them: their values are known
    nowhere outside, and a branch may be one that is not taken.
    """
    from jax.extend.core import get_opaque_trace_state

    token = _left_out.set(_LeftOut([], get_opaque_trace_state()))
    try:
        yield cast(_LeftOut, _left_out.get()).checks
    finally:
        _left_out.reset(token)


def leave_out(check: Callable, *args: Any) -> None:
    """Notes that `check(*args)` would check more if what is traced in `args` were known."""
    found = _left_out.get()
    if found is None or not any(map(is_traced, jax.tree.leaves(args))):
        return
    from jax.extend.core import get_opaque_trace_state

    if get_opaque_trace_state() == found.trace:
        found.checks.append((check, args))


def check_bounds(
    name: str,
    value: Any,
    unit: str = "",
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Raises `ValueError` unless every entry is finite and inside the bounds."""
    x = known(value)
    if x is None or x.size == 0:
        return
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a number or an array of numbers; got {value!r}")
    wanted = [
        text
        for text, bound in (
            (f"above {above}", above),
            (f"at least {at_least}", at_least),
            (f"at most {at_most}", at_most),
        )
        if bound is not None
    ]
    bad = ~np.isfinite(x)
    if above is not None:
        bad |= x <= above
    if at_least is not None:
        bad |= x < at_least
    if at_most is not None:
        bad |= x > at_most
    if bad.any():
        where = "" if x.ndim == 0 else f" at index {int(np.flatnonzero(bad)[0])}"
        got = plainly(x[bad].flat[0])
        must = " and ".join(["finite", *wanted]) + (f" {unit}" if unit not in ("", "1") else "")
        raise ValueError(f"{name} must be {must}; got {got}{where}")


# The largest number that float32 holds, rounded down a little.
_LARGEST = 3.4e38


def check_size(name: str, value: Any) -> None:
    """Raises `ValueError` unless every entry is finite and not too large for float32."""
    x = known(value)
    if x is not None and x.dtype.kind in "biuf" and np.isfinite(x).all():
        largest = max(
            float(x.max(initial=0)), -float(x.min(initial=0))
        )  # no array of the size of x
        if largest > _LARGEST:
            raise ValueError(
                f"{name} must be at most {_LARGEST:g} in size, which float32 holds; got {largest:g}"
            )
    check_bounds(name, value)


def check_count(name: str, value: Any, at_least: int = 0) -> int:
    """`value` as an `int`, or `ValueError` unless it is a whole number >= `at_least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < at_least:
        hint = "; it is traced: name it in static_argnames= of jax.jit" if is_traced(value) else ""
        raise ValueError(
            f"{name} must be a whole number of at least {at_least}; got {value!r}{hint}"
        )
    return int(value)


def as_number(value: Any) -> float:
    """One real number as a `float`; nan for all else: a text, a truth value, an array, None."""
    x = None if isinstance(value, str | bytes) or is_traced(value) else np.asarray(value)
    return float(x) if x is not None and x.ndim == 0 and x.dtype.kind in "iuf" else math.nan


def check_fraction(name: str, value: Any) -> float:
    """`value` as a `float` in [0, 1], or `ValueError`."""
    p = as_number(value)
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{name} must be a number from 0 to 1; got {value!r}")
    return p


def check_kind(what: str, value: Any, kind: type) -> None:
    """Raises `ValueError` unless `value` is an instance of `kind`."""
    if not isinstance(value, kind):
        made = None if ".assemblies." in kind.__module__ else MADE.get(kind.__name__)
        example = "" if made is None else f", such as {made}"
        hint = " (a class was given: call it)" if isinstance(value, type) else ""
        raise ValueError(f"{what} must be {an(kind.__name__)}{example}; got {brief(value)}{hint}")


def check_name(what: str, name: Any) -> None:
    """Raises `ValueError` unless `name` is a text of at least one letter."""
    if not isinstance(name, str) or not name:
        raise ValueError(
            f"{what}: the name must be a text of at least one letter; got {name_given(name)}"
        )


def unknown(kind: str, name: str, known: Iterable[str], elsewhere: str = "") -> ValueError:
    """The error for a name that does not exist: suggests the nearest, lists the known.

    `elsewhere`, if there is any, says what to do instead of what is nearest.
    """
    names = list(known)
    listed = ", ".join(repr(n) for n in names[:20]) + (", ..." if len(names) > 20 else "")
    known_ones = f"The known ones: {listed or 'none'}"
    if not isinstance(name, str):
        got = name_given(name)
        return ValueError(f"the name of {an(kind)} must be a text; got {got}. {known_ones}")
    near = " or ".join(map(repr, nearest(name, names)))
    hint = f"{elsewhere}." if elsewhere or not near else f"; did you mean {near}?"
    return ValueError(f"there is no {kind} named {name!r}{hint} {known_ones}")


def check_known(kind: str, name: Any, known: Collection[str]) -> None:
    """Raises `ValueError` unless `name` is a text, and one of the known names."""
    if not isinstance(name, str) or name not in known:
        raise unknown(kind, name, known)


def check_path(what: str, value: Any) -> Path:
    """`value` as a path; raises `ValueError` for what is none."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ValueError(f"{what} must be the path of a file; got {brief(value)}")
    return Path(os.fsdecode(value))


def name_given(value: Any) -> str:
    """What was given instead of a name, for messages, and what to give."""
    own = getattr(value, "name", None)
    if isinstance(own, str):
        return f"{an(type(value).__name__)}: give its name, {own!r}"
    several = isinstance(value, list | tuple | set) and all(isinstance(x, str) for x in value)
    return f"{brief(value)}{': give one name at a time' if several else ''}"


class Takes(NamedTuple):
    """What makes a value of a class: all names, those without a name needed, and the needed ones.

    **Fields** `names`; `positional`, in their order; `required`; `free`, whether any name goes;
    `many`, whether any number of values without a name goes; `by_name` those that must be given by
    name, in their order.
    """

    names: frozenset[str]
    positional: tuple[str, ...]
    required: tuple[str, ...]
    free: bool
    many: bool
    by_name: tuple[str, ...]


@functools.cache
def takes_of(cls: type) -> Takes:
    """What the constructor of a class takes."""
    return _takes([*inspect.signature(cls.__init__).parameters.values()][1:])


def _takes(given: Collection[inspect.Parameter]) -> Takes:
    some = [p for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return Takes(
        frozenset(p.name for p in some),
        tuple(p.name for p in some if p.kind is not p.KEYWORD_ONLY),
        tuple(p.name for p in some if p.default is p.empty),
        any(p.kind is p.VAR_KEYWORD for p in given),
        any(p.kind is p.VAR_POSITIONAL for p in given),
        tuple(p.name for p in some if p.kind is p.KEYWORD_ONLY),
    )


def check_arguments(
    what: str,
    takes: Takes,
    args: tuple,
    named: Mapping[str, Any],
    absent: Mapping[str, str],
    described: bool = True,
) -> None:
    """Raises `ValueError` for arguments that a class does not take, or that are missing.

    `absent` says what to use instead of some that a user may look for; `described`: what it is may
    be mistaken for another part of a description, so that the error names the part that takes it.
    """
    listed = [*takes.positional, *sorted(takes.names - set(takes.positional))]
    for name in named:
        if name not in takes.names and not takes.free:
            part = owners(name, listed) if described else ""
            error = unknown(f"parameter of {what}", name, listed, part)
            raise ValueError(f"{what}: {absent[name]}; {error}") if name in absent else error
    if len(args) > len(takes.positional) and not takes.many:
        # One is what a second number is for; of several none is meant more than the others.
        hint = "".join(f"; {text} ({name})" for name, text in absent.items() if len(absent) == 1)
        if takes.by_name:
            hint = f". Give the others by name: {', '.join(f'{name}=' for name in takes.by_name)}"
        elif takes.free:
            hint = ". Give values by the names of what they are for: tau_m=10.0"
        raise ValueError(
            f"{what}: at most {len(takes.positional)} values without a name are taken "
            f"({', '.join(takes.positional) or 'none'}); got {len(args)}{hint}"
        )
    first = takes.positional[: len(args)]
    missing = [name for name in takes.required if name not in first and name not in named]
    if missing:
        give = ", ".join(f"{name}={EXAMPLES.get(name, '...')}" for name in missing)
        raise ValueError(f"{what} needs {' and '.join(missing)}; give {give}")
    twice = [name for name in first if name in named]
    if twice:
        raise ValueError(f"{what}: {twice[0]} is given twice, by its place and by its name")


def owners(parameter: str, known: Iterable[str]) -> str:
    """What of a description has a parameter, for messages: `; jn.Projection has one`.

    A word that is near to a known one is meant for that: "tau" for "tau_m".
    """
    from ._elsewhere import having  # loaded when something is missing

    if "_" not in parameter and nearest(parameter, list(known)):
        return ""
    found = having(parameter, __name__.partition(".")[0])
    return f"; {found} {'have' if ' ' in found else 'has'} one" if found else ""


# The functions that take, or are easily thought to take, what belongs to a description.
_DESCRIBED = "build", "simulate", "scan", "set"
F = TypeVar("F", bound=Callable)


def names_checked(**absent: str) -> Callable[[F], F]:
    """Makes unknown and missing arguments of a function or method a `ValueError` with the known.

    So is a first argument that is not of the class of the package that it is declared with.
    `absent` says what to use instead of some that a user may look for.
    """

    def decorated(function: F) -> F:
        given = [*inspect.signature(function).parameters.values()]
        own, label = int(given[0].name in ("self", "cls", "_cls")), function.__name__
        takes = _takes(given[own:])
        first, kind = given[0].name, given[0].annotation
        of_kind = isinstance(kind, Documented)  # a network, a brain, a description

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            check_arguments(label, takes, args[own:], named, absent, label in _DESCRIBED)
            if of_kind:
                check_kind(f"{label}: {first}", args[0] if args else named[first], kind)
            return function(*args, **named)

        return cast(F, call)

    return decorated


class Named(metaclass=Documented):
    """Makes unknown and missing arguments of a dataclass a `ValueError` that lists the known.

    Its text is short: the fields that differ from their defaults, arrays by their size.
    """

    _absent: ClassVar[Mapping[str, str]] = {}
    if not TYPE_CHECKING:  # every name would be right
        __getattr__ = missing

    @classmethod
    def _check_arguments(cls, args: tuple, named: Mapping[str, Any]) -> None:
        name, described = cls.__name__.removeprefix("Drawn"), ".assemblies." not in cls.__module__
        check_arguments(name, takes_of(cls), args, named, cls._absent, described)

    def __repr__(self) -> str:
        return with_fields(self)
