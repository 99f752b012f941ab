"""The derivative of a loop: by its state in the loop, by the weights of projections after it.

Within the loop a derivative by weights would be an array of all of them in every step. But each
step is linear in them: with y the cotangent of what arrives, theirs is a sum of products of y and
of what was released (`_kernels/cotangents.py`). So JAX differentiates the loop with weights that do
not move, and hands out y: in each step a *tap*, zeros that stand for a change of what arrives, is
added to it, and y is the cotangent of the tap. What arrives after the last step is still in the
ring.

A loop of events that is differentiated is one of pieces, of about as many steps as there are
pieces: then y of a piece alone is kept. With `remat` only the state before each piece is kept, and
each is run a second time; sums have the same order, and so the same bits, as without. A loop whose
deliveries are all products stays whole without `remat`: pieces would copy all that it keeps.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .. import spec
from .._kernels.changed_weights import Change, arrivals_of_change
from .._kernels.linear import batched_alike
from .._network.ahead import with_arrivals
from .._network.pathway import RuntimePathway
from .._network.runtime import RuntimeNetwork

# What a loop is given: the network, what it is expanded to, what it carries (a state and running
# sums), and inputs.
Given = tuple[Any, RuntimeNetwork, Any, Any]


_FEW = 4  # turns of a piece


class KeptStates(spec.Kind):
    """Whether only some states are kept, or how many."""

    def convert(self, value: Any) -> bool | int:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        try:
            return spec.Whole(1).convert(value)
        except spec.Unfit:
            raise spec.Unfit("True, False, or how many states to keep, at least 1") from None


def differentiable(
    loop: Callable, steps: int, every: int, remat: bool | int, after: bool
) -> Callable:
    """`loop(net, runtime, held, inputs, steps)` as a function of the first four, with a derivative.

    That by weights is made after the loop, or, if not `after`, all is JAX's: then derivatives of
    every kind are there that operations have, and the loop may close over what is differentiated.

    It returns what it carries after the steps, what it has for each step, and for each `every`
    steps. The loop also takes `taps` and then has a further result: what each pathway delivered in
    each step.
    """
    if not steps:
        return functools.partial(loop, steps=0)
    whole = functools.partial(loop, steps=steps)
    pieces = _in_pieces(loop, steps, every, remat, after)

    def derived(given: Given, dots: Given) -> Any:
        moving, rest = _moving(given, dots)
        parts = pieces if remat or _has_events(given[1]) else weights_after(loop, steps)

        def inner(moving: Given) -> Any:
            net, runtime, held, inputs = eqx.combine(moving, rest)
            return parts(net, _in_full(runtime), held, inputs)

        return jax.jvp(inner, (moving,), (dots,))

    if not after:
        return pieces if remat else whole
    return _with_rule(whole, derived)


def _has_events(runtime: RuntimeNetwork) -> bool:
    """Whether the loop delivers spikes one by one, not by products alone."""
    return any(p.matrix is None and not p.ahead for p in runtime.pathways)


def _in_full(runtime: RuntimeNetwork) -> RuntimeNetwork:
    """With weights of 16 bits in the network's dtype, in which cotangents are added up."""
    weights = [p.weights for p in runtime.pathways]
    full = [x.astype(runtime.dtype) if x.dtype == jnp.bfloat16 else x for x in weights]
    return eqx.tree_at(lambda r: [p.weights for p in r.pathways], runtime, full)


def _parted(out: Any) -> tuple[Any, Any]:
    return eqx.partition(out, eqx.is_inexact_array)


def _moving(given: Given, dots: Given) -> tuple[Given, Given]:
    """The arrays that have a tangent, and all others."""
    return eqx.partition(given, jax.tree.map(lambda _, dot: dot is not None, given, dots))


def _with_rule(f: Callable, derived: Callable) -> Callable:
    """`f` with a derivative: `derived(given, dots)` returns its result and the tangents of that.

    `dots` are the tangents of the arrays in `given`, None where no derivative is asked for.
    """

    @jax.custom_jvp
    def run(moving: Any, rest: Any) -> Any:
        return batched_alike(f(*eqx.combine(moving, rest)), (moving, rest))

    def rule(primals: Any, tangents: Any) -> Any:
        given, (smooth, still) = eqx.combine(*primals), tangents
        absent = lambda x: None if isinstance(x, SymbolicZero) else x  # noqa: E731
        still = jax.tree.map(lambda _: None, still)
        out, dots = derived(given, eqx.combine(jax.tree.map(absent, smooth), still))
        return batched_alike(out, primals), dots

    run.defjvp(rule, symbolic_zeros=True)
    return lambda *given: run(*_parted(given))


def _in_pieces(loop: Callable, steps: int, every: int, remat: bool | int, after: bool) -> Callable:
    """The loop as one over pieces, and a shorter one where they are not all equal."""
    length = every * piece_length(steps // every, None if remat in (False, True) else remat)
    many = steps // length

    def pieces(net: Any, runtime: RuntimeNetwork, held: Any, inputs: Any) -> Any:
        def piece(held: Any, inputs: Any, steps: int = length) -> Any:
            one = weights_after(loop, steps) if after else functools.partial(loop, steps=steps)
            if remat:
                one = jax.checkpoint(one, prevent_cse=False)
            return one(net, runtime, held, inputs)

        cut = lambda x: x[: many * length].reshape(many, length, *x.shape[1:])  # noqa: E731
        joined = lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])  # noqa: E731
        held, out = lax.scan(piece, held, jax.tree.map(cut, inputs), length=many)
        out = jax.tree.map(joined, out)
        rest = steps - many * length
        if rest:
            late = jax.tree.map(lambda x: x[many * length :], inputs)
            held, last = piece(held, late, rest)
            out = jax.tree.map(lambda *x: jnp.concatenate(x), out, last)
        return held, out

    return pieces


