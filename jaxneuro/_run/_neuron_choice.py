"""Which neurons or synapses are recorded: a value that can be hashed before there is a network."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._checks import check_count
from .._text import counted

_SHOWN = 8  # numbers in a text
_ALL = {"neuron": "neurons= to record all", "synapse": "give ... to record all"}


class Chosen(NamedTuple):
    """Numbers of neurons, a slice of them, or where a mask of the given length is true.

    `of` what they are, "neuron" or "synapse", for messages.
    """

    numbers: tuple[int, ...] | None
    part: tuple[int | None, int | None, int | None] | None = None
    length: int | None = None
    of: str = "neuron"

    def __repr__(self) -> str:
        if self.part is not None:
            start, stop, step = self.part
            return f"slice({start}, {stop}{'' if step is None else f', {step}'})"
        numbers = self.numbers or ()
        if len(numbers) <= _SHOWN:
            return f"[{', '.join(map(str, numbers))}]"
        return f"{counted(len(numbers), self.of)} from {min(numbers)} to {max(numbers)}"

    def indices(self, label: str, n: int) -> np.ndarray:
        """The numbers among n; `ValueError` if they do not fit or there are none."""
        if self.length is not None and self.length != n:
            raise ValueError(
                f"{label} must be a mask of one boolean per {self.of}, {n} of them; got "
                f"{self.length}"
            )
        numbers = range(n)[slice(*self.part)] if self.part is not None else self.numbers
        index = np.asarray(numbers, np.int64)
        if index.size == 0:
            raise ValueError(
                f"{label} must be at least one of {n}; {self.part and slice(*self.part)} holds "
                f"none. Leave the name out to record nothing, or {_ALL[self.of]}"
            )
        if index.max() >= n:
            raise ValueError(f"{label} must be below {n}, its size; got {index.max()}")
        return index


def chosen(label: str, value: Any, of: str = "neuron") -> Chosen:
    """What the user selected: one, a list, array, range, slice or mask."""
    if isinstance(value, Chosen):
        return value
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        if not all(x is None or _whole(x) for x in ends) or value.step == 0:
            raise ValueError(f"{label} must be a slice of whole numbers; got {value!r}")
        return Chosen(None, tuple(None if x is None else int(x) for x in ends), of=of)  # type: ignore[arg-type]
    try:
        x = np.asarray(value)
    except ValueError:  # rows of different lengths
        x = np.zeros((0, 0))
    if x.ndim > 1 or x.dtype.kind not in "biuf" or (x.dtype.kind == "f" and x.size):
        raise ValueError(
            f"{label} must be whole numbers, a slice, a range or a mask; got {value!r}"
        )
    if x.size == 0 or (x.dtype == bool and not x.any()):
        raise ValueError(
            f"{label} must be at least one; got {value!r}. Leave the name out to record nothing, "
            f"or {_ALL[of]}"
        )
    if x.dtype == bool and x.ndim:
        return Chosen(tuple(np.flatnonzero(x).tolist()), length=x.size, of=of)
    return _numbers(label, x, value)._replace(of=of)


def _numbers(label: str, x: np.ndarray, value: Any) -> Chosen:
    if x.dtype == bool or x.min() < 0:
        bad = value if x.dtype == bool else int(x.min())
        check_count(f"{label}: a number", bad)
    found, counts = np.unique(x, return_counts=True)
    if counts.max() > 1:
        raise ValueError(
            f"{label} must be different; {found[counts.argmax()]} is there {counts.max()} times"
        )
    return Chosen(tuple(np.ravel(x).tolist()))


def _whole(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def by_name(field: str, value: Any, example: str) -> Mapping[str, Any]:
    """A field of `Record` that maps names, checked; `example` shows how."""
    of = "projections" if field.startswith("weight") else "populations or projections"
    how = f"Record: {field} must map names of {of}, e.g. {field}={example}"
    if not isinstance(value, Mapping):
        raise ValueError(f"{how}; got {value!r}")
    for key in value:
        if not isinstance(key, str):
            name = getattr(key, "name", None)
            hint = f" (its name is {name!r})" if isinstance(name, str) else ""
            raise ValueError(f"{how}; got the key {key!r}{hint}")
    return value
