"""Rules with a fixed number of sources or targets."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from .._checks import check_count
from .._kernels import distinct_rows, run_ahead, transpose, uniform_rows
from ._rule import (
    Chunk,
    RowDraws,
    RowLaw,
    Rule,
    candidates,
    check_flags,
    no_rows,
    row_chunks,
    row_draws,
)


class FixedIndegree(Rule):
    """Fixed in-degree: each target draws exactly `k` sources, uniformly.

    Draws are with replacement if multapses are allowed; else they are the first k distinct ones of
    the same sequence of draws. Index of a draw: the target; counter: its number in the sequence. A
    draw is `(word * n) >> 32`, uniform to n / 2^32.

    **Fields** `k` sources per target; `autapses`: whether a neuron may connect to itself;
    `multapses`: whether a pair may connect more than once; `stored` must be True: targets draw
    their sources, so that a row cannot be drawn alone.

    **Raises** `ValueError` unless k is a whole number >= 0 and the flags are True or False;
    from `build`, if k is above the number of sources and multapses are off, or the only source
    is the target itself and autapses are off. A population without neurons has no connections.

    **Source** Senk et al. (2022), "random, fixed in-degree",
    doi:10.1371/journal.pcbi.1010086.
    """

    pairs: ClassVar[str | None] = None

    k: int = eqx.field(static=True, converter=partial(check_count, "FixedIndegree: k"))
    autapses: bool = eqx.field(static=True, default=True)
    multapses: bool = eqx.field(static=True, default=True)
    stored: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses", "multapses", "stored")
        if not self.stored:
            raise ValueError(
                "FixedIndegree: stored=False is not possible: targets draw their sources, so the "
                "targets of one source are known only when all have drawn. Store it, or take "
                "FixedOutdegree or FixedTotal with stored=False"
            )

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        n = candidates(n_pre, same, self.autapses)
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
        return float(self.k * n_post) if candidates(n_pre, same, self.autapses) > 0 else 0.0

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        n = candidates(n_pre, same, self.autapses)
        if self.k == 0 or n <= 0:
            return
        skip = n != n_pre

        def work(targets: tuple[int, int]) -> Chunk:
            first, stop = targets
            if self.multapses:
                k = np.full(stop - first, self.k, np.uint32)
                sources = uniform_rows(key, first, k, n, skip, ascend=False)
            else:
                sources = distinct_rows(key, first, stop - first, self.k, n, skip)
            return Chunk(0, *transpose(sources.reshape(-1, self.k), first, n_pre))

        for _, chunk in run_ahead(work, row_chunks(n_post, float(self.k), at_least=4 * n_pre)):
            yield chunk


class FixedOutdegree(Rule):
    """Fixed out-degree: each source draws exactly `k` targets, uniformly.

    Draws are with replacement if multapses are allowed; else they are the first k distinct ones of
    the same sequence of draws. Index of a draw: the source; counter: its number in the sequence. A
    draw is `(word * n) >> 32`, uniform to n / 2^32.

    **Fields** `k` targets per source; `autapses`: whether a neuron may connect to itself;
    `multapses`: whether a pair may connect more than once; `stored`: False stores no
    connections and draws a row again, with the same bits, whenever its source spikes; multapses
    must then be allowed, and weight and delay be one number each.

    **Raises** `ValueError` unless k is a whole number >= 0 and the flags are True or False;
    from `build`, if k is above the number of targets and multapses are off, or the only target
    is the source itself and autapses are off. A population without neurons has no connections.

    **Source** Senk et al. (2022), "random, fixed out-degree",
    doi:10.1371/journal.pcbi.1010086.
    """

    pairs: ClassVar[str | None] = None

    k: int = eqx.field(static=True, converter=partial(check_count, "FixedOutdegree: k"))
    autapses: bool = eqx.field(static=True, default=True)
    multapses: bool = eqx.field(static=True, default=True)
    stored: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        check_flags(self, "autapses", "multapses", "stored")
        if not self.stored and not self.multapses:
            raise ValueError(
                "FixedOutdegree: stored=False needs multapses=True: a row without multapses is not "
                "drawn in one pass. Store it, or allow multapses"
            )

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        n = candidates(n_post, same, self.autapses)
        if n_post == 0 or n_pre == 0:
            return
        if self.k > 0 and n <= 0:
            raise ValueError(f"{name}: an out-degree of {self.k} needs a target; there is none")
        if self.k > n and not self.multapses:
            raise ValueError(
                f"{name}: an out-degree must be at most the number of targets, {n}, without "
                f"multapses; got {self.k}. Lower it or allow multapses"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self.k * n_pre) if candidates(n_post, same, self.autapses) > 0 else 0.0

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        n = candidates(n_post, same, self.autapses)
        if self.k == 0 or n <= 0:
            return no_rows(n_pre)
        counts, skip = np.full(n_pre, self.k, np.uint32), n != n_post

        def targets(first: int, stop: int) -> np.ndarray:
            if self.multapses:
                return uniform_rows(key, first, counts[first:stop], n, skip)
            return distinct_rows(key, first, stop - first, self.k, n, skip).ravel()

        return RowDraws(counts, targets)

    def law(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowLaw | None:
        n = candidates(n_post, same, self.autapses)
        if self.stored:
            return None
        k = self.k if n > 0 else 0
        return RowLaw(key, n, n != n_post, k, None, None, k * n_pre)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        yield from row_draws(self.rows(key, n_pre, n_post, same))
