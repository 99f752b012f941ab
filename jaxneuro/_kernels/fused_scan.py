"""A loop over time steps that becomes one launch where it is lowered for CUDA.

As in `gpu`, the branch for CUDA is one primitive, whose lowering traces the kernel: a CPU user does
not import Pallas, waits for nothing and runs the loop itself. What cannot be fused is found while
lowering, and the loop is lowered instead.

A step is fused as a flat list of elementwise operations: one that neither mixes elements nor loops
can be cut into blocks of any size, and each gives the results that the whole has.
"""

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Literal, Primitive, jaxpr_as_fun
from jax.interpreters import batching, mlir

from .._arrays import is_traced

_log = logging.getLogger("jaxneuro")
_walk = Primitive("walk_on_gpu")
_walk.multiple_results = True


class NotFusedError(Exception):
    """The loop cannot become one launch; the text says why."""


def fused_or_loop(fused: Callable, loop: Callable, *operands: Any) -> Any:
    """`loop(*operands)`, or, lowered for CUDA, `fused(*operands)`, which returns the same.

    Both are functions of pytrees of arrays that close over no traced value; `fused` may
    raise anything. Derivatives, and batches that the kernel does not take, are those of
    the loop.
    """
    closed, shapes = jax.make_jaxpr(loop, return_shape=True)(*operands)
    leaves, tree = jax.tree.flatten(operands)
    plain = jaxpr_as_fun(closed)

    def special(*leaves: Any) -> Any:
        return jax.tree.leaves(fused(*jax.tree.unflatten(tree, leaves)))

    out = _either(special, plain, tuple(closed.out_avals))(*leaves)
    return jax.tree.unflatten(jax.tree.structure(shapes), out)


def _either(special: Callable, plain: Callable, avals: tuple) -> Callable:
    def on_gpu(*leaves: Any) -> Any:
        return _walk.bind(*leaves, special=special, plain=plain, avals=avals)

    @jax.custom_jvp
    def either(*leaves: Any) -> Any:
        return lax.platform_dependent(*leaves, cuda=on_gpu, default=plain)

    def jvp(primals: Any, tangents: Any) -> Any:
        # Only what is differentiated: a tangent of zeros would cost as much as any.
        moving = [k for k, t in enumerate(tangents) if not isinstance(t, SymbolicZero)]

        def of(*values: Any) -> Any:
            given = dict(zip(moving, values))
            return plain(*(given.get(k, x) for k, x in enumerate(primals)))

        return jax.jvp(of, [primals[k] for k in moving], [tangents[k] for k in moving])

    either.defjvp(jvp, symbolic_zeros=True)
    return either


@_walk.def_abstract_eval
def _shapes(*_: Any, avals: tuple, **__: Any) -> Any:
    return avals


def _batch(operands: Any, axes: Any, *, special: Any, plain: Any, avals: tuple) -> Any:
    specials, plains = (jax.vmap(f, tuple(axes)) for f in (special, plain))
    closed = jax.make_jaxpr(plains)(*operands)
    avals = tuple(closed.out_avals)
    out = _walk.bind(*operands, special=specials, plain=plains, avals=avals)
    return out, [0] * len(out)


def _lower(ctx: Any, *operands: Any, special: Any, plain: Any, avals: tuple) -> Any:
    try:
        with warnings.catch_warnings():
            # JAX 0.11 warns at every lowering; a user cannot act on it.
            warnings.filterwarnings("ignore", "The Pallas Triton backend is deprecated")
            return mlir.lower_fun(special, multiple_results=True)(ctx, *operands)
    except Exception as error:  # a model of other operations, or a GPU that JAX does not know
        _log.info("these neurons step one launch after the other on a GPU: %s", error)
        return mlir.lower_fun(plain, multiple_results=True)(ctx, *operands)


batching.primitive_batchers[_walk] = _batch
mlir.register_lowering(_walk, _lower, platform="cuda")


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
_SAME = ("copy", "pvary", "reshard", "stop_gradient")  # the same numbers, in a block


class Elementwise:
    """`f(*fixed, *moving)`, flat lists of arrays of shapes () and `(lanes,)`, cut in two.

    `before(fixed)` computes what depends on those alone, `after(env, moving)` the rest.

    Raises `NotFusedError` for an operation that is not known to act element by element.
    """

    def __init__(self, f: Callable, fixed: Sequence[Any], moving: Sequence[Any], lanes: int):
        closed = jax.make_jaxpr(f)(*fixed, *moving)

        def flat(*values: Any) -> Any:
            return _run(closed.jaxpr, closed.consts, values)

        closed = jax.make_jaxpr(flat)(*fixed, *moving)
        if closed.consts:
            raise NotFusedError("its step has arrays of numbers of its own")
        self.jaxpr: Any = closed.jaxpr
        self.invars = self.jaxpr.invars[: len(fixed)], self.jaxpr.invars[len(fixed) :]
        known = set(self.invars[0])
        self.equations: tuple[list, list] = [], []
        for e in self.jaxpr.eqns:
            _check(e, lanes)
            early = all(isinstance(v, Literal) or v in known for v in e.invars)
            known |= set(e.outvars) if early else set()
            self.equations[0 if early else 1].append(e)

    def before(self, fixed: Sequence[Any]) -> dict:
        """What depends on `fixed` alone."""
        return _evaluate(self.equations[0], dict(zip(self.invars[0], fixed)))

    def after(self, env: dict, moving: Sequence[Any]) -> list:
        """The results of `f`."""
        env = _evaluate(self.equations[1], {**env, **dict(zip(self.invars[1], moving))})
        return [_read(env, v) for v in self.jaxpr.outvars]


def _check(equation: Any, lanes: int) -> None:
    name = equation.primitive.name
    shapes = {v.aval.shape for v in (*equation.invars, *equation.outvars)}
    if name not in ELEMENTWISE:
        raise NotFusedError(f"its step has {name}, which is not known to act neuron by neuron")
    if not shapes <= {(), (lanes,)}:
        raise NotFusedError(f"its step has {name} of arrays that are not one number per neuron")


def _read(env: dict, v: Any) -> Any:
    return v.val if isinstance(v, Literal) else env[v]


def _evaluate(equations: list, env: dict) -> dict:
    for e in equations:
        out = e.primitive.bind(*(_read(env, v) for v in e.invars), **e.params)
        env.update(zip(e.outvars, out if e.primitive.multiple_results else [out]))
    return env


def _run(jaxpr: Any, consts: Sequence[Any], values: Sequence[Any]) -> list:
    """Evaluates with every call inlined, and `round`, which Triton lacks, replaced."""
    env = dict(zip(jaxpr.constvars, map(_literal, consts)))
    env |= dict(zip(jaxpr.invars, values))
    for e in jaxpr.eqns:
        now = [_read(env, v) for v in e.invars]
        inside = next((e.params[k] for k in _INSIDE if k in e.params), None)
        if e.primitive.name in _CALLS and inside is not None:
            out = _run(inside.jaxpr, inside.consts, now)
        elif e.primitive.name in _SAME:
            out = now
        elif e.primitive is lax.round_p:
            out = [_rounded(now[0], e.params["rounding_method"])]
        else:
            out = e.primitive.bind(*now, **e.params)
            out = out if e.primitive.multiple_results else [out]
        env.update(zip(e.outvars, out))
    return [_read(env, v) for v in jaxpr.outvars]


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
