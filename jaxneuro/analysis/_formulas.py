"""Formulas of counts and intervals, of NumPy's arrays and, inside `jit`, of JAX's."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Num


def quotient(x: Num[Any, "*n"], y: Num[Any, "*n"]) -> Float[Any, "*n"]:
    """`x / y` of a y that is not below 0; nan where it is 0."""
    xp = jnp if isinstance(y, jax.Array) else np
    return xp.where(y > 0, x / xp.where(y > 0, y, 1), np.nan)


def mean_of_known(values: Float[Any, "*n"], known: Bool[Any, "*n"]) -> Float[Any, ""]:
    """The mean of those that are known, nan of none."""
    xp = jnp if isinstance(values, jax.Array) else np
    return quotient(xp.where(known, values, 0.0).sum(), known.sum().astype(values.dtype))


def as_float(x: Num[Any, "..."]) -> Any:
    """Whole numbers of JAX as float32; other numbers as they are."""
    traced = isinstance(x, jax.Array) and not jnp.issubdtype(x.dtype, jnp.floating)
    return x.astype(jnp.float32) if traced else x


def as_number(x: Any) -> Any:
    """A number of NumPy as a `float`; a traced one as it is."""
    return x if isinstance(x, jax.Array) else float(x)


def covariance(counts: Num[Any, "n bins"]) -> Float[Any, "n n"]:
    """`C_ij = sum over bins (c_i - mean c_i) (c_j - mean c_j) / (bins - 1)`."""
    counts = as_float(counts)
    centred = counts - counts.mean(axis=1, keepdims=True)
    return centred @ centred.T / (counts.shape[1] - 1)


def correlation(counts: Num[Any, "n bins"]) -> tuple[Float[Any, ""], Float[Any, "n n"]]:
    """`r_ij = C_ij / sqrt(C_ii C_jj)`: its mean over pairs, and of each; nan without a change."""
    xp, counts = jnp if isinstance(counts, jax.Array) else np, as_float(counts)
    centred = counts - counts.mean(axis=1, keepdims=True)
    changes = counts.max(axis=1) > counts.min(axis=1)
    norm = xp.sqrt(xp.where(changes, (centred**2).sum(axis=1), 1.0))
    scaled = centred / norm[:, None]
    both, same = changes[:, None] & changes, np.eye(len(counts), dtype=bool)
    matrix = xp.where(same, 1.0, xp.clip(scaled @ scaled.T, -1.0, 1.0))
    return mean_of_known(matrix, both & ~same), xp.where(both, matrix, np.nan)
