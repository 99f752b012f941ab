"""A loop over time steps that becomes one launch where it is lowered for CUDA.

The loop is one primitive, whose lowering for CUDA traces the kernel: a CPU user does not import
Pallas, waits for nothing and runs the loop itself. What cannot be fused is found while
lowering, and the loop is lowered instead.

A step is fused as a flat list of elementwise operations: one that neither mixes elements nor loops
can be cut into blocks of any size, and each gives the results that the whole has.
"""

import functools
import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Literal, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

from .._arrays import is_traced

_log = logging.getLogger("jaxneuro")
_fused = Primitive("fused_or_plain")
_fused.multiple_results = True


class NotFusedError(Exception):
    """The loop cannot become one launch; the text says why."""


def fused_or_plain(fused: Callable, plain: Callable, otherwise: str, *operands: Any) -> Any:
    """`plain(*operands)`, or, lowered for CUDA, `fused(*operands)`, which returns the same.

    Both are functions of pytrees of arrays that close over no traced value; `fused` may
    raise anything, and a line in the log then says `otherwise`. Derivatives, and batches that the
    kernel does not take, are those of `plain`.
    """
    closed, shapes = jax.make_jaxpr(plain, return_shape=True)(*operands)
    leaves, tree = jax.tree.flatten(operands)

    def special(*leaves: Any) -> Any:
        return jax.tree.leaves(fused(*jax.tree.unflatten(tree, leaves)))

    how = {"special": special, "plain": jaxpr_as_fun(closed), "avals": tuple(closed.out_avals)}
    out = _fused.bind(*leaves, **how, otherwise=otherwise)
    return jax.tree.unflatten(jax.tree.structure(shapes), out)


@_fused.def_impl
def _now(*operands: Any, **how: Any) -> Any:
    return jax.jit(functools.partial(_fused.bind, **how))(*operands)


@_fused.def_abstract_eval
def _shapes(*_: Any, avals: tuple, **__: Any) -> Any:
    return avals


def _slopes(primals: Any, tangents: Any, *, plain: Any, **_: Any) -> Any:
    # Only what is differentiated: a tangent of zeros would cost as much as any.
    moving = [k for k, t in enumerate(tangents) if not isinstance(t, ad.Zero)]

    def of(*values: Any) -> Any:
        given = dict(zip(moving, values))
        return plain(*(given.get(k, x) for k, x in enumerate(primals)))

    return jax.jvp(of, [primals[k] for k in moving], [tangents[k] for k in moving])


def _batch(
    operands: Any, axes: Any, *, special: Any, plain: Any, avals: tuple, otherwise: str
) -> Any:
    """All results have the axis, and those of derivatives too: also what no operand changes."""
    specials, plains = (jax.vmap(f, tuple(axes)) for f in (special, plain))
    closed = jax.make_jaxpr(plains)(*operands)
    avals = tuple(closed.out_avals)
    how = {"special": specials, "plain": plains, "avals": avals}
    out = _fused.bind(*operands, **how, otherwise=otherwise)
    return out, [0] * len(out)


def _lower(ctx: Any, *operands: Any, special: Any, plain: Any, avals: tuple, otherwise: str) -> Any:
    try:
        with warnings.catch_warnings():
            # JAX 0.11 warns at every lowering; a user cannot act on it.
            warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
            return mlir.lower_fun(special, multiple_results=True)(ctx, *operands)
    except Exception as error:  # a model of other operations, or a GPU that JAX does not know
        _log.info("%s on a GPU: %s", otherwise, error)
        return _lower_plain(ctx, *operands, plain=plain)


def _lower_plain(ctx: Any, *operands: Any, plain: Any, **_: Any) -> Any:
    return mlir.lower_fun(plain, multiple_results=True)(ctx, *operands)


ad.primitive_jvps[_fused] = _slopes
batching.primitive_batchers[_fused] = _batch
mlir.register_lowering(_fused, _lower_plain)
mlir.register_lowering(_fused, _lower, platform="cuda")


