"""Rules that draw nothing: all to all, one to one, and connections given one by one."""

from collections.abc import Iterator
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from .._checks import check_count, names_checked
from ._edges import Edges, pair_order, read_edges
from ._rule import CHUNK, Chunk, RowDraws, Rule, check_flags, no_rows, row_draws, row_ends, skip_own


class AllToAll(Rule):
    """All to all: every source connects once to every target.

    **Fields** `autapses`: whether a neuron connects to itself.

    **Raises** `ValueError` unless the flag is True or False.

    **Source** Senk et al. (2022), "all-to-all", doi:10.1371/journal.pcbi.1010086.
    """

    autapses: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses")

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        """Every size fits."""

    def _row(self, n_post: int, same: bool) -> int:
        return max(n_post - (same and not self.autapses), 0)

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(n_pre * self._row(n_post, same))

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        n = self._row(n_post, same)
        if n == 0:
            return no_rows(n_pre)

        def targets(first: int, stop: int) -> np.ndarray:
            out = np.tile(np.arange(n, dtype=np.int32), (stop - first, 1))
            if n != n_post:
                out = skip_own(out, np.arange(first, stop)[:, None])
            return out.ravel()

        return RowDraws(np.full(n_pre, n, np.uint32), targets)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))


class OneToOne(Rule):
    """One to one: source i connects to target i.

    **Raises** `ValueError` from `build` unless both populations are of one size.

    **Source** Senk et al. (2022), "one-to-one", doi:10.1371/journal.pcbi.1010086.
    """

    pairs: ClassVar[str | None] = "given"

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if n_pre != n_post:
            raise ValueError(
                f"{name}: OneToOne needs as many sources as targets; got {n_pre} and {n_post}"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(n_pre)

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        return RowDraws(np.ones(n_pre, np.uint32), lambda first, stop: np.arange(first, stop))

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))

    def arrange(self, values: np.ndarray) -> np.ndarray:
        return values


_MATRIX = "For a matrix of connections use Explicit.from_sparse(scipy.sparse.coo_array(matrix))"


