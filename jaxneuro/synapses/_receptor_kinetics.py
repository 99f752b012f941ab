"""How the open fraction of a receptor follows the transmitter: the kinetics of lixirnet."""

from abc import abstractmethod
from typing import Any

import jax
import jax.numpy as jnp

from .._fields import Model, Parameter, param
from .._numerics import decay_mean


class Kinetics(Model):
    """How the open fraction r of a receptor moves in one step under the concentration t [mM].

    `after(r, t, dt)` returns r, (n,), at the end of the step.
    """

    @property
    def highest(self) -> Any:
        """The largest r: `r_max`, where the kinetics have one."""
        return getattr(self, "r_max", 1.0)

    @abstractmethod
    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        """r at the end of a step."""


class DestexheKinetics(Kinetics):
    """Two states: closed receptors open at the rate `alpha t`, open ones close at `beta`.

    Equation: `dr/dt = alpha t (1 - r) - beta r`. Update: exact for a t that is constant over the
    step: r moves from where it is towards `alpha t / (alpha t + beta)` at the rate
    `alpha t + beta`, and stays between 0 and 1 whatever the concentrations add up to.

    **Fields** each () or (n,): `alpha` [1/(mM ms)] rate of opening; `beta` [1/ms] of closing.

    **Raises** `ValueError` unless both are at least 0.

    **Source** Destexhe, Mainen, Sejnowski (1994), doi:10.1007/BF00961734;
    https://github.com/NikhilMukraj/spiking-neural-networks, which has the constants.

    **Differs** lixirnet takes forward Euler steps, which diverge where `dt (alpha t + beta)` is
    above 2. Under 1 mM for 1 ms, in steps of 0.1 ms, its r and this one differ by at most 0.118
    (GABA-A), 0.0214 (AMPA), 3e-4 (NMDA) and 2e-5 (GABA-B); the steady state is the same.
    """

    alpha: Parameter = param(1.0, unit="1/(mM ms)", at_least=0.0)
    beta: Parameter = param(1.0, unit="1/ms", at_least=0.0)

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

    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        opening = self.alpha * t
        slope = opening * (1.0 - r) - self.beta * r
        return r + slope * decay_mean(opening + self.beta, dt)


class ApproximateKinetics(Kinetics):
    """The open fraction is the concentration: `r = t`, between 0 and `r_max`.

    **Fields** `r_max` the largest fraction, () or (n,).

    **Raises** `ValueError` unless `r_max` is at least 0.

    **Source** https://github.com/NikhilMukraj/spiking-neural-networks.

    **Differs** lixirnet's ApproximateReceptor has no bounds, only that of its dopamine model.
    """

    r_max: Parameter = param(1.0, at_least=0.0)

    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        return jnp.clip(t, 0.0, self.r_max)


class ExponentialDecayKinetics(Kinetics):
    """The open fraction takes up the concentration and loses most of itself in every step.

    Update: `r - r exp(-dt/tau) + t`, between 0 and `r_max`, as lixirnet's ExponentialDecayReceptor.
    A step leaves the fraction `1 - exp(-dt/tau)`, the less the shorter it is: this is no
    differential equation.

    **Fields** each () or (n,): `r_max` the largest fraction; `tau` [ms] as above.

    **Raises** `ValueError` unless `r_max >= 0` and `tau > 0`.

    **Source** https://github.com/NikhilMukraj/spiking-neural-networks.
    """

    r_max: Parameter = param(1.0, at_least=0.0)
    tau: Parameter = param(2.0, unit="ms", above=0.0)

    def after(self, r: jax.Array, t: jax.Array, dt: float) -> jax.Array:
        return jnp.clip(r * -jnp.expm1(-dt / self.tau) + t, 0.0, self.r_max)
