"""Every pair of a population is connected both ways with probability p, or not at all."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_fraction
from .._kernels import gap_rows, run_ahead, stable_order
from ._flags import check_flags
from ._rule import Chunk, Rule, row_chunks


class SymmetricBernoulli(Rule):
    """Symmetric pairwise Bernoulli: i -> j and j -> i both exist with probability p, or neither.

    Each unordered pair of one population is drawn once, independently, by the gaps in the row of
    its smaller index, as in `FixedProbability`. Drawn weights and delays are drawn for each
    direction. Index of a draw: the smaller neuron; counter: the number of
    the gap in its row.

    **Fields** `p` from 0 to 1; `autapses`: whether a neuron may connect to itself (once, with
    probability p).

    **Raises** `ValueError` for p outside [0, 1] or a flag that is not True or False; from
    `build`, unless source and target are the same population.

    **Source** Senk et al. (2022), "symmetric pairwise Bernoulli",
    doi:10.1371/journal.pcbi.1010086.
    """

    p: float = eqx.field(static=True, converter=partial(check_fraction, "SymmetricBernoulli: p"))
    autapses: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        check_flags(self, "autapses")

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if not same:
            raise ValueError(
                f"{name}: SymmetricBernoulli must have the same neurons as sources and targets; "
                "got others. Use FixedProbability between populations"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return self.p * n_pre * (n_pre - (not self.autapses)) if n_pre else 0.0

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        own = 0 if self.autapses else 1  # the first target of a row, relative to its neuron
        if self.p == 0.0 or n_pre <= own:
            return
        chunks = row_chunks(n_pre, self.p * n_pre, at_least=4 * n_pre)
        for _, chunk in run_ahead(lambda r: self._both_ways(key, *r, n_pre, own), chunks):
            yield chunk

    def _both_ways(self, key: Any, first: int, stop: int, n: int, own: int) -> Chunk:
        """Pairs with i in `first ... stop`, as rows from `first` on."""
        i, j = self._ahead(key, first, stop, n, own)
        back = i != j
        rows = np.concatenate([j[back], i]) - first
        targets = np.concatenate([i[back], j])
        # Stable: a row first has its connections to smaller neurons, ascending, then the others.
        order = stable_order(rows, n - first)
        return Chunk(first, np.bincount(rows, minlength=n - first), targets[order])

    def _ahead(self, key: Any, first: int, stop: int, n: int, own: int) -> Any:
        """Pairs i <= j with i in `first ... stop`: i ascending, then j."""
        parts = []
        for begin, end in row_chunks(stop - first, self.p * (n - first)):
            begin, end = begin + first, end + first
            # All rows are drawn as long as the longest; targets beyond the last neuron are dropped.
            counts, gaps = gap_rows(key, begin, end, max(n - begin - own, 1), self.p)
            i = np.repeat(np.arange(begin, end), counts)
            j = i + gaps + own
            parts.append((i[j < n], j[j < n]))
        return tuple(np.concatenate(side) for side in zip(*parts))
