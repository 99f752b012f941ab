"""Spikes, and the slopes that stand in for their derivative.

A spike is a step of v, whose derivative is 0. A surrogate puts a smooth step S in its place, which
rises from 0 to 1 around the threshold. What a time step adds to the number of spikes is then the
rise of S in it, S(v at its end) - S(v at its start) unless v falls; the derivative of that is the
derivative of a spike. The derivative of S(v) alone counts a voltage near the threshold again in
each step, 10 to 1000 times what a difference gives; with few steps per spike it trains all the
same, and other libraries have it: `form="voltage"`.
"""

import contextvars
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import spec
from ._fields import Model, Parameter, param

__all__ = ["FastSigmoid", "Surrogate", "crossing", "threshold"]


def __dir__() -> list[str]:
    return __all__


class Surrogate(Model):
    """The role of a surrogate for a spike: the slope of a smooth step with respect to v - v_th.

    `slope(x)` is the slope at x = v - v_th [mV], of the same shape. Its area is 1, the height of
    the step, or else every spike on the way of a gradient makes it larger or smaller. A gradient
    visits the synapses of the neurons whose spike has a derivative in a step: with a `cutoff` these
    are few.

    Reference:
        Neftci, Mostafa, Zenke (2019), Surrogate gradient learning in spiking neural networks,
        doi:10.1109/MSP.2019.2931595.
    """

    cutoff: float | None = spec.field(
        spec.Maybe(spec.Number("mV", above=0.0)),
        default=None,
        kw_only=True,
        static=True,
        doc="the slope counts as 0 where v is further from the threshold; None for nowhere",
    )

    form: str = spec.field(
        spec.OneOf("rise", "voltage"),
        default="rise",
        kw_only=True,
        static=True,
        doc="the derivative of a spike: that of the rise of the smooth step in a time step, or "
        "the slope at the voltage at its end",
    )

    @abstractmethod
    def slope(self, x: jax.Array) -> jax.Array: ...


class FastSigmoid(Surrogate):
    """Slope of a fast sigmoid that rises from 0 to 1: `beta/2 / (1 + beta |x|)^2`.

    Gradients have about the size of differences at `beta = 2 / (v_th - v_reset)`. They are
    smaller with a smaller beta and larger with a larger one, by a factor for each spike on the way.

    The default is for neurons that a spike resets by about 15 mV.

    Reference:
        Zenke and Ganguli (2018), SuperSpike, doi:10.1162/neco_a_01086.

    Note:
        The area is 1; there the height is.
    """

    beta: Parameter = param(
        0.15,
        unit="1/mV",
        above=0.0,
        doc="how narrow the slope is; half of its area is within 1/beta of the threshold",
    )

    def slope(self, x: jax.Array) -> jax.Array:
        return 0.5 * self.beta / jnp.square(1.0 + self.beta * jnp.abs(x))


def surrogate_field() -> Any:
    """The field of a neuron that says whether its spikes have a derivative."""
    words = "the slope that stands in for the derivative of a spike; None for boolean spikes"
    return spec.field(spec.Maybe(spec.Of(Surrogate)), default=None, doc=words)


# The spikes that were made while a step runs, and which neurons have a derivative in each.
_made: contextvars.ContextVar[list | None] = contextvars.ContextVar("made", default=None)


def with_counted(step: Callable) -> Callable:
    """A step of neurons whose second result is (spikes, counted).

    `counted` is bool (n,): whose spike has a derivative in this step. It is None, for all of them,
    where the spikes are not those that `threshold` or `crossing` returned but made from them.
    """

    def run(*operands: Any) -> Any:
        token = _made.set(made := [])
        try:
            state, spikes = step(*operands)
        finally:
            _made.reset(token)
        return state, (spikes, next((counted for x, counted in made if x is spikes), None))

    return run


