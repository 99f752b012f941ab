"""Difference of two exponentials: a conductance with a rise time and a decay time."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import check_taus, pulling, risen, unit_peak


class DoubleExponentialConductanceState(NamedTuple):
    """State of the conductance of n neurons.

    **Fields** `g` [nS] (n,); `rise` [nS] (n,): what it still grows by.
    """

    g: jax.Array
    rise: jax.Array


class DoubleExponentialConductance(Synapse):
    """Conductance that is a difference of exponentials; an arrival of w [nS] gives a peak of w.

    Equations: `current = g (e_rev - v)`; g as the current of `DoubleExponential`. Update: exact in
    g; the neuron gets the mean of g over the step and its slope, as of `ExponentialConductance`.

    **Fields** each () or (n,): `tau_rise` [ms] and `tau_decay` [ms] time constants; `e_rev` [mV]
    reversal potential.

    **Step** `arrivals` [nS] (n,) are added to the rise at the end of the step.

    **Raises** `ValueError` unless `0 < tau_rise < tau_decay`.

    **Source** Dayan and Abbott (2001), Theoretical Neuroscience, sec. 5.8, ISBN 9780262041997; the
    peak as weight is that of NEST's `iaf_cond_beta`, https://nest-simulator.readthedocs.io.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"

    tau_rise: Parameter = param(0.5, unit="ms", above=0.0)
    tau_decay: Parameter = param(5.0, unit="ms", above=0.0)
    e_rev: Parameter = param(0.0, unit="mV")

    def __check_init__(self) -> None:
        check_taus("DoubleExponentialConductance", self.tau_rise, self.tau_decay)

    def init(self, n: int) -> DoubleExponentialConductanceState:
        zero = jnp.zeros(n, self.tau_rise.dtype)
        return DoubleExponentialConductanceState(zero, zero)

    def step(
        self, state: DoubleExponentialConductanceState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DoubleExponentialConductanceState, Drive]:
        taus = (self.tau_rise, self.tau_decay)
        g, rise, mean, slope = risen(*state, arrivals, taus, unit_peak(*taus), dt)
        return DoubleExponentialConductanceState(g, rise), pulling(mean, slope, self.e_rev)
