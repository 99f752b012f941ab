"""Leaky integrate-and-fire neuron of the model of the fly's brain, solved exactly.

Shiu et al. (2024), doi:10.1038/s41586-024-07763-9.
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ._propagators import from_current, from_decaying
from ._refractory import countdown
from ._reset import check_reset


class FlyLIFState(NamedTuple):
    """State of n neurons of the fly's brain.

    **Fields** `v` [mV] (n,): membrane potential; after a spike its value *before* the reset;
    `g` [mV] (n,): synaptic input, likewise; `spikes` bool (n,): which spiked in the last step;
    `refractory` uint16 (n,): steps left before the neuron moves again.
    """

    v: jax.Array
    g: jax.Array
    spikes: jax.Array
    refractory: jax.Array


class FlyLIF(Neuron):
    """Leaky integrate-and-fire neuron whose synaptic input is reset and held with v.

    Equations: `tau_m dv/dt = e_l - v + g + current tau_m/c_m`, `tau_syn dg/dt = -g`; `g += w` when
    a spike arrives; a spike when `v >= v_th`, then `v = v_reset` and `g = 0`, both held for
    `t_ref`. What arrives in that time is lost, for g and for v (`jump`).

    Update: exact, by the propagators of the linear system, for a current that is constant over the
    step, `tau_syn = tau_m` included. v moves with g as it stands at the start of the step; then g
    decays and takes what arrives; then `jump` is added and the threshold tested. Its synapse is
    `Direct("g")`, with weights of both signs in mV. It takes no conductances: `build` refuses them.

    **Fields** each () or (n,): `tau_m` [ms] membrane time constant; `c_m` [pF] capacitance, of
    which only an injected current depends; `e_l` [mV] resting potential; `v_th` [mV] threshold;
    `v_reset` [mV] reset; `t_ref` [ms] refractory time, a whole number of steps, 0 in the paper for
    neurons that it drives; `tau_syn` [ms] time constant of g. `surrogate`: None for boolean
    spikes, or the slope that stands in for their derivative.

    **Step** `init(n)` starts at `e_l` with g = 0. `step(state, drive, dt)` returns
    `(state, spikes)`; it takes `drive.arrivals` of the port `g` [mV].

    **Raises** `ValueError` for a value that is not finite, a time constant or `c_m` that is not
    above 0, `t_ref < 0`, or `v_reset >= v_th`.

    **Source** Shiu et al. (2024), doi:10.1038/s41586-024-07763-9, with the parameters of Kakaria
    and de Bivort (2017), doi:10.3389/fnbeh.2017.00008, and their program for Brian2: there
    `(unless refractory)` also makes every `g += w` and `v += w` of a refractory neuron void.

    **Differs** `v >= v_th` is `v > v_th` there. t_ref/dt steps are held after that of the spike, as
    everywhere in this package; Brian2 holds one less, so that `t_ref = 2.1` is its 2.2 at
    `dt = 0.1`. A `jump` comes before the threshold and not after it: it fires a step earlier.
    """

    ports: ClassVar[tuple[str, ...]] = ("g",)
    port_fills: ClassVar[Mapping[str, tuple]] = {"g": ("g",)}

    tau_m: Parameter = param(20.0, unit="ms", above=0.0)
    c_m: Parameter = param(2000.0, unit="pF", above=0.0)
    e_l: Parameter = param(-52.0, unit="mV")
    v_th: Parameter = param(-45.0, unit="mV")
    v_reset: Parameter = param(-52.0, unit="mV")
    t_ref: Parameter = param(2.2, unit="ms", at_least=0.0, on_grid=True)
    tau_syn: Parameter = param(5.0, unit="ms", above=0.0)
    surrogate: Surrogate | None = None

    def __check_init__(self) -> None:
        check_reset("FlyLIF", self.v_reset, self.v_th)

    def init(self, n: int) -> FlyLIFState:
        v = jnp.full(n, self.e_l)
        return FlyLIFState(v, jnp.zeros_like(v), jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16))

    def voltage(self, state: FlyLIFState) -> jax.Array:
        return jnp.where(state.spikes, self.v_reset, state.v)

    def step(self, state: FlyLIFState, drive: Drive, dt: float) -> tuple[FlyLIFState, jax.Array]:
        v, g = self.voltage(state), jnp.where(state.spikes, 0.0, state.g)
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        by_g = from_decaying(self.tau_m, self.tau_m, self.tau_syn, dt)
        moved = self.e_l + (v - self.e_l) * jnp.exp(-dt / self.tau_m) + g * by_g
        if drive.current is not None:
            moved = moved + drive.current * from_current(self.tau_m, self.c_m, dt)
        taken = g * jnp.exp(-dt / self.tau_syn) + drive.arriving("g")
        v, g = jnp.where(free, drive.jumped(moved), v), jnp.where(free, taken, g)
        spikes = threshold(v, self.v_th, self.surrogate, self.voltage(state))
        fired = spikes if self.surrogate is None else spikes > 0
        return FlyLIFState(v, g, fired, left), spikes