# Operations whose element i depends on elements i of their operands alone.
_NAMES = """
abs acos acosh add and asin asinh atan atan2 atanh bitcast_convert_type broadcast_in_dim cbrt ceil
clamp clz convert_element_type cos cosh div eq erf erf_inv erfc exp exp2 expm1 floor ge gt
integer_pow is_finite le log log1p logistic lt max min mul ne neg nextafter not or population_count
pow rem rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt
square sub tan tanh xor
"""
ELEMENTWISE = frozenset(_NAMES.split())
_INSIDE = ("jaxpr", "call_jaxpr")  # parameters of a call that hold the called function
_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call")
# The same numbers, in a block. A barrier is for XLA: Triton does not reassociate.
_SAME = ("copy", "optimization_barrier", "pvary", "reshard", "stop_gradient")

lookup = Primitive("lookup")  # of each index in table number `table`, which a kernel reads
lookup.def_abstract_eval(lambda at, *, table, dtype: at.update(dtype=dtype))


class Elementwise:
    """`f(*fixed, *moving)`, flat lists of arrays of shapes () and `(lanes,)`, cut in two.

    `before(fixed)` computes what depends on those alone, `after(env, moving)` the rest. `tables`
    are the arrays of its own from which it takes one number per neuron; `before` gets a function of
    the number of a table and indices that reads them.

    Raises `NotFusedError` for an operation that is not known to act element by element.
    """

    def __init__(self, f: Callable, fixed: Sequence[Any], moving: Sequence[Any], lanes: int):
        closed = jax.make_jaxpr(f)(*fixed, *moving)
        inliner = _Inliner()

        def flat(*values: Any) -> Any:
            return inliner.run(closed.jaxpr, closed.consts, values)

        closed = jax.make_jaxpr(flat)(*fixed, *moving)
        if closed.consts:
            raise NotFusedError("its step has arrays of numbers of its own")
        self.tables: list[np.ndarray] = inliner.tables
        self.jaxpr: Any = closed.jaxpr
        self.invars = self.jaxpr.invars[: len(fixed)], self.jaxpr.invars[len(fixed) :]
        known = set(self.invars[0])
        self.equations: tuple[list, list] = [], []
        for e in self.jaxpr.eqns:
            _check(e, lanes)
            early = all(isinstance(v, Literal) or v in known for v in e.invars)
            known |= set(e.outvars) if early else set()
            self.equations[0 if early else 1].append(e)

    def before(self, fixed: Sequence[Any], read: Callable | None = None) -> dict:
        """What depends on `fixed` alone."""
        return self._evaluate(self.equations[0], dict(zip(self.invars[0], fixed)), read)

    def after(self, env: dict, moving: Sequence[Any], read: Callable | None = None) -> list:
        """The results of `f`."""
        known = {**env, **dict(zip(self.invars[1], moving))}
        env = self._evaluate(self.equations[1], known, read)
        return [_read(env, v) for v in self.jaxpr.outvars]

    def uses(self, v: Any) -> bool:
        """Whether anything depends on one of its arguments."""
        equations = (*self.equations[0], *self.equations[1])
        return any(v is x for e in equations for x in e.invars) or any(
            v is x for x in self.jaxpr.outvars
        )

    def shared(self, fixed: Sequence[Any], moving: Sequence[Any]) -> list:
        """The results of `f` that are one number for all neurons; None in place of the others."""
        values = dict(zip((*self.invars[0], *self.invars[1]), (*fixed, *moving)))
        known = {v: x for v, x in values.items() if v.aval.shape == ()}
        for e in (*self.equations[0], *self.equations[1]):
            if all(isinstance(v, Literal) or v in known for v in e.invars):
                known = self._evaluate([e], known, None)
        there = [isinstance(v, Literal) or v in known for v in self.jaxpr.outvars]
        return [_read(known, v) if x else None for v, x in zip(self.jaxpr.outvars, there)]

    def _evaluate(self, equations: list, env: dict, read: Callable | None) -> dict:
        for e in equations:
            now = [_read(env, v) for v in e.invars]
            if e.primitive is lookup and read is not None:
                out = read(e.params["table"], now[0])
            else:
                out = e.primitive.bind(*now, **e.params)
            env.update(zip(e.outvars, out if e.primitive.multiple_results else [out]))
        return env


