"""What all devices of a mesh have, gathered on each."""

import jax
import jax.numpy as jnp
from jax import lax

Axis = str | tuple[str, ...]


def from_all(x: jax.Array, axis: Axis) -> jax.Array:
    """What all devices have, (devices, ...), from what is here.

    Of two axes, hosts and the devices of a host, each device asks those of its number on the other
    hosts first; then the devices of a host share what they got. So every byte goes to a host once.
    """
    axes = (axis,) if isinstance(axis, str) else axis
    for number, name in enumerate(axes):
        every = lax.all_gather(x, name)
        # (inner, outer, ...): the outer one counts first.
        x = every if number == 0 else jnp.moveaxis(every, 0, number)
    return x.reshape(-1, *x.shape[len(axes) :])
