"""AMPA receptor: fast excitation."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import decayed, pulling


class AMPAState(NamedTuple):
    """State of the AMPA conductance of n neurons.

    **Fields** `g` [nS] (n,).
    """

    g: jax.Array


class AMPA(Synapse):
    """AMPA receptor: a conductance that decays within 2 ms and depolarises.

    Equations and update are those of `ExponentialConductance`, with the kinetics of Brunel and Wang
    (2001): `current = g (e_rev - v)`, `tau_syn dg/dt = -g`, `g += w`.

    **Fields** each () or (n,): `tau_syn` [ms] time constant; `e_rev` [mV] reversal potential.

    **Step** `arrivals` [nS] (n,) are added at the end of the step.

    **Raises** `ValueError` unless `tau_syn` is above 0.

    **Source** Brunel and Wang (2001), doi:10.1023/A:1011204814320.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0)
    e_rev: Parameter = param(0.0, unit="mV")

    def init(self, n: int) -> AMPAState:
        return AMPAState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: AMPAState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[AMPAState, Drive]:
        new, mean, slope = decayed(state.g, arrivals, self.tau_syn, dt)
        return AMPAState(new), pulling(mean, slope, self.e_rev)
