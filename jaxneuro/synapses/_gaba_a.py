"""GABA_A receptor: fast inhibition."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import decayed, pulling


class GABA_AState(NamedTuple):  # noqa: N801
    """State of the GABA_A conductance of n neurons.

    **Fields** `g` [nS] (n,).
    """

    g: jax.Array


class GABA_A(Synapse):  # noqa: N801
    """GABA_A receptor: a conductance that decays within 5 ms and holds v near rest.

    Equations and update are those of `ExponentialConductance`, with the kinetics of Brunel and Wang
    (2001): `current = g (e_rev - v)`, `tau_syn dg/dt = -g`, `g += w`.

    **Fields** each () or (n,): `tau_syn` [ms] time constant; `e_rev` [mV] reversal potential.

    **Step** `arrivals` [nS] (n,) are added at the end of the step. Weights are
    conductances and positive: the low `e_rev` inhibits.

    **Raises** `ValueError` unless `tau_syn` is above 0.

    **Source** Brunel and Wang (2001), doi:10.1023/A:1011204814320.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"

    tau_syn: Parameter = param(5.0, unit="ms", above=0.0)
    e_rev: Parameter = param(-70.0, unit="mV")

    def init(self, n: int) -> GABA_AState:
        return GABA_AState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: GABA_AState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[GABA_AState, Drive]:
        new, mean, slope = decayed(state.g, arrivals, self.tau_syn, dt)
        return GABA_AState(new), pulling(mean, slope, self.e_rev)
