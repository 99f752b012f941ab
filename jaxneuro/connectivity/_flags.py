"""Checks of the flags that rules share: `autapses`, `multapses` and `stored`."""

from typing import Any


def check_flags(rule: Any, *names: str) -> None:
    """Raises `ValueError` unless these fields of a rule are True or False."""
    for name in names:
        value = getattr(rule, name)
        if not isinstance(value, bool):
            raise ValueError(f"{type(rule).__name__}: {name} must be True or False; got {value!r}")


def check_stored(rule: Any) -> None:
    """Raises `ValueError` for `stored=False` in a rule that searches in space."""
    check_flags(rule, "stored")
    if not rule.stored:
        raise ValueError(
            f"{type(rule).__name__}: stored=False is not possible: drawing a row again needs a "
            "search in space. Store it, or take FixedProbability, FixedOutdegree or FixedTotal"
        )
