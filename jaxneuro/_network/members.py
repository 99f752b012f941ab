"""Merged models: expanded to one number per neuron, and one member read or replaced.

A merged leaf has shape `()` if all members are equal, `(members,)` if their scalars differ,
`(n,)` if a member has an array.
"""

import functools
from collections.abc import Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped, UInt32

from .._arrays import AnyArray, as_array, is_traced
from .._numerics.streams import expand_rows

M = TypeVar("M")
# The seed of a run.
Seed = UInt32[AnyArray | np.generic, ""]


def expand(model: M, sizes: Sequence[int]) -> M:
    """The model with every leaf of shape `()` or `(n,)`; an expanded model does not change."""
    if len(sizes) == 1:
        return model
    n = sum(sizes)

    def leaf(x: Shaped[Array, "..."]) -> Shaped[Array, "..."]:
        if x.ndim == 0 or x.shape[0] == n:
            return x
        return expand_rows(x, sizes)

    return jax.tree.map(leaf, model)


def member(model: M, sizes: Sequence[int], index: int) -> M:
    """The model of one member: leaves `()` or `(its size,)`."""
    if len(sizes) == 1:
        return model
    n, start = sum(sizes), sum(sizes[:index])

    def leaf(x: Shaped[AnyArray, "..."]) -> Shaped[AnyArray | np.generic, "..."]:
        if x.ndim == 0:
            return x
        return x[start : start + sizes[index]] if x.shape[0] == n else x[index]

    return jax.tree.map(leaf, model)


def first_member(model: M) -> M:
    """The model of the first neuron alone; with arbitrary numbers if there is none."""

    def leaf(x: Shaped[AnyArray, "..."]) -> Shaped[AnyArray | np.generic, ""]:
        if not x.size:
            return np.ones((), x.dtype)
        return jnp.ravel(x)[0] if is_traced(x) else as_array(np.ravel(x)[0])

    return jax.tree.map(leaf, model)


def replace_member(model: M, sizes: Sequence[int], index: int, new: M) -> M:
    """The merged model with one member replaced; a leaf keeps its shape if it can.

    A leaf of shape `()` becomes `(members,)` only if there are other members, with other numbers
    as far as they are known.
    """
    n, start = sum(sizes), sum(sizes[:index])
    stop = start + sizes[index]

    def leaf(old: Shaped[AnyArray, "..."], x: Any) -> Shaped[AnyArray, "..."]:
        x = as_array(x, old.dtype)
        if old is x:
            return old
        if len(sizes) == 1:
            return x
        both = old.ndim == 0 and x.ndim == 0
        if both and not (is_traced(old) or is_traced(x)) and np.array_equal(old, x):
            return old
        if both and len(sizes) != n:
            return replaced(jnp.broadcast_to(old, len(sizes)), index, x)
        if old.ndim == 1 and old.shape[0] != n and x.ndim == 0:
            return replaced(old, index, x)
        whole = expand(old, sizes) if old.ndim else jnp.broadcast_to(old, n)
        return replaced(whole, slice(start, stop), x)

    return jax.tree.map(leaf, model, new)


def replaced(
    x: Shaped[AnyArray, "*n"], where: int | slice, value: Shaped[AnyArray, "..."]
) -> Shaped[Array, "*n"]:
    """`x` with other numbers at some places; known numbers without compiling anything."""
    if is_traced(x) or is_traced(value):
        return jnp.asarray(x).at[where].set(value)
    out = np.array(x)
    out[where] = np.asarray(value)
    return as_array(out)


def as_floating(state: M, dtype: np.dtype) -> M:
    """A state with its floating arrays in the dtype of the network."""
    floating = lambda x: jnp.issubdtype(x.dtype, jnp.floating)  # noqa: E731
    return jax.tree.map(lambda x: x.astype(dtype) if floating(x) else x, state)


def inside(tree: Any, path: Sequence[str | int]) -> Any:
    """What is at a path of attributes and numbers."""
    get = lambda x, key: x[key] if isinstance(key, int) else getattr(x, key)  # noqa: E731
    return functools.reduce(get, path, tree)
