"""The compiled program of a sweep, and the checks that wait for its values."""

import functools
import hashlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import eval_jaxpr
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from .. import spec
from .._arrays import is_traced
from .._frozen import no_global_draws
from .._run.chunks import compiled
from ..spec import InvalidValueError
from ._sweep_points import Points, describe

# --- Checks that wait for the values of a sweep: what a single run would refuse is refused.


_MOST = 20_000  # points whose values are looked at
_SMALL = 64  # entries of a value that is looked at everywhere, to find where to check
_COLUMNS = 16  # numbers of one check that are looked at
_CORNERS = 4  # as many numbers are checked in all combinations of their extremes
_OFF = 1e-3  # of a time step: a number further away is no whole number of steps


class _Check(NamedTuple):
    """A check with the numbers of the values that it waits for, by their place in `leaves`."""

    check: Callable
    structure: Any
    leaves: list
    waits: dict[int, int]
    dt: float | None


class PointChecks:
    """Checks left out while a function was traced, made once the values of points are known.

    `kept` are checks with their arguments. `values` are the traced ones that the checks wait for:
    what the traced function returns, too.
    """

    def __init__(self, kept: Iterable[tuple[Callable, tuple]]):
        self.values: list[Any] = []
        self._checks: list[_Check] = []
        numbers: dict[int, int] = {}
        for check, args in kept:
            leaves, structure = jax.tree.flatten(args)
            traced = {k: x for k, x in enumerate(leaves) if is_traced(x)}
            for k, x in traced.items():
                if id(x) not in numbers:
                    numbers[id(x)] = len(self.values)
                    self.values.append(x)
                leaves[k] = None
            waits = {k: numbers[id(x)] for k, x in traced.items()}
            dt = getattr(args[0], "dt", None)
            self._checks.append(_Check(check, structure, leaves, waits, dt))

    def make(self, jaxpr: Any, consts: list, points: Points) -> None:
        """Makes the checks; the last outputs of `jaxpr` are `values`.

        At the extremes of all numbers, and where one is furthest from the grid of time steps.

        Raises:
            InvalidValueError: for the first point that a check refuses.
        """
        if not self._checks:
            return
        outvars = list(jaxpr.outvars[len(jaxpr.outvars) - len(self.values) :])
        small = [k for k, v in enumerate(outvars) if _is_small(v.aval)]
        at = _candidates(points)
        batch = points.take(at)
        try:
            found = _outputs(jaxpr, [outvars[k] for k in small], consts)(batch)
        except Exception:  # so does the run, which says at which point
            return
        table = dict(zip(small, found))
        for check in self._checks:
            waits = dict.fromkeys(check.waits.values())
            mine = [
                table[k] for k in reversed(waits) if k in table
            ]  # what is set, then its network
            wanted = [k for k in waits if k not in table]
            if wanted:  # too large to be looked at everywhere: the grid tells where
                mine = [*batch.values(), *mine]
            rest = _outputs(jaxpr, [outvars[k] for k in wanted], consts)
            for row in _telling([x for x in mine if x.size], check.dt):
                one = {name: x[row : row + 1] for name, x in batch.items()}
                known = {k: x[row] for k, x in table.items()}
                try:
                    known |= {k: x[0] for k, x in zip(wanted, rest(one))}
                except Exception:
                    break
                self._make(check, known, points.one(int(at[row])))

    def _make(self, check: _Check, known: dict[int, Any], point: dict[str, Any]) -> None:
        leaves = list(check.leaves)
        for place, number in check.waits.items():
            leaves[place] = jnp.asarray(known[number])
        try:
            check.check(*jax.tree.unflatten(check.structure, leaves))
        except ValueError as error:
            if "Tracer" in str(error):  # a function that holds a traced value
                return
            raise ValueError(
                f"sweep: the point {describe(point)} is refused: {error}{self._hint(check)}"
            ) from error
        except Exception:  # of what cannot be checked alone, the run tells
            return

    def _hint(self, check: _Check) -> str:
        several = sum(x.check is check.check for x in self._checks) > 1
        several = several and check.check.__name__ != "seed_of"
        return ". Values that depend on each other go into one net.set" if several else ""


def _is_small(aval: Any) -> bool:
    return aval.size <= _SMALL and not jnp.issubdtype(aval.dtype, jax.dtypes.extended)


