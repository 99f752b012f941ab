"""Conductances that decay after an arrival, times the distance to a reversal potential."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Synapse
from ..spec import Less
from ._decaying import CONDUCTANCE, decayed, pulling, risen, unit_peak


class ExponentialConductanceState(NamedTuple):
    """State of the exponential conductance of n neurons.

    Attributes:
        g: conductance (n,) [nS].
    """

    g: jax.Array


class ExponentialConductance(Synapse):
    """Exponential conductance: jumps by w [nS] when a spike arrives, decays with tau_syn.

    Equations: `current = g (e_rev - v)`, `tau_syn dg/dt = -g`, `g += w`. Update: exact in g;
    the neuron gets the mean of g over the step and its slope. The coupling is of fourth order in
    dt if the neuron uses both (`LIF`), and stable for any g.

    Arrivals [nS] are added at the end of a step. Weights are conductances: an inhibitory synapse
    has a positive weight and a low `e_rev`.

    Reference:
        Brette et al. (2007), Simulation of networks of spiking neurons: a review of tools and
        strategies, benchmark 1, doi:10.1007/s10827-007-0038-6.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"
    response_area: ClassVar[float] = 1.0
    state_bounds: ClassVar[Mapping[str, tuple]] = {"g": CONDUCTANCE}

    tau_syn: Parameter = param(5.0, unit="ms", above=0.0, doc="time constant of the decay")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")

    def time_constants(self) -> dict[str, Any]:
        return {"g": self.tau_syn}

    def init(self, n: int) -> ExponentialConductanceState:
        return ExponentialConductanceState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: ExponentialConductanceState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[ExponentialConductanceState, Drive]:
        new, mean, slope = decayed(state.g, arrivals, self.tau_syn, dt)
        return ExponentialConductanceState(new), pulling(mean, slope, self.e_rev)


class AMPAState(NamedTuple):
    """State of the AMPA conductance of n neurons.

    Attributes:
        g: conductance (n,) [nS].
    """

    g: jax.Array


