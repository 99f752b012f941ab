"""Known numbers as JAX arrays, without compiling a program; what is traced."""

from typing import TYPE_CHECKING, Any, TypeAlias

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
else:

    class ArrayLike:
        """What NumPy makes an array of: `help` shows this name, not what it stands for."""

    ArrayLike.__module__ = "numpy.typing"

# An array of JAX, traced or not, or of NumPy.
AnyArray: TypeAlias = jax.Array | np.ndarray


def is_traced(value: Any) -> bool:
    """True where `value` is not known yet (inside `jit`, `vmap` or `grad`)."""
    return isinstance(value, Tracer)


def as_arguments(tree: Any) -> Any:
    """Return the tree with its float arrays hidden from the constant folding of XLA.

    Inside `jit` an array that is closed over is a constant. XLA folds constants with another
    rounding than that of the compiled program, so a run would differ in its last bits from one
    with the array as an argument. Whole numbers are exact and need no barrier. Each array has its
    own barrier, because the derivative of one around all arrays has a tangent for each of them.
    Outside of `jit` nothing is folded, and a barrier would copy the arrays.
    """
    if not is_traced(jax.device_put(np.int32(0))):
        return tree
    floats, rest = eqx.partition(tree, eqx.is_inexact_array)
    return eqx.combine(jax.tree.map(jax.lax.optimization_barrier, floats), rest)


def as_array(x: Any, dtype: Any = None) -> jax.Array:
    """`jnp.asarray(x, dtype)` of numbers that are known: no program is compiled for their shape.

    `jnp.asarray` of a NumPy array compiles one per shape and dtype, some 10 ms each.
    """
    if is_traced(x) or (isinstance(x, jax.Array) and (dtype is None or x.dtype == dtype)):
        return x if dtype is None else x.astype(dtype)
    x = np.asarray(x)
    kind = jax.dtypes.canonicalize_dtype(x.dtype if dtype is None else dtype)
    return jax.device_put(x.astype(kind))


def on_host(x: Any) -> np.ndarray:
    """An array as one of NumPy, to be read once: from a GPU by pinned memory, 50 times as fast."""
    if isinstance(x, jax.Array) and next(iter(x.devices())).platform == "gpu":
        x = jax.device_put(x, x.sharding.with_memory_kind("pinned_host"))
    return np.asarray(x)
