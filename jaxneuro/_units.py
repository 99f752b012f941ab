"""Numbers that are far too small for their unit: 0.02 where 20 ms are meant, potentials in volts.

Such a number may be meant, so nothing here refuses one: a function returns the words about it as
an error that is not raised, and `warn_of_units` warns in these words. Only `build` and `simulate`
ask, and what sets values in a network. Large numbers, zeros and models in units of their own (a
threshold of 1) are never taken for numbers in another unit.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from . import spec
from ._arrays import is_traced
from ._text import plainly
from ._warn import warn

# What a number is that may be in another unit: an error that names its field, never raised.
Guess: TypeAlias = spec.InvalidValueError

# A time below the time step may be in seconds; one of a whole step in float32 is not below it.
_BELOW = 1.0 - 1e-6
# Conductances of single channels are above this [nS], those of a thousandth of one too.
_LEAST_WEIGHT = 1e-6
# Potentials nearer to 0 are meant in mV; those below the other are volts.
_NEAREST_V, _LARGEST_V = 0.01, 0.15
# Where the largest potential of a model is between these [mV], it has a unit of its own.
_OWN_UNIT = _LARGEST_V, 10.0


def warn_of_units(guesses: Iterable[Guess]) -> None:
    """Warns once per field: of several models of a class, or several projections, of the first."""
    seen = set()
    for guess in guesses:
        field = guess.owner.partition(" ")[0], guess.field  # projection, of projection 'A->B'
        if field not in seen:
            seen.add(field)
            warn(str(guess))


def largest(value: Any) -> float | None:
    """The entry of the largest size; None if there is none, or if it is traced or no number."""
    x = None if is_traced(value) else np.asarray(value)
    if x is None or x.size == 0 or x.dtype.kind not in "biuf":
        return None
    high, low = float(x.max()), float(x.min())
    return high if high >= -low else low


def far_too_small(
    owner: str,
    field: str,
    value: Any,
    unit: str,
    *,
    least: float | None = None,
    dt: float | None = None,
    any_of: bool = False,
) -> Iterator[Guess]:
    """The guess for numbers that are a thousandth of what they may be: in s, nA, nF or uS.

    Args:
        owner, field: whose numbers they are.
        value: one number or an array, which may be traced: then nothing is known.
        unit: the unit that they should have.
        least: the size below which a number is in another unit; None for that of the unit.
        dt: the time step [ms], below which a time must be; None if it is not known.
        any_of: whether one number of an array suffices. Else all must be too small, as a Gaussian
            in space has tiny entries.
    """
    if unit not in spec.UNITS or largest(value) is None:
        return
    least = spec.UNITS[unit].least if least is None else least
    if unit == "ms" and dt is not None:
        least = min(least, dt * _BELOW)
    x = np.asarray(value)
    sizes = np.abs(x)
    small = (sizes > 0.0) & (sizes < least)
    if small.any() and (any_of or sizes.max() < least):
        at = int(np.flatnonzero(small)[0])
        got, where = float(x.flat[at]), f" at index {at}" if x.ndim else ""
        hint = spec.in_other_unit(got, unit)
        yield Guess(owner, field, f"in {unit}", plainly(got) + where, hint)


def potentials_in_volts(
    owner: str, given: Mapping[str, tuple[Any, float | None]]
) -> Iterator[Guess]:
    """The guesses for potentials of a model that are in volts.

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
            if _is_in_volts(known[name], others):
                yield _in_volts(owner, name, known[name])
            yield from one_in_volts(owner, name, value)
        elif not own and 0.0 < abs(known[name]) < least:
            yield _in_volts(owner, name, known[name])


def _is_in_volts(x: float, others: list[float]) -> bool:
    """Whether a potential is in volts: below 0, and so are the others, or it is near them in mV.

    One a little beside 0 may be meant, where a rest is 0 mV, and any where a unit is 1.
    """
    if not -_LARGEST_V < x <= -_NEAREST_V:
        return False
    alone = not others and -0.1 < x <= -0.04  # the reversal potential of a synapse
    small = bool(others) and max(map(abs, others)) < _LARGEST_V
    return alone or small or _near(1e3 * x, others)


def one_in_volts(owner: str, name: str, value: Any) -> Iterator[Guess]:
    """The guess for one potential in volts in an array far below 0 mV."""
    x = np.zeros(0) if is_traced(value) else np.asarray(value)
    if x.ndim != 1 or x.dtype.kind not in "iuf":
        return
    small = (x > -_LARGEST_V) & (x <= -_NEAREST_V)
    others = x[~small & (x != 0.0)]
    if small.any() and others.size > small.sum() and (others < -_OWN_UNIT[1]).all():
        at = int(np.flatnonzero(small)[0])
        if others.min() - 50.0 <= 1e3 * float(x[at]) <= others.max() + 50.0:
            yield _in_volts(owner, name, float(x[at]), f" at index {at}")


def start_in_volts(
    owner: str, field: str, potentials: Iterable[float], variable: str, value: Any
) -> Iterator[Guess]:
    """The guess for start values of a voltage that are in volts.

    They are below 0, and times 1000 near the `potentials` of the model, of which one is far below
    0: a start a little above a rest at 0 mV may be meant.
    """
    x, known = largest(value), list(potentials)
    if not (variable == "v" or variable.startswith("v_")) or x is None or not known:
        return
    if -_LARGEST_V < x < 0.0 and _near(1e3 * x, known):
        yield _in_volts(owner, field, x)


def _near(x: float, potentials: list[float]) -> bool:
    """Whether potentials are far below 0, and a number is among them."""
    low, high = min(potentials, default=0.0), max(potentials, default=0.0)
    return low < -10.0 and low - 50.0 <= x <= high + 50.0


def _in_volts(owner: str, name: str, x: float, where: str = "") -> Guess:
    return Guess(owner, name, "in mV", f"{x:.4g}{where}", spec.in_other_unit(x, "mV"))


def weight_in_si(owner: str, value: Any, unit: str) -> Iterator[Guess]:
    """The guess for weights in SI units; `unit` is that of the synapse."""
    least = min(spec.UNITS[unit].least, _LEAST_WEIGHT) if unit in spec.UNITS else None
    return far_too_small(owner, "weight", largest(value), unit, least=least)


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
