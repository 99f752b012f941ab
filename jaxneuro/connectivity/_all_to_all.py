"""Everybody connects to everybody."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import numpy as np

from ._flags import check_flags
from ._rule import Chunk, Rule, row_chunks, skip_own


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

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = self._row(n_post, same)
        if n == 0:
            return
        for first, stop in row_chunks(n_pre, float(n)):
            targets = np.tile(np.arange(n), (stop - first, 1))
            if n != n_post:
                targets = skip_own(targets, np.arange(first, stop)[:, None])
            yield Chunk(first, np.full(stop - first, n), targets.ravel())
