"""Exponential conductance with a reversal potential."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import decayed, pulling


class ExponentialConductanceState(NamedTuple):
    """State of the exponential conductance of n neurons.

    **Fields** `g` [nS] (n,).
    """

    g: jax.Array


class ExponentialConductance(Synapse):
    """Exponential conductance: jumps by w [nS] when a spike arrives, decays with tau_syn.

    Equations: `current = g (e_rev - v)`, `tau_syn dg/dt = -g`, `g += w`. Update: exact in g;
    the neuron gets the mean of g over the step and its slope. The coupling is of fourth order in
    dt if the neuron uses both (`LIF`), and stable for any g.

    **Fields** each () or (n,): `tau_syn` [ms] time constant; `e_rev` [mV] reversal potential.

    **Step** `arrivals` [nS] (n,) are added at the end of the step. Weights are conductances: an
    inhibitory synapse has a positive weight and a low `e_rev`.

    **Raises** `ValueError` unless `tau_syn` is above 0.

    **Source** Brette et al. (2007), benchmark 1, doi:10.1007/s10827-007-0038-6.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"

    tau_syn: Parameter = param(5.0, unit="ms", above=0.0)
    e_rev: Parameter = param(0.0, unit="mV")

    def init(self, n: int) -> ExponentialConductanceState:
        return ExponentialConductanceState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: ExponentialConductanceState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[ExponentialConductanceState, Drive]:
        new, mean, slope = decayed(state.g, arrivals, self.tau_syn, dt)
        return ExponentialConductanceState(new), pulling(mean, slope, self.e_rev)
