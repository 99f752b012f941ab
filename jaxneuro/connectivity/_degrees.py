"""Rules with a fixed number of sources or targets."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Integer

from .. import spec
from .._kernels.draw import distinct_rows, transpose, uniform_rows
from .._kernels.threads import run_ahead
from ._rule import (
    ONE_PASS,
    Chunk,
    RowDraws,
    RowLaw,
    Rule,
    candidates,
    check_drawable,
    no_rows,
    row_chunks,
    row_draws,
)


class FixedIndegree(Rule):
    """Fixed in-degree: each target draws exactly `k` sources, uniformly.

    Draws are with replacement if multapses are allowed; else they are the first k distinct ones of
    the same sequence of draws. Index of a draw: the target; counter: its number in the sequence. A
    draw is `(word * n) >> 32`, uniform to n / 2^32.

    Connections are stored: targets draw their sources, so that the targets of one source are known
    only when all have drawn. Without multapses `k` is at most the number of sources. A population
    without neurons has no connections.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "random, fixed
        in-degree", doi:10.1371/journal.pcbi.1010086.
    """

    pairs: ClassVar[str | None] = None

    k: int = spec.field(spec.Whole(), static=True, doc="sources per target")
    autapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a neuron may connect to itself"
    )
    multapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a pair may connect more than once"
    )
    stored: bool = spec.field(
        spec.OneOf(True), default=True, static=True, doc="that connections are stored"
    )

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if n_post and n_pre:
            sources = candidates(n_pre, same, self.autapses)
            check_drawable(name, "k", self.k, sources, "sources", self.multapses)

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

    `stored=False` stores no connections and draws a row again, with the same bits, whenever its
    source spikes; multapses must then be allowed, and weight and delay be one number each. Without
    multapses `k` is at most the number of targets. A population without neurons has no connections.

    Reference:
        Senk et al. (2022), Connectivity concepts in neuronal network modeling, "random, fixed
        out-degree", doi:10.1371/journal.pcbi.1010086.
    """

    pairs: ClassVar[str | None] = None

    k: int = spec.field(spec.Whole(), static=True, doc="targets per source")
    autapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a neuron may connect to itself"
    )
    multapses: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether a pair may connect more than once"
    )
    stored: bool = spec.field(
        spec.Flag(), default=True, static=True, doc="whether connections are stored"
    )
    rules = (ONE_PASS,)

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if n_post and n_pre:
            targets = candidates(n_post, same, self.autapses)
            check_drawable(name, "k", self.k, targets, "targets", self.multapses)

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(self.k * n_pre) if candidates(n_post, same, self.autapses) > 0 else 0.0

    def rows(self, key: Any, n_pre: int, n_post: int, same: bool) -> RowDraws:
        n = candidates(n_post, same, self.autapses)
        if self.k == 0 or n <= 0:
            return no_rows(n_pre)
        counts, skip = np.full(n_pre, self.k, np.uint32), n != n_post

        def targets(first: int, stop: int) -> Integer[np.ndarray, " synapses"]:
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
