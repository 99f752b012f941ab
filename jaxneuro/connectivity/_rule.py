"""The role of a connection rule: it draws targets row by row, in chunks of bounded size."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int64, Integer, Num, UInt32

from .. import spec
from ..space import Place

CHUNK = 1 << 17  # synapses drawn at a time, which limits the memory of a build


class Chunk(NamedTuple):
    """Some connections of a rule, row by row.

    Attributes:
        first_row: the first source.
        counts: connections per source from there on.
        targets: of one source after the other, ascending within a source and from chunk to chunk.
    """

    first_row: int
    counts: Integer[np.ndarray, " rows"]
    targets: Integer[np.ndarray, " synapses"]


class RowDraws(NamedTuple):
    """The connections of a rule that can draw each of its rows alone, in any order.

    Attributes:
        counts: connections per source.
        targets: a function (first, stop) that returns the targets of some sources, one source
            after the other, ascending within a source; it may run in several threads.
        order: of a rule that has an order of its own (`arrange`), the number in it of each
            connection, so that `arrange(x)` is `x[order]`.
    """

    counts: Integer[np.ndarray, " sources"]
    targets: Callable[[int, int], Integer[np.ndarray, " synapses"]]
    order: Integer[np.ndarray, " synapses"] | None = None


class RowLaw(NamedTuple):
    """How a kernel draws any row of a rule again, so that no connections are stored.

    Attributes:
        key: of the draws.
        n: candidates.
        skip_own: whether these exclude the row's own number.
        mean: synapses of a row.
        counts: synapses of each row, None if all have `mean`.
        p: the probability of each candidate, None for draws with replacement.
        size: (expected) synapses in all.
    """

    key: Any
    n: int
    skip_own: bool
    mean: int
    counts: UInt32[np.ndarray, " sources"] | None
    p: float | None
    size: int


class Rule(spec.Module):
    """A connection rule: who connects to whom. Draws on the host, outside jit.

    `check(name, n_pre, n_post, same)` raises for sizes that do not fit, and names the projection
    `name`. `expected(n_pre, n_post, same)` is the (expected) number of synapses. `draw(key, n_pre,
    n_post, same)` yields chunks. `rows` is for rules that can draw each row alone: `build` draws
    them once, and other rules twice. `law` is for rules with `stored=False`, whose rows are drawn
    again whenever their source spikes. `same` says that source and target are one population, so
    that i -> i is an autapse. `arrange(values)` puts an array with one entry per connection into
    the order in which the rule draws.

    Attributes:
        spatial: whether the rule needs positions.
        stored: whether its connections are kept.
        autapses: whether a neuron may connect to itself.
        redraws_in_order: whether rows that are drawn again come with ascending targets (individual
            weights and delays need that).
        redraws_from_counts: whether drawing rows again needs the number of targets of each source.
        pairs: how a symmetric coupling within a population takes its pairs: "drawn", those i -> j
            with i < j, since each is drawn by itself; "given", all that are listed; None, not at
            all.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling,
        doi:10.1371/journal.pcbi.1010086.
    """

    spatial: ClassVar[bool] = False
    redraws_in_order: ClassVar[bool] = False
    redraws_from_counts: ClassVar[bool] = False
    pairs: ClassVar[str | None] = "drawn"
    # Without annotations: a rule that gives the choice has a field of the same name.
    stored = True
    autapses = True

    def bind(self, label: str, pre: Place | None, post: Place | None) -> "Rule":
        """The rule with the positions of its neurons; raises where they do not fit."""
        return self

    @abstractmethod
    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None: ...

    @abstractmethod
    def expected(self, n_pre: int, n_post: int, same: bool) -> float: ...

    @abstractmethod
    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]: ...

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws | None:
        """The connections row by row; None if rows cannot be drawn alone."""
        return None

    def law(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowLaw | None:
        """How rows are drawn again; None if they are stored."""
        return None

    def held_bytes(self, expected: float, n_pre: int, n_post: int, same: bool) -> float:
        """Bytes that drawing takes beside the (expected) connections themselves."""
        return 0.0

    def arrange(self, values: Num[np.ndarray, " synapses"]) -> Num[np.ndarray, " synapses"] | None:
        """`values` in the order of drawing; None if the number of connections is random."""
        return None

    @property
    def arranges(self) -> bool:
        """Whether a rule takes values one by one: if its class has an `arrange` of its own."""
        return type(self).arrange is not Rule.arrange


def row_chunks(n_rows: int, per_row: float, at_least: int = 0) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about `CHUNK` synapses each, or `at_least` if more."""
    step = max(1, int(max(CHUNK, at_least) / max(per_row, 1.0)))
    for first in range(0, n_rows, step):
        yield first, min(first + step, n_rows)


def candidates(n: int, same: bool, autapses: bool) -> int:
    """How many of n neurons a neuron of the other side may be connected to."""
    return max(n - (same and not autapses), 0)


# A row without multapses is not drawn in one pass, so that it cannot be drawn again at each spike.
ONE_PASS = spec.Rule(
    "stored", "True without multapses", lambda stored, multapses: stored or multapses
)


def check_drawable(name: str, field: str, wanted: int, n: int, of: str, multapses: bool) -> None:
    """Raises `InvalidValueError` if so many connections cannot be drawn from n candidates.

    Args:
        name: the projection.
        field: the field of the rule with the wanted number.
        wanted: how many.
        n: how many candidates there are.
        of: what these are, such as "sources".
        multapses: whether one may be drawn more than once.
    """
    if wanted > n and (n == 0 or not multapses):
        must = f"at most {n}, the number of {of}" + (", without multapses" if n else "")
        raise spec.InvalidValueError(name, field, must, str(wanted))


def skip_own(
    targets: Integer[np.ndarray, "*shape"], own: Integer[np.ndarray, "*#shape"]
) -> Integer[np.ndarray, "*shape"]:
    """Targets drawn among all but `own`: those from `own` on move up by one."""
    return targets + (targets >= own)


def ranges(counts: Integer[np.ndarray, " rows"]) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of rows with at most `CHUNK` connections, or of one row.

    Each is (first row, stop row, first connection, stop connection).
    """
    ends = row_ends(counts)
    first = 0
    while first < counts.size:
        stop = int(np.searchsorted(ends, ends[first] + CHUNK, side="right")) - 1
        stop = max(stop, first + 1)
        yield first, stop, int(ends[first]), int(ends[stop])
        first = stop


def row_ends(counts: Integer[np.ndarray, " rows"]) -> Int64[np.ndarray, " rows+1"]:
    """Begins of rows that are stored one after the other, and the end of the last: (rows + 1,)."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def row_draws(draws: RowDraws) -> Iterator[Chunk]:
    """The connections of a rule that can draw each row alone, in chunks."""
    for first, stop, begin, end in ranges(draws.counts):
        if end > begin:
            yield Chunk(first, draws.counts[first:stop], draws.targets(first, stop))


def no_rows(n_pre: int) -> RowDraws:
    """No connections."""
    return RowDraws(np.zeros(n_pre, np.uint32), lambda first, stop: np.zeros(0, np.int32))


def drawn_rows(
    counts: Integer[np.ndarray, " sources"], targets: Integer[np.ndarray, " synapses"]
) -> RowDraws:
    """Connections that are all drawn already."""
    ends = row_ends(counts)
    return RowDraws(counts, lambda first, stop: targets[ends[first] : ends[stop]])
