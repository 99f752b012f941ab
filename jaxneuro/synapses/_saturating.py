"""Receptors that pulses of transmitter open: conductances that saturate."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Synapse
from .._numerics.maths import decay_difference
from ._decaying import decayed, pulling


class TwoStateConductanceState(NamedTuple):
    """State of the receptors of n neurons.

    Attributes:
        r: share of receptors that are open (n,).
    """

    r: jax.Array


class TwoStateConductance(Synapse):
    """Receptors with an open and a closed state: transmitter opens what is still closed.

    Equations: `dr/dt = alpha T (1 - r) - beta r`, `current = g_max r (e_rev - v)`. The transmitter
    T comes in pulses that are short against the kinetics: an arrival is its integral over time a
    [mM ms], and multiplies `1 - r` by `exp(-alpha a)`. So r saturates, and arrivals of one step add
    up in any order; 1 mM for 1 ms, the pulse of the source, is 1. All sources of a neuron share its
    receptors.

    Update: exact in r; the neuron gets the mean of the conductance over the step and its slope, as
    of `ExponentialConductance`. `ampa()` and `gaba_a()` have published rates; the default is the
    former.

    Arrivals [mM ms], at least 0, are taken at the end of a step. Weights are doses, not
    conductances; a negative one would close receptors, which is meaningless.

    Reference:
        Destexhe, Mainen and Sejnowski (1994), An efficient method for computing synaptic
        conductances based on a kinetic model of receptor binding, doi:10.1162/neco.1994.6.1.14; the
        same (1998), Kinetic models of synaptic transmission, in Methods in Neuronal Modeling, for
        the rates.

    Note:
        The source has a pulse of a length, in which r also decays; here it has none.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, 1.0)}

    alpha: Parameter = param(1.1, unit="1/(mM ms)", above=0.0, doc="rate of opening")
    beta: Parameter = param(0.19, unit="1/ms", above=0.0, doc="rate of closing")
    g_max: Parameter = param(
        1.0, unit="nS", at_least=0.0, doc="conductance with all receptors of a neuron open"
    )
    e_rev: Parameter = param(0.0, unit="mV", doc="reversal potential")

    @classmethod
    def ampa(cls, **parameters: Any) -> "TwoStateConductance":
        """AMPA receptors of Destexhe et al. (1998): 1.1 /(mM ms), 0.19 /ms, 0 mV."""
        return cls(**{"alpha": 1.1, "beta": 0.19, "e_rev": 0.0, **parameters})

    @classmethod
    def gaba_a(cls, **parameters: Any) -> "TwoStateConductance":
        """GABA_A receptors of Destexhe et al. (1998): 5 /(mM ms), 0.18 /ms, -80 mV."""
        return cls(**{"alpha": 5.0, "beta": 0.18, "e_rev": -80.0, **parameters})

    def time_constants(self) -> dict[str, Any]:
        return {"r": 1.0 / self.beta}

    def init(self, n: int) -> TwoStateConductanceState:
        return TwoStateConductanceState(jnp.zeros(n, self.alpha.dtype))

    def step(
        self, state: TwoStateConductanceState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[TwoStateConductanceState, Drive]:
        r, mean, slope = decayed(state.r, jnp.zeros_like(state.r), 1.0 / self.beta, dt)
        r = r - (1.0 - r) * jnp.expm1(-self.alpha * arrivals)
        return TwoStateConductanceState(r), pulling(
            self.g_max * mean, self.g_max * slope, self.e_rev
        )


class GABA_BState(NamedTuple):  # noqa: N801
    """State of the GABA_B receptors of n neurons.

    Attributes:
        r: share of receptors that are activated (n,).
        s: G protein (n,) [uM].
    """

    r: jax.Array
    s: jax.Array


class GABA_B(Synapse):  # noqa: N801
    """GABA_B receptor: activated receptors make a G protein, four of which open a channel.

    Equations: `dr/dt = k1 T (1 - r) - k2 r`, `ds/dt = k3 r - k4 s`, `g = g_max s^4 / (s^4 + k_d)`,
    `current = g (e_rev - v)`. The transmitter T comes in pulses that are short against the
    kinetics: an arrival is its integral over time a [mM ms], and multiplies `1 - r` by
    `exp(-k1 a)`. So r saturates, and arrivals of one step add up in any order; 1 mM for 0.3 ms, the
    pulse of the source, is 0.3. A single pulse opens few channels, a burst many.

    Update: exact in r and s; the neuron gets g in the middle of the step. The coupling is of second
    order in dt, and stable for any `g_max`.

    Arrivals [mM ms], at least 0, are taken at the end of a step. Weights are doses, not
    conductances; a negative one would deactivate receptors, which is meaningless.

    Reference:
        Destexhe and Sejnowski (1995), G protein activation kinetics and spillover of
        gamma-aminobutyric acid may account for differences between inhibitory responses in the
        hippocampus and thalamus, doi:10.1073/pnas.92.21.9515; Destexhe, Mainen and Sejnowski
        (1998), Kinetic models of synaptic transmission, in Methods in Neuronal Modeling, for the
        rates.

    Note:
        The source has a pulse of a length, in which r also decays; here it has none.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, 1.0), "s": (0.0, None)}

    k1: Parameter = param(0.09, unit="1/(mM ms)", above=0.0, doc="rate of activation")
    k2: Parameter = param(0.0012, unit="1/ms", above=0.0, doc="rate at which activation ends")
    k3: Parameter = param(0.18, unit="uM/ms", above=0.0, doc="production of G protein")
    k4: Parameter = param(0.034, unit="1/ms", above=0.0, doc="rate at which G protein decays")
    k_d: Parameter = param(
        100.0, unit="uM^4", above=0.0, doc="dissociation constant of four G proteins"
    )
    g_max: Parameter = param(
        1.0, unit="nS", at_least=0.0, doc="conductance with all channels of a neuron open"
    )
    e_rev: Parameter = param(-95.0, unit="mV", doc="reversal potential")

    def time_constants(self) -> dict[str, Any]:
        return {"r": 1.0 / self.k2, "s": 1.0 / self.k4}

    def init(self, n: int) -> GABA_BState:
        zero = jnp.zeros(n, self.k1.dtype)
        return GABA_BState(zero, zero)

    def step(
        self, state: GABA_BState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[GABA_BState, Drive]:
        fourth = jnp.square(jnp.square(self._protein(state, 0.5 * dt)))
        g = self.g_max * (fourth / (fourth + self.k_d))
        r = state.r * jnp.exp(-dt * self.k2)
        r = r - (1.0 - r) * jnp.expm1(-self.k1 * arrivals)
        return GABA_BState(r, self._protein(state, dt)), Drive(g * self.e_rev, g)

    def _protein(self, state: GABA_BState, t: float) -> jax.Array:
        """s [uM] at the time t [ms] after the start of the step."""
        made = self.k3 * t * decay_difference(t * self.k2, t * self.k4)
        return state.s * jnp.exp(-t * self.k4) + state.r * made
