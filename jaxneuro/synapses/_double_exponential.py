"""Difference of two exponentials: a current with a rise time and a decay time."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import check_taus, risen, unit_peak


class DoubleExponentialState(NamedTuple):
    """State of the current of n neurons.

    **Fields** `current` [pA] (n,); `rise` [pA] (n,): what it still grows by.
    """

    current: jax.Array
    rise: jax.Array


class DoubleExponential(Synapse):
    """Current that is a difference of exponentials; an arrival of w [pA] gives a peak of w.

    Equations: `i(t) = w c (exp(-t/tau_decay) - exp(-t/tau_rise))` after an arrival, c such that the
    peak is w, `log(tau_decay/tau_rise) tau_rise tau_decay / (tau_decay - tau_rise)` later. As a
    linear system: `tau_rise dx/dt = -x`, `di/dt = x/tau_rise - i/tau_decay`, `x += q w`, with
    `q = (tau_decay/tau_rise)^(tau_rise/(tau_decay - tau_rise))`. Update: exact, also for time
    constants that are nearly equal; the drive is the mean of i over the step.

    **Fields** each () or (n,): `tau_rise` [ms] and `tau_decay` [ms] time constants.

    **Step** `arrivals` [pA] (n,) are added to the rise at the end of the step.

    **Raises** `ValueError` unless `0 < tau_rise < tau_decay`.

    **Source** Dayan and Abbott (2001), Theoretical Neuroscience, sec. 5.8, ISBN 9780262041997.
    """

    weight_unit: ClassVar[str] = "pA"
    absent: ClassVar[Mapping[str, str]] = {
        "e_rev": "a current has no reversal potential, DoubleExponentialConductance has one"
    }

    tau_rise: Parameter = param(0.5, unit="ms", above=0.0)
    tau_decay: Parameter = param(5.0, unit="ms", above=0.0)

    def __check_init__(self) -> None:
        check_taus("DoubleExponential", self.tau_rise, self.tau_decay)

    def init(self, n: int) -> DoubleExponentialState:
        zero = jnp.zeros(n, self.tau_rise.dtype)
        return DoubleExponentialState(zero, zero)

    def step(
        self, state: DoubleExponentialState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DoubleExponentialState, Drive]:
        taus = (self.tau_rise, self.tau_decay)
        current, rise, mean, _ = risen(*state, arrivals, taus, unit_peak(*taus), dt)
        return DoubleExponentialState(current, rise), Drive(current=mean)
