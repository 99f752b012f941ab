"""Neuronal avalanches."""

import numpy as np

from ._spikes import checked_counts, runs


def avalanches(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Avalanches of activity: (size [spikes], duration [bins]), each `(avalanches,)`.

    An avalanche is a stretch of bins that are not empty, between two that are: its size is the
    sum over them, its duration their number. One that begins or ends with the record is cut, and
    left out. `counts` `(bins,)`, spikes of all neurons per bin: the bin sets what is one
    avalanche; the mean interval between spikes of the population is the usual choice.

    **Raises** `ValueError` for counts that are not one row of finite numbers of at least 0.

    **Source** Beggs and Plenz (2003), doi:10.1523/JNEUROSCI.23-35-11167.2003.
    """
    activity = checked_counts(counts)
    first, last = runs(activity > 0)
    whole = (first > 0) & (last < activity.size - 1)
    first, last = first[whole], last[whole]
    total = np.append(0.0, np.cumsum(activity))
    return total[last + 1] - total[first], last + 1 - first
