"""`synaptic_input`: what the neurons of an area receive through one fibre in one round.

The synapses of a fibre come in the four forms of `edges.py`, which have one meaning. A weight
follows from the number of rounds in which both its neurons fired, and that from the history of the
caps: `before` and `after` have a bit for each remembered round, set where the neuron was in the cap
before and after it.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, UInt32

from .._numerics.draws import gap_table
from .._numerics.streams import bits
from .call import by_platform, native_call
from .edges import (
    Counts,
    Firing,
    Hashed,
    Lists,
    Stored,
    extra_parts,
    potentiations,
    sum_of_parts,
)
from .gpu import hashed_on_gpu
from .redraw import gap_of, gap_words
from .wide import (
    limbs,
    wide_add,
    wide_multiply,
    wide_of_limbs,
)

_CHUNK = 128  # counters drawn at a time, two gaps each


def synaptic_input(
    sums: UInt32[Array, "n 2"], firing: Firing, edges: Hashed | Stored | Lists | Counts
) -> UInt32[Array, "n 2"]:
    """`sums` (n, 2) of 64-bit integers plus the weights of all synapses from firing neurons.

    Weights are multiples of 2^-24, so neither order nor device changes a sum.
    """
    kind = type(edges)
    known = edges[1:]  # not arrays: the same for all fibres of equal numbers, which share a trace
    return _received(sums, firing, edges[0], kind, known)


@functools.partial(jax.jit, static_argnums=(3, 4))
def _received(sums: Any, firing: Any, first: Any, kind: Any, known: tuple) -> jax.Array:
    edges = kind(first, *known)
    operands, name = _operands(edges)

    def native(sums: Any, firing: Firing, *operands: Any) -> jax.Array:
        on = firing.on.astype(jnp.int32)
        arrays = (sums, on, *firing[1:], *operands)
        shape, method = sums.shape, "expand_dims"
        return native_call(name, arrays, shape, jnp.uint32, vmap_method=method, **_numbers(edges))

    def reference(sums: Any, firing: Firing, *operands: Any) -> jax.Array:
        return wide_add(sums, _one_fibre(sums, firing, type(edges)(operands[0], *edges[1:])))

    def on_gpu(sums: Any, firing: Firing, *operands: Any) -> jax.Array:
        return wide_add(sums, hashed_on_gpu(sums, firing, operands[0], edges, _one_fibre))

    versions = {"cpu": native, "cuda": on_gpu if isinstance(edges, Hashed) else None}
    return by_platform(sums, firing, *operands, default=reference, **versions)


def _one_fibre(like: jax.Array, firing: Firing, edges: Any) -> jax.Array:
    """The reference: what comes through one fibre, shaped as `like` (n, 2)."""
    received = lambda: _FORMS[type(edges)](firing, edges, like.shape[0])  # noqa: E731
    return lax.cond(firing.on, received, lambda: jnp.zeros_like(like))


def _operands(edges: Any) -> tuple[tuple[Any, ...], str]:
    """The arrays of the edges, and the native function that reads them."""
    if isinstance(edges, Hashed):
        return (edges.key, jnp.asarray(gap_words(gap_table(edges.p)))), "jaxneuro_hashed_input"
    name = {Stored: "stored", Lists: "listed", Counts: "counted"}[type(edges)]
    return (edges[0],), f"jaxneuro_{name}_input"


def _numbers(edges: Any) -> dict[str, Any]:
    if not isinstance(edges, Hashed):
        return {}
    table = gap_table(edges.p)
    mean = np.float64(edges.n * edges.p)
    return {"gaps": np.int64(table.size), "shift": np.int64(table.shift), "mean": mean}


def _hashed(firing: Firing, edges: Hashed, n: int) -> jax.Array:
    base, extra = jnp.zeros(n, jnp.uint32), jnp.zeros((n, 4), jnp.uint32)
    learned = firing.before.at[firing.cap].get(mode="fill", fill_value=0) & firing.mask
    fires = firing.cap < firing.before.shape[0]

    def visit(sums: Any, at: jax.Array) -> Any:
        base, extra = sums
        after = firing.after.at[at].get(mode="fill", fill_value=0)
        times = potentiations(learned[:, None], after)
        base = base.at[at].add(jnp.uint32(1), mode="drop")
        return base, extra.at[at].add(extra_parts(firing.weights)[times], mode="drop")

    base, extra = visit_gap_rows(edges, firing.cap, (base, extra), visit, fires)
    return sum_of_parts(base, extra)


def _stored(firing: Firing, edges: Stored, n: int) -> jax.Array:
    at = edges.targets.at[firing.cap].get(mode="fill", fill_value=n).astype(jnp.int32)
    learned = firing.before.at[firing.cap].get(mode="fill", fill_value=0) & firing.mask
    after = firing.after.at[at].get(mode="fill", fill_value=0)
    times = potentiations(learned[:, None], after)
    base = jnp.zeros(n, jnp.uint32).at[at].add(jnp.uint32(1), mode="drop")
    extra = (
        jnp.zeros((n, 4), jnp.uint32).at[at].add(extra_parts(firing.weights)[times], mode="drop")
    )
    return sum_of_parts(base, extra)


def _listed(firing: Firing, edges: Lists, n: int) -> jax.Array:
    sources, words = firing.before.shape
    learned = jnp.zeros((sources, words), jnp.uint32)
    before = firing.before.at[firing.cap].get(mode="fill", fill_value=0) & firing.mask
    learned = learned.at[firing.cap].set(before, mode="drop")
    fires = jnp.zeros(sources, bool).at[firing.cap].set(True, mode="drop")
    fires = fires.at[edges.sources].get(mode="fill", fill_value=False)
    before = learned.at[edges.sources].get(mode="fill", fill_value=0)
    times = potentiations(before, firing.after[:, None])
    weights = jnp.where(fires[..., None], limbs(firing.weights[times]), jnp.uint32(0))
    return wide_of_limbs(jnp.sum(weights, axis=1, dtype=jnp.uint32))


def _counted(firing: Firing, edges: Counts, n: int) -> jax.Array:
    times = potentiations(firing.mask, firing.after)
    return wide_multiply(firing.weights[times], edges.counts)


_FORMS = {Hashed: _hashed, Stored: _stored, Lists: _listed, Counts: _counted}


def visit_gap_rows(
    edges: Hashed, rows: jax.Array, carry: Any, visit: Any, wanted: Any = True
) -> Any:
    """`carry = visit(carry, targets)` for the `wanted` rows: (rows, 256) targets at a time.

    Entries that are no target are n.
    """
    table, n = gap_table(edges.p), edges.n
    words = jnp.asarray(gap_words(table))

    def body(loop: Any) -> Any:
        chunk, last, carry = loop
        counter = jnp.arange(_CHUNK, dtype=jnp.uint32) + chunk * np.uint32(_CHUNK)
        pair = bits((edges.key[0], edges.key[1]), rows.astype(jnp.uint32)[:, None], counter)
        word = jnp.stack(pair, axis=-1).reshape(rows.shape[0], 2 * _CHUNK)
        gap = gap_of(words, 0, table.size, np.uint32(table.shift), word)
        hit = gap != table.size
        # At most 256 gaps of 2^16 beyond n, which is at most 2^30.
        at = jnp.minimum(last[:, None] + jnp.cumsum(gap + hit.astype(jnp.int32), axis=1), n)
        return chunk + 1, at[:, -1], visit(carry, jnp.where(hit, at, n))

    first = jnp.where(wanted, jnp.full(rows.shape, -1, jnp.int32), n)
    start = jnp.uint32(0), first, carry
    return lax.while_loop(lambda loop: jnp.any(loop[1] < n - 1), body, start)[2]
