"""Numbers that are far too small for their unit: potentials, weights and start values.

A number is refused only towards zero: large numbers, zeros and models in units of their own (a
threshold of 1) pass. `spec.Ranged` refuses other numbers of a unit.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import spec
from ._arrays import is_traced
from ._warn import warn

# Durations are whole time steps: one of 0.005 ms is a short one, one of 0.002 ms 2 ms in seconds.
_LEAST_ON_GRID = 0.004
# Conductances of single channels are above this [nS], those of a thousandth of one too.
_LEAST_WEIGHT = 1e-6
# Potentials nearer to 0 are meant in mV; those below the other are volts.
_NEAREST_V, _LARGEST_V = 0.01, 0.15
# Where the largest potential of a model is between these [mV], it has a unit of its own.
_OWN_UNIT = _LARGEST_V, 10.0


def least_of(unit: str, on_grid: bool = False) -> float | None:
    """The least size that a number of a unit has; None for that of `spec`."""
    return _LEAST_ON_GRID if on_grid and unit == "ms" else None


def largest(value: Any) -> float | None:
    """The entry of the largest size; None if there is none, or if it is traced or no number."""
    x = None if is_traced(value) else np.asarray(value)
    if x is None or x.size == 0 or x.dtype.kind not in "biuf":
        return None
    high, low = float(x.max()), float(x.min())
    return high if high >= -low else low


def check_potentials(owner: str, given: Mapping[str, tuple[Any, float | None]]) -> None:
    """Raises `InvalidValueError` for potentials of a model that are in volts.

    Args:
        owner: the model.
        given: its numbers in mV by name: values, and for a width or a step, which is no potential,
            the least size that it has.
    """
    known = {name: x for name, (value, _) in given.items() if (x := largest(value)) is not None}
    own = _OWN_UNIT[0] <= max(map(abs, known.values()), default=0.0) <= _OWN_UNIT[1]
    for name, (value, least) in given.items():
        if name not in known:
            continue
        if least is None:
            others = [x for other, x in known.items() if other != name]
            _check_potential(owner, name, value, others)
            check_each_potential(owner, name, value)
        elif not own and 0.0 < abs(known[name]) < least:
            raise _in_volts(owner, name, known[name])


def _check_potential(owner: str, name: str, value: Any, others: list[float]) -> None:
    """Refuses a potential in volts: below 0, and so are the others, or it is near them in mV.

    One a little beside 0 may be meant, where a rest is 0 mV, and any where a unit is 1.
    """
    x = largest(value)
    if x is None or not -_LARGEST_V < x <= -_NEAREST_V:
        return
    alone = not others and -0.1 < x <= -0.04  # the reversal potential of a synapse
    if alone or (others and max(map(abs, others)) < _LARGEST_V) or _near(1e3 * x, others):
        raise _in_volts(owner, name, x)


def check_each_potential(owner: str, name: str, value: Any) -> None:
    """Raises `InvalidValueError` for one potential in volts in an array far below 0 mV."""
    x = np.zeros(0) if is_traced(value) else np.asarray(value)
    if x.ndim != 1 or x.dtype.kind not in "iuf":
        return
    small = (x > -_LARGEST_V) & (x <= -_NEAREST_V)
    others = x[~small & (x != 0.0)]
    if small.any() and others.size > small.sum() and (others < -_OWN_UNIT[1]).all():
        at = int(np.flatnonzero(small)[0])
        if others.min() - 50.0 <= 1e3 * float(x[at]) <= others.max() + 50.0:
            raise _in_volts(owner, name, float(x[at]), f" at index {at}")


def check_start(
    owner: str, field: str, potentials: Iterable[float], variable: str, value: Any
) -> None:
    """Raises `InvalidValueError` for start values of a voltage that are in volts.

    They are below 0, and times 1000 near the `potentials` of the model, of which one is far below
    0: a start a little above a rest at 0 mV may be meant.
    """
    x, known = largest(value), list(potentials)
    if not (variable == "v" or variable.startswith("v_")) or x is None or not known:
        return
    if -_LARGEST_V < x < 0.0 and _near(1e3 * x, known):
        raise _in_volts(owner, field, x)


def _near(x: float, potentials: list[float]) -> bool:
    """Whether potentials are far below 0, and a number is among them."""
    low, high = min(potentials, default=0.0), max(potentials, default=0.0)
    return low < -10.0 and low - 50.0 <= x <= high + 50.0


def _in_volts(owner: str, name: str, x: float, where: str = "") -> spec.InvalidValueError:
    hint = spec.in_other_unit(x, "mV")
    return spec.InvalidValueError(owner, name, "in mV", f"{x:.4g}{where}", hint)


def check_unit(name: str, value: Any, unit: str, least: float | None = None) -> None:
    """Raises `InvalidValueError` where a number, or all of an array, are far too small."""
    x = largest(value)
    if unit in spec.UNITS and x is not None and x != 0.0:
        least = spec.UNITS[unit].least if least is None else least
        if abs(x) < least:
            hint = spec.in_other_unit(x, unit)
            raise spec.InvalidValueError("", name, f"in {unit}", f"{x:.4g}", hint)


def check_weight(label: str, value: Any, unit: str) -> None:
    """Raises `InvalidValueError` for weights in SI units; `unit` is that of the synapse."""
    if unit in spec.UNITS:
        least = min(spec.UNITS[unit].least, _LEAST_WEIGHT)
        check_unit(f"{label}: weight", value, unit, least)


# pA, nS or mV of one synapse; beyond the second, no unit explains a number, and infinity is meant.
_MOST_WEIGHT, _NO_UNIT = 1e7, 1e18


def warn_of_large(label: str, value: Any, unit: str) -> None:
    """Warns of weights that no synapse has."""
    x = largest(value)
    if x is not None and _MOST_WEIGHT < abs(x) < _NO_UNIT:
        warn(
            f"{label}: a weight of {x:.4g} {unit} is more than any synapse has; "
            f"weights are in {unit}"
        )
