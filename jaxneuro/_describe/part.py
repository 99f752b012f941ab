"""A part of a population, for a projection or a stimulation that does not reach all of it."""

from typing import Any

import numpy as np

from .. import spec
from ..space import Area

# Neurons of a population: a slice, or ascending indices.
Neurons = slice | np.ndarray


def _where(given: Any) -> Any:
    """A slice, an array of ascending indices, an area or its name, or None."""
    if isinstance(given, range):
        straight = given.step == 1 and given.start <= given.stop
        given = slice(given.start, given.stop) if straight else list(given)
    if isinstance(given, slice):
        return _as_slice(given)
    return given if given is None or isinstance(given, str | Area) else _as_indices(given)


def _as_slice(where: slice) -> slice:
    start = 0 if where.start is None else where.start
    stop, step = where.stop, 1 if where.step is None else where.step
    given = (start, step) if stop is None else (start, step, stop)
    whole = all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in given)
    if not whole or step != 1 or start < 0 or (stop is not None and stop < start):
        must = "a slice of whole numbers, 0 <= start <= stop, with step 1, or an array of indices"
        raise spec.Unfit(must, str(where))
    return slice(int(start), None if stop is None else int(stop))


def _as_indices(where: Any) -> np.ndarray:
    x = np.asarray(where)
    x = x.astype(np.int64) if x.size == 0 else x
    if x.ndim == 1 and x.dtype == bool:
        return spec.kept_array([], x)
    if x.ndim != 1 or not np.issubdtype(x.dtype, np.integer):
        raise spec.Unfit("a slice, a range, an array of indices, an Area or the name of one")
    if x.size and (x.min() < 0 or (np.diff(x) <= 0).any()):
        got = str(x) if x.size < 10 else f"{x.size} indices from {x.min()} to {x.max()}"
        # Arrays that are given for a part count its neurons in ascending order.
        hint = (
            "; give np.sort(indices), and an array of their weights as array[np.argsort(indices)]"
        )
        raise spec.Unfit("ascending, different indices from 0", got, hint)
    return spec.kept_array([], x.astype(np.int64))


class Part(spec.Value):
    """Some neurons of a population, to project from, to project onto or to stimulate.

    What is given for a part counts its neurons from 0, in ascending order: indices of `Explicit`,
    arrays of weights and delays, `neurons` of `SpikeTimes`, and numbers per neuron of a stimulus.
    What belongs to the population counts all of it: arguments of a function `f(i, j)` for weights
    or delays, arrays in a synapse or a release, their start values, and `net.connections`.

    Raises:
        InvalidValueError: for indices that are negative, repeated or not ascending; from
            `Description` and `build`, for indices outside the population, an unknown area, an area
            without positions, or a part that has no neuron of a population that has some.
    """

    population: str = spec.field(spec.Name(), doc="its name")
    where: Any = spec.field(
        spec.Converted(_where),
        default=None,
        doc="which neurons: a `slice` or `range` (`slice(0, 50)`), an array of ascending indices "
        "or a boolean mask, an `Area` of coordinates, or the name of an area of the description; "
        "None for all",
    )

    @property
    def label(self) -> str:
        known = isinstance(self.population, str) and self.population
        return f"part of {self.population!r}" if known else "Part"

    def canonical(self) -> Any:
        """What it is, equal for the name of a population and for a part that is all of it."""
        where = listed(self.where) if isinstance(self.where, np.ndarray) else self.where
        return self.population if where is None else ("part", self.population, where)

    def __repr__(self) -> str:
        where = self.where
        if isinstance(where, np.ndarray):
            where = f"{listed(where).size} neurons"
        elif isinstance(where, slice):
            where = f"{where.start}:{'' if where.stop is None else where.stop}"
        return f"Part({self.population!r}{'' if where is None else f', {where}'})"


def _end(value: Any) -> str | Part:
    if isinstance(value, Part) or (isinstance(value, str) and value):
        return value
    raise spec.Unfit("the name of a population or a Part", spec.name_given(value))


class PartKind(spec.Converted):
    """A population or a part of one; in a network file a name, or an object."""

    def read(self, entry: Any) -> Any:
        if not isinstance(entry.value, dict):
            return spec.Name().read(entry)
        keys = ("population", "start", "stop", "indices", "area")
        entry.check_keys("a part of a population", keys, keys[:1])
        chosen = [key for key in entry.value if key != "population"]
        if len(chosen) > 1 and {*chosen} != {"start", "stop"}:
            got = " and ".join(chosen)
            raise entry.error(
                f"{entry.label}: give one of start and stop, indices, area; got {got}"
            )
        where: Any = None
        if "area" in chosen:
            is_name = isinstance(entry["area"].value, str)
            where = (spec.Name() if is_name else spec.Of(Area)).read(entry["area"])
        elif "indices" in chosen:
            if not isinstance(entry["indices"].value, list):
                raise entry["indices"].wrong("a list of whole numbers")
            where = entry["indices"].numbers()
        elif chosen:
            ends = {key: entry[key].scalar(int) for key in chosen}
            where = slice(ends.get("start"), ends.get("stop"))
        return entry.make(Part, spec.Name().read(entry["population"]), where)

    def plain(self, value: Any) -> Any:
        name, where = as_part(value).population, as_part(value).where
        if where is None:
            return name
        if isinstance(where, slice):
            return {"population": name, "start": where.start, "stop": where.stop}
        is_array = isinstance(where, np.ndarray)
        choice = {"indices": listed(where)} if is_array else {"area": where}
        return {"population": name, **choice}


END = PartKind(_end, "the name of a population or a Part")


def as_part(value: str | Part) -> Part:
    """A part; a name means the whole population."""
    return value if isinstance(value, Part) else Part(value)


def listed(where: np.ndarray) -> np.ndarray:
    """The neurons of indices, or of a mask."""
    return np.flatnonzero(where) if where.dtype == bool else where


def end_name(end: Any) -> str:
    """The name of the population at an end, for the default name of what ends there."""
    name = end.population if isinstance(end, Part) else end
    return name if isinstance(name, str) else type(name).__name__


def stretch(index: np.ndarray) -> Neurons:
    """Ascending indices as a slice, if they are consecutive."""
    if index.size == 0:
        return slice(0, 0)
    whole = index[-1] - index[0] + 1 == index.size
    return slice(int(index[0]), int(index[-1]) + 1) if whole else index


def count(neurons: Neurons) -> int:
    """How many neurons."""
    return neurons.stop - neurons.start if isinstance(neurons, slice) else neurons.size


def overlap(a: Neurons, b: Neurons) -> bool:
    """Whether two parts of a population have a neuron in common."""
    a, b = (np.arange(x.start, x.stop) if isinstance(x, slice) else x for x in (a, b))
    return bool(np.intersect1d(a, b).size)
