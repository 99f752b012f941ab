"""Merges models of one kind, and says what states they have before there is a network."""

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped
from numpy.typing import DTypeLike

from .._arrays import ArrayLike, as_array
from .._fields import has_tables, inner
from .._model import StochasticRelease, state_variables
from .._network.members import first_member
from .._network.pathway import release_state

M = TypeVar("M")


def kind_key(model: Any) -> Hashable:
    """Equal for models that can be merged: one class, equal static fields (compared by ==)."""
    return type(model), jax.tree.structure(model)


def own_key(name: str, model: Any) -> str:
    """`name` for a model with tables, which is merged with no other; "" for any other."""
    return name if has_tables(model) else ""


def sort_key(model: Any) -> tuple[str, str]:
    """The key by which kinds of models are sorted: class and static fields, not names."""
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


def merge(models: Sequence[M], sizes: Sequence[int], dtype: DTypeLike) -> M:
    """One model for members of the given sizes (same kind)."""
    if len(models) == 1:
        return jax.tree.map(lambda x: _floating_as(x, dtype), models[0])
    trees = [jax.tree.flatten(m) for m in models]
    merged = [
        as_array(_merge_leaf([np.asarray(x) for x in leaves], sizes), dtype)
        for leaves in zip(*(t[0] for t in trees))
    ]
    return jax.tree.unflatten(trees[0][1], merged)


def _floating_as(x: ArrayLike, dtype: DTypeLike) -> Shaped[Array, "..."]:
    floating = jnp.issubdtype(jnp.result_type(x), jnp.floating)
    return as_array(x, dtype if floating else None)


def _merge_leaf(
    leaves: list[Shaped[np.ndarray, "..."]], sizes: Sequence[int]
) -> Shaped[np.ndarray, "..."]:
    scalar = all(x.ndim == 0 for x in leaves)
    if scalar and all(x == leaves[0] for x in leaves):
        return leaves[0]
    if scalar and len(sizes) != sum(sizes):
        return np.stack(leaves)
    return np.concatenate([np.broadcast_to(x, (n,)) for x, n in zip(leaves, sizes)])


def alone(model: M, dtype: DTypeLike = np.float64) -> M:
    """The model of the first neuron alone, its numbers as arrays."""
    return first_member(merge([model], [1], dtype))


def merge_at(
    name: str, model: M, names: Sequence[str], sizes: Sequence[int], dtype: DTypeLike
) -> M:
    """A model for all members; if it has arrays, only their values at one member are used."""
    models = [model if n == name else alone(model, dtype) for n in names]
    return merge(models, sizes, dtype)


def any_state(model: Any, n: int) -> Any:
    """A state of a receptor or a release, of any stream if it draws."""
    if isinstance(model, StochasticRelease):
        return release_state(model, n, np.uint32(0), "")
    return model.init(n)


def state_shapes(model: Any) -> dict[str, tuple[int, ...] | None]:
    """The shapes of all arrays in the state of a receptor or a release, for two neurons."""
    state = jax.eval_shape(lambda m: any_state(m, 2), alone(model))
    return {x: getattr(getattr(state, x), "shape", None) for x in state_variables(state)}


def state_dtypes(model: Any) -> dict[str, np.dtype]:
    """The dtypes of the state variables that have one number per neuron."""
    state = jax.eval_shape(lambda m: any_state(m, 2), alone(model))
    each = {name: getattr(state, name) for name in state_variables(state)}
    return {name: x.dtype for name, x in each.items() if getattr(x, "shape", None) == (2,)}
