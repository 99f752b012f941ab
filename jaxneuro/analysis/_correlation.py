"""Covariance and correlation of the spike counts of pairs of neurons."""

import numpy as np

from .._checks import check_bounds
from ._given import arrays_checked
from ._spikes import array_of


@arrays_checked
def count_covariance(counts: np.ndarray) -> np.ndarray:
    """Covariance of the spike counts of all pairs of neurons, `(n, n)`.

    `C_ij = sum over bins (c_i - mean c_i) (c_j - mean c_j) / (bins - 1)`, as `numpy.cov` and
    Elephant's `covariance`. `counts` `(n, bins)` as `spike_counts` gives them.

    **Raises** `ValueError` for counts that are not a finite array of two dimensions with at
    least 2 bins.

    **Source** Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    centred = _centred(counts)
    return centred @ centred.T / (centred.shape[1] - 1)


@arrays_checked
def count_correlation(counts: np.ndarray) -> tuple[float, np.ndarray]:
    """Correlation of spike counts: its mean over all pairs, and of each pair, `(n, n)`.

    Pearson's `r_ij = C_ij / sqrt(C_ii C_jj)` of `count_covariance`, as `numpy.corrcoef` and
    Elephant's `correlation_coefficient`. The mean is over the pairs `i < j`. A neuron whose
    count never changes has no correlation: it is nan in the matrix and left out of the mean, which
    is nan if no pair is left. `counts` `(n, bins)` as `spike_counts` gives them.

    **Raises** `ValueError` for counts that are not a finite array of two dimensions with at
    least 2 bins.

    **Source** Cohen and Kohn (2011), doi:10.1038/nn.2842.
    """
    centred = _centred(counts)
    # From the counts, not from their spread: the mean of equal numbers may be rounded.
    changes = np.ptp(np.asarray(counts), axis=1) > 0
    m = int(changes.sum())
    scaled = centred[changes]
    scaled = scaled / np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    known = np.clip(scaled @ scaled.T, -1.0, 1.0)
    np.fill_diagonal(known, 1.0)
    matrix = np.full((centred.shape[0],) * 2, np.nan)
    matrix[np.ix_(changes, changes)] = known
    mean = (known.sum() - m) / (m * (m - 1)) if m > 1 else float("nan")
    return float(mean), matrix


def _centred(counts: np.ndarray) -> np.ndarray:
    values = array_of("counts", counts).astype(np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            "counts must be an array (neurons, bins) with at least 2 bins, as spike_counts gives "
            f"it; got shape {values.shape}"
        )
    check_bounds("counts", values)
    return values - values.mean(axis=1, keepdims=True)
