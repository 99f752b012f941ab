"""Currents that decay after an arrival: exponential, alpha, double exponential."""

import math
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Synapse
from .._numerics.maths import mean_over_step
from ..spec import Less
from ._decaying import risen, unit_peak


class ExponentialState(NamedTuple):
    """State of the exponential current of n neurons.

    Attributes:
        current: current (n,) [pA].
    """

    current: jax.Array


class Exponential(Synapse):
    """Exponential current: jumps by w [pA] when a spike arrives, decays with tau_syn.

    Equations: `tau_syn di/dt = -i`, `i += w`. Update: exact; the drive is the mean of i over
    the step, `i tau_syn/dt (1 - exp(-dt/tau_syn))`.

    Arrivals [pA] are added at the end of a step.

    Reference:
        Rotter and Diesmann (1999), Exact digital simulation of time-invariant linear systems with
        applications to neuronal modeling, doi:10.1007/s004220050570.
    """

    weight_unit: ClassVar[str] = "pA"
    response_area: ClassVar[float] = 1.0

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of the decay")

    def time_constants(self) -> dict[str, Any]:
        return {"current": self.tau_syn}

    def init(self, n: int) -> ExponentialState:
        return ExponentialState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: ExponentialState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[ExponentialState, Drive]:
        mean = state.current * mean_over_step(self.tau_syn, dt)
        new = state.current * jnp.exp(-dt / self.tau_syn) + arrivals
        return ExponentialState(new), Drive(current=mean)


class AlphaState(NamedTuple):
    """State of the alpha current of n neurons.

    Attributes:
        current: current (n,) [pA].
        rise: what it still grows by (n,) [pA].
    """

    current: jax.Array
    rise: jax.Array


class Alpha(Synapse):
    """Alpha current: `w t e/tau_syn exp(-t/tau_syn)` after an arrival of w [pA], its peak.

    Equations: `tau_syn dx/dt = -x`, `tau_syn di/dt = x - i`, `x += e w`. Update: exact; the drive
    is the mean of i over the step.

    Arrivals [pA] are added to the rise at the end of a step.

    Reference:
        Rall (1967), Distinguishing theoretical synaptic potentials computed for different
        soma-dendritic distributions of synaptic input, doi:10.1152/jn.1967.30.5.1138, eq. of the
        transient; Rotter and Diesmann (1999), Exact digital simulation of time-invariant linear
        systems with applications to neuronal modeling, doi:10.1007/s004220050570, for the update.
    """

    weight_unit: ClassVar[str] = "pA"
    response_area: ClassVar[float] = math.e

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0, doc="time of the peak")

    def time_constants(self) -> dict[str, Any]:
        return {"current": self.tau_syn, "rise": self.tau_syn}

    def init(self, n: int) -> AlphaState:
        zero = jnp.zeros(n, self.tau_syn.dtype)
        return AlphaState(zero, zero)

    def step(
        self, state: AlphaState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[AlphaState, Drive]:
        taus = (self.tau_syn, self.tau_syn)
        current, rise, mean, _ = risen(*state, arrivals, taus, math.e, dt)
        return AlphaState(current, rise), Drive(current=mean)


class DoubleExponentialState(NamedTuple):
    """State of the current of n neurons.

    Attributes:
        current: current (n,) [pA].
        rise: what it still grows by (n,) [pA].
    """

    current: jax.Array
    rise: jax.Array


class DoubleExponential(Synapse):
    """Current that is a difference of exponentials; an arrival of w [pA] gives a peak of w.

    Equations: `i(t) = w c (exp(-t/tau_decay) - exp(-t/tau_rise))` after an arrival, c such that the
    peak is w, `log(tau_decay/tau_rise) tau_rise tau_decay / (tau_decay - tau_rise)` later. As a
    linear system: `tau_rise dx/dt = -x`, `di/dt = x/tau_rise - i/tau_decay`, `x += q w`, with
    `q = (tau_decay/tau_rise)^(tau_rise/(tau_decay - tau_rise))`. Update: exact, also for time
    constants that are nearly equal; the drive is the mean of i over the step.

    Arrivals [pA] are added to the rise at the end of a step.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, sec. 5.8, ISBN 9780262041997.
    """

    weight_unit: ClassVar[str] = "pA"
    response_area: ClassVar[float] = math.e

    tau_rise: Parameter = param(0.5, unit="ms", above=0.0, doc="time constant of the rise")
    tau_decay: Parameter = param(5.0, unit="ms", above=0.0, doc="time constant of the decay")
    rules = (Less("tau_rise", "tau_decay"),)

    def time_constants(self) -> dict[str, Any]:
        return {"current": self.tau_decay, "rise": self.tau_rise}

    def init(self, n: int) -> DoubleExponentialState:
        zero = jnp.zeros(n, self.tau_rise.dtype)
        return DoubleExponentialState(zero, zero)

    def step(
        self, state: DoubleExponentialState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DoubleExponentialState, Drive]:
        taus = (self.tau_rise, self.tau_decay)
        current, rise, mean, _ = risen(*state, arrivals, taus, unit_peak(*taus), dt)
        return DoubleExponentialState(current, rise), Drive(current=mean)
