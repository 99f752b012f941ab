"""Merges models of one kind, and spreads merged parameters over neurons.

A merged leaf has shape `()` while all members agree, `(members,)` where their
scalars differ, `(n,)` where a member gives an array.
"""

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from .._fields import has_tables, inner
from ..numerics import spread_rows

M = TypeVar("M")


def kind_key(model: Any) -> Hashable:
    """Equal for models that can be merged: one class, equal static fields (compared by ==)."""
    return type(model), jax.tree.structure(model)


def own_key(name: str, model: Any) -> str:
    """`name` for a model with tables, which is merged with no other; "" for any other."""
    return name if has_tables(model) else ""


def sort_key(model: Any) -> tuple[str, str]:
    """What kinds of models are put in order by, whatever they are called: class, static fields."""
    return type(model).__qualname__, ", ".join(_static_texts(model))


def _static_texts(model: Any) -> list[str]:
    out, inside = [], inner(model)
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        if field.name in inside:
            out += [" ".join(sort_key(m)) for m in inside[field.name]]
        elif field.metadata.get("static"):
            # A function's repr holds an address, which differs from run to run.
            out.append(getattr(value, "__qualname__", repr(value)))
    return out


def value_key(model: Any) -> tuple:
    """Equal for models that are equal in every field and number."""
    leaves = (np.asarray(x, np.float64) for x in jax.tree.leaves(model))
    return (kind_key(model), *((x.shape, x.tobytes()) for x in leaves))


def merge(models: Sequence[M], sizes: Sequence[int], dtype: Any) -> M:
    """One model for members of the given sizes (same kind)."""
    if len(models) == 1:
        return jax.tree.map(lambda x: _floating_as(x, dtype), models[0])
    trees = [jax.tree.flatten(m) for m in models]
    merged = [
        jnp.asarray(_merge_leaf([np.asarray(x) for x in leaves], sizes), dtype)
        for leaves in zip(*(t[0] for t in trees))
    ]
    return jax.tree.unflatten(trees[0][1], merged)


def _floating_as(x: Any, dtype: Any) -> jax.Array:
    floating = jnp.issubdtype(jnp.result_type(x), jnp.floating)
    return jnp.asarray(x, dtype) if floating else jnp.asarray(x)


def _merge_leaf(leaves: list[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    scalar = all(x.ndim == 0 for x in leaves)
    if scalar and all(x == leaves[0] for x in leaves):
        return leaves[0]
    if scalar and len(sizes) != sum(sizes):
        return np.stack(leaves)
    return np.concatenate([np.broadcast_to(x, (n,)) for x, n in zip(leaves, sizes)])


def spread(model: M, sizes: Sequence[int]) -> M:
    """The model with every leaf of shape `()` or `(n,)`; nothing is done twice."""
    if len(sizes) == 1:
        return model
    n = sum(sizes)

    def leaf(x: jax.Array) -> jax.Array:
        if x.ndim == 0 or x.shape[0] == n:
            return x
        return spread_rows(x, sizes)

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
    """The model of the first neuron alone; of any numbers where there is no neuron."""
    return jax.tree.map(lambda x: jnp.ravel(x)[0] if jnp.size(x) else jnp.ones(()), model)


def replace_member(model: M, sizes: Sequence[int], index: int, new: M) -> M:
    """The merged model with one member replaced; a leaf keeps its shape where it can.

    A leaf of shape `()` becomes `(members,)` only if there are other members.
    """
    n, start = sum(sizes), sum(sizes[:index])
    stop = start + sizes[index]

    def leaf(old: jax.Array, x: jax.Array) -> jax.Array:
        x = jnp.asarray(x, old.dtype)
        if old is x:
            return old
        if len(sizes) == 1:
            return x
        if old.ndim == 0 and x.ndim == 0 and len(sizes) != n:
            return jnp.full(len(sizes), old).at[index].set(x)
        if old.ndim == 1 and old.shape[0] != n and x.ndim == 0:
            return old.at[index].set(x)
        whole = spread(old, sizes) if old.ndim else jnp.full(n, old)
        return whole.at[start:stop].set(x)

    return jax.tree.map(leaf, model, new)