def _check(equation: Any, lanes: int) -> None:
    name = equation.primitive.name
    shapes = {v.aval.shape for v in (*equation.invars, *equation.outvars)}
    if equation.primitive is not lookup and name not in ELEMENTWISE:
        raise NotFusedError(f"its step has {name}, which is not known to act neuron by neuron")
    if not shapes <= {(), (lanes,)}:
        raise NotFusedError(f"its step has {name} of arrays that are not one number per neuron")


def _read(env: dict, v: Any) -> Any:
    return v.val if isinstance(v, Literal) else env[v]


class _Column(NamedTuple):
    """An array (lanes, 1), as indices are given, of x (lanes,)."""

    x: Any


class _Inliner:
    """Evaluates a program as one that a kernel can run: every call inlined, `round`, which Triton
    lacks, replaced, each branch of a choice run, and numbers taken from `tables` by `lookup`."""

    def __init__(self) -> None:
        self.tables: list[np.ndarray] = []

    def run(self, jaxpr: Any, consts: Sequence[Any], values: Sequence[Any]) -> list:
        env = dict(zip(jaxpr.constvars, map(_literal, consts)))
        env |= dict(zip(jaxpr.invars, values))
        for e in jaxpr.eqns:
            env.update(zip(e.outvars, self._one(e, [_read(env, v) for v in e.invars])))
        return [_read(env, v) for v in jaxpr.outvars]

    def _one(self, e: Any, now: list) -> list:
        """The results of an equation."""
        name, inside = e.primitive.name, next((e.params[k] for k in _INSIDE if k in e.params), None)
        if name in _CALLS and inside is not None:
            return self.run(inside.jaxpr, inside.consts, now)
        if name in _SAME or (name.startswith("reduce_") and not e.params.get("axes", True)):
            return now
        if name == "cond":
            return self._cond(e.params["branches"], *now)
        if e.primitive is lax.round_p:
            return [_rounded(now[0], e.params["rounding_method"])]
        before, after = (v[0].aval.shape if v else () for v in (e.invars, e.outvars))
        if name == "broadcast_in_dim" and len(before) == 1 and after == (*before, 1):
            return [_Column(now[0])]
        if name == "gather" and isinstance(now[1], _Column) and not is_traced(now[0]):
            return [self._lookup(np.asarray(now[0]), now[1].x, e.params)]
        if any(isinstance(x, _Column) for x in now):
            raise NotFusedError(f"its step has {name} of a column, which mixes neurons")
        if now and not any(map(is_traced, now)) and after == ():
            with jax.ensure_compile_time_eval():  # Triton's lowering has no operations of numbers
                return [_literal(e.primitive.bind(*now, **e.params))]
        out = e.primitive.bind(*now, **e.params)
        return out if e.primitive.multiple_results else [out]

    def _cond(self, branches: Any, which: Any, *now: Any) -> list:
        out = self.run(branches[0].jaxpr, branches[0].consts, now)
        for k, branch in enumerate(branches[1:], 1):
            new = self.run(branch.jaxpr, branch.consts, now)
            out = [
                lax.select(jnp.broadcast_to(which == k, x.shape), y, x) for x, y in zip(out, new)
            ]
        return out

    def _lookup(self, table: np.ndarray, at: jax.Array, how: Any) -> jax.Array:
        if table.ndim != 1 or how["mode"] != lax.GatherScatterMode.PROMISE_IN_BOUNDS:
            raise NotFusedError("its step takes numbers from an array in a way that is not known")
        self.tables.append(table)
        return lookup.bind(at, table=len(self.tables) - 1, dtype=table.dtype)


def _literal(x: Any) -> Any:
    """A number as part of the program: a kernel captures no arrays."""
    return np.asarray(x)[()] if np.ndim(x) == 0 and not is_traced(x) else x


def _rounded(x: jax.Array, method: Any) -> jax.Array:
    """`round` by `floor`: Triton's lowering has none; every difference here is exact."""
    size = lax.abs(x)
    below = lax.floor(size)
    rest = size - below
    up = rest >= 0.5
    if method == lax.RoundingMethod.TO_NEAREST_EVEN:
        even = below == 2 * lax.floor(below * 0.5)
        up = up & ~((rest == 0.5) & even)
    near = below + up.astype(x.dtype)
    return lax.select(x < 0, -near, near)
