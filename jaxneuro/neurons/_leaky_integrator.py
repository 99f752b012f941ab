"""Leaky integrator: a membrane without spikes, used to read out a network.

Gerstner, Kistler, Naud, Paninski (2014), Neuronal Dynamics, sec. 1.3.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._types import Drive, Neuron
from ._leak import leaky


class LeakyIntegratorState(NamedTuple):
    """State of n leaky integrators.

    **Fields** `v` [mV] (n,): membrane potential.
    """

    v: jax.Array


class LeakyIntegrator(Neuron):
    """Leaky integrator: the membrane of `LIF` without threshold and reset.

    Equations: `tau_m dv/dt = -(v - e_l) + r_m (current - conductance v)`, `r_m = tau_m / c_m`.

    Update: exact for a drive that is constant over the step; then `jump` is added. Gradients
    of v flow to all that drives it.

    **Fields** each () or (n,): `tau_m` [ms] time constant; `c_m` [pF] capacitance; `e_l` [mV]
    resting potential.

    **Step** `init(n)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`, no
    spikes.

    **Raises** `ValueError` for a value that is not finite, `tau_m <= 0` or `c_m <= 0`.

    **Source** Gerstner et al. (2014), eq. 1.5, doi:10.1017/CBO9781107447615; as a readout Bellec
    et al. (2020), doi:10.1038/s41467-020-17236-y.

    **Differs** Bellec's readout is in steps of 1 ms and without units.
    """

    tau_m: Parameter = param(20.0, unit="ms", above=0.0)
    c_m: Parameter = param(250.0, unit="pF", above=0.0)
    e_l: Parameter = param(0.0, unit="mV")

    def init(self, n: int) -> LeakyIntegratorState:
        return LeakyIntegratorState(jnp.full(n, self.e_l))

    def step(
        self, state: LeakyIntegratorState, drive: Drive, dt: float
    ) -> tuple[LeakyIntegratorState, jax.Array]:
        v = drive.jumped(leaky(state.v, drive, self.e_l, self.tau_m, self.c_m, dt))
        return LeakyIntegratorState(v), jnp.zeros(v.shape, bool)
