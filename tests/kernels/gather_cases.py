"""Tables for `gather`, with the pairs and weights that its oracle needs."""

import numpy as np

from jaxneuro._kernels.gather import make_gather_table
from tests.oracle import gather as oracle

NO_WEIGHTS = np.zeros(0, np.float32)
# The shapes that are compiled: sources, and the entries of each row.
RAGGED = np.random.default_rng(0).integers(0, 7, 53)
RAGGED[16:32] = 0  # a slice without entries
LAYOUTS = {
    "ragged": (70, RAGGED),
    "all alike": (40, np.full(32, 3)),
    "one row, one source": (1, np.array([5])),
    "no source": (0, np.zeros(7, int)),
    "no row": (3, np.zeros(0, int)),
    "sources in 32 bits": (70_000, np.full(20, 2)),
}


def multiples_of_an_eighth(rng, n):
    """Their products and sums are exact in float32."""
    return (rng.integers(-64, 65, n) / 8).astype(np.float32)


class Case:
    """A table, and what the oracle needs; pairs are given to it in any order."""

    def __init__(self, rng, n_sources, counts, sheet=False):
        self.n_rows, self.n_sources = len(counts), n_sources
        rows = np.repeat(np.arange(len(counts)), counts)
        sources = rng.integers(0, max(n_sources, 1), rows.size)
        if sheet:  # entry k of row i is i + its first: neighbours in a slice
            k = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
            sources = (rows + k * rng.integers(0, 9)) % max(n_sources, 1)
        order = rng.permutation(rows.size)
        self.rows, self.sources = rows[order], sources[order]
        self.weights = multiples_of_an_eighth(rng, rows.size)
        self.values = multiples_of_an_eighth(rng, n_sources)
        pairs = self.rows, self.sources, self.n_rows, n_sources
        self.table, self.column = make_gather_table(*pairs, self.weights)

    def expected(self, values=None, weights=None):
        values = self.values if values is None else values
        weights = self.weights if weights is None else weights
        return oracle.gather(values, weights, self.rows, self.sources, self.n_rows)

    def sorted_weights(self):
        return self.weights[np.lexsort((self.sources, self.rows))]


def case_of(name, seed=0, sheet=False):
    return Case(np.random.default_rng(seed), *LAYOUTS[name], sheet)
