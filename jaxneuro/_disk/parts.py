"""Arrays on disk, in parts along their first axis: only what is asked for is read."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Int, Shaped


class OnDisk:
    """An array in the files of a run: `x[index]` reads the parts that it needs, as a NumPy array.

    The first index chooses rows, further ones are taken of each part as it is read, so that
    `x[:, 3]` never holds more than a part. `np.asarray(x)` and all of NumPy's functions read
    everything.

    Attributes:
        shape, dtype: as those of an array.
    """

    def __init__(
        self,
        ends: Int[np.ndarray, " parts"],
        row: tuple[int, ...],
        dtype: np.dtype,
        read: Callable[[int], Shaped[np.ndarray, "rows ..."]],
    ):
        """`ends` is how many rows there are up to the end of each part, `read(part)` its rows."""
        self._ends, self._read = ends, read
        self.shape = (int(ends[-1]) if len(ends) else 0, *row)
        self.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        """How many bytes they take in memory."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        for part in range(len(self._ends)):  # each is read once
            yield from self._read(part)

    def __getitem__(self, index: Any) -> Any:
        index = index if isinstance(index, tuple) else (index,)
        if not index or index[0] is Ellipsis:
            index = (slice(None), *index)
        rows, rest = index[0], (slice(None), *index[1:])
        if isinstance(rows, slice):
            chosen = range(*rows.indices(len(self)))
            found = self._every(chosen if chosen.step > 0 else chosen[::-1], rest)
            return found if chosen.step > 0 else found[::-1]
        rows = self._numbers(rows)
        if rows.ndim and any(isinstance(x, list | np.ndarray) for x in rest):
            raise IndexError("rows and columns by numbers at once: choose the rows first")
        found = self._each(rows.reshape(-1), rest)
        return found.reshape(*rows.shape, *found.shape[1:]) if rows.ndim else found[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Shaped[np.ndarray, "..."]:
        found = self[:]
        return found if dtype is None else found.astype(dtype, copy=False)

    def rows_of(self, first: int, last: int) -> slice:
        """The rows of the parts from `first` to `last`, which is excluded."""
        ends = np.concatenate([[0], self._ends])
        return slice(int(ends[first]), int(ends[max(last, first)]))

    def view(self, dtype: Any) -> "OnDisk":
        """The same bytes as numbers of another dtype of equal size."""
        read = functools.partial(_viewed, self._read, dtype)
        return OnDisk(self._ends, self.shape[1:], dtype, read)

    def __repr__(self) -> str:
        shape = " x ".join(f"{n:,}" for n in self.shape)
        return f"OnDisk: {shape} {self.dtype}, in {len(self._ends)} parts; x[...] reads them"

    def _numbers(self, rows: Any) -> Int[np.ndarray, "..."]:
        """The rows that numbers or a mask choose, from 0 on."""
        rows = np.asarray(rows)
        if rows.dtype == bool and rows.shape == self.shape[:1]:
            rows = np.flatnonzero(rows)
        if rows.dtype.kind not in "iu" and rows.size:
            raise IndexError(f"rows are numbers, a slice or a mask of {len(self)}")
        rows = np.where(rows < 0, rows + len(self), rows).astype(np.int64)
        if rows.size and not (rows.min() >= 0 and rows.max() < len(self)):
            raise IndexError(f"there are {len(self)} rows")
        return rows

    def _every(self, chosen: range, rest: tuple) -> Shaped[np.ndarray, "rows ..."]:
        """Ascending rows at equal distances, with further indices of each."""
        found = []
        begin = int(np.searchsorted(self._ends, chosen.start, side="right"))
        for part in range(begin, len(self._ends)):
            start, end = (int(self._ends[k]) if k >= 0 else 0 for k in (part - 1, part))
            if start >= chosen.stop:
                break
            # The first of the rows that is in this part, and the first that is behind it.
            first, last = (-((chosen.start - x) // chosen.step) for x in (start, end))
            mine = chosen[max(first, 0) : max(last, 0)]
            if mine:
                x = self._read(part)[mine.start - start : mine[-1] + 1 - start : mine.step]
                found.append(np.ascontiguousarray(x[rest]))
        if not found:
            return np.empty((0, *self.shape[1:]), self.dtype)[rest]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _each(self, rows: Int[np.ndarray, " n"], rest: tuple) -> Shaped[np.ndarray, "n ..."]:
        """Rows by number, with further indices of each; a part is read once."""
        parts = np.searchsorted(self._ends, rows, side="right")
        found = np.empty((rows.size, *self.shape[1:]), self.dtype)[rest]
        for part in np.unique(parts):
            mine = parts == part
            start = self._ends[part - 1] if part else 0
            found[mine] = self._read(part)[rows[mine] - start][rest]
        return found


def _viewed(read: Callable, dtype: Any, part: int) -> Shaped[np.ndarray, "rows ..."]:
    return read(part).view(dtype)


class EventsOnDisk:
    """Steps and neurons of spikes in the files of a run, in order of time.

    Attributes:
        steps, neurons: as arrays of numbers.
    """

    def __init__(self, steps: OnDisk, neurons: OnDisk, ends: Int[np.ndarray, " parts"]):
        """`ends` are the steps up to the end of each part."""
        self.steps, self.neurons, self._ends = steps, neurons, ends

    def pieces(self, first: int = 0, last: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Steps and neurons part by part, of parts that have some of the steps `first ... last`."""
        window = [first, np.inf if last is None else last]
        begin, end = map(int, np.searchsorted(self._ends, window))
        for part in range(begin, min(end + 1, len(self._ends))):
            rows = self.steps.rows_of(part, part + 1)
            yield self.steps[rows], self.neurons[rows]
