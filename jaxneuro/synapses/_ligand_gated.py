"""Receptors that one transmitter opens, and their kinetics: the ligand gates of lixirnet."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Model, Parameter, param
from .._model import Drive, Synapse
from .._numerics.maths import decay_mean
from ..spec import Of, field
from ._nmda import block, check_voltage


class Kinetics(Model):
    """How the open fraction r of a receptor moves in one step under the concentration t [mM].

    `after(r, t, dt)` returns r, (n,), at the end of the step.
    """

    @property
    def highest(self) -> Any:
        """The largest r: `r_max`, where the kinetics have one."""
        return getattr(self, "r_max", 1.0)

    def time_constant(self) -> Any:
        """That of r without transmitter [ms]; 0 where r keeps nothing of itself for long."""
        return 0.0

    @abstractmethod
    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        """r at the end of a step."""


class DestexheKinetics(Kinetics):
    """Two states: closed receptors open at the rate `alpha t`, open ones close at `beta`.

    Equation: `dr/dt = alpha t (1 - r) - beta r`. Update: exact for a t that is constant over the
    step: r moves from where it is towards `alpha t / (alpha t + beta)` at the rate
    `alpha t + beta`, and stays between 0 and 1 whatever the concentrations add up to.

    Reference:
        Destexhe, Mainen, Sejnowski (1994), Synthesis of models for excitable membranes, synaptic
        transmission and neuromodulation using a common kinetic formalism, doi:10.1007/BF00961734;
        https://github.com/NikhilMukraj/spiking-neural-networks, which has the constants.

    Note:
        lixirnet takes forward Euler steps, which diverge where `dt (alpha t + beta)` is above 2.
        Under 1 mM for 1 ms, in steps of 0.1 ms, its r and this one differ by at most 0.118
        (GABA-A), 0.0214 (AMPA), 3e-4 (NMDA) and 2e-5 (GABA-B); the steady state is the same.
    """

    alpha: Parameter = param(1.0, unit="1/(mM ms)", at_least=0.0, doc="rate of opening")
    beta: Parameter = param(1.0, unit="1/ms", at_least=0.0, doc="rate of closing")

    @classmethod
    def ampa(cls) -> "DestexheKinetics":
        """Of AMPA receptors."""
        return cls(1.1, 0.19)

    @classmethod
    def nmda(cls) -> "DestexheKinetics":
        """Of NMDA receptors."""
        return cls(0.072, 0.0066)

    @classmethod
    def gaba_a(cls) -> "DestexheKinetics":
        """Of GABA-A receptors."""
        return cls(5.0, 0.18)

    @classmethod
    def gaba_b(cls) -> "DestexheKinetics":
        """Of GABA-B receptors, without the G protein."""
        return cls(0.016, 0.0047)

    def time_constant(self) -> Any:
        return 1.0 / self.beta

    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        opening = self.alpha * t
        slope = opening * (1.0 - r) - self.beta * r
        return r + slope * decay_mean(opening + self.beta, dt)


class ApproximateKinetics(Kinetics):
    """The open fraction is the concentration: `r = t`, between 0 and `r_max`.

    Reference:
        https://github.com/NikhilMukraj/spiking-neural-networks.

    Note:
        lixirnet's ApproximateReceptor has no bounds, only that of its dopamine model.
    """

    r_max: Parameter = param(1.0, at_least=0.0, doc="largest open fraction")

    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        return jnp.clip(t, 0.0, self.r_max)


class ExponentialDecayKinetics(Kinetics):
    """The open fraction takes up the concentration and loses most of itself in every step.

    Update: `r - r exp(-dt/tau) + t`, between 0 and `r_max`, as lixirnet's ExponentialDecayReceptor.
    A step leaves the fraction `1 - exp(-dt/tau)`, the less the shorter it is: this is no
    differential equation.

    Reference:
        https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    r_max: Parameter = param(1.0, at_least=0.0, doc="largest open fraction")
    tau: Parameter = param(2.0, unit="ms", above=0.0, doc="time constant of the loss, as above")

    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        return jnp.clip(r * -jnp.expm1(-dt / self.tau) + t, 0.0, self.r_max)


class LigandGatedState(NamedTuple):
    """State of the receptors of n neurons.

    Attributes:
        r: fraction of the receptors that is open (n,).
    """

    r: jax.Array


