"""Rules that draw nothing: all to all, one to one, and connections given one by one."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Integer, Num

from .. import spec
from ._edges import Edges, pair_order, read_edges
from ._rule import CHUNK, Chunk, RowDraws, Rule, no_rows, row_draws, row_ends, skip_own


class AllToAll(Rule):
    """All to all: every source connects once to every target.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "all-to-all",
        doi:10.1371/journal.pcbi.1010086.
    """

    autapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a neuron connects to itself"
    )

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

        def targets(first: int, stop: int) -> Integer[np.ndarray, " synapses"]:
            out = np.tile(np.arange(n, dtype=np.int32), (stop - first, 1))
            if n != n_post:
                out = skip_own(out, np.arange(first, stop)[:, None])
            return out.ravel()

        return RowDraws(np.full(n_pre, n, np.uint32), targets)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))

    def arrange(self, values: Num[np.ndarray, " synapses"]) -> Num[np.ndarray, " synapses"]:
        return values


class OneToOne(Rule):
    """One to one: source i connects to target i. Both populations have one size.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "one-to-one",
        doi:10.1371/journal.pcbi.1010086.
    """

    pairs: ClassVar[str | None] = "given"

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if n_pre != n_post:
            must = "between as many sources as targets for OneToOne"
            raise spec.InvalidValueError(name, "rule", must, f"{n_pre} and {n_post}")

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(n_pre)

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        return RowDraws(np.ones(n_pre, np.uint32), lambda first, stop: np.arange(first, stop))

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))

    def arrange(self, values: Num[np.ndarray, " synapses"]) -> Num[np.ndarray, " synapses"]:
        return values


class Indices(spec.Kind):
    """One axis of whole numbers of at least 0; kept as they are, if nobody can change them."""

    def convert(self, value: Any) -> Integer[np.ndarray, " indices"]:
        x = np.asarray(value)
        if x.size == 0 and x.ndim == 1:
            x = x.astype(np.int64)
        if x.ndim != 1 or x.dtype.kind not in "iu":
            raise spec.Unfit("one axis of whole numbers", f"shape {x.shape}, {x.dtype}")
        if x.size and x.min() < 0:
            raise spec.Unfit("at least 0", f"{x.min()} at index {x.argmin()}")
        # What nobody can change is not copied: new memory is what costs most in a list of edges.
        return x.astype(x.dtype if x.dtype == np.int32 else np.int64, copy=x.flags.writeable)

    def words(self) -> str:
        return "whole numbers of at least 0"


class _Sizes(spec.Kind):
    """Two sizes, (n_pre, n_post)."""

    def convert(self, value: Any) -> tuple[int, int]:
        if not isinstance(value, tuple) or len(value) != 2:
            raise spec.Unfit("two sizes (n_pre, n_post)")
        n_pre, n_post = spec.Items(spec.Whole()).convert(value)
        return n_pre, n_post

    def read(self, entry: Any) -> Any:
        return spec.Items(spec.Whole()).read(entry)


class Explicit(Rule):
    """Connections given as arrays: source `pre[c]` connects to target `post[c]`.

    Weights and delays of the projection may be arrays with one entry per connection, in
    the same order. A pair may be given more than once (a multapse). Indices are those in their
    populations, or among the neurons of a `Part`.
    """

    pairs: ClassVar[str | None] = "given"

    pre: np.ndarray = spec.field(Indices(), doc="indices of the sources")
    post: np.ndarray = spec.field(Indices(), doc="indices of the targets")
    shape: tuple[int, int] | None = spec.field(
        spec.Maybe(_Sizes()),
        default=None,
        static=True,
        doc="sizes that the populations, or parts, must have; None for any that hold the indices",
    )

    def __check_init__(self) -> None:
        # Not a rule: the error gives the sizes, not the arrays.
        if self.pre.size != self.post.size:
            must = f"as many as pre, {self.pre.size}"
            raise spec.InvalidValueError("Explicit", "post", must, str(self.post.size))

    @classmethod
    def from_sparse(cls, matrix: Any) -> "Explicit":
        """The stored entries of a scipy.sparse matrix or array of shape (n_pre, n_post).

        Rows are sources, columns are targets. Connections are in the order of `matrix.tocoo()`,
        including explicit zeros and repeated entries, so that `weight=matrix.tocoo().data` fits.

        """
        if not hasattr(matrix, "tocoo") or len(matrix.shape) != 2:
            raise spec.InvalidValueError(
                "Explicit.from_sparse",
                "matrix",
                "a matrix or array (n_pre, n_post) of scipy.sparse",
                f"{type(matrix).__name__} of shape {np.shape(matrix)}",
            )
        entries = matrix.tocoo()
        return cls(entries.row, entries.col, shape=entries.shape)

    @classmethod
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
        """Connections of a population with itself from a list of edges.

        `Projection("brain", "brain", edges.rule, weight=0.275 * edges.weight)`.

        Blanks around names in a file of text do not count.

        Args:
            edges: a pandas DataFrame, a mapping of arrays, or the path of a file: CSV (.csv, .tsv,
                .csv.gz) or parquet, which needs the extra `frames`.
            pre, post, weight: names of columns; without them the first usual ones are taken, such
                as pre and post, source and target, those of FlyWire; edges without weights are
                edges all the same.
            neurons: the ids, numbers or names, in the order of the population, or the path of a
                file with these in its first column; edges name them. Without them, numbers are
                indices, and names are sorted.
            duplicates: a pair that is given again is refused ("refuse"), its weights are added
                ("sum", which also sorts by source and target), or it is a multapse ("keep").

        Returns:
            An `Edges`: the rule, the weights and the ids.

        Raises:
            FileNotFoundError: for a missing file (a `ValueError` too).
            InvalidValueError: for a missing column, columns of several lengths, a file with a row
                that is wider or shorter than its header (with the line) or that is not in UTF-8,
                an id that is missing or not known, a negative index, a weight that is not finite
                (all with the row), or a repeated pair with `duplicates="refuse"`.
            ImportError: for parquet without pyarrow.
        """
        i, j, w, ids = read_edges(edges, pre, post, weight, neurons, duplicates)
        indices = neurons is None and ids.dtype.kind == "i"  # of a population that may be larger
        shape = None if indices else (ids.size, ids.size)
        return Edges(cls(i, j, shape), w, ids)

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if self.shape is not None and self.shape != (n_pre, n_post):
            must = f"({n_pre}, {n_post}), the sizes of source and target"
            raise spec.InvalidValueError(name, "shape", must, f"{self.shape}")
        for side, neurons, index, n in (
            ("pre", "source", self.pre, n_pre),
            ("post", "target", self.post, n_post),
        ):
            if index.size and index.max() >= n:
                bad = index >= n
                first = int(bad.argmax())
                raise spec.InvalidValueError(
                    name,
                    side,
                    f"indices below {n}, the number of {neurons} neurons, counted from 0",
                    f"{index[first]} at index {first} ({bad.sum():,} of {index.size:,} are not)",
                )

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

    def arrange(self, values: Num[np.ndarray, " synapses"]) -> Num[np.ndarray, " synapses"]:
        return values[pair_order(self.pre, self.post)]
