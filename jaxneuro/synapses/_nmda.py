"""NMDA receptor: a slow conductance that magnesium blocks at rest."""

from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._decaying import decayed, pulling
from ._magnesium import block, check_voltage, predicted_middle


class NMDAState(NamedTuple):
    """State of the NMDA conductance of n neurons.

    **Fields** `g` [nS] (n,): conductance without the block; `v` [mV] (n,): voltage at the start of
    the last step, 0 before the first.
    """

    g: jax.Array
    v: jax.Array


class NMDA(Synapse):
    """NMDA receptor: a conductance that decays slowly, times the magnesium block.

    Equations: `current = g B(v) (e_rev - v)`, `B(v) = 1 / (1 + mg/3.57 exp(-0.062 v))`,
    `tau_syn dg/dt = -g`, `g += w`. With plain spikes g jumps and grows without bound; with the
    release `NMDAGate`, which saturates, it is the sum of gates of Brunel and Wang.

    Update: exact in g; the neuron gets the mean of `g B` over the step and its slope, with B at the
    voltage predicted for the middle of the step, `v + (v - v_before)/2`. The coupling is of second
    order in dt, and stable for any g. In the first step B is at v, as it is after a step that began
    at exactly 0 mV. In the step after a reset the prediction carries the reset on by half of it, so
    that B is too small there; a neuron that is refractory does not move in this step, any other
    gets an error of first order, once for a spike.

    **Fields** each () or (n,): `tau_syn` [ms] time constant; `e_rev` [mV] reversal potential;
    `mg` [mM] magnesium outside, 0 for no block.

    **Step** `arrivals` [nS] (n,) are added at the end of the step.

    **Raises** `ValueError` unless `tau_syn` is above 0 and `mg` at least 0, and (when traced) for
    neurons without a voltage.

    **Source** Jahr and Stevens (1990), doi:10.1523/JNEUROSCI.10-09-03178.1990, for B; Brunel and
    Wang (2001), doi:10.1023/A:1011204814320, for the kinetics.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"

    tau_syn: Parameter = param(100.0, unit="ms", above=0.0)
    e_rev: Parameter = param(0.0, unit="mV")
    mg: Parameter = param(1.0, unit="mM", at_least=0.0)

    def init(self, n: int) -> NMDAState:
        zero = jnp.zeros(n, self.tau_syn.dtype)
        return NMDAState(zero, zero)

    def step(
        self, state: NMDAState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[NMDAState, Drive]:
        check_voltage("NMDA", v)
        g, mean, slope = decayed(state.g, arrivals, self.tau_syn, dt)
        share = block(predicted_middle(v, state.v), self.mg)
        return NMDAState(g, v), pulling(mean * share, slope * share, self.e_rev)
