"""The law of the input of a neuron that never fired: a sum of binomial numbers."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy import stats

from ._connectome import most_chosen


class InputLaw(NamedTuple):
    """The law of the input over some fibres.

    **Fields** `parts` by fibre, the probability of each number of synapses from firing sources;
    `rest` by fibre, the law of the sum over this fibre and those after it, and at last the law of
    no fibre; `tail` P(input >= x).
    """

    parts: tuple[Any, ...]
    rest: tuple[Any, ...]
    tail: Any


def input_law(wires: list[Any], driving: list[Any], firing: list[Any]) -> InputLaw:
    """The convolution of binomial laws, one per fibre that drives (`driving` as of `drivers`).

    `firing` int32 () by fibre: how many neurons of the source fire.
    """
    parts = [_part(wire, on, m) for wire, on, m in zip(wires, driving, firing)]
    rest = [jnp.ones(1, jnp.float32)]
    for part in reversed(parts):
        rest.append(jnp.convolve(rest[-1], part, precision=lax.Precision.HIGHEST))
    # From the small end, so that the far tail is exact to the precision of float32.
    tail = jnp.flip(jnp.cumsum(jnp.flip(rest[-1])))
    return InputLaw(tuple(parts), tuple(reversed(rest)), tail)


def _part(wire: Any, on: Any, m: Any) -> Any:
    """P(number of synapses from the m firing neurons of a source): 0 ... the most, see there."""
    if on is None:
        return jnp.ones(1, jnp.float32)
    numbers = np.arange(most_chosen(wire) + 1)
    law = jnp.asarray(stats.binom.pmf(numbers, wire.firing, wire.p).astype(np.float32))
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
    law = jnp.exp(logs)
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
    for number, part in enumerate(law.parts):
        if part.shape == (1,):
            out.append(jnp.zeros_like(x))
            continue
        here = jnp.arange(part.shape[0], dtype=jnp.int32)
        rest = law.rest[number + 1]
        other = left[:, None] - here
        others = jnp.where(other >= 0, rest.at[other].get(mode="fill", fill_value=0), 0)
        running = jnp.cumsum(part * others, axis=1)
        wanted = uniform[number][:, None] * running[:, -1:]
        mine = jnp.sum(running <= wanted, axis=1, dtype=jnp.int32)
        mine = jnp.clip(mine, jnp.maximum(left - (rest.shape[0] - 1), 0), left)
        out.append(jnp.minimum(mine, part.shape[0] - 1))
        left = left - out[-1]
    return out
