"""Mean-field theory: moments of the membrane, rates of neurons and of networks."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float64, Shaped

from .. import spec
from .._arrays import ArrayLike
from .._units import far_too_small, largest, warn_of_units
from ..spec import InvalidValueError


@spec.arguments()
def membrane_moments(
    rate: ArrayLike,
    weight: ArrayLike,
    tau_m: ArrayLike,
    tau_syn: ArrayLike = 0.0,
    c_m: ArrayLike | None = None,
) -> tuple[Float64[Any, "*shape"], Float64[Any, "*shape"]]:
    """Mean [mV] and variance [mV^2] of a leaky membrane without threshold under Poisson input.

        mean = rate int psp dt = J rate tau_m
        variance = rate int psp^2 dt = J^2 rate tau_m^2 / (2 (tau_m + tau_syn))

    exactly, for one Poisson process of `rate` [Hz] through instantaneous synapses (`tau_syn` 0)
    or exponential currents of time constant `tau_syn` [ms]. `weight` is J [mV], the jump from
    the whole charge of a spike; with a capacitance `c_m` [pF] it is the peak of the exponential
    current, w [pA], and `J = w tau_syn / c_m`. The mean is measured from the
    potential without input. All broadcast. Moments of independent inputs add; the `sigma` of
    `siegert` is `sqrt(2 variance)` for `tau_syn` 0.

    Raises:
        InvalidValueError: for values that are not finite, a rate or `tau_syn` below 0, a `tau_m` or
            `c_m` that is not above 0, or a `c_m` with a `tau_syn` of 0.

    Reference:
        Rice (1944), part I (Campbell's theorem), doi:10.1002/j.1538-7305.1944.tb00874.x.
    """
    spec.check("membrane_moments", "rate", spec.Numbers("Hz", at_least=0.0), rate)
    spec.check("membrane_moments", "weight", spec.Numbers("mV" if c_m is None else "pA"), weight)
    spec.check("membrane_moments", "tau_m", spec.Numbers("ms", above=0.0), tau_m)
    spec.check("membrane_moments", "tau_syn", spec.Numbers("ms", at_least=0.0), tau_syn)
    per_ms, jump, tau, slow = (
        np.asarray(x, np.float64) for x in (np.asarray(rate) * 1e-3, weight, tau_m, tau_syn)
    )
    if c_m is not None:
        spec.check("membrane_moments", "c_m", spec.Numbers("pF", above=0.0), c_m)
        if not (slow > 0).all():
            must = "above 0 ms with c_m, where the weight is the peak of an exponential current"
            hint = ". Leave c_m out for a weight in mV"
            raise InvalidValueError("membrane_moments", "tau_syn", must, str(tau_syn), hint)
        jump = jump * slow / np.asarray(c_m, np.float64)
    mean = jump * per_ms * tau
    return (mean + 0.0 * slow)[()], (jump**2 * per_ms * tau**2 / (2.0 * (tau + slow)))[()]


# alpha = sqrt(2) |zeta(1/2)|, which shifts threshold and reset under coloured noise.
_ALPHA = np.sqrt(2.0) * 1.4603545088095868
# An integrand that has fallen by exp(-40) from its value at the threshold counts as 0.
_FOLDS = 40.0


@spec.arguments()
def siegert(
    mu: ArrayLike,
    sigma: ArrayLike,
    tau_m: ArrayLike,
    v_th: ArrayLike,
    v_reset: ArrayLike,
    t_ref: ArrayLike = 0.0,
    tau_syn: ArrayLike = 0.0,
) -> Float64[Any, "*shape"]:
    """Stationary rate of the LIF neuron in the diffusion approximation [Hz].

        rate = 1 / (t_ref + tau_m sqrt(pi) int_{u_reset}^{u_th} exp(u^2) (1 + erf(u)) du)
        u    = (v - mu) / sigma + (alpha / 2) sqrt(tau_syn / tau_m),  alpha = sqrt(2) |zeta(1/2)|

    `mu` [mV] is the mean of the membrane without threshold and `sigma` [mV] the amplitude of the
    noise: the membrane's sd without threshold is `sigma / sqrt(2)` for `tau_syn` 0. `mu`, `v_th`
    and `v_reset` are measured from the same zero: with a threshold of -50 mV, mu has the rest in
    it, `mu = e_l + tau_m I / c_m`. Times are in ms; all of these may be arrays, and broadcast.
    `tau_syn` is the time constant of exponential synaptic currents, to first order in
    `sqrt(tau_syn / tau_m)`. `sigma` 0 gives the rate of the constant drive.

    Gauss-Legendre quadrature of `erfcx(-u)`; relative error below 1e-12 for any arguments that
    give a rate above 1e-300 Hz.

    Raises:
        InvalidValueError: for values that are not finite, a `sigma`, `t_ref` or `tau_syn` below 0,
            a `tau_m` that is not above 0, or a reset that is not below the threshold. Warns of
            times that may be in s, and potentials in V.

    Reference:
        Siegert (1951), doi:10.1103/PhysRev.81.617; Brunel (2000), Dynamics of sparsely connected
        networks of excitatory and inhibitory spiking neurons, doi:10.1023/A:1008925309027;
        `tau_syn`: Fourcaud and Brunel (2002), doi:10.1162/089976602320264015.
    """
    rate = _siegert(mu, sigma, tau_m, v_th, v_reset, t_ref, tau_syn)
    _warn_of_units("siegert", v_th, v_reset, tau_m=tau_m, t_ref=t_ref, tau_syn=tau_syn)
    return rate


def _siegert(
    mu: ArrayLike,
    sigma: ArrayLike,
    tau_m: ArrayLike,
    v_th: ArrayLike,
    v_reset: ArrayLike,
    t_ref: ArrayLike,
    tau_syn: ArrayLike,
) -> Float64[Any, "*shape"]:
    """`siegert` without its warnings."""
    from scipy.special import erfcx

    high, span, noisy, tau_m, t_ref = _arguments(mu, sigma, tau_m, v_th, v_reset, t_ref, tau_syn)
    scale = np.exp(-(np.maximum(high, 0.0) ** 2))
    u, weight = _nodes(high, span)
    # exp(u^2) (1 + erf(u)) = erfcx(-u), which overflows above 0: scaled before it is formed.
    top = np.maximum(high, 0.0)[..., None]
    rise = np.maximum(u, 0.0)
    tail = scale[..., None] * erfcx(np.abs(u))
    value = np.where(u > 0, 2.0 * np.exp((rise - top) * (rise + top)) - tail, tail)
    passage = tau_m * np.sqrt(np.pi) * np.sum(weight * value, axis=-1)
    period = scale * t_ref + passage
    rate = np.divide(scale, period, out=np.zeros_like(scale), where=scale > 0)
    silent = _constant_drive(mu, v_th, v_reset, tau_m, t_ref)
    return (1e3 * np.where(noisy, rate, silent))[()]


@spec.arguments()
def cv_diffusion(
    mu: ArrayLike,
    sigma: ArrayLike,
    tau_m: ArrayLike,
    v_th: ArrayLike,
    v_reset: ArrayLike,
    t_ref: ArrayLike = 0.0,
) -> Float64[Any, "*shape"]:
    """CV of the intervals of the LIF neuron in the diffusion approximation.

        CV^2 = 2 pi (rate tau_m)^2 int_{u_reset}^{u_th} exp(x^2)
               int_{-inf}^{x} exp(z^2) (1 + erf(z))^2 dz dx

    with `u` and the arguments as in `siegert`. It tends to 1 if the threshold is far above the
    mean, where rare spikes are a Poisson process; the result is 1 if the rate is below 1e-300 Hz.
    It tends to 0 if noise is weak and the drive strong. For `sigma` 0 it is 0 with a drive above
    threshold, and nan below it, where there are no spikes.

    Raises:
        InvalidValueError: for values that are not finite, a `sigma` or `t_ref` below 0, a `tau_m`
            that is not above 0, or a reset that is not below the threshold. Warns as `siegert`.

    Reference:
        Brunel (2000), Dynamics of sparsely connected networks of excitatory and inhibitory spiking
        neurons, appendix, doi:10.1023/A:1008925309027.
    """
    high, span, noisy, tau, _ = _arguments(mu, sigma, tau_m, v_th, v_reset, t_ref, 0.0)
    _warn_of_units("cv_diffusion", v_th, v_reset, tau_m=tau_m, t_ref=t_ref)
    rate = _siegert(mu, sigma, tau_m, v_th, v_reset, t_ref, 0.0) * 1e-3
    top = np.maximum(high, 0.0)
    scale = np.exp(-(top**2))
    x, weight = _nodes(high, span)
    rise = np.maximum(x, 0.0)
    # exp(x^2) times the inner integral grows as exp(2 x^2): scaled by the square of the rate.
    grown = np.exp(2.0 * (rise - top[..., None]) * (rise + top[..., None]))
    integral = np.sum(weight * grown * _inner(x), axis=-1)
    some = scale > 0
    per_scale = np.divide(rate * tau, scale, out=np.zeros_like(scale), where=some)
    cv = np.where(some, np.sqrt(2.0 * np.pi * integral) * per_scale, 1.0)
    return np.where(noisy, cv, np.where(rate > 0, 0.0, np.nan))[()]


def _arguments(
    mu: ArrayLike,
    sigma: ArrayLike,
    tau_m: ArrayLike,
    v_th: ArrayLike,
    v_reset: ArrayLike,
    t_ref: ArrayLike,
    tau_syn: ArrayLike,
) -> tuple[Shaped[Any, "*shape"], ...]:
    """Checked and broadcast: u at threshold, its distance from reset, sigma > 0, tau_m, t_ref."""
    spec.check("", "mu", spec.Numbers("mV"), mu)
    spec.check("", "sigma", spec.Numbers("mV", at_least=0.0), sigma)
    spec.check("", "tau_m", spec.Numbers("ms", above=0.0), tau_m)
    spec.check("", "v_th", spec.Numbers("mV"), v_th)
    spec.check("", "v_reset", spec.Numbers("mV"), v_reset)
    spec.check("", "t_ref", spec.Numbers("ms", at_least=0.0), t_ref)
    spec.check("", "tau_syn", spec.Numbers("ms", at_least=0.0), tau_syn)
    given = (mu, sigma, tau_m, v_th, v_reset, t_ref, tau_syn)
    try:
        mu, sigma, tau_m, v_th, v_reset, t_ref, tau_syn = np.broadcast_arrays(
            *(np.asarray(x, np.float64) for x in given)
        )
    except ValueError:
        raise InvalidValueError(
            "",
            "all arguments",
            "of shapes that broadcast",
            f"the shapes {[np.shape(x) for x in given]}",
        ) from None
    if not (v_reset < v_th).all():
        raise InvalidValueError("", "v_reset", "below v_th", f"{given[4]} and {given[3]} mV")
    noisy = sigma > 0
    spread, shift = np.where(noisy, sigma, 1.0), 0.5 * _ALPHA * np.sqrt(tau_syn / tau_m)
    return (v_th - mu) / spread + shift, (v_th - v_reset) / spread, noisy, tau_m, t_ref


# Refractory times and time constants of synapses are longer [ms].
_LEAST_SHORT = 0.006


def _warn_of_units(
    owner: str, v_th: ArrayLike = 0.0, v_reset: ArrayLike = 0.0, **times: ArrayLike
) -> None:
    """Warns of times that may be in s, and of a threshold and a reset that are both in V."""
    both = largest([largest(v_th), largest(v_reset)])
    guesses = [far_too_small(owner, "v_th and v_reset", both, "mV")]
    for name, value in times.items():
        least = None if name == "tau_m" else _LEAST_SHORT
        guesses.append(far_too_small(owner, name, largest(value), "ms", least=least))
    warn_of_units(itertools.chain(*guesses))


def _constant_drive(
    mu: ArrayLike,
    v_th: ArrayLike,
    v_reset: ArrayLike,
    tau_m: Float64[Any, "*shape"],
    t_ref: Float64[Any, "*shape"],
) -> Float64[np.ndarray, "*shape"]:
    """Rate [1/ms] without noise: 1 / (t_ref + tau_m ln((mu - v_reset) / (mu - v_th)))."""
    gap = np.subtract(mu, v_th)
    fires = gap > 0
    way = np.log1p(np.where(fires, np.subtract(v_th, v_reset) / np.where(fires, gap, 1.0), 1.0))
    return np.where(fires, 1.0 / (t_ref + tau_m * way), 0.0)


@functools.cache
def _legendre(
    order: int,
) -> tuple[Float64[np.ndarray, " {order}"], Float64[np.ndarray, " {order}"]]:
    """Nodes and weights of Gauss-Legendre quadrature from 0 to 1."""
    x, w = np.polynomial.legendre.leggauss(order)
    return 0.5 * (1.0 + x), 0.5 * w


def _nodes(
    high: Float64[Any, "*shape"],
    span: Float64[Any, "*shape"],
) -> tuple[Float64[np.ndarray, "*shape nodes"], Float64[np.ndarray, "*shape nodes"]]:
    """Nodes and weights, on a new last axis, for `exp(u^2)`-like functions up to `high`.

    Below 0 these functions are smooth in `s = log(1 - u)`. Above 0 they are concentrated at the
    upper end, and the part that has fallen by `exp(-_FOLDS)` from there is left out. The lengths
    are computed from `span` and not from the ends, which may be close to each other and far from 0.
    """
    x, w = _legendre(80)
    below, top = np.minimum(high, 0.0), np.maximum(high, 0.0)
    first = np.log1p(-below)[..., None]
    length = np.log1p(np.maximum(span - top, 0.0) / (1.0 - below))[..., None]
    s = first + length * x
    reach = np.minimum(top - np.sqrt(np.maximum(top**2 - _FOLDS, 0.0)), span)[..., None]
    u = np.concatenate([-np.expm1(s), top[..., None] - reach * x], axis=-1)
    return u, np.concatenate([length * w * np.exp(s), reach * w], axis=-1)


def _inner(x: Float64[np.ndarray, "*nodes"]) -> Float64[np.ndarray, "*nodes"]:
    """`exp(x^2) int_{-inf}^x exp(z^2) (1 + erf(z))^2 dz`, divided by `exp(2 x^2)` where x > 0."""
    below = _tail(np.minimum(x, 0.0))
    above = np.maximum(x, 0.0)
    return np.where(x > 0, np.exp(-(above**2)) * below + _rise(above), below)


def _tail(x: Float64[np.ndarray, "*nodes"]) -> Float64[np.ndarray, "*nodes"]:
    """`int_0^inf exp(x^2 - z^2) erfcx(-z)^2 dt` with z = x - t, for x <= 0."""
    from scipy.special import erfcx

    out = np.zeros_like(x)
    for p, weight in zip(*_legendre(60)):
        # In units of the length of the exponential at x, up to 20 of them.
        t = 20.0 * p / (1.0 - x)
        out += weight * np.exp(t * (2.0 * x - t)) * erfcx(t - x) ** 2
    return 20.0 * out / (1.0 - x)


def _rise(x: Float64[np.ndarray, "*nodes"]) -> Float64[np.ndarray, "*nodes"]:
    """`int_0^x exp(z^2 - x^2) (1 + erf(z))^2 dz`, for x >= 0."""
    from scipy.special import erfc

    foot = np.sqrt(np.maximum(x**2 - _FOLDS, 0.0))
    out = np.zeros_like(x)
    for p, weight in zip(*_legendre(60)):
        z = foot + (x - foot) * p
        out += weight * np.exp((z - x) * (z + x)) * erfc(-z) ** 2
    return out * (x - foot)


# No neuron is as fast [Hz]: rates that reach this have diverged.
_FASTEST = 1e6


@spec.arguments()
def input_moments(
    rates: ArrayLike,
    indegrees: ArrayLike,
    weights: ArrayLike,
    tau_m: ArrayLike,
    external_rate: ArrayLike = 0.0,
    external_weight: ArrayLike = 0.0,
    e_l: ArrayLike = 0.0,
) -> tuple[Float64[np.ndarray, " p"], Float64[np.ndarray, " p"]]:
    """Mean and amplitude of the input of each population: (mu [mV], sigma [mV]).

        mu_a      = e_l + tau_m (sum_b K_ab J_ab rate_b + J_ext rate_ext)
        sigma_a^2 =       tau_m (sum_b K_ab J_ab^2 rate_b + J_ext^2 rate_ext)

    `rates` `(p,)` [Hz] of the populations; `indegrees` K and `weights` J [mV] `(p, p)`, from the
    population of the column to that of the row. J is the height of the PSP of an instantaneous
    synapse, or, for an exponential current of weight w [pA], `J = w tau_syn / c_m`.
    `external_rate` [Hz] is that of all external input of one neuron together, `external_weight`
    its J; `e_l` [mV] the potential without input (with a constant current I add `I tau_m / c_m`).
    `tau_m` [ms] and these are numbers or `(p,)`. The result is what `siegert` and `cv_diffusion`
    take.

    Raises:
        InvalidValueError: for shapes that do not fit, values that are not finite, a rate or
            in-degree below 0, or a `tau_m` that is not above 0. Warns of one that may be in s.

    Reference:
        Brunel (2000), Dynamics of sparsely connected networks of excitatory and inhibitory spiking
        neurons, doi:10.1023/A:1008925309027.
    """
    given = rates, indegrees, weights, tau_m, external_rate, external_weight, e_l
    moments = _input_moments(*given)
    _warn_of_units("input_moments", tau_m=tau_m)
    return moments


def _input_moments(
    rates: ArrayLike,
    indegrees: ArrayLike,
    weights: ArrayLike,
    tau_m: ArrayLike,
    external_rate: ArrayLike,
    external_weight: ArrayLike,
    e_l: ArrayLike,
) -> tuple[Float64[np.ndarray, " p"], Float64[np.ndarray, " p"]]:
    """`input_moments` without its warning."""
    K, J = _checked_network(indegrees, weights)
    p = K.shape[0]
    nu = _per_population("rates", rates, p, "Hz", at_least=0.0) * 1e-3
    tau = _per_population("tau_m", tau_m, p, "ms", above=0.0)
    ext = _per_population("external_rate", external_rate, p, "Hz", at_least=0.0) * 1e-3
    jump = _per_population("external_weight", external_weight, p, "mV")
    rest = _per_population("e_l", e_l, p, "mV")
    mu = rest + tau * ((K * J) @ nu + jump * ext)
    return mu, np.sqrt(tau * ((K * J**2) @ nu + jump**2 * ext))


@spec.arguments()
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
) -> Float64[np.ndarray, " p"]:
    """Stationary rates of a network of populations of LIF neurons [Hz].

    Solves `rate = siegert(mu(rate), sigma(rate))` with `input_moments` for randomly connected
    neurons with independent input. It iterates `rate += h (siegert - rate)` from `start` [Hz],
    where h is halved if a step leads away and raised if it approaches, then calls
    `scipy.optimize.root`. A network may have several solutions, stable or not; the one that is
    reached from `start` is returned. Arguments are as in `input_moments` and `siegert`; parameters
    of neurons and `start` are numbers or `(p,)`.

    Raises:
        InvalidValueError: for what `input_moments` and `siegert` refuse, or a `start` below 0;
            `RuntimeError` where no solution is found from `start`. Warns as they do.

    Reference:
        Amit and Brunel (1997), Model of global spontaneous activity and local structured activity
        during delay periods in the cerebral cortex, doi:10.1093/cercor/7.3.237; Brunel (2000),
        Dynamics of sparsely connected networks of excitatory and inhibitory spiking neurons,
        doi:10.1023/A:1008925309027.
    """
    from scipy.optimize import root

    p = _checked_network(indegrees, weights)[0].shape[0]
    rates = _per_population("start", start, p, "Hz", at_least=0.0)
    for name, value in (("v_th", v_th), ("v_reset", v_reset)):
        _per_population(name, value, p, "mV")
    for name, value in (("t_ref", t_ref), ("tau_syn", tau_syn)):
        _per_population(name, value, p, "ms", at_least=0.0)
    _per_population("tau_m", tau_m, p, "ms", above=0.0)
    times = {"tau_m": tau_m, "t_ref": t_ref, "tau_syn": tau_syn}
    _warn_of_units("self_consistent_rates", v_th, v_reset, **times)

    def away(x: Float64[np.ndarray, " p"]) -> Float64[np.ndarray, " p"]:
        given = np.clip(x, 0.0, _FASTEST)
        mu, sigma = _input_moments(
            given, indegrees, weights, tau_m, external_rate, external_weight, e_l
        )
        return _siegert(mu, sigma, tau_m, v_th, v_reset, t_ref, tau_syn) - x

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


def _relaxed(
    away: Callable, rates: Float64[np.ndarray, " p"], steps: int = 500
) -> Float64[np.ndarray, " p"]:
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


def _checked_network(
    indegrees: ArrayLike, weights: ArrayLike
) -> tuple[Float64[np.ndarray, "p p"], Float64[np.ndarray, "p p"]]:
    K, J = np.asarray(indegrees, np.float64), np.asarray(weights, np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or J.shape != K.shape:
        raise InvalidValueError(
            "",
            "indegrees and weights",
            "square arrays (target, source) of one shape",
            f"{K.shape} and {J.shape}",
        )
    spec.check("", "indegrees", spec.Numbers(at_least=0.0), K)
    spec.check("", "weights", spec.Numbers("mV"), J)
    return K, J


def _per_population(
    name: str, value: ArrayLike, p: int, unit: str, **bounds: Any
) -> Float64[np.ndarray, " {p}"]:
    """One finite number for each of the p populations."""
    out = np.asarray(value, np.float64)
    if out.shape not in ((), (p,)):
        raise InvalidValueError("", name, f"a number or have shape ({p},)", str(out.shape))
    spec.check("", name, spec.Numbers(unit, **bounds), out)
    return np.broadcast_to(out, (p,))
