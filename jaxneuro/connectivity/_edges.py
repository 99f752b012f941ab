"""Lists of edges: names of neurons become indices, and repeated pairs are found.

Work on columns goes block by block, so that beside the columns themselves and their indices little
is held. A pair is one whole number, `pre * n + post`.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int32, Int64, Integer, Num, Shaped

from .. import spec
from .._arrays import ArrayLike
from .._kernels.draw import stable_order
from .._kernels.threads import run_ahead
from .._text import brief, counted
from ._edge_columns import OWNER, EdgeSource, read_first_column

_BLOCK, _PART = 1 << 14, 1 << 19  # what a cache holds, and what is worth a thread
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio
_LARGEST_INDEX = 2**31 - 1
_MOST_WITHOUT_EDGES = 100_000_000  # neurons, whose numbers take 0.8 GB whatever the edges take
_DUPLICATES = spec.OneOf("refuse", "sum", "keep")


class Edges(NamedTuple):
    """A list of edges as `Explicit.from_edges` reads it.

    The rule does not hold the weights, since those of a projection are its own: they are often
    scaled, and one place for them is enough.

    Attributes:
        rule: the connections, an `Explicit`.
        weight: one number per connection in the order of `rule`, None if the list has none.
        neurons: the ids in the order of the population.
    """

    rule: Any
    weight: Any
    neurons: Shaped[np.ndarray, " neurons"]

    @property
    def n(self) -> int:
        """How many neurons there are: the size of the population."""
        return self.neurons.size

    def find(self, ids: ArrayLike) -> Int32[np.ndarray, " ids"]:
        """Indices in the population of neurons by their ids.

        Raises:
            InvalidValueError: for an id that is not there.
        """
        return _Ids(self.neurons).indices("Edges.find", "ids", np.atleast_1d(np.asarray(ids)))


def read_edges(
    edges: Any, pre: Any, post: Any, weight: Any, neurons: Any, duplicates: str
) -> tuple[
    Int32[np.ndarray, " synapses"],
    Int32[np.ndarray, " synapses"],
    Num[np.ndarray, " synapses"] | None,
    Shaped[np.ndarray, " neurons"],
]:
    """Indices of sources and targets, weights, and ids: see `Explicit.from_edges`."""
    spec.check(OWNER, "duplicates", _DUPLICATES, duplicates)
    source = EdgeSource(edges)
    sides = source.sides(pre, post, neurons is not None)
    by = source.weights(weight)
    i, j, *rest = source.read([*sides, *([] if by is None else [by])])
    sizes = {name: x.size for name, x in zip((*sides, by), (i, j, *rest))}
    if len(set(sizes.values())) > 1:
        raise spec.InvalidValueError(OWNER, "columns", "of one length", str(sizes))
    w = _weights(by, rest[0]) if rest else None
    i, j = _plain(sides[0], i), _plain(sides[1], j)
    if neurons is None and i.dtype.kind == j.dtype.kind == "i":
        i, j = _numbers(sides[0], i), _numbers(sides[1], j)
        n = int(max(i.max(initial=-1), j.max(initial=-1))) + 1
        if n > max(_MOST_WITHOUT_EDGES, i.size):
            most = f"{_MOST_WITHOUT_EDGES:,}"
            must = (
                f"of at most {most} neurons, or of as many as there are edges (ids need neurons=)"
            )
            raise spec.InvalidValueError(OWNER, "indices", must, counted(n, "neuron"))
        ids = np.arange(n)
    else:
        ids = _sorted_names(sides, i, j) if neurons is None else _given(neurons)
        known = _Ids(ids)
        i, j = (
            known.indices(OWNER, _column(side), x, source.own)
            for side, x in zip(sides, (i, j), strict=True)
        )
    i, j, w = _without_repeats(i, j, w, ids, duplicates)
    i.flags.writeable = j.flags.writeable = False  # they are ours
    return i, j, w, ids


def _column(name: Any, what: str = "neurons") -> str:
    return f"{what} (column {name!r})"


def _bad_row(field: str, must: str, got: Any, row: int, owner: str = OWNER) -> ValueError:
    return spec.InvalidValueError(owner, field, must, f"{got} in row {row} (the first is 0)")


def _weights(name: Any, x: Shaped[np.ndarray, " synapses"]) -> Num[np.ndarray, " synapses"]:
    """Weights as finite numbers; those of 32 bits and more keep their dtype."""
    if x.dtype.kind not in "iuf":
        try:
            x = x.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            row, got = next((k, v) for k, v in enumerate(x.tolist()) if not _is_number(v))
            raise _bad_row(_column(name, "weights"), "numbers", repr(got), row) from None
    if x.dtype not in (np.int32, np.int64, np.float32):
        x = x.astype(np.float64, copy=False)
    bad = ~np.isfinite(x)
    if bad.any():
        row = int(bad.argmax())
        raise _bad_row(_column(name, "weights"), "finite", x[row], row)
    return x


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_missing(value: Any) -> bool:
    return value is None or str(value) in ("", "nan", "NaN", "NaT", "<NA>")


def _plain(name: Any, x: Shaped[np.ndarray, " rows"]) -> Shaped[np.ndarray, " rows"]:
    """Numbers of neurons as signed integers; names as they are, or as objects."""
    if x.size == 0:
        return x.astype(np.int64)
    if x.dtype.kind == "f":
        bad = ~np.isfinite(x) | (x != np.floor(x)) | (np.abs(x) > 2.0**53)
        if bad.any():
            row = int(bad.argmax())
            must = "whole numbers (below 2**53 where they are floating) or names"
            raise _bad_row(_column(name), must, x[row], row)
        return x.astype(np.int64)
    if x.dtype.kind == "O" and all(isinstance(v, int | np.integer) for v in x[:100]):
        missing = np.fromiter(map(_is_missing, x), bool, x.size)
        if missing.any():
            raise _missing(_column(name), int(missing.argmax()))
        try:
            return x.astype(np.int64)
        except (OverflowError, TypeError, ValueError):
            is_number = lambda v: isinstance(v, int | np.integer) and abs(int(v)) < 2**63  # noqa: E731
            row, got = next((k, v) for k, v in enumerate(x.tolist()) if not is_number(v))
            must = "whole numbers below 2**63, or names"
            raise _bad_row(_column(name), must, brief(got), row) from None
    if x.dtype.kind == "u":
        return _numbers(name, x, 2**63 - 1)
    if x.dtype.kind not in "iUO":
        raise spec.InvalidValueError(OWNER, _column(name), "whole numbers or names", str(x.dtype))
    return x


def _missing(field: str, row: int, owner: str = OWNER) -> ValueError:
    return _bad_row(field, "all given", "none", row, owner)


def _numbers(
    name: Any, x: Integer[np.ndarray, " rows"], largest: int = _LARGEST_INDEX
) -> Integer[np.ndarray, " rows"]:
    """A copy of whole numbers that are indices."""
    low, high = int(x.min(initial=0)), int(x.max(initial=0))
    if low < 0 or high > largest:
        row = int(x.argmin() if low < 0 else x.argmax())
        must = f"indices from 0 to {largest} (ids need neurons=)"
        raise _bad_row(_column(name), must, x[row], row)
    return x.astype(np.int32 if largest == _LARGEST_INDEX else np.int64)


def _sorted_names(
    names: tuple[Any, Any], *sides: Shaped[np.ndarray, " synapses"]
) -> Shaped[np.ndarray, " neurons"]:
    """The unique names of both columns, ascending."""
    found: set[Any] = set()
    for name, x in zip(names, sides):
        for first in range(0, x.size, _BLOCK):
            block = x[first : first + _BLOCK].tolist()
            try:
                unique = set(block)
            except TypeError:
                must = "whole numbers or names"
                raise spec.InvalidValueError(OWNER, _column(name), must, brief(block[0])) from None
            if any(map(_is_missing, unique)):
                row = next(k for k, v in enumerate(block) if _is_missing(v))
                raise _missing(_column(name), first + row)
            found |= unique
    return _of_one_kind(list(found), sort=True)


def _of_one_kind(values: list[Any], sort: bool = False) -> Shaped[np.ndarray, " values"]:
    kinds = sorted({type(v).__name__ for v in values})
    if len(kinds) > 1:
        must = "all numbers or all names"
        raise spec.InvalidValueError(OWNER, "neurons", must, " and ".join(kinds))
    if values and isinstance(values[0], list | dict | np.ndarray):
        raise spec.InvalidValueError(OWNER, "neurons", "numbers or names", brief(values[0]))
    return np.array(sorted(values) if sort else values)


def _given(neurons: Any) -> Shaped[np.ndarray, " neurons"]:
    """The ids in the order of the population, each once."""
    if isinstance(neurons, str | Path):
        neurons = read_first_column(Path(neurons))
    x = np.asarray(neurons)
    if x.ndim != 1:
        must = "one axis of ids in the order of the population, or the path of a file"
        raise spec.InvalidValueError(OWNER, "neurons", must, f"shape {x.shape}")
    x = _plain("neurons", x)
    if x.dtype.kind == "i":
        x = x.astype(np.int64)
    else:
        missing = np.fromiter(map(_is_missing, x), bool, x.size)
        if missing.any():
            raise _missing("neurons", int(missing.argmax()))
        x = _of_one_kind(x.tolist())
    unique, first, counts = np.unique(x, return_index=True, return_counts=True)
    if unique.size < x.size:
        again = int(counts.argmax())
        got = f"{unique[again]!s} {counts[again]} times, first in row {first[again]}"
        raise spec.InvalidValueError(OWNER, "neurons", "ids, each once", got)
    return x


class _Ids:
    """Looks up ids: names by a dictionary, numbers by a hash table of whole arrays.

    A number x has its place at `(x * _ODD) >> shift` of the table, or where that is taken at the
    next one that is free. This is several times faster than a binary search. Consecutive numbers
    need no table.
    """

    def __init__(self, ids: Shaped[np.ndarray, " neurons"]) -> None:
        self.numbers = ids.dtype.kind == "i"
        self.ids = ids
        self.consecutive = self.numbers and bool((ids[1:] - ids[:-1] == 1).all())
        if self.consecutive:
            return
        if not self.numbers:
            self.at = {name: k for k, name in enumerate(ids.tolist())}
            return
        bits = max(ids.size, 1).bit_length() + 2
        self.shift, self.last = np.uint64(64 - bits), 2**bits - 1
        self.table = np.full(self.last + 1, -1, np.int32)
        left, place = np.arange(ids.size, dtype=np.int32), self._place(ids)
        while left.size:
            free = self.table[place] < 0
            self.table[place[free]] = left[free]
            again = self.table[place] != left
            left, place = left[again], (place[again] + 1) & self.last

    def _place(self, x: Int64[np.ndarray, " rows"]) -> Int64[np.ndarray, " rows"]:
        return ((x.view(np.uint64) * _ODD) >> self.shift).view(np.int64)

    def indices(
        self, owner: str, field: str, x: Shaped[np.ndarray, " rows"], own: bool = False
    ) -> Int32[np.ndarray, " rows"]:
        """The index of each of x; raises for one that is not an id.

        Args:
            owner, field: what x is, for the error.
            x: ids.
            own: whether x is nobody else's, so that it may be returned itself.
        """
        if x.size and (x.dtype.kind == "i") != self.numbers:
            has, ids = ("numbers", "names") if x.dtype.kind == "i" else ("names", "numbers")
            raise spec.InvalidValueError(owner, field, f"ids of neurons, which are {ids}", has)
        same = own and self.consecutive and x.dtype == np.int32 and not self.ids[:1].any()
        if same and x.min(initial=0) >= 0 and x.max(initial=-1) < self.ids.size:
            return x
        out = np.empty(x.size, np.int32)
        parts = [slice(at, min(at + _PART, x.size)) for at in range(0, x.size, _PART)]
        for part, bad in run_ahead(lambda part: self._fill(x[part], out[part]), parts):
            if bad is not None:
                self._refuse(owner, field, x, part.start + bad)
        return out

    def _fill(self, x: Shaped[np.ndarray, " rows"], out: Int32[np.ndarray, " rows"]) -> int | None:
        """Writes the index of each of x; returns the first that is not an id."""
        for first in range(0, x.size, _BLOCK):
            block = x[first : first + _BLOCK]
            found = self._numbers(block) if self.numbers else self._names(block)
            out[first : first + block.size] = found
            if found.min(initial=0) < 0:
                return first + int(found.argmin())
        return None

    def _numbers(self, block: Integer[np.ndarray, " rows"]) -> Integer[np.ndarray, " rows"]:
        if self.ids.size == 0:
            return np.full(block.size, -1)
        block = np.ascontiguousarray(block, np.int64)
        if self.consecutive:
            found = block - self.ids[0]
            found[(found < 0) | (found >= self.ids.size)] = -1
            return found
        place = self._place(block)
        found = self.table[place]
        other = np.flatnonzero((self.ids[found] != block) & (found >= 0))
        while other.size:
            place[other] = (place[other] + 1) & self.last
            found[other] = self.table[place[other]]
            wrong = (self.ids[found[other]] != block[other]) & (found[other] >= 0)
            other = other[wrong]
        return found

    def _names(self, block: Shaped[np.ndarray, " rows"]) -> Int64[np.ndarray, " rows"]:
        values = block.tolist()
        try:
            return np.fromiter((self.at.get(v, -1) for v in values), np.int64, block.size)
        except TypeError:
            raise spec.InvalidValueError(OWNER, "neurons", "names", brief(values[0])) from None

    def _refuse(self, owner: str, field: str, x: Shaped[np.ndarray, " rows"], row: int) -> None:
        value = x[row].item() if isinstance(x[row], np.generic) else x[row]
        if _is_missing(value):
            raise _missing(field, row, owner)
        unknown = len(set(x.tolist()) - set(self.ids.tolist()))
        must = f"ids of the {counted(self.ids.size, 'neuron')} ({counted(unknown, 'id')} not)"
        raise _bad_row(field, must, repr(value), row, owner)


def _without_repeats(
    i: Int32[np.ndarray, " rows"],
    j: Int32[np.ndarray, " rows"],
    w: Num[np.ndarray, " rows"] | None,
    ids: Shaped[np.ndarray, " neurons"],
    duplicates: str,
) -> tuple[
    Int32[np.ndarray, " synapses"],
    Int32[np.ndarray, " synapses"],
    Num[np.ndarray, " synapses"] | None,
]:
    """Sources, targets and weights with repeated pairs refused, summed or kept."""
    if duplicates == "keep" or i.size == 0:
        return i, j, w
    if duplicates == "refuse":
        pairs = i.astype(np.int64)
        pairs *= ids.size
        pairs += j
        _refuse_repeats(pairs, ids)
        return i, j, w
    order = pair_order(i, j)
    i, j = i[order], j[order]
    first = np.flatnonzero(np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1])))
    return i[first], j[first], None if w is None else np.add.reduceat(w[order], first)


def _refuse_repeats(
    pairs: Int64[np.ndarray, " synapses"], ids: Shaped[np.ndarray, " neurons"]
) -> None:
    ascending = np.sort(pairs)
    again = int((ascending[1:] == ascending[:-1]).sum())
    if not again:
        return
    order = np.argsort(pairs, kind="stable")
    repeats = np.flatnonzero(np.diff(pairs[order]) == 0)
    k = repeats[order[repeats + 1].argmin()]
    row, second = order[k], order[k + 1]
    i, j = divmod(int(pairs[row]), ids.size)
    raise spec.InvalidValueError(
        OWNER,
        "edges",
        "pairs, each given once (or take duplicates='sum' or 'keep')",
        f"{ids[i]!s} -> {ids[j]!s} in rows {row} and {second} (the first is 0), and {again} rows "
        "that repeat a pair",
    )


def pair_order(
    i: Integer[np.ndarray, " synapses"], j: Integer[np.ndarray, " synapses"]
) -> Int64[np.ndarray, " synapses"]:
    """Stable order of pairs of indices, by i and then by j.

    Where both indices and the number of the pair fit into 63 bits, one sort of such words does it:
    for 15 million pairs several times faster than two of indices.
    """
    if i.size == 0:
        return np.zeros(0, np.int64)
    n_i, n_j = int(i.max()) + 1, int(j.max()) + 1
    bits = (i.size - 1).bit_length()
    if (n_i * n_j - 1).bit_length() + bits <= 63:
        # In place, block by block: new memory is what costs most.
        words = np.empty(i.size, np.int64)
        for first in range(0, i.size, _BLOCK):
            part = words[first : first + _BLOCK]
            np.multiply(i[first : first + _BLOCK], n_j, out=part, dtype=np.int64)
            part += j[first : first + _BLOCK]
            part <<= bits
            part |= np.arange(first, first + part.size)
        words.sort()
        words &= (1 << bits) - 1
        return words
    by_j = stable_order(j, n_j)
    return by_j[stable_order(i[by_j], n_i)]
