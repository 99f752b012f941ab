"""Exponential synapses: a current or a conductance that decays exponentially."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import mean_over_step
from .._types import Drive, Synapse


class ExponentialState(NamedTuple):
    """State of the exponential current of n neurons.

    **Fields** `current` [pA] (n,).
    """

    current: jax.Array


class Exponential(Synapse):
    """Exponential current: jumps by w [pA] when a spike arrives, decays with tau_syn.

    Equations: `tau_syn di/dt = -i`, `i += w`. Update: exact; the drive is the mean of i over
    the step, `i tau_syn/dt (1 - exp(-dt/tau_syn))`.

    **Fields** `tau_syn` [ms] () or (n,): time constant.

    **Step** `arrivals` [pA] (n,) are added at the end of the step.

    **Raises** `ValueError` unless `tau_syn` is above 0.

    **Source** Rotter and Diesmann (1999), doi:10.1007/s004220050570.
    """

    weight_unit: ClassVar[str] = "pA"
    absent: ClassVar[Mapping[str, str]] = {
        "e_rev": "a current has no reversal potential, ExponentialConductance has one"
    }

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0)

    def init(self, n: int) -> ExponentialState:
        return ExponentialState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: ExponentialState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[ExponentialState, Drive]:
        mean = state.current * mean_over_step(self.tau_syn, dt)
        new = state.current * jnp.exp(-dt / self.tau_syn) + arrivals
        return ExponentialState(new), Drive(current=mean)
