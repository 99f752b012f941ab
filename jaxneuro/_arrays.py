"""Known numbers as JAX arrays, without compiling a program; what is traced."""

from typing import TYPE_CHECKING, Any, TypeAlias

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