def piece_length(turns: int, pieces: int | None) -> int:
    """How many of the turns of a loop are a piece: about their root, or for so many pieces.

    Where it can, a number that divides them: a piece of another length is another program. Few
    turns are one piece.
    """
    if pieces is not None:
        return -(-turns // min(pieces, turns))
    root = math.isqrt(turns)
    if root < _FEW:
        return turns
    near = sorted(range(root // 2, 2 * root + 1), key=lambda n: abs(n - root))
    return next((n for n in near if turns % n == 0), root)


def weights_after(loop: Callable, steps: int) -> Callable:
    """`loop` of so many steps, whose derivative by weights is made after it.

    Pathways whose weights change, or whose scale does, are differentiated by JAX.
    """

    def whole(*given: Any) -> Any:
        return loop(*given, steps)

    def derived(given: Given, dots: Given) -> Any:
        (net, runtime, held, _), of_runtime = given, dots[1]
        # Arrivals that are whole numbers have no tangent: their delivery says so.
        numbers = [] if net.fixed_point is not None else _asked(of_runtime, runtime)
        moving_dots = dots[0], _without_own(of_runtime, runtime, numbers), *dots[2:]
        moving, rest = _moving(given, moving_dots)

        def inner(moving: Given, taps: Any) -> Any:
            *out, released = loop(*eqx.combine(moving, rest), steps, taps)
            smooth, others = _parted(tuple(out))
            return smooth, (others, released)

        taps = _taps(runtime, held, numbers, steps)
        smooth, linear, (others, released) = jax.linearize(inner, moving, taps, has_aux=True)
        arriving: dict[int, Any] = {}
        for k in numbers:
            p, ring = runtime.pathways[k], held[0].groups[runtime.pathways[k].target].ring
            shape = steps + max(ring.shape[0] - 2, 0), ring.shape[1]
            new = _arrivals_of_change(of_runtime.pathways[k], p, released[k], shape)
            arriving[p.target] = arriving[p.target] + new if p.target in arriving else new
        now = tuple(arriving[k][:steps] if k in arriving else None for k in range(len(taps)))
        smooth_dots = linear(moving_dots, now)
        for target, x in arriving.items():
            of = lambda out: out[0][0].groups[target].ring  # noqa: E731, B023
            ring = with_arrivals(of(smooth_dots), held[0].step + steps - 1, x[steps - 1 :])
            smooth_dots = eqx.tree_at(of, smooth_dots, ring)
        none = jax.tree.map(lambda x: np.zeros(jnp.shape(x), jax.dtypes.float0), others)
        return eqx.combine(smooth, others), eqx.combine(smooth_dots, none)

    return _with_rule(whole, derived)


def _asked(dots: Any, runtime: RuntimeNetwork) -> list[int]:
    """The pathways by whose constant weights or scales a derivative is asked for."""
    paths = [target.path for m in runtime.modulators for target in m.targets]
    scaled = {path[1] for path in paths if path[0] == "pathways"}
    return [
        k
        for k, (p, dot) in enumerate(zip(runtime.pathways, dots.pathways))
        if p.plastic is None and not p.ahead and k not in scaled
        if any(x is not None for x in _own(p, dot))
    ]


def _own(pathway: RuntimePathway, of: Any) -> list[Any]:
    """By which arrays of a pathway its derivative is made after the loop."""
    return [of.scale, of.weights] if pathway.matrix is None else [of.matrix]


def _without_own(dots: Any, runtime: RuntimeNetwork, numbers: list[int]) -> Any:
    """Without the tangents of the scales and weights of some pathways."""
    if not numbers:
        return dots
    own = lambda r: [x for k in numbers for x in _own(runtime.pathways[k], r.pathways[k])]  # noqa: E731
    return eqx.tree_at(own, dots, [None] * len(own(dots)), is_leaf=lambda x: x is None)


def _arrivals_of_change(dot: Any, p: RuntimePathway, released: Any, shape: tuple[int, int]) -> Any:
    """The tangent of the arrivals by the scales and weights of a pathway."""
    change = [jnp.zeros_like(x) if d is None else d for d, x in zip(_own(p, dot), _own(p, p))]
    dense = p.dense
    if dense is not None and p.matrix is not None:
        x = jax.vmap(lambda r: dense.released_by(r, change[0].dtype))(released)
        return dense.arrivals(x, change[0], *shape)
    return arrivals_of_change(Change(*change), released, p.scale, p.weights, p.table, *shape)


def _taps(runtime: RuntimeNetwork, held: Any, numbers: list[int], steps: int) -> tuple:
    """For each group zeros (steps, places), None where no derivative asks for them."""
    targets = {runtime.pathways[k].target for k in numbers}
    rings = [group.ring for group in held[0].groups]
    return tuple(
        jnp.zeros((steps, ring.shape[1]), ring.dtype) if number in targets else None
        for number, ring in enumerate(rings)
    )
