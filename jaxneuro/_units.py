"""Numbers that are in another unit: far below what neurons have, so SI units are meant.

A number is refused only towards zero: large numbers, zeros and models in units of their own (a
threshold of 1) pass. Of an array all must be too small, as a Gaussian in space has tiny entries;
one alone is refused among times, capacitances and conductances that must be above 0, and among
potentials that are all beyond 10 mV.
"""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np

from ._checks import concrete, known
from ._warn import warn


class _Unit(NamedTuple):
    """**Fields** `least` size a number has; `usual` size of what is meant; `others`: larger units
    that are given instead, and how many of the unit each is."""

    least: float
    usual: float
    others: tuple[tuple[str, float], ...]


UNITS = {
    "mV": _Unit(0.15, 0.0, (("V", 1e3),)),
    "ms": _Unit(0.05, 0.0, (("s", 1e3),)),
    "pF": _Unit(0.5, 0.5, (("nF", 1e3), ("uF", 1e6), ("F", 1e12))),
    "nS": _Unit(1e-4, 5e-3, (("uS", 1e3), ("S", 1e9))),
    "pA": _Unit(1e-8, 0.1, (("nA", 1e3), ("A", 1e12))),
    "uF/cm2": _Unit(0.05, 0.05, (("F/m2", 1e2), ("F/cm2", 1e6))),
    "mS/cm2": _Unit(5e-4, 0.0, (("S/cm2", 1e3),)),
}

# Where the largest potential of a model is between these [mV], it has a unit of its own.
_OWN_UNIT = UNITS["mV"].least, 10.0

# Durations are whole time steps: one of 0.005 ms is a short one, one of 0.002 ms 2 ms in seconds.
LEAST_ON_GRID = 0.004

# Conductances of single channels are above this [nS], those of a thousandth of one too.
_LEAST_WEIGHT = 1e-6

_INSIST = " If so small a number is meant, declare it with jn.param(..., least=0.0)"

# Potentials nearer to 0 are meant in mV [V].
_NEAREST_V = 0.01

# No membrane is faster [ms].
_FASTEST = 0.15

# Capacitances and the leaks beside them, by the names of fields.
_MEMBRANES = (("c_m", "g_l"), ("c_s", "g_ls"), ("c_d", "g_ld"))


def least_of(unit: str, on_grid: bool = False) -> float:
    """The least size that a number of a unit plausibly has; 0 for a unit that is not checked."""
    least = UNITS[unit].least if unit in UNITS else 0.0
    return min(least, LEAST_ON_GRID) if on_grid else least


def check_unit(
    name: str, value: Any, unit: str, least: float | None = None, more: str = ""
) -> None:
    """Raises `ValueError` where a number of a unit, or all of an array, are far too small."""
    x = largest(value)
    least = least_of(unit) if least is None else least
    if x is not None and 0.0 < abs(x) < least:
        raise ValueError(f"{name} must be in {unit}; got {_got(value, x)}{hint(x, unit)}{more}")


def _check_each(name: str, value: Any, unit: str, least: float, more: str) -> None:
    """Raises `ValueError` for one entry of an array that is far too small."""
    x = _entries(value)
    bad = np.flatnonzero((x > 0.0) & (x < min(least, least_of(unit))))
    if bad.size:
        one = float(x[bad[0]])
        raise ValueError(
            f"{name} must be in {unit}; got {one:.4g} at index {bad[0]}{hint(one, unit)}{more}"
        )


def check_each_potential(name: str, value: Any) -> None:
    """Raises `ValueError` for one potential in volts in an array of others far below 0 mV."""
    x = _entries(value)
    small = (-UNITS["mV"].least < x) & (x <= -_NEAREST_V)
    others = x[~small & (x != 0.0)]
    if small.any() and others.size > small.sum() and (others < -_OWN_UNIT[1]).all():
        at = int(np.flatnonzero(small)[0])
        one = float(x[at])
        if others.min() - 50.0 <= 1e3 * one <= others.max() + 50.0:
            raise ValueError(f"{name} must be in mV; got {one:.4g} at index {at}{hint(one, 'mV')}")


def _entries(value: Any) -> np.ndarray:
    """The entries of an array of numbers; none for one number, or one that is traced."""
    x = concrete(value)
    return x if x is not None and x.ndim == 1 and x.dtype.kind in "iuf" else np.zeros(0)


def check_weight(label: str, value: Any, unit: str) -> None:
    """Raises `ValueError` for weights in SI units; `unit` is that of the synapse, "" for any."""
    check_unit(f"{label}: weight", value, unit, min(least_of(unit), _LEAST_WEIGHT))


def hint(x: float, unit: str) -> str:
    """What is meant by a number that is too small: `did you mean 20 (s -> ms)?`."""
    given = UNITS[unit]
    other, factor = next(
        (pair for pair in given.others if abs(x) * pair[1] >= given.usual), given.others[-1]
    )
    return f", far too small for a neuron: did you mean {x * factor:.4g} ({other} -> {unit})?"


def largest(value: Any) -> float | None:
    """The entry of the largest size; None if there is none, or if it is traced or no number."""
    x = known(value)
    if x is None or x.size == 0 or x.dtype.kind not in "biuf":
        return None
    high, low = float(x.max()), float(x.min())
    return high if high >= -low else low


def _got(value: Any, x: float) -> str:
    return f"{x:.4g}" if np.ndim(value) == 0 else f"numbers of at most {abs(x):.4g} in size"