def _outputs(jaxpr: Any, wanted: list, consts: list) -> Callable[[dict[str, np.ndarray]], list]:
    """Outputs of a jaxpr at points, `(points, ...)`; nothing else of it is computed."""
    if not wanted:
        return lambda batch: []
    needed, equations = {v for v in wanted if not hasattr(v, "val")}, []
    for equation in reversed(jaxpr.eqns):
        if not needed.isdisjoint(equation.outvars):
            equations.append(equation)
            needed |= {v for v in equation.invars if not hasattr(v, "val")}
    part = jaxpr.replace(
        eqns=equations[::-1],
        outvars=wanted,
        effects=frozenset(),
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    one = lambda *point: eval_jaxpr(part, consts, *point)  # noqa: E731
    program = jax.jit(jax.vmap(one))
    return lambda batch: [np.asarray(x) for x in program(*batch.values())]


def _candidates(points: Points) -> np.ndarray:
    """Numbers of the points to look at: all, or the lines along each axis and the corners."""
    if points.count <= _MOST:
        return np.arange(points.count)
    some = [_some(x) for x in points.axes.values()]
    if not points.product:
        return np.unique(np.concatenate(some))
    ends = [x[:2] for x in some]
    places = list(itertools.product(*ends)) if len(ends) <= 8 else []
    for axis, numbers in enumerate(some):
        lines = np.zeros((len(numbers), len(some)), np.int64)
        lines[:, axis] = numbers
        places.extend(map(tuple, lines))
    return np.unique(np.ravel_multi_index(np.array(places).T, points.shape))


def _some(x: np.ndarray) -> np.ndarray:
    """Places along an axis: of the least value, of the largest, and up to `_MOST` between."""
    flat = x.reshape(len(x), -1)
    ends = [flat.min(1, initial=np.inf).argmin(), flat.max(1, initial=-np.inf).argmax()]
    between = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST)).astype(np.int64))
    return np.concatenate([np.array(ends, np.int64), between])


def _telling(values: list[np.ndarray], dt: float | None) -> list[int]:
    """The rows of values in which a check is most likely to refuse something."""
    columns, rows = [], {0}
    for x in values[:_COLUMNS]:
        flat = x.reshape(len(x), -1)
        if flat.dtype.kind == "c" or (flat == flat[0]).all():
            continue
        flat = flat.astype(np.float64)
        columns += [flat[:, 0]] if flat.shape[1] == 1 else [flat.min(1), flat.max(1)]
        if dt is not None:
            steps = flat / dt
            off = abs(steps - np.rint(steps)).max(1)
            rows |= {int(off.argmax())} if off.max() > _OFF else set()
    for x in columns:
        rows |= {int(np.nanargmin(x)), int(np.nanargmax(x))} if not np.isnan(x).all() else set()
        rows |= {int(np.isnan(x).argmax())}
    if 1 < len(columns) <= _CORNERS:
        rows.update(_corners(columns))
    return sorted(rows)


def _corners(columns: list[np.ndarray]) -> Iterator[int]:
    """The rows nearest to each combination of least and largest values."""
    scaled = [(x - x.min()) / max(float(np.ptp(x)), 1e-300) for x in columns]
    for signs in itertools.product((-1.0, 1.0), repeat=len(scaled)):
        yield int(np.argmax(np.array(signs) @ np.array(scaled)))


# --- The compiled program of a sweep: a function of scalars, for a chunk of points at once.


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
    are there once. With a `mesh` of one axis each device takes an equal part of a chunk.
    """

    def __init__(self, fn: Callable, point: Mapping[str, Any], mesh: Mesh | None = None):
        self.names = tuple(point)
        self.mesh = mesh
        like = [jax.ShapeDtypeStruct(np.shape(x), x.dtype) for x in point.values()]
        fn, self._checks = _without_jit(fn), PointChecks(())

        def call(*values: Any) -> Any:
            hint = "; an axis of seeds, with jax.random.key(seed) inside, draws for each point"
            with no_global_draws("sweep", "the function", hint), spec.deferred() as left:
                out = fn(**dict(zip(self.names, values)))
            self._checks = PointChecks(left)
            return out, self._checks.values

        try:
            traced, (out, known) = jax.make_jaxpr(call, return_shape=True)(*like)
        except Exception as error:
            told = ", ".join(f"{k}: {x.dtype}{list(x.shape)}" for k, x in zip(self.names, like))
            refused = _refusal(error)
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
                raise InvalidValueError(
                    "sweep",
                    "the function",
                    "one that returns numbers (return jax.random.key_data(key) of a key)",
                    f"an array of {leaf.dtype}",
                )
        if mesh is not None:
            self._consts = jax.device_put(self._consts, NamedSharding(mesh, P()))
        self._programs: dict[int, Any] = {}
        self._lock = threading.Lock()
        self.compile_s: dict[int, float] = {}

    def check(self, points: Points) -> None:
        """Makes the checks that tracing left out, at the points that tell.

        Raises:
            InvalidValueError: for a value that `net.set` or `net.init` refuses outside of a trace.
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


def _refusal(error: Exception) -> ValueError | None:
    """What is wrong with a function that cannot be traced; None if it is an error of its own."""
    if isinstance(error, _UNKNOWN) or "concrete value" in str(error):
        return ValueError(
            "sweep: shapes and branches of the function must not depend on its "
            "parameters, for all points are one program. Use jnp.where, and sweep what sets a "
            f"shape in a loop around. JAX says: {error}"
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
