"""Checks of what users pass in; errors say what must hold, what was got and what to do.

Only concrete values are checked. Under `jit`, `vmap` and `grad` a value is not known; what was
valid when the network was built is assumed to stay valid.
"""

import difflib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from jax.core import Tracer


def is_traced(value: Any) -> bool:
    """True where `value` is not known yet (inside `jit`, `vmap` or `grad`)."""
    return isinstance(value, Tracer)


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
        must = " and ".join(["finite", *wanted]) + (f" {unit}" if unit not in ("", "1") else "")
        raise ValueError(f"{name} must be {must}; got {x[bad].flat[0]}{where}")


# The largest number that float32 holds, rounded down a little.
_LARGEST = 3.4e38


def check_size(name: str, value: Any) -> None:
    """Raises `ValueError` unless every entry is finite and not too large for float32."""
    x = concrete(value)
    if x is not None and x.dtype.kind in "biuf" and np.isfinite(x).all():
        largest = np.abs(x).max(initial=0.0)
        if largest > _LARGEST:
            raise ValueError(
                f"{name} must be at most {_LARGEST:g} in size, which float32 holds; got {largest:g}"
            )
    check_bounds(name, value)


def check_count(name: str, value: Any, at_least: int = 0) -> int:
    """`value` as an `int`, or `ValueError` unless it is a whole number >= `at_least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}; got {value!r}")
    return int(value)


def check_fraction(name: str, value: Any) -> float:
    """`value` as a `float` in [0, 1], or `ValueError`."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    p = float(value) if number else math.nan
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{name} must be a number from 0 to 1; got {value!r}")
    return p


def check_kind(what: str, value: Any, kind: type) -> None:
    """Raises `ValueError` unless `value` is an instance of `kind`."""
    if not isinstance(value, kind):
        hint = " (a class was given: call it)" if isinstance(value, type) else ""
        raise ValueError(f"{what} must be a {kind.__name__}; got {value!r}{hint}")


def check_name(what: str, name: Any) -> None:
    """Raises `ValueError` unless `name` is a text of at least one letter."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"{what}: the name must be a text of at least one letter; got {name!r}")


def unknown(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """The error for a name that does not exist: suggests the nearest, lists the known."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    listed = ", ".join(repr(n) for n in names[:20]) + (", ..." if len(names) > 20 else "")
    return ValueError(f"there is no {kind} named {name!r}{hint} The known ones: {listed or 'none'}")
