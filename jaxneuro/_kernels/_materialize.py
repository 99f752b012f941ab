"""`materialize`: makes XLA write arrays to memory before later operations read them."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import jax

from ._call import by_platform
from ._native import native_available

_FEW = 16
_off = contextvars.ContextVar("nothing is materialized", default=False)


@contextlib.contextmanager
def unmaterialized() -> Iterator[None]:
    """Switches `materialize` off for what is traced inside: a GPU kernel cannot call it."""
    token = _off.set(True)
    try:
        yield
    finally:
        _off.reset(token)


def materialize(arrays: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    """The same arrays; on a CPU later operations read them and do not compute them again.

    XLA fuses a chain of elementwise operations with several results into one loop per result,
    and each loop computes what they share: the stages of a Runge-Kutta step three and four
    times over. No bit changes. On other devices, without the native kernels, and for a handful
    of neurons (XLA makes one function of their whole loop) nothing is done at all.

    **Step** arrays of any shape; returns the same.
    """
    few = max((x.size for x in arrays), default=0) < _FEW
    if few or _off.get() or not native_available():
        return tuple(arrays)
    return _written(tuple(arrays))


@jax.custom_jvp
def _written(arrays: tuple) -> tuple:
    return by_platform(*arrays, default=lambda *x: x, cpu=_native)


@_written.defjvp
def _written_jvp(primals: Any, tangents: Any) -> Any:
    return _written(*primals), tangents[0]


def _native(*arrays: jax.Array) -> tuple:
    # In shard_map the results vary over the same axes as the operands, which eval_shape knows.
    out = jax.eval_shape(lambda *x: x, *arrays)
    same = {number: number for number in range(len(arrays))}
    call = jax.ffi.ffi_call(
        "jaxneuro_materialize", out, vmap_method="broadcast_all", input_output_aliases=same
    )
    return tuple(call(*arrays))