class LigandGated(Synapse):
    """Receptors that a transmitter opens: AMPA, GABA-A, GABA-B.

    Equations: `current = g r (e_rev - v)`; the `kinetics` say how r follows the concentration t
    that arrives. The drive of a step has r of its start; r then moves with the t that arrives in
    that step. A projection that releases nothing between spikes leaves t at 0; a `Coupling` gathers
    concentrations in every step.

    What arrives is the concentration t [mM], a sum or mean over the sources.

    Reference:
        Destexhe, Mainen, Sejnowski (1994), Synthesis of models for excitable membranes, synaptic
        transmission and neuromodulation using a common kinetic formalism, doi:10.1007/BF00961734;
        constants as in https://github.com/NikhilMukraj/spiking-neural-networks.

    Note:
        lixirnet moves r before it uses it: its current is that of the next step here. Its GABA-B
        current has a further factor, which does not depend on its state; here it has none.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, "kinetics.highest")}

    kinetics: Kinetics = field(
        Of(Kinetics),
        default_factory=DestexheKinetics,
        doc="how the open fraction r follows the transmitter",
    )
    g: Parameter = param(1.0, unit="nS", at_least=0.0, doc="conductance of all receptors")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")

    @classmethod
    def ampa(cls, kinetics: Kinetics | None = None) -> "LigandGated":
        """AMPA receptors: 1 nS, 0 mV."""
        return cls(kinetics or DestexheKinetics.ampa(), 1.0, 0.0)

    @classmethod
    def gaba_a(cls, kinetics: Kinetics | None = None) -> "LigandGated":
        """GABA-A receptors: 1.2 nS, -80 mV."""
        return cls(kinetics or DestexheKinetics.gaba_a(), 1.2, -80.0)

    @classmethod
    def gaba_b(cls, kinetics: Kinetics | None = None) -> "LigandGated":
        """GABA-B receptors: 0.06 nS, -95 mV."""
        return cls(kinetics or DestexheKinetics.gaba_b(), 0.06, -95.0)

    def time_constants(self) -> dict[str, Any]:
        return {"r": self.kinetics.time_constant()}

    def init(self, n: int) -> LigandGatedState:
        return LigandGatedState(jnp.zeros(n, self.g.dtype))

    def step(
        self, state: LigandGatedState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[LigandGatedState, Drive]:
        g = self.g * state.r
        new = self.kinetics.after(state.r, arrivals, dt)
        return LigandGatedState(new), Drive(g * self.e_rev, g)


class LigandGatedNMDA(Synapse):
    """NMDA receptors that a transmitter opens and magnesium blocks.

    Equations: `current = g r B(v) (e_rev - v)`, `B = 1 / (1 + mg exp(-0.062 v) / 3.57)`; the
    `kinetics` say how r follows the concentration t that arrives, as in `LigandGated`. B is that
    of v at the start of the step.

    What arrives is the concentration t [mM], a sum or mean over the sources. The target neurons
    need a voltage.

    Reference:
        Jahr and Stevens (1990), Voltage dependence of NMDA-activated macroscopic conductances
        predicted by single-channel kinetics, doi:10.1523/JNEUROSCI.10-09-03178.1990; Destexhe,
        Mainen, Sejnowski (1994), Synthesis of models for excitable membranes, synaptic transmission
        and neuromodulation using a common kinetic formalism, doi:10.1007/BF00961734; constants as
        in https://github.com/NikhilMukraj/spiking-neural-networks.

    Note:
        lixirnet moves r before it uses it: its current is that of the next step here. Its newer
        sources have 3.75 for 3.57.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, "kinetics.highest")}

    kinetics: Kinetics = field(
        Of(Kinetics),
        default_factory=DestexheKinetics.nmda,
        doc="how the open fraction r follows the transmitter",
    )
    g: Parameter = param(0.6, unit="nS", at_least=0.0, doc="conductance of all receptors")
    mg: Parameter = param(0.3, unit="mM", at_least=0.0, doc="magnesium outside")
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")

    def time_constants(self) -> dict[str, Any]:
        return {"r": self.kinetics.time_constant()}

    def init(self, n: int) -> LigandGatedState:
        return LigandGatedState(jnp.zeros(n, self.g.dtype))

    def step(
        self, state: LigandGatedState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[LigandGatedState, Drive]:
        check_voltage("LigandGatedNMDA", v)
        g = self.g * state.r * block(v, self.mg)
        new = self.kinetics.after(state.r, arrivals, dt)
        return LigandGatedState(new), Drive(g * self.e_rev, g)
