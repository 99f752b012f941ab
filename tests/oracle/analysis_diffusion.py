"""First passage of the membrane tau dv/dt = -v + mu + sigma sqrt(tau) xi(t).

Two ways that share nothing: the integral as it is printed, by adaptive quadrature; and the
backward (Kolmogorov) equations of the first two moments of the passage time from reset to
threshold, by finite differences,

    (sigma^2 / 2) T_k'' + (mu - v) T_k' = -k tau T_(k-1),   T_0 = 1,   T_k(v_th) = 0,

with a reflecting end far below.  Rates are in Hz, times in ms, potentials in mV.
"""

import numpy as np
from scipy.integrate import quad
from scipy.linalg import solve_banded
from scipy.special import erfc


def rate_by_quadrature(mu, sigma, tau_m, v_th, v_reset, t_ref):
    """Siegert (1951), for moderate u only: exp(u^2) overflows.  1 + erf(u) = erfc(-u)."""
    low, high = (v_reset - mu) / sigma, (v_th - mu) / sigma
    integral = quad(
        lambda u: np.exp(u**2) * erfc(-u), low, high, epsabs=0, epsrel=1e-12, limit=500
    )[0]
    return 1e3 / (t_ref + tau_m * np.sqrt(np.pi) * integral)


def rate_and_cv_by_passage(mu, sigma, tau_m, v_th, v_reset, t_ref, cells=20_000):
    bottom = min(mu, v_reset) - 7 * sigma
    h = (v_th - bottom) / cells
    v = bottom + h * np.arange(cells)  # the unknowns; v_th itself is absorbing
    up = sigma**2 / 2 / h**2 + (mu - v) / (2 * h)
    down = sigma**2 / 2 / h**2 - (mu - v) / (2 * h)
    bands = np.zeros((3, cells))
    bands[0, 1:] = up[:-1]
    bands[0, 1] += down[0]  # reflection: the value below the first is the value above it
    bands[1] = -(up + down)
    bands[2, :-1] = down[1:]
    first = solve_banded((1, 1), bands, np.full(cells, -tau_m))
    second = solve_banded((1, 1), bands, -2 * tau_m * first)
    mean, square = np.interp(v_reset, v, first), np.interp(v_reset, v, second)
    period = t_ref + mean
    return 1e3 / period, np.sqrt(square - mean**2) / period