class AMPA(Synapse):
    """AMPA receptor: a conductance that decays within 2 ms and depolarises.

    Equations and update are those of `ExponentialConductance`, with the kinetics of Brunel and Wang
    (2001): `current = g (e_rev - v)`, `tau_syn dg/dt = -g`, `g += w`.

    Arrivals [nS] are added at the end of a step.

    Reference:
        Brunel and Wang (2001), Effects of neuromodulation in a cortical network model of object
        working memory dominated by recurrent inhibition, doi:10.1023/A:1011204814320.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"
    response_area: ClassVar[float] = 1.0
    state_bounds: ClassVar[Mapping[str, tuple]] = {"g": CONDUCTANCE}

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of the decay")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")

    def time_constants(self) -> dict[str, Any]:
        return {"g": self.tau_syn}

    def init(self, n: int) -> AMPAState:
        return AMPAState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: AMPAState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[AMPAState, Drive]:
        new, mean, slope = decayed(state.g, arrivals, self.tau_syn, dt)
        return AMPAState(new), pulling(mean, slope, self.e_rev)


class GABA_AState(NamedTuple):  # noqa: N801
    """State of the GABA_A conductance of n neurons.

    Attributes:
        g: conductance (n,) [nS].
    """

    g: jax.Array


class GABA_A(Synapse):  # noqa: N801
    """GABA_A receptor: a conductance that decays within 5 ms and holds v near rest.

    Equations and update are those of `ExponentialConductance`, with the kinetics of Brunel and Wang
    (2001): `current = g (e_rev - v)`, `tau_syn dg/dt = -g`, `g += w`.

    Arrivals [nS] are added at the end of a step. Weights are conductances and positive: the low
    `e_rev` inhibits.

    Reference:
        Brunel and Wang (2001), Effects of neuromodulation in a cortical network model of object
        working memory dominated by recurrent inhibition, doi:10.1023/A:1011204814320.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"
    response_area: ClassVar[float] = 1.0
    state_bounds: ClassVar[Mapping[str, tuple]] = {"g": CONDUCTANCE}

    tau_syn: Parameter = param(5.0, unit="ms", above=0.0, doc="time constant of the decay")
    e_rev: Parameter = param(-70.0, unit="mV", doc="reversal potential")

    def time_constants(self) -> dict[str, Any]:
        return {"g": self.tau_syn}

    def init(self, n: int) -> GABA_AState:
        return GABA_AState(jnp.zeros(n, self.tau_syn.dtype))

    def step(
        self, state: GABA_AState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[GABA_AState, Drive]:
        new, mean, slope = decayed(state.g, arrivals, self.tau_syn, dt)
        return GABA_AState(new), pulling(mean, slope, self.e_rev)


class AlphaConductanceState(NamedTuple):
    """State of the alpha conductance of n neurons.

    Attributes:
        g: conductance (n,) [nS].
        rise: what it still grows by (n,) [nS].
    """

    g: jax.Array
    rise: jax.Array


class AlphaConductance(Synapse):
    """Alpha conductance: `w t e/tau_syn exp(-t/tau_syn)` after an arrival of w [nS], its peak.

    Equations: `current = g (e_rev - v)`, `tau_syn dx/dt = -x`, `tau_syn dg/dt = x - g`,
    `x += e w`. Update: exact in g; the neuron gets the mean of g over the step and its slope, as
    of `ExponentialConductance`.

    Arrivals [nS] are added to the rise at the end of a step.

    Reference:
        Rall (1967), Distinguishing theoretical synaptic potentials computed for different
        soma-dendritic distributions of synaptic input, doi:10.1152/jn.1967.30.5.1138; the peak as
        weight is that of NEST's `iaf_cond_alpha`, https://nest-simulator.readthedocs.io.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"
    response_area: ClassVar[float] = math.e
    state_bounds: ClassVar[Mapping[str, tuple]] = {"g": CONDUCTANCE, "rise": CONDUCTANCE}

    tau_syn: Parameter = param(2.0, unit="ms", above=0.0, doc="time of the peak")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")

    def time_constants(self) -> dict[str, Any]:
        return {"g": self.tau_syn, "rise": self.tau_syn}

    def init(self, n: int) -> AlphaConductanceState:
        zero = jnp.zeros(n, self.tau_syn.dtype)
        return AlphaConductanceState(zero, zero)

    def step(
        self, state: AlphaConductanceState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[AlphaConductanceState, Drive]:
        taus = (self.tau_syn, self.tau_syn)
        g, rise, mean, slope = risen(*state, arrivals, taus, math.e, dt)
        return AlphaConductanceState(g, rise), pulling(mean, slope, self.e_rev)


class DoubleExponentialConductanceState(NamedTuple):
    """State of the conductance of n neurons.

    Attributes:
        g: conductance (n,) [nS].
        rise: what it still grows by (n,) [nS].
    """

    g: jax.Array
    rise: jax.Array


class DoubleExponentialConductance(Synapse):
    """Conductance that is a difference of exponentials; an arrival of w [nS] gives a peak of w.

    Equations: `current = g (e_rev - v)`; g as the current of `DoubleExponential`. Update: exact in
    g; the neuron gets the mean of g over the step and its slope, as of `ExponentialConductance`.

    Arrivals [nS] are added to the rise at the end of a step.

    Reference:
        Dayan and Abbott (2001), Theoretical Neuroscience, sec. 5.8, ISBN 9780262041997; the peak as
        weight is that of NEST's `iaf_cond_beta`, https://nest-simulator.readthedocs.io.
    """

    weight_sign: ClassVar[int] = 1
    weight_unit: ClassVar[str] = "nS"
    response_area: ClassVar[float] = math.e
    state_bounds: ClassVar[Mapping[str, tuple]] = {"g": CONDUCTANCE, "rise": CONDUCTANCE}

    tau_rise: Parameter = param(0.5, unit="ms", above=0.0, doc="time constant of the rise")
    tau_decay: Parameter = param(5.0, unit="ms", above=0.0, doc="time constant of the decay")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")
    rules = (Less("tau_rise", "tau_decay"),)

    def time_constants(self) -> dict[str, Any]:
        return {"g": self.tau_decay, "rise": self.tau_rise}

    def init(self, n: int) -> DoubleExponentialConductanceState:
        zero = jnp.zeros(n, self.tau_rise.dtype)
        return DoubleExponentialConductanceState(zero, zero)

    def step(
        self, state: DoubleExponentialConductanceState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DoubleExponentialConductanceState, Drive]:
        taus = (self.tau_rise, self.tau_decay)
        g, rise, mean, slope = risen(*state, arrivals, taus, unit_peak(*taus), dt)
        return DoubleExponentialConductanceState(g, rise), pulling(mean, slope, self.e_rev)
