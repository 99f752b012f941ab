"""Which neurons and synapses are recorded."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int64

from .. import spec
from .._text import counted
from ..spec import InvalidValueError

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

    def indices(self, field: str, n: int, owner: str = "Record") -> Int64[np.ndarray, " chosen"]:
        """The numbers among n; raises `InvalidValueError` if they do not fit or there are none."""
        if self.length is not None and self.length != n:
            must = f"a mask of one boolean per {self.of}, {n} of them"
            raise InvalidValueError(owner, field, must, str(self.length))
        numbers = range(n)[slice(*self.part)] if self.part is not None else self.numbers
        index = np.asarray(numbers, np.int64)
        if index.size == 0:
            must = f"at least one of {n} (leave the name out to record nothing, or {_ALL[self.of]})"
            raise InvalidValueError(owner, field, must, str(self.part and slice(*self.part)))
        if index.max() >= n:
            raise InvalidValueError(owner, field, f"below {n}, its size", str(index.max()))
        return index


def chosen(value: Any, of: str = "neuron") -> Chosen:
    """What the user selected: one, a list, array, range, slice or mask; raises `Unfit`."""
    if isinstance(value, Chosen):
        return value
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        if not all(x is None or _whole(x) for x in ends) or value.step == 0:
            raise spec.Unfit("a slice of whole numbers")
        return Chosen(None, tuple(None if x is None else int(x) for x in ends), of=of)  # type: ignore[arg-type]
    try:
        x = np.asarray(value)
    except ValueError:  # rows of different lengths
        x = np.zeros((0, 0))
    if x.ndim > 1 or x.dtype.kind not in "biuf" or (x.dtype.kind == "f" and x.size):
        raise spec.Unfit("whole numbers, a slice, a range or a mask")
    if x.size == 0 or (x.dtype == bool and not x.any()):
        raise spec.Unfit("at least one (leave the name out to record nothing)")
    if x.dtype == bool and x.ndim:
        return Chosen(tuple(np.flatnonzero(x).tolist()), length=x.size, of=of)
    if x.dtype == bool or x.min() < 0:
        raise spec.Unfit("whole numbers of at least 0")
    found, counts = np.unique(x, return_counts=True)
    if counts.max() > 1:
        raise spec.Unfit("different numbers", f"{found[counts.argmax()]} more than once")
    return Chosen(tuple(int(k) for k in np.ravel(x)), of=of)


def _whole(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


@dataclasses.dataclass(frozen=True)
class Choice(spec.Kind):
    """Which neurons or synapses are recorded; `...` for all synapses."""

    of: str = "neuron"

    def convert(self, value: Any) -> Any:
        return value if value is ... and self.of == "synapse" else chosen(value, self.of)
