"""The tables from which rows are drawn again: gaps between targets, and synapses per row."""

import numpy as np

from .._kernels import gap_words
from .._numerics import gap_table


class DrawTables:
    """Collects the `draw_tables` of a `Table`: arrays of words, each at an even offset."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []
        self._size = 0
        self._gaps: dict[float, int] = {}

    def keep(self, words: np.ndarray) -> int:
        """Appends some words; returns their offset."""
        start = self._size
        self._arrays.append(np.concatenate([words, np.zeros(words.size % 2, np.uint32)]))
        self._size += self._arrays[-1].size
        return start

    def gaps(self, p: float, n: int) -> dict[str, int]:
        """The fields of a `Draw` for gaps between n targets that are chosen with probability p."""
        table = gap_table(p)
        if p not in self._gaps:
            self._gaps[p] = self.keep(gap_words(table))
        words = n * p + n / table.size
        return {
            "gaps": self._gaps[p],
            "gap_size": table.size,
            "gap_shift": table.shift,
            "hint": int(words + np.sqrt(words)),
        }

    def words(self) -> np.ndarray:
        """All arrays, one after the other; never empty, so that `jnp` can index them."""
        return np.concatenate([*self._arrays, np.zeros(2, np.uint32)])
