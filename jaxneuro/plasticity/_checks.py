"""Checks that several rules share."""

from typing import Any

from .._checks import concrete


def check_choice(label: str, value: Any, known: tuple[str, ...]) -> None:
    """Raises `ValueError` unless `value` is one of the texts in `known`."""
    if value not in known:
        listed = ", ".join(repr(x) for x in known)
        raise ValueError(f"{label} must be one of {listed}; got {value!r}")


def check_order(label: str, low: Any, high: Any) -> None:
    """Raises `ValueError` unless w_min is below w_max; either may be None or traced."""
    if low is None or high is None:
        return
    low, high = concrete(low), concrete(high)
    if low is not None and high is not None and (low >= high).any():
        raise ValueError(f"{label}: w_min must be below w_max; got {low} and {high}")