class Explicit(Rule):
    """Connections given as arrays: source `pre[c]` connects to target `post[c]`.

    Weights and delays of the projection may be arrays with one entry per connection, in
    the same order. A pair may be given more than once (a multapse).

    **Fields** `pre`, `post` integer arrays of one length: indices in their populations, or among
    the neurons of a `Part`, from 0; `shape` the sizes (n_pre, n_post) that the populations, or
    parts, must have, None for any that hold the indices.

    **Raises** `ValueError` for arrays that are not whole numbers of one length, negative
    indices; from `build`, for an index outside its population or populations of another shape.
    """

    pairs: ClassVar[str | None] = "given"

    pre: np.ndarray
    post: np.ndarray
    shape: tuple[int, int] | None = eqx.field(static=True)

    def __init__(self, pre: Any, post: Any = None, shape: Any = None):
        if post is None:
            raise ValueError(f"Explicit must have pre and post; got no post. {_MATRIX}")
        self.pre, self.post = _indices("pre", pre), _indices("post", post)
        if self.pre.size != self.post.size:
            raise ValueError(
                "Explicit: pre and post must have one length; "
                f"got {self.pre.size} and {self.post.size}"
            )
        self.shape = None if shape is None else _sizes(shape)

    @classmethod
    @names_checked()
    def from_sparse(cls, matrix: Any) -> "Explicit":
        """The stored entries of a scipy.sparse matrix or array of shape (n_pre, n_post).

        Rows are sources, columns are targets. Connections are in the order of `matrix.tocoo()`,
        including explicit zeros and repeated entries, so that `weight=matrix.tocoo().data` fits.

        **Raises** `ValueError` for a value that is not sparse or does not have two axes.
        """
        if not hasattr(matrix, "tocoo"):
            raise ValueError(
                "Explicit.from_sparse: matrix must be a matrix or array of scipy.sparse; got "
                f"{type(matrix).__name__}. A dense array becomes one by scipy.sparse.coo_array"
            )
        if len(matrix.shape) != 2:
            raise ValueError(
                "Explicit.from_sparse: matrix must have two axes (n_pre, n_post); got shape "
                f"{matrix.shape}"
            )
        entries = matrix.tocoo()
        return cls(entries.row, entries.col, shape=entries.shape)

    @classmethod
    @names_checked()
    def from_edges(
        cls,
        edges: Any,
        *,
        pre: Any = None,
        post: Any = None,
        weight: Any = None,
        neurons: Any = None,
        duplicates: str = "refuse",
    ) -> Edges:
        """Connections of a population with itself from a list of edges, as `Edges`.

        `edges` is a pandas DataFrame, a mapping of arrays, or the path of a file: CSV (.csv, .tsv,
        .csv.gz) or parquet, which needs the extra `frames`. `pre`, `post`, `weight` are names of
        columns; without them the first usual ones are taken, such as pre and post, source and
        target, those of FlyWire; edges without weights are edges all the same.

        `neurons` are the ids, numbers or names, in the order of the population, or the path of a
        file with these in its first column; edges name them. Without `neurons`, numbers are
        indices, and names are sorted. `duplicates`: a pair that is given again is refused
        ("refuse"), its weights are added ("sum", which also sorts by source and target), or it is
        a multapse ("keep").

        `Projection("brain", "brain", edges.rule, weight=0.275 * edges.weight)`.

        Blanks around names in a file of text do not count.

        **Raises** `FileNotFoundError` (a `ValueError` too) for a missing file, `ValueError` for a
        missing column, columns of several lengths, an id that
        is missing or not known, a negative index, a weight that is not finite (all with the row), a
        repeated pair with `duplicates="refuse"`; `ImportError` for parquet without pyarrow.
        """
        i, j, w, ids = read_edges(edges, pre, post, weight, neurons, duplicates)
        indices = neurons is None and ids.dtype.kind == "i"  # of a population that may be larger
        shape = None if indices else (ids.size, ids.size)
        return Edges(cls(i, j, shape), w, ids)

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if self.shape is not None and self.shape != (n_pre, n_post):
            n = self.shape[0]
            hint = "Rows are sources: transpose a matrix that has them as columns"
            if n == self.shape[1]:
                hint = (
                    f"Give the population n={n} (edges.n of Explicit.from_edges); or name all "
                    "neurons that it has: neurons= of from_edges, or a larger matrix"
                )
            raise ValueError(
                f"{name}: a matrix of connections must have the shape (n_pre, n_post) of its "
                f"populations, ({n_pre}, {n_post}); got {self.shape}. {hint}"
            )
        for side, neurons, index, n in (
            ("pre", "source", self.pre, n_pre),
            ("post", "target", self.post, n_post),
        ):
            if index.size and index.max() >= n:
                raise ValueError(
                    f"{name}: {side} must be indices below {n}, the number of {neurons} neurons; "
                    f"{self._too_large(index, n)}; got {index.max()}"
                )

    def _too_large(self, index: np.ndarray, n: int) -> str:
        """Which indices are too large, and what may be done about it."""
        bad, most = index >= n, int(index.max())
        hint = f"let there be at least {most + 1} neurons, or leave these out"
        if most == n and min(self.pre.min(), self.post.min()) == 1:
            hint = "indices count from 0: subtract 1 from all, if these count from 1"
        count = f"{int(bad.sum()):,} of {index.size:,} are not, the first that of connection"
        return f"{count} {int(bad.argmax())}: {hint}"

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self.pre.size)

    def held_bytes(self, expected: float, n_pre: int, n_post: int, same: bool) -> float:
        return 24.0 * expected  # three arrays of indices while they are sorted

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        order = pair_order(self.pre, self.post)
        counts, block = np.zeros(n_pre, np.int64), max(CHUNK, 4 * n_pre)
        for at in range(0, self.pre.size, block):  # else NumPy makes a copy in 64 bits of all
            counts += np.bincount(self.pre[at : at + block], minlength=n_pre)
        ends = row_ends(counts)
        return RowDraws(
            counts, lambda first, stop: self.post[order[ends[first] : ends[stop]]], order
        )

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))

    def arrange(self, values: np.ndarray) -> np.ndarray:
        return values[pair_order(self.pre, self.post)]


def _indices(name: str, value: Any) -> np.ndarray:
    x = np.asarray(value)
    hint = f". {_MATRIX}" if x.ndim == 2 or hasattr(value, "tocoo") else ""
    if x.size == 0 and x.ndim == 1:
        x = x.astype(np.int64)
    if x.ndim != 1 or not np.issubdtype(x.dtype, np.integer):
        raise ValueError(
            f"Explicit: {name} must be one axis of whole numbers; got shape {x.shape}, "
            f"{x.dtype}{hint}"
        )
    if x.size and x.min() < 0:
        raise ValueError(f"Explicit: {name} must not be negative; got {x.min()}")
    # What nobody can change is not copied: new memory is what costs most in a list of edges.
    return x.astype(x.dtype if x.dtype == np.int32 else np.int64, copy=x.flags.writeable)


def _sizes(shape: Any) -> tuple[int, int]:
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise ValueError(f"Explicit: shape must be two sizes (n_pre, n_post); got {shape!r}")
    n_pre, n_post = (check_count("Explicit: shape", n) for n in shape)
    return n_pre, n_post
