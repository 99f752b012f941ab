"""Checks by hand of what users pass in, where it is not declared yet; see `spec`.

Only known values are checked: while a value is traced, none is.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from . import spec
from ._arrays import is_traced as is_traced
from ._text import brief, plainly, with_fields
from .spec import as_number, name_given


def concrete(value: Any) -> np.ndarray | None:
    """`value` as a NumPy array, or None while it is traced."""
    return None if is_traced(value) else np.asarray(value)


def check_bounds(
    name: str,
    value: Any,
    unit: str = "",
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Raises `ValueError` unless every entry is finite and inside the bounds."""
    x = concrete(value)
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
    x = concrete(value)
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


def check_fraction(name: str, value: Any) -> float:
    """`value` as a `float` in [0, 1], or `ValueError`."""
    p = as_number(value)
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{name} must be a number from 0 to 1; got {value!r}")
    return p


def check_kind(what: str, value: Any, kind: type) -> None:
    """Raises `ValueError` unless `value` is an instance of `kind`."""
    spec.check("", what, spec.Of(kind), value)


def check_name(what: str, name: Any) -> None:
    """Raises `ValueError` unless `name` is a text of at least one letter."""
    if not isinstance(name, str) or not name:
        raise ValueError(
            f"{what}: the name must be a text of at least one letter; got {name_given(name)}"
        )


def check_path(what: str, value: Any) -> Path:
    """`value` as a path; raises `ValueError` for what is none."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ValueError(f"{what} must be the path of a file; got {brief(value)}")
    return Path(os.fsdecode(value))


class Named:
    """Gives a dataclass a short text: the fields that differ from their defaults."""

    def __repr__(self) -> str:
        return with_fields(self)