def _spikes(
    fired: Any, before: Any, x: Any, rising: Any, free: Any, surrogate: Surrogate
) -> jax.Array:
    """Spikes as floats; `before` and `x` are distances from the threshold, the others bool (n,)."""
    near = _near(x, surrogate)
    if surrogate.form == "rise":
        near = rising & (_near(before, surrogate) | near)
    counted = jnp.broadcast_to(near if free is None else near & free, x.shape)
    spikes = _spike(fired, before, x, counted, surrogate)
    if (made := _made.get()) is not None:
        made.append((spikes, counted))
    return spikes


def _near(x: Any, surrogate: Surrogate) -> Any:
    """Whether the slope counts there."""
    return np.True_ if surrogate.cutoff is None else jnp.abs(x) <= surrogate.cutoff


@jax.custom_jvp
def _spike(fired: Any, before: Any, x: Any, counted: Any, surrogate: Surrogate) -> jax.Array:
    return fired.astype(x.dtype)


@_spike.defjvp
def _spike_jvp(primals: Any, tangents: Any) -> Any:
    _, before, x, counted, surrogate = primals
    slope = lambda x: jnp.where(_near(x, surrogate), surrogate.slope(x), 0.0)  # noqa: E731
    change = slope(x) * tangents[2]
    if surrogate.form == "rise":
        change = change - slope(before) * tangents[1]
    return _spike(*primals), jnp.where(counted, change, jnp.zeros_like(change))


def threshold(
    v: jax.Array,
    v_th: jax.Array,
    surrogate: Surrogate | None = None,
    before: jax.Array | None = None,
    onset: Any = None,
    free: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Find the neurons at or above threshold; a neuron with a non-finite v never spikes.

    `fired = (v >= v_th)`. Without a surrogate the spikes are `fired` and have no gradient. With one
    they are float 0/1, and their derivative is that of the rise of a smooth step in this time step:
    `slope(v - v_th)` with respect to v and `-slope(before - v_th)` with respect to before, where
    v does not fall, else 0. A surrogate of the form "voltage" has the first part alone, everywhere.

    Args:
        v: voltage at the end of the step [mV]; it and the others broadcast to (n,).
        v_th: threshold [mV].
        surrogate: the slope; None for boolean spikes.
        before: v at the start of the step, after a reset; needed with a surrogate.
        onset: where v goes up by itself [mV], in a model where it does: there the smooth step is,
            and what follows counts no more.
        free: which neurons are not held after a spike, bool (n,): a gradient need not visit the
            synapses of the others. A model that may hold v above v_th gives -inf as their v.

    Returns:
        The spikes, (n,), and which neurons fired, bool (n,).

    Reference:
        Neftci, Mostafa, Zenke (2019), Surrogate gradient learning in spiking neural networks,
        doi:10.1109/MSP.2019.2931595.
    """
    # A voltage of +inf is an error, not a spike. It stays in the state, where the check after the
    # chunk finds it.
    fired = (v >= v_th) & (v < np.inf)
    if surrogate is None:
        return fired, fired
    if before is None:
        must = "v at the start of the step, after the reset, where there is a surrogate"
        raise spec.InvalidValueError("threshold", "before", must, "None")
    middle = v_th if onset is None else onset
    rising = (v >= before) & (before < middle)
    return _spikes(fired, before - middle, v - middle, rising, free, surrogate), fired


def crossing(
    before: jax.Array, v: jax.Array, v_th: jax.Array, surrogate: Surrogate | None = None
) -> jax.Array:
    """Which neurons reached the threshold in this step and were below it before.

    `spikes = (before < v_th) and (v >= v_th)`: for models whose v stays above the threshold for
    several steps. The derivative with a surrogate is that of `threshold`, above v_th too.

    Args:
        before: voltage at the start of the step [mV]; it and the others broadcast to (n,).
        v: voltage at its end [mV].
        v_th: threshold [mV].
        surrogate: the slope; None for boolean spikes.

    Returns:
        The spikes, (n,).

    Reference:
        Brette et al. (2007), Simulation of networks of spiking neurons: a review of tools and
        strategies, doi:10.1007/s10827-007-0038-6.
    """
    fired = threshold(v, v_th)[1] & (before < v_th)
    if surrogate is None:
        return fired
    return _spikes(fired, before - v_th, v - v_th, v >= before, None, surrogate)
