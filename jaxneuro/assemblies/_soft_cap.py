"""Caps with a gradient: how much each neuron takes part, and a loss for learning to assemble.

A soft cap gives each neuron sigmoid((x - level) / temperature), with the one level at which these
numbers add up to k. The level follows from the inputs through that equation alone, so its
derivative is that of the equation (implicit function), whatever found it.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Num, Shaped

from .. import spec
from .._arrays import AnyArray, is_traced
from .._kernels.k_cap import k_cap
from ..spec import InvalidValueError


def soft_cap(
    x: Shaped[AnyArray, "..."], k: int, temperature: AnyArray | float = 1.0
) -> Float[Array, " n"]:
    """How much each of n neurons takes part in a cap of k: numbers from 0 to 1 with the sum k.

    Of all such numbers y these maximise sum(x y) + temperature * entropy(y). As the temperature
    falls to 0 they become the cap itself, where it has no ties. Differentiable any number of times,
    forward and reverse, in `x` and `temperature`; raising every input by the same changes nothing.

    `x` float32 or float64 (n,), finite; `k` an int from 1 to n; `temperature` above 0, in units of
    `x`: inputs that differ by much less are nearly ties. Returns (n,). The sum is k up to rounding.

    Raises:
        InvalidValueError: for another k, shape or dtype, or a temperature that is not above 0.

    Reference:
        Amos, Koltun and Kolter (2019), The limited multi-label projection layer.
    """
    temperature = _checked(x, k, temperature)
    if k == x.shape[0]:
        return jnp.ones_like(x)
    return jax.nn.sigmoid((x - _level(x, k, temperature)) / temperature)


def straight_through_cap(
    x: Shaped[AnyArray, "..."], k: int, temperature: AnyArray | float = 1.0
) -> Float[Array, " n"]:
    """The cap as a mask with the gradient of the soft cap.

    The values are exactly those of the cap: 1 for the k largest inputs, ties to the lower index, 0
    for all others. The gradient is that of `soft_cap`, which says how a cap would change if it were
    not all or nothing. At a temperature far below the spread of the inputs only those next to the
    k-th largest get any.

    As `soft_cap`; returns 0.0 or 1.0, (n,).

    Raises:
        InvalidValueError: as `soft_cap`.

    Reference:
        Bengio, Léonard and Courville (2013), Estimating or propagating gradients through stochastic
        neurons for conditional computation.
    """
    return _straight(x, k, _checked(x, k, temperature))


def assembly_loss(mask: Num[AnyArray, "*batch n"], targets: AnyArray) -> Float[Array, ""]:
    """The share of the target neurons that a cap lacks: 0 if it is the target, 1 if it has none.

    With the mask of `straight_through_cap` the number is exact and has a gradient: the neurons of
    the target are raised and, because a soft cap keeps its sum, their competitors lowered, most
    where it is closest. Caps of a batch are averaged.

    `mask` (..., n); `targets` the indices of the target neurons, k different integers from 0 to n -
    1: (k,) for all masks, or (..., k). Returns a number.

    Raises:
        InvalidValueError: for targets that are not such indices.
    """
    known = None if is_traced(targets) else np.asarray(targets)
    kind = jnp.asarray(targets).dtype
    if not jnp.issubdtype(kind, jnp.integer) or jnp.ndim(targets) < 1:
        raise InvalidValueError(
            "assembly_loss",
            "targets",
            "indices of neurons, integers (..., k) (for a mask use numpy.flatnonzero)",
            f"{kind}{list(jnp.shape(targets))}",
        )
    n = mask.shape[-1]
    if known is not None and known.size and not 0 <= known.min() <= known.max() < n:
        raise InvalidValueError(
            "assembly_loss",
            "targets",
            f"from 0 to {n - 1}, as there are {n} neurons",
            f"{known.min()} to {known.max()}",
        )
    index = jnp.broadcast_to(jnp.asarray(targets), (*mask.shape[:-1], jnp.shape(targets)[-1]))
    return jnp.mean(1 - jnp.take_along_axis(mask, index, axis=-1))


def _checked(x: Shaped[AnyArray, "..."], k: int, temperature: AnyArray | float) -> Float[Array, ""]:
    """The temperature in the dtype of the inputs."""
    if x.ndim != 1 or x.dtype not in (jnp.float32, jnp.float64):
        raise InvalidValueError(
            "",
            "x",
            "the inputs (n,), float32 or float64 (use astype, or jax.vmap for a batch)",
            f"{x.dtype}{list(x.shape)}",
        )
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= x.shape[0]:
        raise InvalidValueError(
            "", "k", f"an int from 1 to {x.shape[0]}, how many inputs there are", repr(k)
        )
    spec.check("", "temperature", spec.Number(above=0.0, traceable=True), temperature)
    return jnp.asarray(temperature, x.dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _level(x: Float[AnyArray, " n"], k: int, temperature: Float[Array, ""]) -> Float[Array, ""]:
    """The level at which the soft cap of x sums to k < n: Newton's method between two bounds, which
    are halved where it would leave them or stops to converge."""
    low, high = _bounds(x, k, temperature)
    tolerance = 2 * jnp.finfo(x.dtype).eps
    most = 2 * (jnp.finfo(x.dtype).nmant + 1)  # halvings leave nothing between the bounds

    def improve(carry: tuple) -> tuple:
        i, low, high, level, before, _ = carry
        y = jax.nn.sigmoid((x - level) / temperature)
        excess = jnp.sum(y) - k
        newton = level + temperature * excess / jnp.sum(y * (1 - y))
        change = jnp.abs(newton - level)
        done = (excess == 0) | (change <= tolerance * (jnp.abs(level) + temperature))
        low, high = jnp.where(excess > 0, level, low), jnp.where(excess > 0, high, level)
        middle = low + (high - low) / 2
        converges = (low < newton) & (newton < high) & (change <= before / 2)
        step = jnp.where(done, 0, jnp.where(converges, newton, middle) - level)
        return i + 1, low, high, level + step, jnp.abs(step), done

    def unfinished(carry: tuple) -> Bool[Array, ""]:
        return (carry[0] < most) & ~carry[-1]

    start = 0, low, high, low + (high - low) / 2, high - low, low > low
    return lax.while_loop(unfinished, improve, start)[3]


def _bounds(
    x: Float[AnyArray, " n"], k: int, temperature: Float[Array, ""]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Bounds of the level, from the last input in the cap and the first that is not.

    The k + 1 largest inputs alone sum to k where each takes part by k / (k + 1) at least. The
    largest k - 1 sum to less than k - 1, so the sum is below k where all others take part by
    1 / (n - k + 1) at most. Neither depends on how far the extremes are.
    """
    capped = _straight(x, k, temperature) == 1
    last = jnp.min(jnp.where(capped, x, jnp.inf))
    first = jnp.max(jnp.where(capped, -jnp.inf, x))
    return first - temperature * math.log(k), last + temperature * math.log(x.shape[0] - k)


@_level.defjvp
def _level_jvp(k: int, primals: tuple, tangents: tuple) -> tuple:
    """The mean of the changes of the inputs, weighted by how open each neuron is."""
    (x, temperature), (dx, d_temperature) = primals, tangents
    level = _level(x, k, temperature)
    z = (x - level) / temperature
    # Slopes of the sigmoid; softmax keeps their ratios where they underflow.
    weight = jax.nn.softmax(-jax.nn.softplus(z) - jax.nn.softplus(-z))
    return level, jnp.sum(weight * (dx - z * d_temperature))


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _straight(
    x: Float[AnyArray, " n"], k: int, temperature: Float[Array, ""]
) -> Float[Array, " n"]:
    places = k_cap(x, k)
    return jnp.zeros_like(x).at[places].set(1.0, indices_are_sorted=True, unique_indices=True)


@_straight.defjvp
def _straight_jvp(k: int, primals: tuple, tangents: tuple) -> tuple:
    def soft(x: Float[AnyArray, " n"], temperature: Float[Array, ""]) -> Float[Array, " n"]:
        return soft_cap(x, k, temperature)

    return _straight(primals[0], k, primals[1]), jax.jvp(soft, primals, tangents)[1]
