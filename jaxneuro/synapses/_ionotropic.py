"""AMPA, NMDA and GABA receptors of a neuron, each with its transmitter."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._magnesium import block, check_voltage
from ._receptor_kinetics import DestexheKinetics, Kinetics


class IonotropicState(NamedTuple):
    """State of the receptors of n neurons.

    **Fields** `r_ampa`, `r_nmda`, `r_gaba` (n,): fractions of the receptors that are open.
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

    **Fields** `ampa`, `nmda`, `gaba`: kinetics of r. Each () or (n,): `g_ampa` [nS], `g_nmda` [nS],
    `g_gaba` [nS] conductances; `mg` [mM] magnesium outside; `e_ampa` [mV], `e_nmda` [mV],
    `e_gaba` [mV] reversal potentials.

    **Step** `arrivals` (3, n): the concentrations [mM] at the ports `"ampa"`, `"nmda"`, `"gaba"`.

    **Raises** `ValueError` unless conductances and `mg` are at least 0, and for neurons without a
    voltage.

    **Source** https://github.com/NikhilMukraj/spiking-neural-networks, Ionotropic; Destexhe,
    Mainen, Sejnowski (1994), doi:10.1007/BF00961734.

    **Differs** lixirnet moves r before it uses it: its current is that of the next step here. It
    has 3.75 for 3.57 (Jahr and Stevens 1990) in its newer sources.
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

    ampa: Kinetics = eqx.field(default_factory=DestexheKinetics.ampa)
    nmda: Kinetics = eqx.field(default_factory=DestexheKinetics.nmda)
    gaba: Kinetics = eqx.field(default_factory=DestexheKinetics.gaba_a)
    g_ampa: Parameter = param(1.0, unit="nS", at_least=0.0)
    g_nmda: Parameter = param(0.6, unit="nS", at_least=0.0)
    g_gaba: Parameter = param(1.2, unit="nS", at_least=0.0)
    mg: Parameter = param(0.3, unit="mM", at_least=0.0)
    e_ampa: Parameter = param(0.0, unit="mV")
    e_nmda: Parameter = param(0.0, unit="mV")
    e_gaba: Parameter = param(-80.0, unit="mV")

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
