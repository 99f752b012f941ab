"""Self-consistent rates of networks of LIF neurons in the diffusion approximation."""

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_bounds
from .._units import check_unit
from ._diffusion import siegert
from ._given import arrays_checked

# No neuron is as fast [Hz]: rates that reach this have diverged.
_FASTEST = 1e6


@arrays_checked
def input_moments(
    rates: ArrayLike,
    indegrees: ArrayLike,
    weights: ArrayLike,
    tau_m: ArrayLike,
    external_rate: ArrayLike = 0.0,
    external_weight: ArrayLike = 0.0,
    e_l: ArrayLike = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and amplitude of the input of each population: (mu [mV], sigma [mV]), `(p,)`.

        mu_a      = e_l + tau_m (sum_b K_ab J_ab rate_b + J_ext rate_ext)
        sigma_a^2 =       tau_m (sum_b K_ab J_ab^2 rate_b + J_ext^2 rate_ext)

    `rates` `(p,)` [Hz] of the populations; `indegrees` K and `weights` J [mV] `(p, p)`, from the
    population of the column to that of the row. J is the height of the PSP of an instantaneous
    synapse, or, for an exponential current of weight w [pA], `J = w tau_syn / c_m`.
    `external_rate` [Hz] is that of all external input of one neuron together, `external_weight`
    its J; `e_l` [mV] the potential without input (with a constant current I add `I tau_m / c_m`).
    `tau_m` [ms] and these are numbers or `(p,)`. The result is what `siegert` and `cv_diffusion`
    take.

    **Raises** `ValueError` for shapes that do not fit, values that are not finite, a rate or
    in-degree below 0, or a `tau_m` that is not above 0 or in s.

    **Source** Brunel (2000), doi:10.1023/A:1008925309027.
    """
    K, J = _checked_network(indegrees, weights)
    p = K.shape[0]
    nu = _per_population("rates", rates, p, "Hz", at_least=0.0) * 1e-3
    tau = _per_population("tau_m", tau_m, p, "ms", above=0.0)
    check_unit("tau_m", tau, "ms")
    ext = _per_population("external_rate", external_rate, p, "Hz", at_least=0.0) * 1e-3
    jump = _per_population("external_weight", external_weight, p, "mV")
    rest = _per_population("e_l", e_l, p, "mV")
    mu = rest + tau * ((K * J) @ nu + jump * ext)
    return mu, np.sqrt(tau * ((K * J**2) @ nu + jump**2 * ext))


@arrays_checked
def self_consistent_rates(
    indegrees: ArrayLike,
    weights: ArrayLike,
    tau_m: ArrayLike,
    v_th: ArrayLike,
    v_reset: ArrayLike,
    t_ref: ArrayLike = 0.0,
    external_rate: ArrayLike = 0.0,
    external_weight: ArrayLike = 0.0,
    e_l: ArrayLike = 0.0,
    tau_syn: ArrayLike = 0.0,
    start: ArrayLike = 1.0,
) -> np.ndarray:
    """Stationary rates of a network of populations of LIF neurons [Hz], `(p,)`.

    Solves `rate = siegert(mu(rate), sigma(rate))` with `input_moments` for randomly connected
    neurons with independent input. It iterates `rate += h (siegert - rate)` from `start` [Hz],
    where h is halved if a step leads away and raised if it approaches, then calls
    `scipy.optimize.root`. A network may have several solutions, stable or not; the one that is
    reached from `start` is returned. Arguments are as in `input_moments` and `siegert`; parameters
    of neurons and `start` are numbers or `(p,)`.

    **Raises** `ValueError` for what `input_moments` and `siegert` refuse, or a `start` below 0;
    `RuntimeError` where no solution is found from `start`.

    **Source** Amit and Brunel (1997), doi:10.1093/cercor/7.3.237; Brunel (2000),
    doi:10.1023/A:1008925309027.
    """
    from scipy.optimize import root

    p = _checked_network(indegrees, weights)[0].shape[0]
    rates = _per_population("start", start, p, "Hz", at_least=0.0)
    for name, value in (("v_th", v_th), ("v_reset", v_reset)):
        _per_population(name, value, p, "mV")
    for name, value in (("t_ref", t_ref), ("tau_syn", tau_syn)):
        _per_population(name, value, p, "ms", at_least=0.0)

    def away(x: np.ndarray) -> np.ndarray:
        given = np.clip(x, 0.0, _FASTEST)
        mu, sigma = input_moments(
            given, indegrees, weights, tau_m, external_rate, external_weight, e_l
        )
        return siegert(mu, sigma, tau_m, v_th, v_reset, t_ref, tau_syn) - x

    found = np.maximum(_relaxed(away, rates), 0.0)
    # Near the solution the steps may be small: Newton's method finishes, if it gets nearer.
    polished = root(away, found, method="hybr", options={"xtol": 1e-13}).x
    polished = np.maximum(polished, 0.0)
    if np.abs(away(polished)).max(initial=0.0) <= np.abs(away(found)).max(initial=0.0):
        found = polished
    left = np.abs(away(found)).max(initial=0.0)
    if not left <= 1e-8 * max(1.0, found.max(initial=0.0)) or (found >= _FASTEST).any():
        raise RuntimeError(
            f"no stationary rates were found from start={start}: a difference of {left:.3g} Hz is "
            f"left at {found} Hz. Try another start"
        )
    return found


def _relaxed(away, rates: np.ndarray, steps: int = 500) -> np.ndarray:
    """The nearest point to `away(rates) = 0` that damped steps reach."""
    size, move = 0.1, away(rates)
    for _ in range(steps):
        left = np.linalg.norm(move)
        if left <= 1e-10 * (1.0 + np.linalg.norm(rates)) or size < 1e-9:
            break
        ahead = rates + size * move
        next_move = away(ahead)
        # An overshooting step reverses the move; one that makes it a little longer is accepted.
        if np.dot(next_move, move) < 0 or np.linalg.norm(next_move) > 2.0 * left:
            size *= 0.5
            continue
        rates, move, size = ahead, next_move, min(1.2 * size, 1.0)
    return rates


def _checked_network(indegrees: ArrayLike, weights: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    K, J = np.asarray(indegrees, np.float64), np.asarray(weights, np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or J.shape != K.shape:
        raise ValueError(
            "indegrees and weights must be square arrays (target, source) of one shape; "
            f"got {K.shape} and {J.shape}"
        )
    check_bounds("indegrees", K, at_least=0.0)
    check_bounds("weights", J, "mV")
    return K, J


def _per_population(name: str, value: ArrayLike, p: int, unit: str, **bounds: float) -> np.ndarray:
    """One finite number for each of the p populations."""
    out = np.asarray(value, np.float64)
    if out.shape not in ((), (p,)):
        raise ValueError(f"{name} must be a number or have shape ({p},); got {out.shape}")
    check_bounds(name, out, unit, **bounds)
    return np.broadcast_to(out, (p,))
