"""Every target has exactly k sources."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import check_count
from ._flags import check_flags
from ._rule import Chunk, Rule, row_chunks, skip_own
from ._sampling import choices, stable_order


class FixedIndegree(Rule):
    """Fixed in-degree: each target draws exactly `k` sources, uniformly.

    With multapses with replacement; without, the first k distinct of the same sequence of
    draws. Index of a draw: the target; counter: its number in the sequence. A draw is
    `(word * n) >> 32`, uniform to n / 2^32.

    **Fields** `k` sources per target; `autapses`: whether a neuron may connect to itself;
    `multapses`: whether a pair may connect more than once.

    **Raises** `ValueError` unless k is a whole number >= 0 and the flags are True or False;
    from `build`, where k is above the number of sources and multapses are off, or the only
    source is the target itself and autapses are off. A population without neurons connects
    to nobody.

    **Source** Senk et al. (2022), "random, fixed in-degree",
    doi:10.1371/journal.pcbi.1010086.
    """

    k: int = eqx.field(static=True, converter=partial(check_count, "FixedIndegree: k"))
    autapses: bool = eqx.field(static=True, default=True)
    multapses: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses", "multapses")

    def _candidates(self, n_pre: int, same: bool) -> int:
        return n_pre - (same and not self.autapses)

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        n = self._candidates(n_pre, same)
        if n_post == 0 or n_pre == 0:
            return
        if self.k > 0 and n <= 0:
            raise ValueError(f"{name}: an in-degree of {self.k} needs a source; there is none")
        if self.k > n and not self.multapses:
            raise ValueError(
                f"{name}: an in-degree must be at most the number of sources, {n}, without "
                f"multapses; got {self.k}. Lower it or allow multapses"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self.k * n_post) if self._candidates(n_pre, same) > 0 else 0.0

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = self._candidates(n_pre, same)
        if self.k == 0 or n <= 0:
            return
        for first, stop in row_chunks(n_post, float(self.k), at_least=4 * n_pre):
            targets = np.arange(first, stop)
            sources = choices(key, targets, self.k, n, self.multapses)
            if n != n_pre:
                sources = skip_own(sources, targets[:, None])
            sources = sources.ravel()
            order = stable_order(sources, n_pre)
            counts = np.bincount(sources, minlength=n_pre)
            yield Chunk(0, counts, order // self.k + first)
