"""Neuron i connects to neuron i."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ._ranges import row_draws
from ._rule import Chunk, RowDraws, Rule


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
