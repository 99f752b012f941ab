"""Neuronal avalanches."""

import numpy as np

from ._given import arrays_checked
from ._spikes import checked_counts, runs


@arrays_checked
def avalanches(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Avalanches of activity: (size [spikes], duration [bins]), each `(avalanches,)`.

    An avalanche is a sequence of bins with spikes between two empty bins. Its size is the sum
    over these bins, its duration their number. An avalanche that begins or ends with the record is
    incomplete and left out. `counts` `(bins,)`, spikes of all neurons per bin. The width of the bin
    determines what is one avalanche; the mean interval between spikes of the population is the
    usual choice.

    **Raises** `ValueError` for counts that are not one row of finite numbers of at least 0.

    **Source** Beggs and Plenz (2003), doi:10.1523/JNEUROSCI.23-35-11167.2003.
    """
    activity = checked_counts(counts)
    first, last = runs(activity > 0)
    whole = (first > 0) & (last < activity.size - 1)
    first, last = first[whole], last[whole]
    total = np.append(0.0, np.cumsum(activity))
    return total[last + 1] - total[first], last + 1 - first
