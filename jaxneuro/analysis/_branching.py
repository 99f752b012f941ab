"""The branching ratio: how many spikes one spike causes."""

from typing import NamedTuple

import numpy as np

from .._checks import check_count
from ._given import arrays_checked
from ._lags import lag_products
from ._spikes import checked_counts


class Multistep(NamedTuple):
    """A branching ratio by multistep regression.

    **Fields** `ratio` m, 1 at the critical point; the activity decays with the time constant
    `-bin / ln m`; `offset` b of the fit, below 1 if only a part is observed; `slopes`
    `(max_lag,)` the slopes r_k.

    **Source** Wilting and Priesemann (2018), doi:10.1038/s41467-018-04725-4.
    """

    ratio: float
    offset: float
    slopes: np.ndarray


@arrays_checked
def branching_ratio(counts: np.ndarray) -> float:
    """Branching ratio by regression of the activity on that of the bin before.

    `m = Cov(A_t, A_(t+1)) / Var(A_t)`, the slope of a straight line by least squares: 0 for a
    Poisson process, 1 at the critical point. It is too small if only some of the neurons are
    observed; use `multistep_branching_ratio` then. nan if the activity is constant. `counts`
    `(bins,)`, spikes of all neurons per bin.

    **Raises** `ValueError` for counts that are not one row of at least 3 finite numbers of at
    least 0.

    **Source** Wilting and Priesemann (2018), doi:10.1038/s41467-018-04725-4.
    """
    return float(_slopes(checked_counts(counts, at_least=3), 1)[0])


@arrays_checked
def multistep_branching_ratio(counts: np.ndarray, max_lag: int) -> Multistep:
    """Branching ratio that does not depend on how many of the neurons are observed.

    The slopes `r_k` of the regression of `A_(t+k)` on `A_t` for `k = 1 ... max_lag` bins follow
    `r_k = b m^k`; returns `m`, `b` and the slopes. The fit minimises the sum of squared
    differences. An `offset` that is not well above 0 means that there is no exponential decay to
    fit. The slopes should decay within `max_lag`. nan if the activity is constant.
    `counts` `(bins,)`, spikes of all recorded neurons per bin, of a stationary time.

    **Raises** `ValueError` for counts that are not one row of finite numbers of at least 0, a
    `max_lag` below 2, or fewer than `max_lag + 2` bins.

    **Source** Wilting and Priesemann (2018), doi:10.1038/s41467-018-04725-4.
    """
    check_count("max_lag", max_lag, at_least=2)
    slopes = _slopes(checked_counts(counts, at_least=max_lag + 2), max_lag)
    if np.isnan(slopes).any():
        return Multistep(float("nan"), float("nan"), slopes)
    log_m = _decay(slopes)
    return Multistep(float(np.exp(log_m)), _fit(log_m, slopes)[0], slopes)


def _slopes(a: np.ndarray, max_lag: int) -> np.ndarray:
    """Slopes of the straight lines from `a[t]` to `a[t + k]`, k = 1 ... max_lag."""
    a = a - a.mean()
    lag = np.arange(1, max_lag + 1)
    m = a.size - lag
    sums, squares = (np.append(0.0, np.cumsum(x)) for x in (a, a * a))
    early, late = sums[m] / m, (sums[-1] - sums[lag]) / m
    # There is no slope if all values that the line starts from are equal.
    varies = np.append(np.flatnonzero(a != a[0]), a.size)[0] < m
    variance = np.where(varies, squares[m] / m - early**2, np.nan)
    return (lag_products(a, a, max_lag)[max_lag + 1 :] / m - early * late) / variance


def _fit(log_m: float, slopes: np.ndarray) -> tuple[float, float]:
    """The best offset b for a decay, and the remaining sum of squares."""
    power = np.exp(log_m * np.arange(1, slopes.size + 1))
    # Scaled, so that a fast decay does not divide by 0.
    scaled = power / power[np.argmax(power)]
    height = np.dot(scaled, slopes) / np.dot(scaled, scaled)
    return float(height / power.max()), float(np.sum((slopes - height * scaled) ** 2))


def _decay(slopes: np.ndarray) -> float:
    """ln m of the best fit: the best point of a grid, then the minimum between its neighbours."""
    from scipy.optimize import minimize_scalar

    k = slopes.size
    grid = np.concatenate([-np.geomspace(20.0, 1e-4 / k, 200), np.geomspace(1e-4 / k, 2.0 / k, 50)])
    best = int(np.argmin([_fit(x, slopes)[1] for x in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(
        lambda x: _fit(x, slopes)[1],
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10 / k},
    )
    return float(found.x)  # pyright: ignore[reportAttributeAccessIssue]
