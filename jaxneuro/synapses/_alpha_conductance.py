"""Alpha function: a conductance that rises and decays with one time constant."""

import math
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import pulling, risen


class AlphaConductanceState(NamedTuple):
    """State of the alpha conductance of n neurons.

    **Fields** `g` [nS] (n,); `rise` [nS] (n,): what it still grows by.
    """

    g: jax.Array
    rise: jax.Array


class AlphaConductance(Synapse):
    """Alpha conductance: `w t e/tau_syn exp(-t/tau_syn)` after an arrival of w [nS], its peak.

    Equations: `current = g (e_rev - v)`, `tau_syn dx/dt = -x`, `tau_syn dg/dt = x - g`,
    `x += e w`. Update: exact in g; the neuron gets the mean of g over the step and its slope, as
    of `ExponentialConductance`.

    **Fields** each () or (n,): `tau_syn` [ms] time of the peak; `e_rev` [mV] reversal potential.

    **Step** `arrivals` [nS] (n,) are added to the rise at the end of the step.

    **Raises** `ValueError` unless `tau_syn` is above 0.

    **Source** Rall (1967), doi:10.1152/jn.1967.30.5.1138; the peak as weight is that of NEST's
    `iaf_cond_alpha`, https://nest-simulator.readthedocs.io.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0)
    e_rev: Parameter = param(0.0, unit="mV")

    def init(self, n: int) -> AlphaConductanceState:
        zero = jnp.zeros(n, self.tau_syn.dtype)
        return AlphaConductanceState(zero, zero)

    def step(
        self, state: AlphaConductanceState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[AlphaConductanceState, Drive]:
        taus = (self.tau_syn, self.tau_syn)
        g, rise, mean, slope = risen(*state, arrivals, taus, math.e, dt)
        return AlphaConductanceState(g, rise), pulling(mean, slope, self.e_rev)
