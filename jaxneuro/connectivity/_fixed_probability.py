"""Every possible connection exists with probability p, independently."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from .._checks import check_fraction
from .._kernels import gap_counts, gap_rows, run_ahead
from ._flags import check_flags
from ._ranges import drawn_rows, no_rows
from ._rule import CHUNK, Chunk, RowDraws, RowLaw, Rule, candidates, row_chunks


class FixedProbability(Rule):
    """Pairwise Bernoulli: each pair (i, j) is connected with probability p.

    Draws the gaps between the targets of a row, which have a geometric distribution,
    `P(gap <= g) = 1 - (1-p)^(g+1)`, by integer thresholds on 32 random bits. The probability is
    exact to 2^-32, and no transcendental function is computed between bits and target. Index of a
    draw: the source; counter: the number of the gap in its row.

    **Fields** `p` from 0 to 1; `autapses`: whether a neuron may connect to itself; `stored`:
    False stores no connections and draws a row again, with the same bits, whenever its source
    spikes; weights and delays are then one number each, or drawn from a distribution.

    **Raises** `ValueError` for p outside [0, 1] or a flag that is not True or False.

    **Source** Senk et al. (2022), "pairwise Bernoulli",
    doi:10.1371/journal.pcbi.1010086; skipping: Batagelj and Brandes (2005),
    doi:10.1103/PhysRevE.71.036113.
    """

    redraws_in_order: ClassVar[bool] = True

    p: float = eqx.field(static=True, converter=partial(check_fraction, "FixedProbability: p"))
    autapses: bool = eqx.field(static=True, default=True)
    stored: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses", "stored")

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        """Every size fits."""

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return self.p * n_pre * candidates(n_post, same, self.autapses)

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        n = candidates(n_post, same, self.autapses)
        if self.p == 0.0 or n <= 0:
            return no_rows(n_pre)
        skip, counts = n != n_post, np.zeros(n_pre, np.uint32)
        if self.p * n * n_pre <= CHUNK:
            return drawn_rows(*gap_rows(key, 0, n_pre, n, self.p, skip))
        work = lambda r: gap_counts(key, r[0], r[1], n, self.p)  # noqa: E731
        for (first, stop), some in run_ahead(work, row_chunks(n_pre, self.p * n)):
            counts[first:stop] = some
        return RowDraws(counts, lambda first, stop: gap_rows(key, first, stop, n, self.p, skip)[1])

    def law(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowLaw | None:
        n = candidates(n_post, same, self.autapses)
        if self.stored:
            return None
        size = math.ceil(self.p * n * n_pre)  # 0 only if there can be none
        return RowLaw(key, n, n != n_post, math.ceil(self.p * n), None, self.p, size)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = candidates(n_post, same, self.autapses)
        if self.p == 0.0 or n <= 0:
            return
        for first, stop in row_chunks(n_pre, self.p * n):
            yield Chunk(first, *gap_rows(key, first, stop, n, self.p, n != n_post))
