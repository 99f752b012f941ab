"""The check of the flags that rules share: `autapses` and `multapses`."""

from typing import Any


def check_flags(rule: Any, *names: str) -> None:
    """Raises `ValueError` unless these fields of a rule are True or False."""
    for name in names:
        value = getattr(rule, name)
        if not isinstance(value, bool):
            raise ValueError(f"{type(rule).__name__}: {name} must be True or False; got {value!r}")
