"""Leaky integrate-and-fire neurons whose threshold moves: up with each spike, or to hold a rate.

Bellec, Salaj, Subramoney, Legenstein, Maass (2018); Lazar, Pipa, Triesch (2009).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive
from .._numerics.maths import decay_mean
from ..spec import Less, Rule
from ..surrogates import Surrogate, surrogate_field, threshold
from ._membrane import (
    NEEDS_SURROGATE,
    ResetNeuron,
    SubtractingNeuron,
    countdown,
    reset_field,
    reset_gradient_field,
)


class ALIFState(NamedTuple):
    """State of n ALIF neurons.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        theta: what is added to the threshold [mV]; after a spike its value *before* the jump.
        spikes: which spiked in the last step, bool; floats with `reset_gradient`.
        refractory: steps left before the membrane moves again, uint16.
    """

    v: jax.Array
    theta: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class ALIF(SubtractingNeuron):
    """Leaky integrate-and-fire neuron whose threshold rises with each spike.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current - conductance v` and
    `dtheta/dt = -theta / tau_theta`; a spike when `v >= v_th + theta`, then `v = v_reset`,
    held for `t_ref`, and `theta = theta + beta`.

    Update: exact in both for a drive that is constant over the step; then `jump` is added and v
    compared with the threshold at the end of the step. theta decays while v is held. With
    `reset="subtract"` a spike lowers v by `v_th - v_reset` instead.

    Start: at `e_l`, theta = 0.

    Reference:
        Bellec et al. (2018), Long short-term memory and learning-to-learn in networks of spiking
        neurons, NeurIPS 31, sec. 2; arXiv:1803.09574.

    Note:
        In units of mV (the paper has none, and subtracts the threshold); the
        reset is applied at the start of the next step.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-55.0, unit="mV", doc="threshold at rest")
    v_reset: Parameter = param(-70.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    tau_theta: Parameter = param(200.0, unit="ms", above=0.0, doc="time constant of theta")
    beta: Parameter = param(2.0, unit="mV", at_least=0.0, least=0.0, doc="jump of theta at a spike")
    surrogate: Surrogate | None = surrogate_field()
    reset: str = reset_field()
    reset_gradient: bool = reset_gradient_field()
    rules = (Less("v_reset", "v_th"), NEEDS_SURROGATE)

    def time_constants(self) -> dict[str, Any]:
        return {"v": self.tau_m, "theta": self.tau_theta}

    def init(self, n: int) -> ALIFState:
        v = jnp.full(n, self.e_l)
        return ALIFState(v, jnp.zeros_like(v), self.no_spikes(n), jnp.zeros(n, jnp.uint16))

    def step(self, state: ALIFState, drive: Drive, dt: float) -> tuple[ALIFState, jax.Array]:
        v = self.voltage(state)
        spiked = state.spikes.astype(bool)
        raised = jnp.where(spiked, state.theta + self.beta, state.theta)
        theta = raised * jnp.exp(-dt / self.tau_theta)
        free, left = countdown(spiked, state.refractory, self.t_ref, dt)
        current, conductance = drive.linear()
        rate = 1.0 / self.tau_m + conductance / self.c_m
        slope = self.e_l / self.tau_m + current / self.c_m - rate * v
        v = jnp.where(free, drive.jumped(v + slope * decay_mean(rate, dt)), v)
        before, seen = self.voltage(state), self.compared(v, free)
        spikes, fired = threshold(seen, self.v_th + theta, self.surrogate, before, free=free)
        kept = spikes if self.reset_gradient else fired
        return ALIFState(v, theta, kept, left), spikes


class HomeostaticLIFState(NamedTuple):
    """State of n homeostatic neurons.

    Attributes:
        v: membrane potential [mV]; after a spike its value *before* the reset.
        theta: what is added to the threshold [mV]; after a spike its value *before* the rise.
        spikes: which spiked in the last step, bool.
        refractory: steps left before the membrane moves again, uint16.
    """

    v: jax.Array
    theta: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class HomeostaticLIF(ResetNeuron):
    """Leaky integrate-and-fire neuron whose threshold moves until it fires at a given rate.

    Equations: `c_m dv/dt = -(c_m/tau_m) (v - e_l) + current - conductance v` and
    `dtheta/dt = -eta target`, theta at least `theta_min`; a spike when `v >= v_th + theta`, then
    `v = v_reset`, held for `t_ref`, and `theta = theta + eta`. While theta stays above its bound
    the mean rate over a time T is the target, but for (theta(T) - theta(0)) / (eta T).

    Update: exact in both for a drive that is constant over the step; then `jump` is added and v
    compared with the threshold at the end of the step.

    Start: at `e_l`, theta = 0.

    Reference:
        Lazar, Pipa, Triesch (2009), SORN: a self-organizing recurrent neural network, Front.
        Comput. Neurosci. 3, 23, doi:10.3389/neuro.10.023.2009.

    Note:
        A membrane with time in ms in place of binary units; the threshold has a lower bound, since
        that of a neuron without input would fall for ever.
    """

    tau_m: Parameter = param(10.0, unit="ms", above=0.0, doc="membrane time constant")
    c_m: Parameter = param(250.0, unit="pF", above=0.0, doc="capacitance")
    e_l: Parameter = param(-70.0, unit="mV", doc="leak reversal")
    v_th: Parameter = param(-55.0, unit="mV", doc="threshold at the start")
    v_reset: Parameter = param(-70.0, unit="mV", doc="reset")
    t_ref: Parameter = param(2.0, unit="ms", at_least=0.0, on_grid=True, doc="refractory time")
    eta: Parameter = param(0.05, unit="mV", at_least=0.0, least=0.0, doc="jump of theta at a spike")
    target: Parameter = param(5.0, unit="Hz", at_least=0.0, doc="rate that the threshold seeks")
    theta_min: Parameter = param(-10.0, unit="mV", at_most=0.0, least=0.0, doc="lowest theta")
    surrogate: Surrogate | None = surrogate_field()
    rules = (
        Rule(
            "v_reset",
            "below v_th + theta_min ({v_th} and {theta_min})",
            lambda v_reset, v_th, theta_min: v_reset < v_th + theta_min,
        ),
    )

    def time_constants(self) -> dict[str, Any]:
        return {
            "v": self.tau_m,
            # The time in which theta falls from a spike's jump to its bound.
            "theta": 1000.0 * (self.eta - self.theta_min) / (self.eta * self.target),
        }

    def init(self, n: int) -> HomeostaticLIFState:
        v = jnp.full(n, self.e_l)
        none = jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16)
        return HomeostaticLIFState(v, jnp.zeros_like(v), *none)

    def step(
        self, state: HomeostaticLIFState, drive: Drive, dt: float
    ) -> tuple[HomeostaticLIFState, jax.Array]:
        v = self.voltage(state)
        raised = jnp.where(state.spikes, state.theta + self.eta, state.theta)
        theta = jnp.maximum(raised - self.eta * self.target * (dt * 1e-3), self.theta_min)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        current, conductance = drive.linear()
        rate = 1.0 / self.tau_m + conductance / self.c_m
        slope = self.e_l / self.tau_m + current / self.c_m - rate * v
        v = jnp.where(free, drive.jumped(v + slope * decay_mean(rate, dt)), v)
        spikes, fired = threshold(
            v, self.v_th + theta, self.surrogate, self.voltage(state), free=free
        )
        return HomeostaticLIFState(v, theta, fired, left), spikes
