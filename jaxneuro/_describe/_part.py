"""A part of a population, for a projection or a stimulation that does not reach all of it."""

import dataclasses
from typing import Any

import numpy as np

from ..space import Area
from ..spec import name_given
from ._kept import Value, kept_array


@dataclasses.dataclass(frozen=True, eq=False)
class Part(Value):
    """Some neurons of a population, to project from, to project onto or to stimulate.

    **Fields** `population` its name; `where` which neurons: a `slice` or `range` (`slice(0, 50)`),
    an array of ascending indices or a boolean mask, an `Area` of coordinates, or the name of one
    of the description's areas; None means all.

    What is given for a part counts its neurons from 0, in ascending order: indices of `Explicit`,
    arrays of weights and delays, `neurons` of `SpikeTimes`, and numbers per neuron of a stimulus.
    What belongs to the population counts all of it: arguments of a function `f(i, j)` for weights
    or delays, arrays in a synapse or a release, their start values, and `net.connections`.

    **Raises** `ValueError` for a name that is not a text, a `where` of another kind, indices that
    are negative, repeated or not ascending; from `Description` and `build`, for indices outside
    the population, an unknown area, an area without positions, or a part that has no neuron of a
    population that has some.
    """

    population: str
    where: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.population, str) or not self.population:
            raise _no_population("Part: population", self.population)
        where = self.where
        if isinstance(where, range):
            straight = where.step == 1 and where.start <= where.stop
            where = slice(where.start, where.stop) if straight else list(where)
        if isinstance(where, slice):
            where = _checked_slice(self.population, where)
        elif where is not None and not isinstance(where, str | Area):
            where = _checked_indices(self.population, where)
        object.__setattr__(self, "where", where)

    def plainly(self) -> Any:
        """What it is, equal for the name of a population and for a part that is all of it."""
        return self.population if self.where is None else ("part", self.population, self.where)

    def __repr__(self) -> str:
        where = self.where
        if isinstance(where, np.ndarray):
            where = f"{where.size} neurons"
        elif isinstance(where, slice):
            where = f"{where.start}:{'' if where.stop is None else where.stop}"
        return f"Part({self.population!r}{'' if where is None else f', {where}'})"


def as_part(value: Any) -> Part:
    """A part; a name means the whole population."""
    return value if isinstance(value, Part) else Part(value)


def check_ends(what: str, **ends: Any) -> None:
    """Raises `ValueError` for an end that is neither the name of a population nor a part."""
    for end, value in ends.items():
        if not isinstance(value, Part) and not (isinstance(value, str) and value):
            raise _no_population(f"{what}: {end}", value, " or a Part")


def _no_population(what: str, value: Any, more: str = "") -> ValueError:
    return ValueError(f"{what} must be the name of a population{more}; got {name_given(value)}")


def _checked_slice(population: str, where: slice) -> slice:
    start = 0 if where.start is None else where.start
    stop, step = where.stop, 1 if where.step is None else where.step
    given = (start, step) if stop is None else (start, step, stop)
    whole = all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in given)
    if not whole or step != 1 or start < 0 or (stop is not None and stop < start):
        raise ValueError(
            f"part of {population!r}: a slice must have whole numbers 0 <= start <= stop and step "
            f"1; got {where}. {_instead_of(where)}"
        )
    return slice(int(start), None if stop is None else int(stop))


def _instead_of(where: slice) -> str:
    """What to give for a slice that counts from the end, or has steps."""
    ends = [x for x in (where.start, where.stop) if isinstance(x, int)]
    if where.step in (None, 1) and any(x < 0 for x in ends):
        both = where.start, where.stop
        given = ", ".join(f"n - {-x}" if x is not None and x < 0 else str(x) for x in both)
        return f"A part does not know the size n of its population: give slice({given}) with it"
    return "Give an array of indices for anything else, np.arange(start, stop, step)"


_SORT = (
    "Arrays that are given for a part count its neurons in ascending order: give np.sort(indices), "
    "and such an array as array[np.argsort(indices)]"
)


def _checked_indices(population: str, where: Any) -> np.ndarray:
    x = np.asarray(where)
    x = x.astype(np.int64) if x.size == 0 else x
    if x.ndim == 1 and x.dtype == bool:
        x = np.flatnonzero(x)
    if x.ndim != 1 or not np.issubdtype(x.dtype, np.integer):
        raise ValueError(
            f"part of {population!r}: where must be a slice, a range, an array of indices, an Area "
            f"or the name of one; got {where!r}"
        )
    if x.size and (x.min() < 0 or (np.diff(x) <= 0).any()):
        raise ValueError(
            f"part of {population!r}: indices must be ascending, different and not negative; "
            f"got {x if x.size < 10 else f'{x.size} indices from {x.min()} to {x.max()}'}. "
            f"{_SORT}"
        )
    return kept_array([], x.astype(np.int64))
