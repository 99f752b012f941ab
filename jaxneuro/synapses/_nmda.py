"""NMDA receptors: slow conductances that magnesium blocks at rest."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Synapse
from ..spec import InvalidValueError, Less
from ._decaying import CONDUCTANCE, decayed, pulling, risen, unit_peak


class NMDAState(NamedTuple):
    """State of the NMDA conductance of n neurons.

    Attributes:
        g: conductance without the block (n,) [nS].
        v: voltage at the start of the last step (n,) [mV], 0 before the first.
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

    Arrivals [nS] are added at the end of a step.

    Reference:
        Jahr and Stevens (1990), Voltage dependence of NMDA-activated macroscopic conductances
        predicted by single-channel kinetics, doi:10.1523/JNEUROSCI.10-09-03178.1990, for B; Brunel
        and Wang (2001), Effects of neuromodulation in a cortical network model of object working
        memory dominated by recurrent inhibition, doi:10.1023/A:1011204814320, for the kinetics.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"
    state_bounds: ClassVar[Mapping[str, tuple]] = {"g": CONDUCTANCE}

    tau_syn: Parameter = param(100.0, unit="ms", above=0.0, doc="time constant of the decay")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")
    mg: Parameter = param(1.0, unit="mM", at_least=0.0, doc="magnesium outside, 0 for no block")

    def time_constants(self) -> dict[str, Any]:
        return {"g": self.tau_syn}

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


class DoubleExponentialNMDAState(NamedTuple):
    """State of the NMDA conductance of n neurons.

    Attributes:
        g: conductance without the block (n,) [nS].
        rise: what it still grows by (n,) [nS].
        v: voltage at the start of the last step (n,) [mV], 0 before the first.
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

    Arrivals [nS] are added to the rise at the end of a step.

    Reference:
        Jahr and Stevens (1990), Voltage dependence of NMDA-activated macroscopic conductances
        predicted by single-channel kinetics, doi:10.1523/JNEUROSCI.10-09-03178.1990, for B; Dayan
        and Abbott (2001), Theoretical Neuroscience, sec. 5.8, ISBN 9780262041997, for g.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"
    state_bounds: ClassVar[Mapping[str, tuple]] = {"g": CONDUCTANCE, "rise": CONDUCTANCE}

    tau_rise: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of the rise")
    tau_decay: Parameter = param(100.0, unit="ms", above=0.0, doc="time constant of the decay")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")
    mg: Parameter = param(1.0, unit="mM", at_least=0.0, doc="magnesium outside, 0 for no block")
    rules = (Less("tau_rise", "tau_decay"),)

    def time_constants(self) -> dict[str, Any]:
        return {"g": self.tau_decay, "rise": self.tau_rise}

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


def block(v: jax.Array, mg: Any) -> jax.Array:
    """The open share of NMDA channels at v [mV]: `1 / (1 + mg/3.57 exp(-0.062 v))`.

    `mg` [mM] is the concentration outside. Jahr and Stevens (1990),
    doi:10.1523/JNEUROSCI.10-09-03178.1990.
    """
    return 1.0 / (1.0 + (mg * (1.0 / 3.57)) * jnp.exp(-0.062 * v))


def predicted_middle(v: jax.Array, before: jax.Array) -> jax.Array:
    """v [mV] in the middle of a step, on the line through v `before` and v at its start.

    Where `before` is 0 there was no step before, and the middle is v.
    """
    return v + jnp.where(before == 0.0, jnp.zeros_like(v), 0.5 * (v - before))


def check_voltage(owner: str, v: Any) -> None:
    """Raises `InvalidValueError` where the target has no voltage."""
    if v is None:
        must = "neurons with a voltage, on which the magnesium block depends"
        raise InvalidValueError(owner, "target", must, "neurons without one")
