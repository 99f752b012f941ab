"""Generalised leaky integrate-and-fire neurons of the Allen Institute, levels 1 to 5.

Teeter et al. (2018).
"""

from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Parameter, param
from .._numerics import Surrogate, threshold
from .._types import Drive, Neuron
from ._after_spikes import GLIFState, check_falls, moved, reset
from ._refractory import countdown

# Parameters that switch off what the lower levels do not have.
_PLAIN_RESET: dict[str, Any] = {"f_v": 0.0, "delta_v": 0.0, "delta_theta_s": 0.0}
_NO_CURRENTS: dict[str, Any] = {"delta_i_1": 0.0, "delta_i_2": 0.0}
_NO_LIFT: dict[str, Any] = {"a_v": 0.0}


class GLIF(Neuron):
    """Generalised leaky integrate-and-fire neuron; levels 1 to 5 are presets of one equation.

    Equations: `c_m dv/dt = -g_l (v - e_l) + asc_1 + asc_2 + current - conductance v`,
    `dasc_j/dt = -k_j asc_j`, `dtheta_s/dt = -b_s theta_s`,
    `dtheta_v/dt = a_v (v - e_l) - b_v theta_v`. A spike when `v >= v_th + theta_s + theta_v`.
    After a spike all are held for `t_ref`, and go on from `v = e_l + f_v (v - e_l) + delta_v`,
    `asc_j = f_j asc_j exp(-k_j t_ref) + delta_i_j`,
    `theta_s = theta_s exp(-b_s t_ref) + delta_theta_s`.

    Update: exact for a drive that is constant over the step and the mean of `asc` over it
    (second order); `jump` is added and the threshold tested at its end.

    **Fields** each () or (n,): `c_m` [pF]; `g_l` [nS]; `e_l` [mV]; `v_th` [mV]; `t_ref` [ms],
    whole steps; `f_v`, `delta_v` [mV] of the reset; `k_1` [1/ms], `f_1`, `delta_i_1` [pA],
    `k_2` [1/ms], `f_2`, `delta_i_2` [pA] of the after-spike currents; `b_s` [1/ms],
    `delta_theta_s` [mV] of the threshold that spikes lift; `a_v` [1/ms], `b_v` [1/ms] of the one
    that the voltage lifts. `surrogate`: None for boolean spikes, or what stands in for their slope.

    **Step** `init(n)` starts at `e_l`. `step(state, drive, dt)` returns `(state, spikes)`.

    **Raises** `ValueError` for a value that is not finite, `c_m`, `g_l` or a rate `k_1`, `k_2`,
    `b_s`, `b_v` not above 0, a fraction outside 0 to 1, `t_ref < 0`, or a reset from the
    threshold to above it.

    **Source** Teeter et al. (2018), doi:10.1038/s41467-017-02717-4; defaults of NEST's glif_psc.

    **Differs** from NEST: f_v acts on the v that crossed the threshold, not on the v before it;
    `t_ref` is 3.8 ms, because 3.75 ms is off the usual grid.
    """

    c_m: Parameter = param(58.72, unit="pF", above=0.0)
    g_l: Parameter = param(9.43, unit="nS", above=0.0)
    e_l: Parameter = param(-78.85, unit="mV")
    v_th: Parameter = param(-51.68, unit="mV")
    t_ref: Parameter = param(3.8, unit="ms", at_least=0.0, on_grid=True)
    f_v: Parameter = param(0.2, at_least=0.0, at_most=1.0)
    delta_v: Parameter = param(18.51, unit="mV", least=0.0)
    k_1: Parameter = param(0.003, unit="1/ms", above=0.0)
    f_1: Parameter = param(1.0, at_least=0.0, at_most=1.0)
    delta_i_1: Parameter = param(-9.18, unit="pA")
    k_2: Parameter = param(0.1, unit="1/ms", above=0.0)
    f_2: Parameter = param(1.0, at_least=0.0, at_most=1.0)
    delta_i_2: Parameter = param(-198.94, unit="pA")
    b_s: Parameter = param(0.009, unit="1/ms", above=0.0)
    delta_theta_s: Parameter = param(0.37, unit="mV", least=0.0)
    a_v: Parameter = param(0.005, unit="1/ms")
    b_v: Parameter = param(0.09, unit="1/ms", above=0.0)
    surrogate: Surrogate | None = None

    def __check_init__(self) -> None:
        check_falls(self)

    @classmethod
    def glif1(cls, **given: Any) -> "GLIF":
        """LIF: reset to `e_l`. `given` are parameters of the level, for all levels."""
        return cls(**(_PLAIN_RESET | _NO_CURRENTS | _NO_LIFT | given))

    @classmethod
    def glif2(cls, **given: Any) -> "GLIF":
        """LIF-R: reset rules, and a threshold that spikes lift."""
        return cls(**(_NO_CURRENTS | _NO_LIFT | given))

    @classmethod
    def glif3(cls, **given: Any) -> "GLIF":
        """LIF-ASC: after-spike currents."""
        return cls(**(_PLAIN_RESET | _NO_LIFT | given))

    @classmethod
    def glif4(cls, **given: Any) -> "GLIF":
        """LIF-R-ASC: reset rules, lifted threshold and after-spike currents."""
        return cls(**(_NO_LIFT | given))

    @classmethod
    def glif5(cls, **given: Any) -> "GLIF":
        """LIF-R-ASC-A: all, with a threshold that the voltage lifts too; as the class itself."""
        return cls(**given)

    def init(self, n: int) -> GLIFState:
        zeros = (jnp.zeros(n, self.e_l.dtype) for _ in range(4))
        spikes, refractory = jnp.zeros(n, bool), jnp.zeros(n, jnp.uint16)
        return GLIFState._make((jnp.full(n, self.e_l), *zeros, spikes, refractory))

    def voltage(self, state: GLIFState) -> jax.Array:
        return reset(self, state).v

    def step(self, state: GLIFState, drive: Drive, dt: float) -> tuple[GLIFState, jax.Array]:
        free, left = countdown(state.spikes, state.refractory, self.t_ref, dt)
        state = reset(self, state)
        v, *others = moved(self, state, drive, dt)
        new = [jnp.where(free, x, y) for x, y in zip((drive.jumped(v), *others), state)]
        spikes = threshold(new[0], self.v_th + new[3] + new[4], self.surrogate, state.v)
        fired = spikes if self.surrogate is None else spikes > 0
        return GLIFState._make((*new, fired, left)), spikes
