"""NMDA receptor with a rise time."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import check_taus, pulling, risen, unit_peak
from ._magnesium import block, check_voltage, predicted_middle


class DoubleExponentialNMDAState(NamedTuple):
    """State of the NMDA conductance of n neurons.

    **Fields** `g` [nS] (n,): conductance without the block; `rise` [nS] (n,): what it still grows
    by; `v` [mV] (n,): voltage at the start of the last step, 0 before the first.
    """

    g: jax.Array
    rise: jax.Array
    v: jax.Array


class DoubleExponentialNMDA(Synapse):
    """NMDA receptor: a difference of exponentials times the magnesium block.

    Equations: `current = g B(v) (e_rev - v)`, `B(v) = 1 / (1 + mg/3.57 exp(-0.062 v))`; g as in
    `DoubleExponentialConductance`: an arrival of w gives g a peak of w. Update: exact in g; B is at
    the voltage predicted for the middle of the step, with the order, and in the step after a reset
    the error, of `NMDA`.

    **Fields** each () or (n,): `tau_rise` [ms] and `tau_decay` [ms] time constants; `e_rev` [mV]
    reversal potential; `mg` [mM] magnesium outside, 0 for no block.

    **Step** `arrivals` [nS] (n,) are added to the rise at the end of the step.

    **Raises** `ValueError` unless `0 < tau_rise < tau_decay` and `mg` is at least 0, and (when
    traced) for neurons without a voltage.

    **Source** Jahr and Stevens (1990), doi:10.1523/JNEUROSCI.10-09-03178.1990, for B; Dayan and
    Abbott (2001), Theoretical Neuroscience, sec. 5.8, ISBN 9780262041997, for g.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"

    tau_rise: Parameter = param(2.0, unit="ms", above=0.0)
    tau_decay: Parameter = param(100.0, unit="ms", above=0.0)
    e_rev: Parameter = param(0.0, unit="mV")
    mg: Parameter = param(1.0, unit="mM", at_least=0.0)

    def __check_init__(self) -> None:
        check_taus("DoubleExponentialNMDA", self.tau_rise, self.tau_decay)

    def init(self, n: int) -> DoubleExponentialNMDAState:
        zero = jnp.zeros(n, self.tau_rise.dtype)
        return DoubleExponentialNMDAState(zero, zero, zero)

    def step(
        self, state: DoubleExponentialNMDAState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DoubleExponentialNMDAState, Drive]:
        check_voltage("DoubleExponentialNMDA", v)
        taus = (self.tau_rise, self.tau_decay)
        g, rise, mean, slope = risen(*state[:2], arrivals, taus, unit_peak(*taus), dt)
        share = block(predicted_middle(v, state.v), self.mg)
        drive = pulling(mean * share, slope * share, self.e_rev)
        return DoubleExponentialNMDAState(g, rise, v), drive
