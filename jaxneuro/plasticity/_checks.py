"""Checks that several rules share."""

from collections.abc import Mapping
from typing import Any

from .._checks import concrete
from .._units import largest
from .._warn import warn

IN_WEIGHTS = "in the unit of the weight"


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


def warn_of_signs(label: str, plus: Mapping[str, Any], minus: Mapping[str, Any]) -> None:
    """Warns where the amplitudes of a rule have opposite signs, so that all spikes do the same.

    `plus` are what is added at a postsynaptic spike, `minus` what is subtracted at a presynaptic
    one, by name. With both negative a rule is anti-Hebbian, which is meant.
    """
    lowest = [_least(side) for side in (plus, minus)]
    if any(x is None for x in lowest) or len({x[1] < 0 for x in lowest if x}) == 1:
        return
    name, x = next(pair for pair in lowest if pair and pair[1] < 0)
    if name in minus:
        does = f"is subtracted: with {x:g} a presynaptic spike potentiates, as a postsynaptic one"
        wanted = f"For depression by it (Apost = {x:g} in Brian2)"
    else:
        does = f"is added: with {x:g} a postsynaptic spike depresses, as a presynaptic one"
        wanted = "For potentiation by it"
    warn(
        f"{label}: {name} {does} does. {wanted} give {name}={-x:g}; in an anti-Hebbian rule those "
        "of both sides are negative"
    )


def _least(given: Mapping[str, Any]) -> tuple[str, float] | None:
    """The name and the value of the lowest number; None while one is traced or an array."""
    known = {name: concrete(x) for name, x in given.items()}
    numbers = {name: float(x) for name, x in known.items() if x is not None and x.ndim == 0}
    if len(numbers) < len(known):
        return None
    return min(numbers.items(), key=lambda pair: pair[1])


def warn_of_size(
    label: str, limits: tuple[Any, Any], changes: Mapping[str, Any], unit: str
) -> None:
    """Warns of a change by one pair of spikes that is larger than the whole range of weights.

    `limits` the lowest and the highest weight; `changes` by name; `unit` says what they count in.
    """
    low, high = map(largest, limits)
    across = None if low is None or high is None else high - low
    for name, value in changes.items():
        x = largest(value)
        if x is not None and across is not None and abs(x) > across > 0.0:
            warn(
                f"{label}: {name} = {x:g} is more than the whole range of weights, {across:g}: one "
                f"pair of spikes takes a weight from one bound to the other. {name} is {unit}"
            )
