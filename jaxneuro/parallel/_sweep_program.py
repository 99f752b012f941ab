"""The compiled program of a sweep: a function of scalars, for a chunk of points at once."""

import functools
import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import eval_jaxpr
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from .._checks import checks_left_out
from .._run.chunks import compiled
from ._sweep_checks import PointChecks
from ._sweep_points import Points, describe

# How JAX says that something must be known while a function is traced.
_UNKNOWN = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


class SweepProgram:
    """`fn` traced at a point, and compiled for chunks of any size.

    Arrays that `fn` closes over are arguments of the program, without a batch: a network's tables
    are there once. With a `mesh` of one axis each device takes an equal part of a chunk. `last` is
    another point, which an error may need.
    """

    def __init__(
        self,
        fn: Callable,
        point: Mapping[str, Any],
        mesh: Mesh | None = None,
        last: Mapping[str, Any] | None = None,
    ):
        self.names = tuple(point)
        self.mesh = mesh
        like = [jax.ShapeDtypeStruct(np.shape(x), x.dtype) for x in point.values()]
        fn, self._checks = _without_jit(fn), PointChecks(())

        def call(*values: Any) -> Any:
            with checks_left_out() as left:
                out = fn(**dict(zip(self.names, values)))
            self._checks = PointChecks(left)
            return out, self._checks.values

        try:
            traced, (out, known) = jax.make_jaxpr(call, return_shape=True)(*like)
        except Exception as error:
            told = ", ".join(f"{k}: {x.dtype}{list(x.shape)}" for k, x in zip(self.names, like))
            refused = _refusal(error, lambda: _shapes(fn, point, last))
            if refused is not None:
                raise refused from error
            error.add_note(f"sweep: raised while the function was traced with ({told})")
            raise
        self._traced, self._consts = traced.jaxpr, jax.device_put(list(traced.consts))
        self._jaxpr = _first_outputs(traced.jaxpr, len(traced.jaxpr.outvars) - len(known))
        self.leaves, self.structure = jax.tree.flatten(out)
        if not self.leaves:
            raise ValueError(
                "sweep: the function must return the numbers to keep, as an array or a dict of "
                f"arrays; it returned {out!r}. End it with return"
            )
        for leaf in self.leaves:
            if jnp.issubdtype(leaf.dtype, jax.dtypes.extended):
                raise ValueError(
                    f"sweep: the function must return numbers; got an array of {leaf.dtype}. "
                    "Return jax.random.key_data(key) of a key"
                )
        if mesh is not None:
            self._consts = jax.device_put(self._consts, NamedSharding(mesh, P()))
        self._programs: dict[int, Any] = {}
        self._lock = threading.Lock()
        self.compile_s: dict[int, float] = {}

    def check(self, points: Points) -> None:
        """Makes the checks that tracing left out, at the points that tell.

        **Raises** `ValueError` for a value that `net.set` or `net.init` refuses outside of a trace.
        """
        self._checks.make(self._traced, self._consts, points)

    @property
    def unused(self) -> tuple[str, ...]:
        """The parameters on which no result depends."""
        needed = {id(x) for x in self._jaxpr.outvars}
        for equation in reversed(self._jaxpr.eqns):
            if equation.effects or any(id(x) in needed for x in equation.outvars):
                needed.update(map(id, equation.invars))
        return tuple(name for name, x in zip(self.names, self._jaxpr.invars) if id(x) not in needed)

    @property
    def devices(self) -> int:
        """How many devices share a chunk: its size is a multiple of this."""
        return 1 if self.mesh is None else self.mesh.size

    def compile(self, size: int) -> Any:
        """The program for chunks of `size` points; compiled once."""
        with self._lock:
            if size not in self._programs:
                start = time.perf_counter()
                self._programs[size] = compiled(self._lower(size))
                self.compile_s[size] = time.perf_counter() - start
            return self._programs[size]

    def run(self, size: int, batch: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Results of at most `size` points, a leaf each; the last point fills what is missing."""
        values = [batch[name] for name in self.names]
        count = len(values[0])
        if count < size:
            values = [np.concatenate([x, np.repeat(x[-1:], size - count, 0)]) for x in values]
        out = self.compile(size)(self._consts, values)
        return [np.asarray(x)[:count] for x in out]

    def bytes_per_point(self, size: int) -> float:
        """Memory that a chunk of `size` points takes on a device, by point; 0 if unknown."""
        try:
            about = self.compile(size).memory_analysis()
            return (about.temp_size_in_bytes + about.output_size_in_bytes) * self.devices / size
        except (AttributeError, NotImplementedError, jax.errors.JaxRuntimeError):
            return 0.0

    def fingerprint(self) -> dict[str, str]:
        """Digests of the program's text and of the arrays that the function closes over."""
        like = lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype)  # noqa: E731  on any device
        consts, values = jax.tree.map(like, (self._consts, self._like(1, None)))
        text = jax.jit(self._batched).lower(consts, values).as_text()
        arrays = hashlib.blake2b(digest_size=16)
        for x in (*self._consts, *_arrays_in(self._jaxpr)):
            if jnp.issubdtype(getattr(x, "dtype", np.dtype(int)), jax.dtypes.prng_key):
                x = jax.random.key_data(x)
            x = np.ascontiguousarray(x)
            arrays.update(f"{x.shape}{x.dtype}".encode() + x.tobytes())
        program = hashlib.blake2b(text.encode(), digest_size=16)
        return {"function": program.hexdigest(), "arrays": arrays.hexdigest()}

    def _like(self, size: int, sharding: NamedSharding | None) -> list:
        return [
            jax.ShapeDtypeStruct((size, *x.aval.shape), x.aval.dtype, sharding=sharding)
            for x in self._jaxpr.invars
        ]

    def _batched(self, consts: list, values: list) -> list:
        one = lambda *point: eval_jaxpr(self._jaxpr, consts, *point)  # noqa: E731
        return jax.vmap(one)(*values)

    def _lower(self, size: int) -> Any:
        if self.mesh is None:
            return jax.jit(self._batched).lower(self._consts, self._like(size, None))
        cut = P(*self.mesh.axis_names)
        # Each device runs the loop by itself, so there is nothing to check between them.
        shared = jax.shard_map(
            self._batched, mesh=self.mesh, in_specs=(P(), cut), out_specs=cut, check_vma=False
        )
        values = self._like(size, NamedSharding(self.mesh, cut))
        return jax.jit(shared).lower(self._consts, values)


