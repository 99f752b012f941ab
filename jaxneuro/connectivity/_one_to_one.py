"""Neuron i connects to neuron i."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._rule import CHUNK, Chunk, Rule


class OneToOne(Rule):
    """One to one: source i connects to target i.

    **Raises** `ValueError` from `build` unless both populations are of one size.

    **Source** Senk et al. (2022), "one-to-one", doi:10.1371/journal.pcbi.1010086.
    """

    def check(self, name: str, n_pre: int, n_post: int, same: bool) -> None:
        if n_pre != n_post:
            raise ValueError(
                f"{name}: OneToOne needs as many sources as targets; got {n_pre} and {n_post}"
            )

    def expected(self, n_pre: int, n_post: int, same: bool) -> float:
        return float(n_pre)

    def draw(self, key: Any, n_pre: int, n_post: int, same: bool) -> Iterator[Chunk]:
        for first in range(0, n_pre, CHUNK):
            targets = np.arange(first, min(first + CHUNK, n_pre))
            yield Chunk(first, np.ones(targets.size, np.int64), targets)

    def arrange(self, values: np.ndarray) -> np.ndarray:
        return values
