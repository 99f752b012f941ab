"""Receptors that one transmitter opens: the ligand gates of lixirnet."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Synapse
from ._magnesium import block, check_voltage
from ._receptor_kinetics import DestexheKinetics, Kinetics


class LigandGatedState(NamedTuple):
    """State of the receptors of n neurons.

    **Fields** `r` (n,): fraction of the receptors that is open.
    """

    r: jax.Array


class LigandGated(Synapse):
    """Receptors that a transmitter opens: AMPA, GABA-A, GABA-B.

    Equations: `current = g r (e_rev - v)`; the `kinetics` say how r follows the concentration t
    that arrives. The drive of a step has r of its start; r then moves with the t that arrives in
    that step. A projection that releases nothing between spikes leaves t at 0; a `Coupling` gathers
    concentrations in every step.

    **Fields** `kinetics` of r; each () or (n,): `g` [nS] conductance of all receptors; `e_rev` [mV]
    reversal potential.

    **Step** `arrivals` (n,): the concentration t [mM], a sum or mean over the sources.

    **Raises** `ValueError` unless `g` is at least 0.

    **Source** Destexhe, Mainen, Sejnowski (1994), doi:10.1007/BF00961734; constants as in
    https://github.com/NikhilMukraj/spiking-neural-networks.

    **Differs** lixirnet moves r before it uses it: its current is that of the next step here. Its
    GABA-B current has a further factor, which does not depend on its state; here it has none.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, "kinetics.highest")}

    kinetics: Kinetics = eqx.field(default_factory=DestexheKinetics)
    g: Parameter = param(1.0, unit="nS", at_least=0.0)
    e_rev: Parameter = param(0.0, unit="mV")

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

    **Fields** `kinetics` of r; each () or (n,): `g` [nS] conductance of all receptors; `mg` [mM]
    magnesium outside; `e_rev` [mV] reversal potential.

    **Step** `arrivals` (n,): the concentration t [mM], a sum or mean over the sources.

    **Raises** `ValueError` unless `g` and `mg` are at least 0, and for neurons without a voltage.

    **Source** Jahr and Stevens (1990), doi:10.1523/JNEUROSCI.10-09-03178.1990; Destexhe, Mainen,
    Sejnowski (1994), doi:10.1007/BF00961734; constants as in
    https://github.com/NikhilMukraj/spiking-neural-networks.

    **Differs** lixirnet moves r before it uses it: its current is that of the next step here. Its
    newer sources have 3.75 for 3.57.
    """

    weight_sign: ClassVar[int] = 1
    state_bounds: ClassVar[Mapping[str, tuple]] = {"r": (0.0, "kinetics.highest")}

    kinetics: Kinetics = eqx.field(default_factory=DestexheKinetics.nmda)
    g: Parameter = param(0.6, unit="nS", at_least=0.0)
    mg: Parameter = param(0.3, unit="mM", at_least=0.0)
    e_rev: Parameter = param(0.0, unit="mV")

    def init(self, n: int) -> LigandGatedState:
        return LigandGatedState(jnp.zeros(n, self.g.dtype))

    def step(
        self, state: LigandGatedState, arrivals: jax.Array, v: jax.Array, dt: float
    ) -> tuple[LigandGatedState, Drive]:
        check_voltage("LigandGatedNMDA", v)
        g = self.g * state.r * block(v, self.mg)
        new = self.kinetics.after(state.r, arrivals, dt)
        return LigandGatedState(new), Drive(g * self.e_rev, g)