def check_model_units(
    model: type, given: Iterable[tuple[str, Any, str, float]], above_zero: Collection[str]
) -> None:
    """Raises `ValueError` for parameters of a model that are in another unit.

    `given` are names of fields, values, units, and the least sizes; `above_zero` the names of those
    that must be above 0.
    """
    given, label = list(given), model.__name__
    more = "" if model.__module__.startswith("jaxneuro.") else _INSIST
    known = {k: x for k, v, unit, _ in given if unit == "mV" and (x := largest(v)) is not None}
    own = _OWN_UNIT[0] <= max(map(abs, known.values()), default=0.0) <= _OWN_UNIT[1]
    for name, value, unit, least in given:
        if unit != "mV":
            check_unit(f"{label}: {name}", value, unit, least, more)
            if name in above_zero:
                _check_each(f"{label}: {name}", value, unit, least, more)
        elif least != UNITS["mV"].least:  # a width or a step, no potential
            check_unit(f"{label}: {name}", value, unit, 0.0 if own else least, more)
        elif name in known:
            others = [x for other, x in known.items() if other != name]
            _check_potential(f"{label}: {name}", value, others)
            check_each_potential(f"{label}: {name}", value)
    numbers = {name: (value, unit) for name, value, unit, _ in given}
    _check_membranes(label, numbers)
    _warn_of_lost_signs(label, numbers)


def _check_membranes(model: str, given: dict[str, tuple[Any, str]]) -> None:
    """Raises `ValueError` for a capacitance that makes the membrane faster than any is."""
    for c, g in _MEMBRANES:
        if c not in given or g not in given:
            continue
        (capacitance, unit), (leak, per) = given[c], given[g]
        many, leaks = largest(capacitance), concrete(leak)
        if (unit, per) != ("pF", "nS") or many is None or leaks is None or leaks.size == 0:
            continue
        least = float(leaks.min())
        tau = many / least if least > 0.0 else 0.0
        if 0.0 < tau < _FASTEST:
            raise ValueError(
                f"{model}: {c} must be in pF and {g} in nS; got {many:.4g} and {least:.4g}, a "
                f"membrane time constant of {tau:.2g} ms, which no neuron has: did you mean {c} = "
                f"{1e3 * many:.4g} (nF -> pF)?"
            )


def _check_potential(name: str, value: Any, others: list[float]) -> None:
    """Raises `ValueError` for a potential in volts: below 0, and so are the others, or it is
    near them in mV.

    One a little beside 0 may be meant, where a rest is 0 mV, and any where a unit is 1.
    """
    x, least = largest(value), UNITS["mV"].least
    if x is None or not -least < x <= -_NEAREST_V:
        return
    alone = not others and -0.1 < x <= -0.04  # the reversal potential of a synapse
    if alone or (others and max(map(abs, others)) < least) or _near(1e3 * x, others):
        raise ValueError(f"{name} must be in mV; got {_got(value, x)}{hint(x, 'mV')}")


def _near(x: float, potentials: list[float]) -> bool:
    """Whether potentials are far below 0, and a number is among them."""
    low, high = min(potentials, default=0.0), max(potentials, default=0.0)
    return low < -10.0 and low - 50.0 <= x <= high + 50.0


# Beyond these [mV] a sign is lost, up to what is a threshold that is never reached.
_LOST_SIGN = {"v_th": 30.0, "e_l": 20.0}
_RESTING, _OFF = -10.0, 100.0


def _warn_of_lost_signs(model: str, given: dict[str, tuple[Any, str]]) -> None:
    """Warns of a rest far above 0, and of a threshold that is high above a rest far below 0."""
    known = {name: x for name in _LOST_SIGN if (x := _millivolts(given, name)) is not None}
    if len(known) < len(_LOST_SIGN):
        return
    rest, threshold = known["e_l"], known["v_th"]
    name, x = "e_l", rest[(rest > _LOST_SIGN["e_l"]) & (rest < _OFF)]
    if not x.size and (rest < _RESTING).all():
        name, x = "v_th", threshold[(threshold > _LOST_SIGN["v_th"]) & (threshold < _OFF)]
    if x.size:
        beside = "" if name == "e_l" else f" beside e_l = {rest.flat[0]:g} mV"
        never = "" if name == "e_l" else " For a threshold that nothing reaches give v_th=1e6"
        warn(
            f"{model}: {name} = {x[0]:g} mV{beside} is higher than any neuron has: did you mean "
            f"{-x[0]:g}?{never}"
        )


def _millivolts(given: dict[str, tuple[Any, str]], name: str) -> np.ndarray | None:
    value, unit = given.get(name, (None, ""))
    x = concrete(value) if unit == "mV" else None
    return x if x is not None and x.size and x.dtype.kind in "iuf" else None


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


_SLOW = 2.0  # ms: a recovery that is faster may be one in seconds


def warn_of_seconds(label: str, **given: Any) -> None:
    """Warns of time constants of slow changes, by name, that are so small that seconds are meant.

    A limit of fast ones may be meant too.
    """
    for name, value in given.items():
        x = largest(value)
        if x is not None and 0.0 < x < _SLOW:
            warn(
                f"{label}: {name} is in ms; got {_got(value, x)}: did you mean {1e3 * x:.4g} "
                "(s -> ms)?"
            )


def check_start(label: str, potentials: Iterable[float], variable: str, value: Any) -> None:
    """Raises `ValueError` for start values of a voltage that are in volts.

    They are below 0, and times 1000 near the `potentials` of the model, of which one is far below
    0: a start a little above a rest at 0 mV may be meant.
    """
    x, known = largest(value), list(potentials)
    if not (variable == "v" or variable.startswith("v_")) or x is None or not known:
        return
    if -UNITS["mV"].least < x < 0.0 and _near(1e3 * x, known):
        raise ValueError(f"{label} must be in mV; got {_got(value, x)}{hint(x, 'mV')}")
