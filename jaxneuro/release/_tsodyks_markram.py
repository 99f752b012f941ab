"""Short-term depression and facilitation: what a spike releases depends on those before it.

Tsodyks, Pawelzik, Markram (1998); Mongillo, Barak, Tsodyks (2008).
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from .._fields import Parameter, param, static
from .._kernels import ShortTerm, short_term
from .._types import Release
from .._units import warn_of_seconds
from ._at_spikes import decay

CONVENTIONS = ("tsodyks2", "jump first")


class TsodyksMarkramState(NamedTuple):
    """State of the short-term plasticity of n source neurons.

    **Fields** `x` (n,): fraction of the resources that is there; `u` (n,): fraction of these that
    a spike uses; both after the spike if there was one. `x_low`, `u_low` (n,): digits below theirs.
    """

    x: jax.Array
    u: jax.Array
    x_low: jax.Array
    u_low: jax.Array


class TsodyksMarkram(Release):
    """Short-term plasticity: a spike releases the fraction `u` of the resources `x`.

    Equations: `dx/dt = (1 - x) / tau_rec`, `du/dt = (U - u) / tau_fac`, from x = 1 and u = U. At a
    spike, in this order, with `convention`

    * `"tsodyks2"`: release `r = u x`, then `x -= r` and `u += U (1 - u)`. The first spike releases
      U, later ones `u_n x_n` with `u_n+1 = U + u_n (1 - U) exp(-h/tau_fac)` and
      `x_n+1 = 1 + (x_n - u_n x_n - 1) exp(-h/tau_rec)`, h the interval. The same numbers come from
      a u that decays to 0 and jumps before the release, as the papers write it; here u is what
      the next spike will use;
    * `"jump first"`: `u += U (1 - u)`, then release `r = u x`, then `x -= r`. The first spike
      releases `U (2 - U)`: 0.75 for U = 0.5.

    `tau_fac = 0`: u is U again one step after a spike, so that tsodyks2 only depresses. Update:
    exact between spikes, whatever the interval, to all digits of the dtype.

    **Fields** each () or (n,): `U` fraction that the first spike adds to u; `tau_rec` [ms] recovery
    of the resources; `tau_fac` [ms] facilitation, 0 for none. `convention` as above.

    **Step** returns what is released, `u x` for a spike and 0 otherwise, (n,).

    **Raises** `ValueError` for U outside [0, 1], `tau_rec <= 0`, `tau_fac < 0` or an unknown
    convention. Warns of time constants below 2 ms, which look like seconds.

    **Source** "tsodyks2": Tsodyks, Pawelzik, Markram (1998), doi:10.1162/089976698300017502, with
    the order of NEST's tsodyks2_synapse, https://nest-simulator.readthedocs.io. "jump first":
    Mongillo, Barak, Tsodyks (2008), doi:10.1126/science.1150769.

    **Differs** from NEST's tsodyks_synapse, whose released resources pass through an active state
    before they recover.
    """

    with_spikes: ClassVar[bool] = True
    state_bounds: ClassVar[Mapping[str, tuple]] = {"x": (0.0, 1.0), "u": (0.0, 1.0)}

    U: Parameter = param(0.5, at_least=0.0, at_most=1.0)
    tau_rec: Parameter = param(800.0, unit="ms", above=0.0)
    tau_fac: Parameter = param(0.0, unit="ms", at_least=0.0)
    convention: str = static("tsodyks2")

    def __check_init__(self) -> None:
        if self.convention not in CONVENTIONS:
            raise ValueError(
                f"TsodyksMarkram: convention must be {' or '.join(map(repr, CONVENTIONS))}; "
                f"got {self.convention!r}"
            )
        warn_of_seconds("TsodyksMarkram", tau_rec=self.tau_rec, tau_fac=self.tau_fac)

    @classmethod
    def depressing(cls) -> "TsodyksMarkram":
        """Dominated by depression: Tsodyks and Wu (2013), doi:10.4249/scholarpedia.3153, fig. 1."""
        return cls(0.45, 750.0, 50.0)

    @classmethod
    def facilitating(cls) -> "TsodyksMarkram":
        """Dominated by facilitation: Tsodyks and Wu (2013), fig. 1."""
        return cls(0.15, 50.0, 750.0)

    @classmethod
    def working_memory(cls) -> "TsodyksMarkram":
        """Of Mongillo, Barak, Tsodyks (2008): u holds a memory for seconds."""
        return cls(0.2, 200.0, 1500.0, "jump first")

    def init(self, n: int) -> TsodyksMarkramState:
        zero = jnp.zeros(n, jnp.result_type(self.U, self.tau_rec, self.tau_fac))
        return TsodyksMarkramState(zero + 1.0, zero + self.U, zero, zero)

    def step(
        self, state: TsodyksMarkramState, spikes: jax.Array, v: jax.Array, dt: float
    ) -> tuple[TsodyksMarkramState, jax.Array]:
        losses = decay(self.tau_rec, dt), decay(self.tau_fac, dt)
        jump_first = self.convention == "jump first"
        now, released = short_term(ShortTerm(*state), spikes, self.U, losses, jump_first)
        return TsodyksMarkramState(*now), released
