"""The threshold: a step function with a smooth surrogate for its derivative."""

from abc import abstractmethod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._fields import Model, Parameter, param


class Surrogate(Model):
    """The role of a surrogate for the derivative of a spike with respect to v - v_th.

    **Step** `slope(x)`: the derivative at x = v - v_th [mV], same shape.

    **Source** Neftci, Mostafa, Zenke (2019), doi:10.1109/MSP.2019.2931595.
    """

    @abstractmethod
    def slope(self, x: jax.Array) -> jax.Array: ...


class FastSigmoid(Surrogate):
    """Slope of a fast sigmoid: `1 / (1 + beta |x|)^2`.

    **Fields** `beta` [1/mV] shape (): how narrow the bump is.

    **Raises** `ValueError` unless beta is above 0.

    **Source** Zenke and Ganguli (2018), SuperSpike, doi:10.1162/neco_a_01086.
    """

    beta: Parameter = param(1.0, unit="1/mV", above=0.0)

    def slope(self, x: jax.Array) -> jax.Array:
        return 1.0 / jnp.square(1.0 + self.beta * jnp.abs(x))


@jax.custom_jvp
def _step(x: jax.Array, surrogate: Surrogate) -> jax.Array:
    return _fires(x).astype(x.dtype)


@_step.defjvp
def _step_jvp(primals: Any, tangents: Any) -> Any:
    x, surrogate = primals
    return _step(x, surrogate), surrogate.slope(x) * tangents[0]


def _fires(x: jax.Array) -> jax.Array:
    # A voltage of +inf is an error, not a spike. It stays in the state, where the check after the
    # chunk finds it.
    return (x >= 0) & (x < np.inf)


def threshold(v: jax.Array, v_th: jax.Array, surrogate: Surrogate | None = None) -> jax.Array:
    """Which neurons are at or above threshold; a non-finite voltage never is.

    `spikes = (v >= v_th)`. Without a surrogate the result is boolean and has no
    gradient. With one it is float 0/1 and its derivative is `surrogate.slope(v - v_th)`.

    **Step** `v`, `v_th` [mV] broadcast to `(n,)`; returns `(n,)`.

    **Source** Neftci, Mostafa, Zenke (2019), doi:10.1109/MSP.2019.2931595.
    """
    if surrogate is None:
        return (v >= v_th) & (v < np.inf)
    return _step(v - v_th, surrogate)


def crossing(
    before: jax.Array, v: jax.Array, v_th: jax.Array, surrogate: Surrogate | None = None
) -> jax.Array:
    """Which neurons reached the threshold in this step and were below it before.

    `spikes = (before < v_th) and (v >= v_th)`: for models whose v stays above the threshold for
    several steps. The surrogate is that of `threshold` if v was below before, else 0.

    **Step** `before`, `v` and `v_th` [mV] broadcast to `(n,)`; returns `(n,)`.

    **Source** Brette et al. (2007), doi:10.1007/s10827-007-0038-6.
    """
    spikes, below = threshold(v, v_th, surrogate), before < v_th
    return spikes & below if surrogate is None else spikes * below.astype(spikes.dtype)
