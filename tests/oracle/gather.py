"""A row sum: each row adds up the weighted values of its sources, by rising source."""

import numpy as np


def gather(values, weights, rows, sources, n_rows):
    """`weights[p] * values[sources[p]]` of all pairs p of each row, float64 (rows,)."""
    out = np.zeros(n_rows)
    for p in np.lexsort((sources, rows)):
        out[rows[p]] += float(weights[p]) * float(values[sources[p]])
    return out


def gradient(bar, values, weights, rows, sources):
    """The derivatives of `sum(bar * gather)` by each value and by the weight of each pair."""
    of_values, of_weights = np.zeros(len(values)), np.zeros(len(rows))
    for p in range(len(rows)):
        of_values[sources[p]] += float(weights[p]) * float(bar[rows[p]])
        of_weights[p] = float(values[sources[p]]) * float(bar[rows[p]])
    return of_values, of_weights
