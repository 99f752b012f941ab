"""Dictionaries by names, whose errors list the names that they have.

Merged models: spread over neurons, and one member of them read or replaced.

A merged leaf has shape `()` if all members are equal, `(members,)` if their scalars differ,
`(n,)` if a member has an array.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import as_array, is_traced
from .._numerics import expand_rows
from ..spec import unknown


class NoSuchNameError(KeyError, ValueError):
    """There is nothing of that name; a `KeyError` and a `ValueError`."""

    def __str__(self) -> str:
        return str(self.args[0])


def register_dictionary(kind: type, made: Callable[[Iterable], Any]) -> None:
    """Lets JAX map over a class as over any dictionary; `made` is what comes out, of the pairs."""
    jax.tree_util.register_pytree_with_keys(
        kind,
        lambda x: (tuple((jax.tree_util.DictKey(k), x[k]) for k in sorted(x)), tuple(sorted(x))),
        lambda names, values: made(zip(names, values)),
    )


class ByName(dict):
    """A dictionary by the names of populations; the error for another name lists them."""

    def __missing__(self, name: Any) -> Any:
        raise NoSuchNameError(str(unknown("population", name, self)))

    def __reduce__(self) -> tuple:
        return ByName, (dict(self),)


register_dictionary(ByName, ByName)


M = TypeVar("M")


def expand(model: M, sizes: Sequence[int]) -> M:
    """The model with every leaf of shape `()` or `(n,)`; an expanded model does not change."""
    if len(sizes) == 1:
        return model
    n = sum(sizes)

    def leaf(x: jax.Array) -> jax.Array:
        if x.ndim == 0 or x.shape[0] == n:
            return x
        return expand_rows(x, sizes)

    return jax.tree.map(leaf, model)


def member(model: M, sizes: Sequence[int], index: int) -> M:
    """The model of one member: leaves `()` or `(its size,)`."""
    if len(sizes) == 1:
        return model
    n, start = sum(sizes), sum(sizes[:index])

    def leaf(x: jax.Array) -> jax.Array:
        if x.ndim == 0:
            return x
        return x[start : start + sizes[index]] if x.shape[0] == n else x[index]

    return jax.tree.map(leaf, model)


def first_member(model: M) -> M:
    """The model of the first neuron alone; with arbitrary numbers if there is none."""

    def leaf(x: jax.Array) -> Any:
        if not x.size:
            return np.ones((), x.dtype)
        return jnp.ravel(x)[0] if is_traced(x) else as_array(np.ravel(x)[0])

    return jax.tree.map(leaf, model)


def replace_member(model: M, sizes: Sequence[int], index: int, new: M) -> M:
    """The merged model with one member replaced; a leaf keeps its shape if it can.

    A leaf of shape `()` becomes `(members,)` only if there are other members.
    """
    n, start = sum(sizes), sum(sizes[:index])
    stop = start + sizes[index]

    def leaf(old: jax.Array, x: jax.Array) -> jax.Array:
        x = as_array(x, old.dtype)
        if old is x:
            return old
        if len(sizes) == 1:
            return x
        if old.ndim == 0 and x.ndim == 0 and len(sizes) != n:
            return replaced(jnp.broadcast_to(old, len(sizes)), index, x)
        if old.ndim == 1 and old.shape[0] != n and x.ndim == 0:
            return replaced(old, index, x)
        whole = expand(old, sizes) if old.ndim else jnp.broadcast_to(old, n)
        return replaced(whole, slice(start, stop), x)

    return jax.tree.map(leaf, model, new)


def replaced(x: jax.Array, where: Any, value: Any) -> jax.Array:
    """`x` with other numbers at some places; known numbers without compiling anything."""
    if is_traced(x) or is_traced(value):
        return jnp.asarray(x).at[where].set(value)
    out = np.array(x)
    out[where] = np.asarray(value)
    return as_array(out)


def as_floating(state: M, dtype: Any) -> M:
    """A state with its floating arrays in the dtype of the network."""
    floating = lambda x: jnp.issubdtype(x.dtype, jnp.floating)  # noqa: E731
    return jax.tree.map(lambda x: x.astype(dtype) if floating(x) else x, state)
