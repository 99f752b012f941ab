"""The binomial law on the host, in float64."""

from typing import Any

import numpy as np


def binomial_law(x: Any, n: int, p: float) -> np.ndarray:
    """P(X = x) of a binomial number of n trials."""
    from scipy import special  # takes long to import

    x = np.asarray(x, np.float64)
    ways = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
    return np.exp(ways + special.xlogy(x, p) + special.xlog1py(n - x, -p))


def binomial_below(x: Any, n: int, p: float) -> np.ndarray:
    """P(X <= x)."""
    from scipy import special

    return special.bdtr(np.asarray(x, np.float64), n, p)


def binomial_above(x: Any, n: int, p: float) -> np.ndarray:
    """P(X > x), exact in the far tail, too."""
    from scipy import special

    return special.bdtrc(np.asarray(x, np.float64), n, p)
