"""Mean and variance of a membrane under Poisson input (Campbell's theorem)."""

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_bounds
from ._given import arrays_checked


@arrays_checked
def membrane_moments(
    rate: ArrayLike,
    weight: ArrayLike,
    tau_m: ArrayLike,
    tau_syn: ArrayLike = 0.0,
    c_m: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean [mV] and variance [mV^2] of a leaky membrane without threshold under Poisson input.

        mean = rate int psp dt = J rate tau_m
        variance = rate int psp^2 dt = J^2 rate tau_m^2 / (2 (tau_m + tau_syn))

    exactly, for one Poisson process of `rate` [Hz] through instantaneous synapses (`tau_syn` 0)
    or exponential currents of time constant `tau_syn` [ms]. `weight` is J [mV], the jump from
    the whole charge of a spike; with a capacitance `c_m` [pF] it is the peak of the exponential
    current, w [pA], and `J = w tau_syn / c_m`. The mean is measured from the
    potential without input. All broadcast. Moments of independent inputs add; the `sigma` of
    `siegert` is `sqrt(2 variance)` for `tau_syn` 0.

    **Raises** `ValueError` for values that are not finite, a rate or `tau_syn` below 0, a `tau_m`
    or `c_m` that is not above 0, or a `c_m` with a `tau_syn` of 0.

    **Source** Rice (1944), part I (Campbell's theorem),
    doi:10.1002/j.1538-7305.1944.tb00874.x.
    """
    check_bounds("rate", rate, "Hz", at_least=0.0)
    check_bounds("weight", weight, "mV" if c_m is None else "pA")
    check_bounds("tau_m", tau_m, "ms", above=0.0)
    check_bounds("tau_syn", tau_syn, "ms", at_least=0.0)
    per_ms, jump, tau, slow = (
        np.asarray(x, np.float64) for x in (np.asarray(rate) * 1e-3, weight, tau_m, tau_syn)
    )
    if c_m is not None:
        check_bounds("c_m", c_m, "pF", above=0.0)
        if not (slow > 0).all():
            raise ValueError(
                "with c_m the weight is the peak of an exponential current, and tau_syn must be "
                f"above 0 ms; got {tau_syn}. Leave c_m out for a weight in mV"
            )
        jump = jump * slow / np.asarray(c_m, np.float64)
    mean = jump * per_ms * tau
    return (mean + 0.0 * slow)[()], (jump**2 * per_ms * tau**2 / (2.0 * (tau + slow)))[()]
