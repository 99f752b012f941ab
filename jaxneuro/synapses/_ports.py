"""Receptors with several inputs, and `Into`, which names one of these for a projection."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._model import Drive, Synapse
from ..spec import Name, Of, check_known, field
from ._ligand_gated import ApproximateKinetics, DestexheKinetics, Kinetics
from ._nmda import block, check_voltage


class Into(Synapse):
    """One port of a receptor with several kinds of input, as the synapse of a projection.

    All projections onto a population `Into` equal receptors share one receptor, each with its own
    sum of arrivals: `Into(receptor, "dopamine")`.

    It has no step of its own: the network steps the receptor, with the arrivals of all its ports.

    Reference:
        Gewaltig and Diesmann (2007), NEST, doi:10.4249/scholarpedia.1430, on receptor ports.
    """

    receptor: Synapse = field(Of(Synapse), doc="synapse model with ports")
    port: str = field(Name(), static=True, doc="one of its ports")

    def __check_init__(self) -> None:
        check_known(f"port of {type(self.receptor).__name__}", self.port, self.receptor.ports)

    @property
    def weight_unit(self) -> str:  # type: ignore[override]
        """That of the receptor."""
        return self.receptor.weight_unit

    def time_constants(self) -> dict[str, Any]:
        return self.receptor.time_constants()

    def init(self, n: int) -> Any:
        return self.receptor.init(n)

    def step(self, state: Any, arrivals: jax.Array, v: jax.Array, dt: float) -> tuple[Any, Drive]:
        return self.receptor.step(state, arrivals, v, dt)


class IonotropicState(NamedTuple):
    """State of the receptors of n neurons.

    Attributes:
        r_ampa: fraction of AMPA receptors that is open (n,).
        r_nmda: fraction of NMDA receptors that is open (n,).
        r_gaba: fraction of GABA receptors that is open (n,).
    """

    r_ampa: jax.Array
    r_nmda: jax.Array
    r_gaba: jax.Array


class Ionotropic(Synapse):
    """AMPA, NMDA and GABA receptors, which three transmitters open.

    Equations: `current = sum g_x r_x B_x (e_x - v)`, `B_nmda = 1 / (1 + mg exp(-0.062 v) / 3.57)`
    with v of the start of the step, the other B are 1; the kinetics `ampa`, `nmda` and `gaba` say
    how r_x follows the concentration that arrives at its port. The drive of a step has r of its
    start; r then moves with what arrives in that step.

    Arrivals (3, n) are the concentrations [mM] at the ports `"ampa"`, `"nmda"`, `"gaba"`. The
    target neurons need a voltage.

    Reference:
        https://github.com/NikhilMukraj/spiking-neural-networks, Ionotropic; Destexhe, Mainen,
        Sejnowski (1994), Synthesis of models for excitable membranes, synaptic transmission and
        neuromodulation using a common kinetic formalism, doi:10.1007/BF00961734.

    Note:
        lixirnet moves r before it uses it: its current is that of the next step here. It has 3.75
        for 3.57 (Jahr and Stevens 1990) in its newer sources.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {
        "r_ampa": (0.0, "ampa.highest"),
        "r_nmda": (0.0, "nmda.highest"),
        "r_gaba": (0.0, "gaba.highest"),
    }
    ports: ClassVar[tuple[str, ...]] = ("ampa", "nmda", "gaba")
    port_fills: ClassVar[Mapping[str, tuple]] = {
        "ampa": ("r_ampa",),
        "nmda": ("r_nmda",),
        "gaba": ("r_gaba",),
    }

    ampa: Kinetics = field(
        Of(Kinetics), default_factory=DestexheKinetics.ampa, doc="kinetics of AMPA receptors"
    )
    nmda: Kinetics = field(
        Of(Kinetics), default_factory=DestexheKinetics.nmda, doc="kinetics of NMDA receptors"
    )
    gaba: Kinetics = field(
        Of(Kinetics), default_factory=DestexheKinetics.gaba_a, doc="kinetics of GABA receptors"
    )
    g_ampa: Parameter = param(1.0, unit="nS", at_least=0.0, doc="conductance of AMPA receptors")
    g_nmda: Parameter = param(0.6, unit="nS", at_least=0.0, doc="conductance of NMDA receptors")
    g_gaba: Parameter = param(1.2, unit="nS", at_least=0.0, doc="conductance of GABA receptors")
    mg: Parameter = param(0.3, unit="mM", at_least=0.0, doc="magnesium outside")
    e_ampa: Parameter = param(0.0, unit="mV", doc="reversal potential of AMPA receptors")
    e_nmda: Parameter = param(0.0, unit="mV", doc="reversal potential of NMDA receptors")
    e_gaba: Parameter = param(-80.0, unit="mV", doc="reversal potential of GABA receptors")

    def time_constants(self) -> dict[str, Any]:
        return {
            "r_ampa": self.ampa.time_constant(),
            "r_nmda": self.nmda.time_constant(),
            "r_gaba": self.gaba.time_constant(),
        }

    def init(self, n: int) -> IonotropicState:
        zero = jnp.zeros(n, self.g_ampa.dtype)
        return IonotropicState(zero, zero, zero)

    def step(
        self, state: IonotropicState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[IonotropicState, Drive]:
        check_voltage("Ionotropic", v)
        ampa, gaba = self.g_ampa * state.r_ampa, self.g_gaba * state.r_gaba
        nmda = self.g_nmda * state.r_nmda * block(v, self.mg)
        current = ampa * self.e_ampa + nmda * self.e_nmda + gaba * self.e_gaba
        new = (
            kinetics.after(r, t, dt)
            for kinetics, r, t in zip((self.ampa, self.nmda, self.gaba), state, arrivals)
        )
        return IonotropicState(*new), Drive(current, ampa + nmda + gaba)


class DopaGluGABAState(NamedTuple):
    """State of the receptors of n neurons.

    Attributes:
        r_ampa: fraction of AMPA receptors that is open (n,).
        r_nmda: fraction of NMDA receptors that is open (n,).
        r_gaba: fraction of GABA receptors that is open (n,).
        r_d1: fraction of D1 receptors that is open (n,).
        r_d2: fraction of D2 receptors that is open (n,).
    """

    r_ampa: jax.Array
    r_nmda: jax.Array
    r_gaba: jax.Array
    r_d1: jax.Array
    r_d2: jax.Array


class DopaGluGABA(Synapse):
    """AMPA, NMDA and GABA receptors under dopamine: D1 strengthens NMDA, D2 weakens glutamate.

    Equations, with `m_1 = 1 - s_d1 r_d1` and `m_2 = 1 - s_d2 r_d2`, r_d1 and r_d2 kept in [0, 1]:
    `current = m_2 (g_ampa r_ampa (e_ampa - v) + g_nmda B(v) r_nmda^m_1 (e_nmda - v))
    + g_gaba r_gaba (e_gaba - v)`, `B = 1 / (1 + mg exp(-0.062 v) / 3.57)`. m_1 is an exponent: as r
    is below 1, less of it is more current. v and r are those of the start of the step; r then moves
    by its kinetics with the concentration that arrives: glutamate for `ampa` and `nmda`, GABA for
    `gaba`, dopamine for `d1` and `d2`.

    Arrivals (3, n) are the concentrations [mM] at the ports `"glutamate"`, `"gaba"`, `"dopamine"`.
    The target neurons need a voltage.

    Reference:
        https://github.com/NikhilMukraj/spiking-neural-networks, DopaGluGABA.

    Note:
        lixirnet moves r before it uses it: its current is that of the next step here. Without
        glutamate there is no NMDA current; lixirnet's 0^0 is 1 at m_1 = 0.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {
        "r_ampa": (0.0, "ampa.highest"),
        "r_nmda": (0.0, "nmda.highest"),
        "r_gaba": (0.0, "gaba.highest"),
        "r_d1": (0.0, "d1.highest"),
        "r_d2": (0.0, "d2.highest"),
    }
    ports: ClassVar[tuple[str, ...]] = ("glutamate", "gaba", "dopamine")
    port_fills: ClassVar[Mapping[str, tuple]] = {
        "glutamate": ("r_ampa", "r_nmda"),
        "gaba": ("r_gaba",),
        "dopamine": ("r_d1", "r_d2"),
    }

    ampa: Kinetics = field(
        Of(Kinetics), default_factory=ApproximateKinetics, doc="kinetics of AMPA receptors"
    )
    nmda: Kinetics = field(
        Of(Kinetics), default_factory=ApproximateKinetics, doc="kinetics of NMDA receptors"
    )
    gaba: Kinetics = field(
        Of(Kinetics), default_factory=ApproximateKinetics, doc="kinetics of GABA receptors"
    )
    d1: Kinetics = field(
        Of(Kinetics), default_factory=ApproximateKinetics, doc="kinetics of D1 receptors"
    )
    d2: Kinetics = field(
        Of(Kinetics), default_factory=ApproximateKinetics, doc="kinetics of D2 receptors"
    )
    g_ampa: Parameter = param(1.0, unit="nS", at_least=0.0, doc="conductance of AMPA receptors")
    g_nmda: Parameter = param(0.6, unit="nS", at_least=0.0, doc="conductance of NMDA receptors")
    g_gaba: Parameter = param(1.2, unit="nS", at_least=0.0, doc="conductance of GABA receptors")
    mg: Parameter = param(0.3, unit="mM", at_least=0.0, doc="magnesium outside")
    e_ampa: Parameter = param(0.0, unit="mV", doc="reversal potential of AMPA receptors")
    e_nmda: Parameter = param(0.0, unit="mV", doc="reversal potential of NMDA receptors")
    e_gaba: Parameter = param(-80.0, unit="mV", doc="reversal potential of GABA receptors")
    s_d1: Parameter = param(
        1.0, at_least=0.0, at_most=1.0, doc="strength of dopamine at D1, 0 for none"
    )
    s_d2: Parameter = param(
        0.05, at_least=0.0, at_most=1.0, doc="strength of dopamine at D2, 0 for none"
    )

    def time_constants(self) -> dict[str, Any]:
        return {
            "r_ampa": self.ampa.time_constant(),
            "r_nmda": self.nmda.time_constant(),
            "r_gaba": self.gaba.time_constant(),
            "r_d1": self.d1.time_constant(),
            "r_d2": self.d2.time_constant(),
        }

    def init(self, n: int) -> DopaGluGABAState:
        return DopaGluGABAState(*(jnp.zeros(n, self.g_ampa.dtype),) * 5)

    def modifiers(self, state: DopaGluGABAState) -> tuple[jax.Array, jax.Array]:
        """m_1, the exponent of r_nmda, and m_2, the factor of the glutamate current."""
        m_1, m_2 = (
            1.0 - s * jnp.clip(r, 0.0, 1.0)
            for s, r in ((self.s_d1, state.r_d1), (self.s_d2, state.r_d2))
        )
        return m_1, m_2

    def step(
        self, state: DopaGluGABAState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[DopaGluGABAState, Drive]:
        check_voltage("DopaGluGABA", v)
        m_1, m_2 = self.modifiers(state)
        ampa, gaba = m_2 * self.g_ampa * state.r_ampa, self.g_gaba * state.r_gaba
        open_nmda = _power(state.r_nmda, m_1) * block(v, self.mg)
        nmda = m_2 * self.g_nmda * open_nmda
        current = ampa * self.e_ampa + nmda * self.e_nmda + gaba * self.e_gaba
        glutamate, gaba_t, dopamine = arrivals
        kinetics = (self.ampa, self.nmda, self.gaba, self.d1, self.d2)
        t = (glutamate, glutamate, gaba_t, dopamine, dopamine)
        new = (k.after(r, x, dt) for k, r, x in zip(kinetics, state, t))
        return DopaGluGABAState(*new), Drive(current, ampa + nmda + gaba)


def _power(r: jax.Array, m: jax.Array) -> jax.Array:
    """`r^m`, 0 where r is not above 0; with a finite derivative there."""
    some = r > 0
    # Two `where`: a gradient evaluates both branches.
    return jnp.where(some, jnp.exp(m * jnp.log(jnp.where(some, r, 1.0))), 0.0)
