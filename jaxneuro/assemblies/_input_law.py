"""The law of the input of a neuron that never fired: a sum of binomial numbers."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from .._numerics import binomial_law
from ._connectome import most_chosen


class InputLaw(NamedTuple):
    """The law of the input over some fibres.

    **Fields** `tail` P(input >= x); `shares` by fibre (x, a): the running probabilities that of an
    input of x over this fibre and those after it a synapses are from this one; None for a fibre
    that is known not to drive, nothing for the last one, from which all that is left comes.
    """

    tail: Any
    shares: tuple[Any, ...]


def input_law(wires: list[Any], driving: list[Any], firing: list[Any]) -> InputLaw:
    """The convolution of binomial laws, one per fibre that drives (`driving` as of `drivers`).

    `firing` int32 () by fibre: how many neurons of the source fire.
    """
    parts = [_part(wire, on, m) for wire, on, m in zip(wires, driving, firing)]
    rest, shares = None, []
    for part in reversed(parts):
        if part is None:
            shares.append(None)
        elif rest is None:  # what is left comes from the last one
            shares.append(jnp.zeros((0, 0), jnp.float32))
            rest = part
        else:
            shares.append(_shares(part, rest))
            rest = shares[-1][:, -1]
    rest = jnp.ones(1, jnp.float32) if rest is None else rest
    # From the small end, so that the far tail is exact to the precision of float32.
    tail = jnp.flip(jnp.cumsum(jnp.flip(rest)))
    return InputLaw(tail, tuple(reversed(shares)))


def _shares(part: Any, rest: Any) -> Any:
    """The running sums of a convolution: P(a' <= a from this fibre, and x in all), (x, a)."""
    size = part.shape[0] + rest.shape[0] - 1
    other = np.arange(size)[:, None] - np.arange(part.shape[0])
    inside = (other >= 0) & (other < rest.shape[0])
    others = jnp.where(inside, rest[np.clip(other, 0, rest.shape[0] - 1)], 0)
    return jnp.cumsum(part * others, axis=1)


def _part(wire: Any, on: Any, m: Any) -> Any:
    """P(number of synapses from the m firing neurons of a source): 0 ... the most, see there."""
    if on is None:
        return None
    numbers = np.arange(most_chosen(wire) + 1)
    law = jnp.asarray(binomial_law(numbers, wire.firing, wire.p).astype(np.float32))
    nothing = jnp.asarray((numbers == 0).astype(np.float32))
    if wire.number is not None:
        law = jnp.where(m == wire.firing, law, _of_fewer(wire, numbers, m))
    return jnp.where(on, law, nothing)


def _of_fewer(wire: Any, numbers: np.ndarray, m: Any) -> Any:
    """The binomial law where fewer neurons fire than the cap has: exact to about 1e-5."""
    m = m.astype(jnp.float32)
    left = jnp.maximum(m - numbers[:-1].astype(np.float32), 0)
    odds = np.float32(np.log(wire.p) - np.log1p(-wire.p)) if wire.p < 1 else np.float32(80)
    steps = jnp.log(left / numbers[1:].astype(np.float32)) + odds
    start = m * np.float32(np.log1p(-min(wire.p, 1 - 1e-7)))
    logs = start + jnp.concatenate([jnp.zeros(1, jnp.float32), jnp.cumsum(steps)])
    law = jnp.exp(logs - jnp.max(logs))  # of p = 1 the largest of them would be infinite
    return law / jnp.sum(law)


def largest(law: InputLaw, tails: Any) -> tuple[Any, Any]:
    """The inputs whose upper tails are given, and their places among equal inputs in [0, 1).

    The larger the tail, the smaller the input; among equal inputs the place ascends.
    """
    x = jnp.searchsorted(-law.tail, -tails, side="right").astype(jnp.int32) - 1
    x = jnp.maximum(x, 0)
    above = law.tail.at[x + 1].get(mode="fill", fill_value=0)
    chance = jnp.maximum(law.tail[x] - above, np.float32(1e-37))
    return x, jnp.clip((tails - above) / chance, 0, np.float32(1 - 2.0**-24))


def divided(law: InputLaw, x: Any, uniform: Any) -> list[Any]:
    """Inputs as numbers of synapses from each fibre; `uniform` (fibres, inputs) in [0, 1)."""
    left, out = x, []
    for number, shares in enumerate(law.shares):
        if shares is None:
            out.append(jnp.zeros_like(x))
            continue
        if shares.size == 0:
            out.append(left)
            continue
        running = shares[left]
        wanted = uniform[number][:, None] * running[:, -1:]
        mine = jnp.sum(running <= wanted, axis=1, dtype=jnp.int32)
        mine = jnp.minimum(mine, jnp.minimum(left, shares.shape[1] - 1))
        out.append(mine)
        left = left - mine
    return out
