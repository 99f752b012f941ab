"""Every source connects to every target."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import numpy as np

from ._flags import check_flags
from ._ranges import no_rows, row_draws
from ._rule import Chunk, RowDraws, Rule, skip_own


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