def _refusal(error: Exception, shapes: Callable[[], str]) -> ValueError | None:
    """What is wrong with a function that cannot be traced; None if it is an error of its own."""
    if isinstance(error, _UNKNOWN) or "concrete value" in str(error):
        return ValueError(
            "sweep: shapes and branches of the function must not depend on its "
            f"parameters, for all points are one program{shapes()}. Use "
            "jnp.where, and sweep what sets a shape in a loop around. JAX "
            f"says: {error}"
        )
    if "is not a valid JAX type" in str(error):
        return ValueError(
            "sweep: the function must return numbers, arrays, or dicts, tuples or lists of "
            f"them; JAX says: {error}"
        )
    if isinstance(error, ValueError) and "Tracer(" in str(error):
        return ValueError(
            "sweep: a description and jn.build need numbers, but the values of a sweep are not "
            "known while the function is traced: all points are one program. Build the network "
            "once, outside, and change it with net.set(name, weight=...) inside; what only build "
            f"can change goes into a Python loop around. What was refused: {error}"
        )
    return None


def _without_jit(fn: Callable) -> Callable:
    """The function inside `jax.jit`: a sweep compiles anyway, and sees what it sets."""
    if isinstance(fn, functools.partial):
        return functools.partial(_without_jit(fn.func), *fn.args, **fn.keywords)
    jitted = hasattr(fn, "lower") and hasattr(fn, "trace")
    return getattr(fn, "__wrapped__", fn) if jitted else fn


def _first_outputs(jaxpr: Any, count: int) -> Any:
    if count == len(jaxpr.outvars):
        return jaxpr
    info = jaxpr.debug_info.with_unknown_names()
    return jaxpr.replace(outvars=jaxpr.outvars[:count], debug_info=info)


def _shapes(fn: Callable, *points: Mapping[str, Any] | None) -> str:
    """What the function returns at these points, where that differs."""
    found = {}
    for point in points:
        try:
            out = jax.eval_shape(lambda values=point: fn(**(values or {})))
        except Exception:  # then the error of tracing has to do
            continue
        arrays = ", ".join(f"{x.dtype}{list(x.shape)}" for x in jax.tree.leaves(out))
        found.setdefault(arrays, f"{arrays} at {describe(point or {})}")
    return f": it returns {' and '.join(found.values())}" if len(found) > 1 else ""


def _arrays_in(value: Any) -> Iterator[Any]:
    """Arrays inside a jaxpr and those that it calls: a JAX that keeps constants there has them."""
    if hasattr(value, "consts") and hasattr(value, "jaxpr"):
        yield from value.consts
        value = value.jaxpr
    if isinstance(value, tuple | list):
        for x in value:
            yield from _arrays_in(x)
    elif hasattr(value, "eqns"):
        for equation in value.eqns:
            for x in equation.invars:
                if np.ndim(getattr(x, "val", 0)):
                    yield x.val
            yield from _arrays_in(list(equation.params.values()))
