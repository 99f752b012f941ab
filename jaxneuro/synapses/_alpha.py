"""Alpha function: a current that rises and decays with one time constant."""

import math
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import risen


class AlphaState(NamedTuple):
    """State of the alpha current of n neurons.

    **Fields** `current` [pA] (n,); `rise` [pA] (n,): what it still grows by.
    """

    current: jax.Array
    rise: jax.Array


class Alpha(Synapse):
    """Alpha current: `w t e/tau_syn exp(-t/tau_syn)` after an arrival of w [pA], its peak.

    Equations: `tau_syn dx/dt = -x`, `tau_syn di/dt = x - i`, `x += e w`. Update: exact; the drive
    is the mean of i over the step.

    **Fields** `tau_syn` [ms] () or (n,): time of the peak.

    **Step** `arrivals` [pA] (n,) are added to the rise at the end of the step.

    **Raises** `ValueError` unless `tau_syn` is above 0.

    **Source** Rall (1967), doi:10.1152/jn.1967.30.5.1138, eq. of the transient; Rotter and Diesmann
    (1999), doi:10.1007/s004220050570, for the update.
    """

    weight_unit: ClassVar[str] = "pA"
    absent: ClassVar[Mapping[str, str]] = {
        "e_rev": "a current has no reversal potential, AlphaConductance has one"
    }

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0)

    def init(self, n: int) -> AlphaState:
        zero = jnp.zeros(n, self.tau_syn.dtype)
        return AlphaState(zero, zero)

    def step(
        self, state: AlphaState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[AlphaState, Drive]:
        taus = (self.tau_syn, self.tau_syn)
        current, rise, mean, _ = risen(*state, arrivals, taus, math.e, dt)
        return AlphaState(current, rise), Drive(current=mean)
