"""`exchange`: what the devices of a mesh have, gathered on each."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from .native import exchange_available, native_library


class Line(eqx.Module):
    """Devices of a mesh in a line, as one of them sees it, inside `shard_map`.

    Attributes:
        seat: int32 (2,): which of them this one is, and which of the lines that run side by side
            along the mesh's other axes.
        axes: those of the mesh along which they are, the outer one first.
    """

    seat: jax.Array
    axes: tuple[str, ...] = eqx.field(static=True)


def line_of(axes: tuple[str, ...], others: tuple[str, ...]) -> Line:
    """The line of this device along some axes of a mesh that also has `others`."""
    number = lax.axis_index(others) if others else 0
    return Line(jnp.array([lax.axis_index(axes), number], jnp.int32), axes)


def exchange(x: jax.Array, line: Line) -> jax.Array:
    """What all devices of a line have, (devices, ...), from what is here.

    The reference is `lax.all_gather`. On the CPU devices of one process its threads sleep until
    others wake them, twice; the native version waits actively, and meets once.
    """
    if not exchange_available() or jax.process_count() > 1:
        return _reference(x, line.axes)
    axes = line.axes

    def call(x: jax.Array, seat: jax.Array) -> jax.Array:
        reference = lambda x, _: _reference(x, axes)  # noqa: E731
        return lax.platform_dependent(x, seat, cpu=_native(axes), default=reference)

    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return call(x, line.seat)
    linear = jax.custom_jvp(call)
    # It is linear: so are its slopes, and what differentiates them is that of the reference.
    linear.defjvp(lambda at, along: (call(*at), _reference(along[0], axes)))
    return linear(x, line.seat)


def waits(hold_us: int | None = None, limit_ms: int | None = None) -> int:
    """How often a device waited for so long in an exchange that it gave its thread back.

    So long is `hold_us` [us], if given from now on; after `limit_ms` [ms] it fails.
    """
    library = native_library()
    given = (-1 if x is None else x for x in (hold_us, limit_ms))
    return library.jaxneuro_exchange_waits(*given) if library and exchange_available() else 0


def _reference(x: jax.Array, axes: tuple[str, ...]) -> jax.Array:
    """Along two axes, hosts and the devices of a host, each device asks those of its number on the
    other hosts first; then the devices of a host share what they got. So every byte goes to a host
    once.
    """
    for number, name in enumerate(axes):
        every = lax.all_gather(x, name)
        # (inner, outer, ...): the outer one counts first.
        x = every if number == 0 else jnp.moveaxis(every, 0, number)
    return x.reshape(-1, *x.shape[len(axes) :])


def _native(axes: tuple[str, ...]) -> Any:
    @jax.custom_batching.custom_vmap
    def call(x: jax.Array, seat: jax.Array) -> jax.Array:
        out = jax.ShapeDtypeStruct((lax.axis_size(axes), *x.shape), x.dtype)
        return jax.ffi.ffi_call("jaxneuro_exchange", out)(x, seat)

    @call.def_vmap
    def rule(size: int, batched: list, x: jax.Array, seat: jax.Array) -> tuple[jax.Array, bool]:
        if batched[1]:
            raise ValueError("exchange: a batch of networks has one mesh")
        return jnp.moveaxis(call(x, seat), 1, 0), True

    return call
