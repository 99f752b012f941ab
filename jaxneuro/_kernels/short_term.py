"""`short_term`: one step of depression and facilitation of n sources (Tsodyks-Markram).

All of it is element by element, but five arrays come out of the same numbers: XLA for CPUs has a
loop for each, which computes them again. The native version is one loop, in place. Other release
models use parts of the reference.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._numerics.compensated import two_sum
from .call import batched, by_platform, in_gpu_kernel, native_update, over_batch
from .native import native_available


class ShortTerm(NamedTuple):
    """Resources and use of n sources; `jaxneuro.release.TsodyksMarkram` says what they are.

    Attributes:
        x, u, x_low, u_low: each (n,).
    """

    x: jax.Array
    u: jax.Array
    x_low: jax.Array
    u_low: jax.Array


def at_spikes(spikes: jax.Array, x: Any) -> jax.Array:
    """x where a neuron spikes and 0 elsewhere, (n,); spikes of 0/1 let gradients through."""
    if spikes.dtype == jnp.bool_:
        return jnp.where(spikes, x, jnp.zeros_like(x))
    return spikes.astype(x.dtype) * x


def relaxed(x: jax.Array, low: jax.Array, rest: Any, loss: Any) -> tuple[jax.Array, jax.Array]:
    """`x + low` one step nearer to `rest`: `x + low + (x + low - rest) loss`, as two numbers.

    A step may change less than the last digit of a float32 x, which would then stay where it is.
    `low` is what x does not hold: the error of the sum (`two_sum`).
    """
    return two_sum(x, low + ((x - rest) + low) * loss)


def short_term_reference(
    state: ShortTerm,
    spikes: jax.Array,
    adds: jax.Array,
    losses: tuple[jax.Array, jax.Array],
    jump_first: bool,
) -> tuple[ShortTerm, jax.Array]:
    """See `short_term`."""
    x, x_low = relaxed(state.x, state.x_low, 1.0, losses[0])
    u, u_low = relaxed(state.u, state.u_low, adds, losses[1])
    jumped = u + at_spikes(spikes, adds * (1.0 - u))
    released = at_spikes(spikes, (jumped if jump_first else u) * x)
    return ShortTerm(x - released, jumped, x_low, u_low), released


# XLA compiles a loop over so few sources into one function, if it has no foreign call.
_FEW = 16
# Axes of x, u, x_low, u_low, spikes, adds and the two losses without a batch.
_RANKS = (1,) * 8
_CHANGED = 4


def short_term(
    state: ShortTerm,
    spikes: jax.Array,
    adds: jax.Array,
    losses: tuple[jax.Array, jax.Array],
    jump_first: bool,
) -> tuple[ShortTerm, jax.Array]:
    """The state after a step, and what each source released: (n,), 0 without a spike.

    First x relaxes to 1 and u to `adds`, then a spike takes `r = u x` from x and adds
    `adds (1 - u)` to u; with `jump_first` r is computed with the new u.

    `state` (n,) each; `spikes` (n,) bool, or floating where gradients go through them; `adds` what
    the first spike adds to u, and `losses` `exp(-dt/tau) - 1` of x and u, each () or (n,).

    Gradients of both kinds are those of the reference, which also runs for floating spikes and
    where the dtypes differ.
    """
    of_one_kind = all(k.dtype == state.x.dtype for k in (*state, adds, *losses))
    if (
        in_gpu_kernel()
        or spikes.dtype != jnp.bool_
        or spikes.shape[0] < _FEW
        or state.x.dtype not in (jnp.float32, jnp.float64)
        or not of_one_kind
    ):
        return short_term_reference(state, spikes, adds, losses, jump_first)
    x, u, x_low, u_low, released = _short_term(jump_first, *state, spikes, adds, *losses)
    return ShortTerm(x, u, x_low, u_low), released


def _flat_reference(jump_first: bool, *operands: jax.Array) -> tuple[jax.Array, ...]:
    *state, spikes, adds, x_loss, u_loss = operands
    new, released = short_term_reference(
        ShortTerm(*state), spikes, adds, (x_loss, u_loss), jump_first
    )
    return (*new, released)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _short_term(jump_first: bool, *operands: jax.Array) -> tuple[jax.Array, ...]:
    # A number for all sources is an array of one: the kernel repeats it.
    rows = (jnp.atleast_1d(x) for x in operands)
    return _batched(jump_first, native_available())(*rows, ())


@_short_term.defjvp
def _slopes(jump_first: bool, operands: Any, tangents: Any) -> Any:
    return jax.jvp(functools.partial(_flat_reference, jump_first), operands, tangents)


@functools.cache
def _batched(jump_first: bool, native: bool) -> Any:
    """The call for one state or for a batch of them."""
    del native  # another key: what was traced without the native library stays without it

    def one(*operands: Any) -> Any:
        *arrays, _ = operands
        return _flat_reference(jump_first, *arrays)

    def run(*operands: Any) -> Any:
        *arrays, _ = operands
        return native_update(
            "jaxneuro_short_term", arrays, _CHANGED, made=arrays[:1], jump_first=jump_first
        )

    def call(*operands: Any) -> Any:
        return by_platform(*operands, default=over_batch(one, _RANKS), cpu=run)

    return batched(call, _RANKS, "", in_place=_CHANGED, made=1)
